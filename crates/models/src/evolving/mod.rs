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
mod projected;
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
use single_space::SingleSpace;
use space::Space;

/// Builds a model with one space: settings that the table leaves out keep the defaults of the model of this name.
fn build<M: Space>(
    name: &str,
    defaults: &Config,
    table: &Table,
) -> Result<Box<dyn EvolvingModel>, ConfigError> {
    let config = config::change(defaults, table)?;
    config.check_training()?;
    unused_settings::refuse_unused::<M>(name, &config, defaults)?;
    Ok(Box::new(SingleSpace::<M>::new(config)?))
}

/// What all models of evolving graphs can do.
const CAPABILITIES: Capabilities =
    Capabilities { random: true, updates: true, ..Capabilities::new(Task::Evolving, &[]) };
