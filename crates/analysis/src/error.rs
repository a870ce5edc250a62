//! The error of the analysis crate.

use quadcast_data::DataError;
use thiserror::Error;

/// Whatever can go wrong when datasets are compared, divided, compiled or made.
#[derive(Debug, Error)]
pub enum AnalysisError {
    /// A dataset cannot be read or written.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Datasets cannot be compared, divided, compiled or made as asked; the message names the option and the remedy.
    #[error("{0}")]
    Input(String),
}

/// The error that the user's input is to blame for.
pub(crate) fn refuse<T>(message: String) -> Result<T, AnalysisError> {
    Err(AnalysisError::Input(message))
}
