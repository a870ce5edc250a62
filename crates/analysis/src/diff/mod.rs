//! Are two datasets made of the same facts? Ids, spelling, time units and splits may differ.
//!
//! [`names`] aligns entities and relations, [`times`] aligns time, [`compare`] counts what is common and where it moved,
//! [`report`] holds the answer.

mod compare;
mod error;
mod names;
mod report;
mod sides;
#[cfg(test)]
mod tests;
mod times;

pub use compare::diff;
pub use error::DiffError;
pub use report::{DiffExamples, DiffReport, DiffSide, NameMatch, Spelling, TimeMatch, Unmatched};
