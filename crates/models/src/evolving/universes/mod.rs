//! Parallel universes: many small embedding spaces instead of a large one.
//!
//! **Idea.** A universe is an embedding space for some hundred triples around one relation, gathered by a random walk and trained
//! with random settings. The score of a triple is that of its most favourable universe. When the graph changes, new universes are
//! trained on the new graph; old ones are not trained again.
//!
//! **Paper.** Tay, Luu, Hui: Non-parametric estimation of multiple embeddings for link prediction on dynamic knowledge graphs.
//! AAAI 2017; with `TransH` and `TransD`: Lafraie, 2020.
//!
//! **Score.** −min over the universes that know all three parts of a triple; without any, −∞ (`missing = "infinity"`), or the
//! score of the zero vector (`"null"`).
//!
//! **Training.** Universes are independent tasks, one per thread at a time. After every `validate_every` of them, H@10 is
//! measured on validation; the best number of universes is kept, and `patience` validations without improvement end a step.
//!
//! **Deletions.** A minimum does not forget: an old universe that fits a deleted triple keeps its low energy. That is
//! `deletion = "keep"`, presumably the published method. Four other methods exist. Three retire universes: those that know all
//! parts of a deleted triple (`"coexist"`, in the published code), those that were trained on it (`"contains"`), or those of old
//! steps (`"age"`). The fourth raises the energies of a universe by the share of its triples that were deleted (`"weight"`).
//!
//! **Differs from the paper.** Relations to focus on are drawn among those that have training triples. An entity that finds
//! nothing new leaves the walk; in the published code it returns two rounds later. `null` projects the known entity of `TransH` and
//! `TransD` as their energies do, which the published code omits. `compat = true` follows that code.
//!
//! **Cost.** A universe of 1000 triples takes about 50 ms on one thread and 130 KB, in an unnamed file that is
//! mapped into memory. A question evaluates all universes that know its entity and its relation; during a step, the results of
//! validation are cached (up to 2 GB), so that the next validation evaluates new universes only. Saving takes as much memory as
//! the saved file.

mod energy_cache;
mod growth;
mod index;
mod model;
mod saved;
mod settings;
mod state;
mod storage;
#[cfg(test)]
mod tests;
mod universe;
mod view;
mod walk;

pub use settings::{Config, Deletion, Missing};

use quadcast_core::{Capabilities, EvolvingModel};
use quadcast_kernels::triples::Translation;
use toml::Table;

use super::projected::Projected;
use super::space::Space;
use super::transd::MappingVectors;
use super::transh::Hyperplane;
use crate::config::{self, ConfigError};
use crate::registry::{Build, Entry};
use crate::settings::Settings;
use model::Universes;

/// `TransE` in parallel universes.
pub const PUTRANSE: Entry = Entry {
    name: "putranse",
    aliases: &[],
    about: "TransE in many small spaces, the best of which decides.",
    paper: "Non-parametric estimation of multiple embeddings for link prediction on dynamic knowledge graphs",
    source: "Tay et al., AAAI 2017; Lafraie, 2020",
    capabilities: || CAPABILITIES,
    settings: Config::SETTINGS,
    base: None,
    quick: &[
        "universes=30",
        "validate_every=10",
        "least_triples=50",
        "most_triples=200",
        "least_epochs=20",
        "most_epochs=40",
    ],
    defaults: config::defaults::<Config>,
    build: Build::Evolving(build::<Translation>),
};
/// `TransH` in parallel universes.
pub const PUTRANSH: Entry = Entry {
    name: "putransh",
    about: "TransH in many small spaces, the best of which decides.",
    base: Some(PUTRANSE.name),
    build: Build::Evolving(build::<Projected<Hyperplane>>),
    ..PUTRANSE
};
/// `TransD` in parallel universes.
pub const PUTRANSD: Entry = Entry {
    name: "putransd",
    about: "TransD in many small spaces, the best of which decides.",
    base: Some(PUTRANSE.name),
    build: Build::Evolving(build::<Projected<MappingVectors>>),
    ..PUTRANSE
};

/// What universes that keep what was deleted can do.
const CAPABILITIES: Capabilities = Capabilities { partial: true, ..super::CAPABILITIES };

fn build<M: Space>(table: &Table) -> Result<Box<dyn EvolvingModel>, ConfigError> {
    let config: Config = config::parse(table)?;
    config.check()?;
    Ok(Box::new(Universes::<M>::new(config)))
}
