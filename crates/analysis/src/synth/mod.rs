//! Synthetic worlds: generators with known structure.
//!
//! A world is a list of processes with known parameters. At each step every process gives probabilities to the facts
//! that it can bring about, given what happened before; a fact occurs if any process fires. The exact probability of
//! every fact given its past is therefore known, and with it the best score that any forecaster can reach: that of the
//! [`Oracle`].
//!
//! [`synth`] makes a world in memory; [`SynthWorld::write`] writes it in a layout that [`load`](quadcast_data::load) reads. The
//! same seed gives the same bytes.

mod background;
mod benchmark_like;
mod evolving;
mod generate;
mod names;
mod operations;
mod oracle;
mod process;
mod small;
mod state;
mod world;
mod write;

#[cfg(test)]
mod tests;

pub use generate::{SynthWorld, WorldName, synth};
pub use operations::synth_operations;
pub use oracle::Oracle;
pub use world::{Truth, TruthRow};
pub use write::synth_target;
