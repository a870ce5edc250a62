//! The catalogue of benchmark variants.
//!
//! A name such as "ICEWS14" stands for at least four different divisions of data, and results on one say nothing about
//! another. The catalogue therefore lists *variants*, says what is odd about each, and recognises them by content. The entries
//! are data: `crates/data/catalogue/*.toml`.

mod entries;
mod fingerprint;
mod identify;

pub use entries::{Download, Family, SnapshotCounts, Variant, variants};
pub use fingerprint::{fingerprint, split_fingerprints};
pub use identify::{CatalogueMatch, Hashes, compare, compare_with, identify, lookup, variant};
