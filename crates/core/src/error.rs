//! Errors of the model side.

use thiserror::Error;

use crate::Step;

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

/// A score row that cannot be ranked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ScoreError {
    /// A dense row of the wrong length.
    #[error("a dense row holds {found} scores, expected one per entity ({expected})")]
    Length {
        /// Length of the row.
        found: usize,
        /// Number of entities.
        expected: usize,
    },
    /// A sparse row whose columns differ in length.
    #[error("a sparse row lists {ids} entities but {scores} scores")]
    Columns {
        /// Number of ids.
        ids: usize,
        /// Number of scores.
        scores: usize,
    },
    /// An entity outside the id space.
    #[error("a sparse row lists entity {id}, ids run from 0 to {}", entities - 1)]
    Entity {
        /// The id.
        id: u32,
        /// Number of entities.
        entities: usize,
    },
    /// An entity listed twice in one row.
    #[error("a sparse row lists entity {id} twice")]
    Repeated {
        /// The id.
        id: u32,
    },
    /// A row for a query that was not asked or was answered already.
    #[error("a row for query {index}, which was not asked or is answered already ({asked} were asked)")]
    Query {
        /// Index of the row.
        index: usize,
        /// Number of queries asked.
        asked: usize,
    },
    /// A query without a row.
    #[error("query {index} of {asked} got no scores")]
    Missing {
        /// Index of the query.
        index: usize,
        /// Number of queries asked.
        asked: usize,
    },
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
