//! The models of Quadcast: one model, one file, one shape; one registry.
//!
//! Everything a user can name on the command line is an [`Entry`] of [`MODELS`] or, for evolving graphs, an
//! [`EvolvingEntry`] of [`EVOLVING_MODELS`]; lists, help texts and
//! configuration checks are derived from it.

pub mod blocks;
pub mod completion;
mod config;
pub mod evolving;
pub mod forecast;
mod registry;

pub use config::{ConfigError, set};
pub use registry::{EVOLVING_MODELS, Entry, EvolvingEntry, Family, MODELS, OptionInfo, find, find_evolving};
