//! Patterns: how the relations of a dataset mirror, accompany and repeat each other, at the same time or later.
//!
//! [`patterns()`] counts with [`PatternCounts`](quadcast_core::PatternCounts) and detects with
//! [`Mirrors`](quadcast_core::Mirrors); the result is the JSON document of `data patterns --json`.

mod lags;
mod measure;
mod named;
mod order;
mod relation;
mod scope;

pub(crate) use measure::parallel_partners;

pub use lags::Lags;
pub use measure::{PatternOptions, Patterns, patterns};
pub use named::{NamedMirrors, NamedPair, NamedSymmetric};
pub use relation::{Partner, RelationPatterns};
