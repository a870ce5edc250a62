//! Errors of the model side.

use thiserror::Error;

use crate::{EntityId, Step};

/// A model asked for facts that lie at or above its ceiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "leak: a read of step {} was refused, this view ends before step {} (facts at or after it are not known yet)",
    asked.0, ceiling.0
)]
pub struct LeakError {
    /// The step that was asked for.
    pub asked: Step,
    /// The first step out of reach.
    pub ceiling: Step,
}

/// Score rows that cannot be ranked, and why.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct ScoreError(pub String);

impl ScoreError {
    /// An entity listed twice in one row.
    pub fn repeated(entity: EntityId) -> Self {
        Self(format!("a sparse row lists entity {} twice", entity.0))
    }
}

/// Whatever can go wrong inside a model.
#[derive(Debug, Error)]
pub enum ModelError {
    /// A configuration value is out of range.
    #[error("{key} = {value} is out of range: {expected}")]
    Config {
        /// Key as the user writes it.
        key: String,
        /// The value.
        value: String,
        /// What is allowed.
        expected: String,
    },
    /// The model cannot do what was asked of it.
    #[error("{0}")]
    Unsupported(String),
    /// Training cannot go on.
    #[error("training stopped: {0}")]
    Training(String),
    /// A checkpoint cannot be written or read back.
    #[error("cannot write or read a checkpoint: {0}")]
    Checkpoint(String),
    /// Somebody asked to stop.
    #[error("stopped on request")]
    Cancelled,
    /// A saved model does not fit.
    #[error("the saved model cannot be used: {0}")]
    Saved(String),
    /// A read of the future.
    #[error(transparent)]
    Leak(#[from] LeakError),
    /// A row that cannot be ranked.
    #[error(transparent)]
    Score(#[from] ScoreError),
}
