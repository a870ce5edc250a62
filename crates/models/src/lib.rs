//! The models of Quadcast: one model, one file, one shape; one registry.
//!
//! Everything a user can name on the command line is an [`Entry`] of [`MODELS`], with what can be set of it; lists, help texts,
//! configuration checks and the reference page are derived from it.

#[macro_use]
mod settings;

pub mod blocks;
mod capacity;
pub mod completion;
mod config;
pub mod evolving;
pub mod forecast;
mod registry;
pub mod training;

pub use config::{ConfigError, set, set_value};
pub use registry::{Build, Entry, MODELS, SettingDefault, find};
pub use settings::{Choice, Condition, Kind, Range, Search, SettingInfo};
