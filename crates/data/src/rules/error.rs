//! What can be wrong with a file of rules.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A file of rules that cannot be used. Every message names the file and, where there is one, the line and column.
#[derive(Debug, Error)]
pub enum RuleFileError {
    /// Reading failed.
    #[error("cannot read the rules {}: {source}; check that the file exists and that you may read it", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A line that is not a rule.
    #[error("{}:{line}:{column}: {message}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: u64,
        /// Byte in the line, counted from 1.
        column: usize,
        /// What is wrong, what was expected and what to do.
        message: String,
    },
    /// Not one rule fits the dataset.
    #[error(
        "{}: none of its {rules} rules fits this dataset: the rules name {}, the dataset has {}; use rules of a \
         dataset with the same relations, or rename the relations in the file",
        path.display(), listed(unknown), listed(known)
    )]
    NoMatch {
        /// The file.
        path: PathBuf,
        /// How many rules the file holds.
        rules: usize,
        /// Relations that the rules name and the dataset does not have.
        unknown: Vec<String>,
        /// Relations of the dataset.
        known: Vec<String>,
    },
}

/// How many names a message lists.
const SHOWN: usize = 5;

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        return "no relation".to_owned();
    }
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
