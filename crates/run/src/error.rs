//! The one error of this crate. It keeps what the layers below say: file, line, what was expected, and the remedy.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Duration;

use quadcast_analysis::AnalysisError;
use quadcast_core::ModelError;
use quadcast_data::scores::ScoreFileError;
use quadcast_data::{DataError, FetchError, ImportError, RuleFileError};
use quadcast_eval::EvalError;
use quadcast_models::ConfigError;
use thiserror::Error;

use crate::FileError;

/// A run that cannot be made, finished or opened.
#[derive(Debug, Error)]
pub enum RunError {
    /// The data cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The model or its settings cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The evaluation failed.
    #[error(transparent)]
    Eval(EvalError),
    /// A file of a run folder cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file of rules cannot be used.
    #[error(transparent)]
    Rules(#[from] RuleFileError),
    /// A file of scores cannot be used.
    #[error(transparent)]
    Scores(#[from] ScoreFileError),
    /// Another process writes into the folder.
    #[error(
        "{} is in use by another process{}: wait until it ends, or choose another --out",
        folder.display(), holder(*owner, *age)
    )]
    Locked {
        /// The folder.
        folder: PathBuf,
        /// The process that holds it, where it says so.
        owner: Option<u32>,
        /// How long it has held it.
        age: Option<Duration>,
    },
    /// The user asked to stop.
    #[error("interrupted{}", resumable(folder.as_deref()))]
    Interrupted {
        /// Where the run can be resumed.
        folder: Option<PathBuf>,
    },
    /// Wrong usage or bad input; the message names the place and the remedy.
    #[error("{0}")]
    Input(String),
    /// Something that the input is not to blame for.
    #[error("{0}")]
    Internal(String),
}

/// A name inside a message of several lines: a line end in it must not look like the next line.
pub(crate) fn one_line(name: impl Display) -> String {
    name.to_string().replace('\n', "\\n")
}

/// Who holds a folder, and for how long.
fn holder(owner: Option<u32>, age: Option<Duration>) -> String {
    let id = owner.map(|id| format!("process {id}"));
    let age = age.map(|age| match age.as_secs() {
        seconds @ 0..120 => format!("for {seconds} s"),
        seconds @ 120..7200 => format!("for {} minutes", seconds / 60),
        seconds => format!("for {} hours", seconds / 3600),
    });
    match id.into_iter().chain(age).collect::<Vec<_>>().join(", ") {
        words if words.is_empty() => words,
        words => format!(" ({words})"),
    }
}

fn resumable(folder: Option<&Path>) -> String {
    folder.map_or_else(String::new, |folder| {
        format!("; the run in {} can be resumed: give the same command again", folder.display())
    })
}

impl RunError {
    /// Wrong usage or bad input.
    pub fn input(message: impl Display) -> Self {
        Self::Input(message.to_string())
    }

    /// Something that the input is not to blame for.
    pub fn internal(message: impl Display) -> Self {
        Self::Internal(message.to_string())
    }

    /// The exit code of a process that ends with this error: 2 wrong usage or bad input, 130 interrupted, 1 everything else.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Interrupted { .. } => 130,
            _ if self.is_input() => 2,
            _ => 1,
        }
    }

    /// Whether the user can mend it by another input.
    fn is_input(&self) -> bool {
        match self {
            Self::Data(error) => !matches!(
                error,
                DataError::Write { .. }
                    | DataError::Import(ImportError::Write { .. })
                    | DataError::Fetch(FetchError::Failed { .. } | FetchError::Write { .. })
            ),
            Self::File(error) => !matches!(error, FileError::Write { .. }),
            Self::Eval(error) => {
                !matches!(error, EvalError::NotANumber { .. } | EvalError::Journal(_) | EvalError::Model(_))
                    || matches!(
                        error,
                        EvalError::Model(ModelError::Unsupported(_) | ModelError::Config { .. })
                    )
            }
            Self::Scores(error) => !matches!(error, ScoreFileError::Unpack { .. }),
            Self::Config(_) | Self::Rules(_) | Self::Locked { .. } | Self::Input(_) => true,
            Self::Interrupted { .. } | Self::Internal(_) => false,
        }
    }

    /// The same error, which names the folder in which an interrupted run can be resumed, or in which it cannot.
    pub(crate) fn in_folder(self, folder: &Path) -> Self {
        match self {
            Self::Interrupted { .. } => Self::Interrupted { folder: Some(folder.to_owned()) },
            // While a run is made, states come from its checkpoints only.
            Self::Eval(EvalError::Model(ModelError::Saved(why))) => Self::input(format!(
                "a checkpoint in {} does not fit the run, although its checksum does: {why}. Start over with --overwrite",
                folder.display()
            )),
            other => other,
        }
    }
}

impl From<EvalError> for RunError {
    fn from(error: EvalError) -> Self {
        match error {
            EvalError::Model(ModelError::Cancelled) => Self::Interrupted { folder: None },
            other => Self::Eval(other),
        }
    }
}

impl From<AnalysisError> for RunError {
    fn from(error: AnalysisError) -> Self {
        match error {
            AnalysisError::Data(error) => Self::Data(error),
            AnalysisError::Input(message) => Self::Input(message),
        }
    }
}

impl From<ModelError> for RunError {
    fn from(error: ModelError) -> Self {
        EvalError::Model(error).into()
    }
}
