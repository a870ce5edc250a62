//! What can go wrong in an evaluation.

use quadcast_core::{ModelError, Setting, Split, Task};
use thiserror::Error;

/// An evaluation that cannot be made.
#[derive(Debug, Error)]
pub enum EvalError {
    /// The splits overlap in time, or share facts.
    #[error("{0}")]
    Splits(String),
    /// A split without facts.
    #[error("the {0} split holds no facts; an evaluation needs train, valid and test")]
    Empty(Split),
    /// A step of a changing graph that has to be learned without validation triples: its number from 1, and its name.
    #[error(
        "step {0} has triples to learn but none for validation, by which the state of a model is chosen. Hold some of its \
         triples out, or compile the benchmark with a larger share for valid or fewer intervals (quadcast data compile)"
    )]
    NoValidation(String),
    /// Scores that are not numbers.
    #[error(
        "the model gives {wrong} of {queries} true answers of step {step} a score that is not a number, and cannot be ranked. Its \
         training went astray: a smaller learning rate often helps"
    )]
    NotANumber {
        /// The number of the step from 1, and its name.
        step: String,
        /// Questions whose true answer has no score.
        wrong: usize,
        /// All questions.
        queries: usize,
    },
    /// The model solves another task.
    #[error("the model is for {}, not for {}", own.word(), task.word())]
    Task {
        /// What was asked for.
        task: Task,
        /// What it solves.
        own: Task,
    },
    /// The model does not know the setting.
    #[error("the model does not support {}; it supports {}", setting.word(), supported(settings))]
    Setting {
        /// What was asked for.
        setting: Setting,
        /// What it knows.
        settings: &'static [Setting],
    },
    /// Two runs that cannot be paired query by query.
    #[error("the runs do not answer the same queries: {0}")]
    Unpaired(String),
    /// A judged step could not be noted.
    #[error("{0}")]
    Journal(Box<dyn std::error::Error + Send + Sync>),
    /// The model failed.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// For models that are judged while they learn.
impl From<EvalError> for ModelError {
    fn from(error: EvalError) -> Self {
        match error {
            EvalError::Model(error) => error,
            other => Self::Unsupported(other.to_string()),
        }
    }
}

fn supported(settings: &[Setting]) -> String {
    settings.iter().map(|s| s.word()).collect::<Vec<_>>().join(", ")
}
