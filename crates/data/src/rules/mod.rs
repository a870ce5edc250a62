//! Rules as people read, move and edit them: JSON Lines with the names of relations, one rule a line.
//!
//! Names, not ids, so that rules learned on one dataset can be used on another that has the same relations.

mod read;
#[cfg(test)]
mod tests;
mod write;

pub use read::{RuleFileError, RulesRead, read_rules};
pub use write::write_rules;
