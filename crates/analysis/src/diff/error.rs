//! What can keep two datasets from being compared.

use thiserror::Error;

/// Whatever can go wrong when two datasets are compared.
#[derive(Debug, Error)]
pub enum DiffError {
    /// Facts with time against facts without, and the like.
    #[error("{a} is {a_kind}, {b} is {b_kind}: there is nothing to align; give two datasets of one kind")]
    Kinds {
        /// The first dataset.
        a: String,
        /// What it holds.
        a_kind: &'static str,
        /// The second dataset.
        b: String,
        /// What it holds.
        b_kind: &'static str,
    },
    /// Content that is not compared.
    #[error(
        "{name} is a graph that changes by insertions and deletions; only facts with time stamps, facts with \
         validity intervals and graphs without time can be compared"
    )]
    Unsupported {
        /// The dataset.
        name: String,
    },
}
