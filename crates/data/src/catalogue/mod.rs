//! The catalogue of benchmark variants.
//!
//! A name such as "ICEWS14" stands for at least four different divisions of data, and results on one say nothing about
//! another. The catalogue therefore lists *variants*, says what is odd about each, and recognises them by content.

mod completion;
mod downloads;
mod evolving;
mod fingerprint;
mod forecasting;
mod identify;
mod timeless;
mod variant;

pub use fingerprint::{fingerprint, split_fingerprints};
pub use identify::{CatalogueMatch, compare, identify, lookup};
pub(crate) use identify::{Hashes, compare_with};
pub use variant::{Download, Family, SnapshotCounts, Variant};

/// Every variant that the project's specifications name, also those that nobody could hand us.
pub const VARIANTS: &[Variant] = &variant::join::<COUNT>(GROUPS);

const GROUPS: &[&[Variant]] = &[
    forecasting::FORECASTING,
    forecasting::TEMPORAL_GRAPH_BENCHMARK,
    completion::COMPLETION,
    timeless::INTERVALS,
    evolving::EVOLVING,
    evolving::CONTINUAL,
    timeless::STATIC,
];

const COUNT: usize = variant::total(GROUPS);
