//! Models of graphs whose triples come and go.
//!
//! All but the parallel universes (`universes`) keep one space for the whole graph, with a row per entity and relation that
//! ever occurs. They differ in the energy of a triple (`space`); fitting, updating, questions and storing are one
//! implementation (`single_space`).

// As in the kernels: formulas keep the letters of their papers, energies must be compiled into their loops, and element-wise
// work stands in one line.
#![allow(clippy::many_single_char_names, clippy::inline_always, clippy::needless_for_each)]

use quadcast_core::{EvolvingCapabilities, EvolvingModel};
use toml::Table;

pub mod complex;
mod cut;
pub mod distmult;
mod examples;
pub mod incremental_transe;
mod initial;
mod projected;
mod readers;
pub mod rescal;
mod room;
pub mod rotate;
mod settings;
pub mod simple;
mod single_space;
mod space;
#[cfg(test)]
mod testing;
mod trainer;
pub mod transd;
pub mod transe;
pub mod transh;
pub mod transr;
pub mod universes;

pub use settings::{Config, LossName, OptimiserName, Positives, Sampling};

use crate::config::{self, ConfigError};
use crate::registry::EvolvingEntry;
use single_space::SingleSpace;
use space::Named;

/// The registry entry of a named space.
const fn entry<N: Named>() -> EvolvingEntry {
    EvolvingEntry {
        name: N::NAME,
        aliases: N::ALIASES,
        about: N::ABOUT,
        paper: N::PAPER,
        source: N::SOURCE,
        capabilities: capabilities::<N>,
        options: settings::OPTIONS,
        quick: QUICK,
        defaults: defaults::<N>,
        build: build::<N>,
    }
}

/// Settings with which training takes seconds.
const QUICK: &[&str] = &["dimension=16", "epochs=20", "validate_every=10", "batches=10", "negatives=2"];

fn defaults<N: Named>() -> Table {
    Table::try_from(N::config())
        .unwrap_or_else(|_| unreachable!("a configuration is a table of plain values"))
}

fn build<N: Named>(table: &Table) -> Result<Box<dyn EvolvingModel>, ConfigError> {
    let mut whole = defaults::<N>();
    whole.extend(table.clone());
    let config: Config = config::parse(&whole)?;
    config.check_threads()?;
    readers::refuse_idle::<N>(&config)?;
    Ok(Box::new(SingleSpace::<N::Space>::new(config)?))
}

fn capabilities<N: Named>() -> EvolvingCapabilities {
    capabilities_of(&N::config())
}

/// What a model with this configuration can do.
fn capabilities_of(config: &Config) -> EvolvingCapabilities {
    EvolvingCapabilities { updates: true, unlearns: config.unlearn > 0.0, partial: false }
}
