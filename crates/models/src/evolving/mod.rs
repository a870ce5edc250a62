//! Models of graphs with insertions and deletions.
//!
//! All but the parallel universes (`universes`) have one embedding space for the whole graph, with a row per entity and relation.
//! They differ in the energy of a triple (`space`); fitting, updating, scoring and saving are one implementation
//! (`single_space`).

// As in the kernels: formulas keep the letters of their papers, energies must be compiled into their loops, and element-wise
// work is one line.
#![allow(clippy::many_single_char_names, clippy::inline_always, clippy::needless_for_each)]

use quadcast_core::{Capabilities, EvolvingModel, Task};
use toml::Table;

pub mod complex;
pub mod distmult;
mod examples;
pub mod incremental_transe;
mod new_rows;
pub mod rescal;
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
mod unused_settings;

pub use settings::{Config, LossName, OptimiserName, Positives, Sampling};

use crate::config::{self, ConfigError};
use crate::registry::{Build, Entry};
use crate::settings::Settings;
use single_space::SingleSpace;
use space::Named;

/// The registry entry of a named space.
const fn entry<N: Named>() -> Entry {
    Entry {
        name: N::NAME,
        aliases: N::ALIASES,
        about: N::ABOUT,
        paper: N::PAPER,
        source: N::SOURCE,
        capabilities: || capabilities_of(&N::config()),
        settings: Config::SETTINGS,
        base: N::BASE,
        quick: &["dimension=16", "epochs=20", "validate_every=10", "batches=10", "negatives=2"],
        defaults: || N::config().table(),
        build: Build::Evolving(build::<N>),
    }
}

fn build<N: Named>(table: &Table) -> Result<Box<dyn EvolvingModel>, ConfigError> {
    let config = config::change(&N::config(), table)?;
    config.check_threads()?;
    unused_settings::refuse_unused::<N>(&config)?;
    Ok(Box::new(SingleSpace::<N::Space>::new(config)?))
}

/// What a model with this configuration can do.
fn capabilities_of(config: &Config) -> Capabilities {
    Capabilities { unlearns: config.unlearn > 0.0, ..CAPABILITIES }
}

/// What all models of evolving graphs can do.
const CAPABILITIES: Capabilities =
    Capabilities { random: true, updates: true, ..Capabilities::new(Task::Evolving, &[]) };
