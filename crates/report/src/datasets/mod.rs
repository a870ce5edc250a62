//! Datasets as text: what the analysis found, what was imported, divided, compiled or made.

mod audit;
mod block;
mod catalogue;
mod compile;
mod diff;
mod division;
mod import;
mod info;
mod operations;
mod patterns;

pub use audit::audit_text;
pub use catalogue::{catalogue_text, fetch_text};
pub use compile::{CompileCost, SynthCost, compile_text, synth_text};
pub use diff::diff_text;
pub use division::division_text;
pub use import::import_text;
pub use info::info_text;
pub use operations::{converted_text, synth_stream_text};
pub use patterns::patterns_text;
