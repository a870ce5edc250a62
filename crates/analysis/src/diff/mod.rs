//! Are two datasets made of the same facts? Ids, spelling, time units and splits may differ.
//!
//! [`names`] aligns entities and relations, [`sides`] aligns time, [`compare`] counts what is common and where it moved,
//! [`report`] holds the answer.

mod compare;
mod names;
mod report;
mod sides;
#[cfg(test)]
mod tests;

pub use compare::diff;
pub use report::{DiffExamples, DiffReport, DiffSide, NameMatch, Spelling, TimeMatch, Unmatched};
