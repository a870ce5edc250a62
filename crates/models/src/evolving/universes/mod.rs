//! Parallel universes: many small spaces instead of one large one.
//!
//! **Idea.** A universe is a space of its own for some hundred triples around one relation, gathered by a walk and trained
//! with settings drawn at random. How plausible a triple is, the most favourable universe decides. When the graph changes,
//! new universes are trained on what it is now; nothing has to be trained again.
//!
//! **Paper.** Tay, Luu, Hui: Non-parametric estimation of multiple embeddings for link prediction on dynamic knowledge graphs.
//! AAAI 2017; with `TransH` and `TransD`: Lafraie, 2020.
//!
//! **Score.** −min over the universes that know all three parts of a triple; without any, the worst there is
//! (`missing = "infinity"`), or what the zero vector would get (`"null"`).
//!
//! **Training.** Universes are independent tasks, one per thread at a time. Every `validate_every` of them H@10 on validation
//! decides how many stay; `patience` looks without improvement end a step.
//!
//! **Deletions.** A minimum never forgets: an old universe that fits a deleted triple keeps its low energy for ever. That is
//! `deletion = "keep"`, taken to be what was published. Four other kinds do something about it. No longer asked are universes
//! that know all parts of a triple that is gone (`"coexist"`, in the published code), that were trained on it (`"contains"`),
//! or that are of old steps (`"age"`). Or energies of a universe get worse by the share of its triples that is gone
//! (`"weight"`).
//!
//! **Differs from the paper.** Relations to focus on are drawn among those that have training triples. An entity that found
//! nothing new leaves the walk; in the published code it comes back two rounds later. `null` projects the known entity of
//! `TransH` and `TransD` as their energies do, which the published code forgot. `compat = true` does as that code did.
//!
//! **Cost.** A universe of 1000 triples takes about 50 ms on one thread and 130 KB, which lie in a file without a name and
//! are read as if they were in memory. A question asks all universes that know its entity and its relation; while a step
//! grows, what a look at validation found is remembered (up to 2 GB), so that the next one asks new universes only. Saving
//! takes as much memory as the saved file.

mod brought;
mod looks;
mod model;
mod remembered;
mod saved;
mod scratch;
mod settings;
mod shelf;
mod surroundings;
#[cfg(test)]
mod tests;
mod universe;
mod view;
mod volume;

pub use settings::{Config, Deletion, Missing};

use quadcast_core::{EvolvingCapabilities, EvolvingModel};
use quadcast_kernels::triples::Translation;
use toml::Table;

use super::space::Space;
use super::transd::Dynamic;
use super::transh::Hyperplanes;
use crate::config::{self, ConfigError};
use crate::registry::EvolvingEntry;
use model::Universes;

/// Settings with which training takes seconds.
const QUICK: &[&str] = &[
    "universes=30",
    "validate_every=10",
    "least_triples=50",
    "most_triples=200",
    "least_epochs=20",
    "most_epochs=40",
];

/// `TransE` in parallel universes.
pub const PUTRANSE: EvolvingEntry =
    entry::<Translation>("putranse", "TransE in many small spaces, the best of which decides.");
/// `TransH` in parallel universes.
pub const PUTRANSH: EvolvingEntry =
    entry::<Hyperplanes>("putransh", "TransH in many small spaces, the best of which decides.");
/// `TransD` in parallel universes.
pub const PUTRANSD: EvolvingEntry =
    entry::<Dynamic>("putransd", "TransD in many small spaces, the best of which decides.");

const fn entry<M: Space>(name: &'static str, about: &'static str) -> EvolvingEntry {
    EvolvingEntry {
        name,
        aliases: &[],
        about,
        paper: "Non-parametric estimation of multiple embeddings for link prediction on dynamic knowledge graphs",
        source: "Tay et al., AAAI 2017; Lafraie, 2020",
        capabilities,
        options: settings::OPTIONS,
        quick: QUICK,
        defaults,
        build: build::<M>,
    }
}

fn capabilities() -> EvolvingCapabilities {
    EvolvingCapabilities { updates: true, unlearns: false, partial: true }
}

fn defaults() -> Table {
    Table::try_from(Config::default())
        .unwrap_or_else(|_| unreachable!("a configuration is a table of plain values"))
}

fn build<M: Space>(table: &Table) -> Result<Box<dyn EvolvingModel>, ConfigError> {
    let config: Config = config::parse(table)?;
    config.check()?;
    Ok(Box::new(Universes::<M>::new(config)))
}
