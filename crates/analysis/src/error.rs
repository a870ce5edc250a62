//! The error of the analysis crate.

use quadcast_data::DataError;
use thiserror::Error;

use crate::{CompileError, DiffError, DivideError};

/// Whatever can go wrong when datasets are compared, divided, compiled or made.
#[derive(Debug, Error)]
pub enum AnalysisError {
    /// A dataset cannot be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Two datasets cannot be compared.
    #[error(transparent)]
    Diff(#[from] DiffError),
    /// A dataset cannot be divided as asked.
    #[error(transparent)]
    Divide(#[from] DivideError),
    /// A benchmark cannot be compiled as asked.
    #[error(transparent)]
    Compile(#[from] CompileError),
    /// A synthetic world that does not exist.
    #[error("there is no world {name:?}{suggestion}; known worlds: {known}")]
    UnknownWorld {
        /// The name.
        name: String,
        /// What may have been meant, in parentheses.
        suggestion: String,
        /// The names that exist.
        known: String,
    },
}
