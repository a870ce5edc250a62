//! Patterns: how the relations of a dataset mirror, accompany and repeat each other, at the same time or later.
//!
//! [`patterns()`] counts with [`PatternCounts`](quadcast_core::PatternCounts) and detects with
//! [`Mirrors`](quadcast_core::Mirrors); the result is the JSON document of `data patterns --json`.

mod measure;
mod relation;

pub(crate) use measure::parallel_partners;
pub(crate) use relation::inverse_of;

pub use measure::{PatternOptions, Patterns, patterns};
pub use relation::{Lags, NamedMirrors, NamedPair, NamedSymmetric, Partner, RelationPatterns};
