//! Dividing a dataset anew into train, valid and test: at random, by time, or so that facts that give each other away
//! stay together.
//!
//! [`units`] finds what must stay together and draws, [`leakage`] measures what a training split gives away, [`process`]
//! puts it together and [`report`] says what was done.

mod leakage;
mod options;
mod process;
mod report;
#[cfg(test)]
mod tests;
mod units;

pub use leakage::DivisionLeakage;
pub use options::{DivideOptions, DivisionMethod, HeldOut, PatternSource};
pub use process::{Division, divide};
pub use report::{DivisionReport, DivisionSource, ListReport, StratumReport};
