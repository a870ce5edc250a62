//! How a command can fail, and the exit code that says so.

use std::fmt::Display;

use quadcast_core::ModelError;
use quadcast_data::scores::ScoreFileError;
use quadcast_data::{DataError, FetchError, ImportError, RuleFileError};
use quadcast_eval::EvalError;
use quadcast_models::ConfigError;
use quadcast_report::FileError;

/// An error and its exit code.
#[derive(Debug)]
pub struct Failure {
    pub error: anyhow::Error,
    pub code: u8,
}

impl Failure {
    /// Wrong usage or bad input: exit code 2.
    pub fn input(error: impl Display) -> Self {
        Self { error: anyhow::anyhow!("{error}"), code: 2 }
    }

    /// Something that the user's input is not to blame for: exit code 1.
    pub fn internal(error: impl Display) -> Self {
        Self { error: anyhow::anyhow!("{error}"), code: 1 }
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        match error {
            DataError::Write { .. }
            | DataError::Import(ImportError::Write { .. })
            | DataError::Fetch(FetchError::Failed { .. } | FetchError::Write { .. }) => Self::internal(error),
            _ => Self::input(error),
        }
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::input(error)
    }
}

impl From<FileError> for Failure {
    fn from(error: FileError) -> Self {
        match error {
            FileError::Write { .. } => Self::internal(error),
            FileError::Read { .. } | FileError::Content { .. } => Self::input(error),
        }
    }
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        match error {
            EvalError::Model(ModelError::Unsupported(_) | ModelError::Config { .. })
            | EvalError::NotChronological { .. }
            | EvalError::SharedFacts { .. }
            | EvalError::Empty { .. }
            | EvalError::NoValidation { .. }
            | EvalError::Setting { .. }
            | EvalError::Unpaired(_) => Self::input(error),
            EvalError::Model(_) | EvalError::NotANumber { .. } | EvalError::Journal(_) => {
                Self::internal(error)
            }
        }
    }
}

impl From<RuleFileError> for Failure {
    fn from(error: RuleFileError) -> Self {
        Self::input(error)
    }
}

impl From<ScoreFileError> for Failure {
    fn from(error: ScoreFileError) -> Self {
        match error {
            ScoreFileError::Unpack { .. } => Self::internal(error),
            _ => Self::input(error),
        }
    }
}
