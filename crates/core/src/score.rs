//! Score rows: how a model answers a query, and where the answer goes.

use crate::{EntityId, ScoreError};

/// Scores of the candidates that a sparse row does not list. They are shared by many queries, so the ranker can ask
/// for counts instead of reading every candidate.
pub trait Background {
    /// Score of one entity.
    fn score(&self, entity: EntityId) -> f64;
    /// How many entities of the whole id space score above `score`.
    fn above(&self, score: f64) -> usize;
    /// How many entities of the whole id space score exactly `score`.
    fn tied(&self, score: f64) -> usize;
    /// How many entities with a smaller id than `entity` score exactly `score`.
    fn tied_before(&self, score: f64, entity: EntityId) -> usize;
    /// Whether the model has anything to say about the entity. Unreached candidates rank below all others.
    fn reaches(&self, entity: EntityId) -> bool;
}

/// The same score for everyone. Below every score, it is the background of models that leave most candidates unreached.
#[derive(Clone, Copy, Debug)]
pub struct Constant {
    /// The score.
    pub value: f64,
    /// Size of the entity id space, or number of candidates.
    pub entities: usize,
}

impl Constant {
    /// Unreached candidates below every score.
    pub const fn unreached(entities: usize) -> Self {
        Self { value: f64::NEG_INFINITY, entities }
    }
}

impl Background for Constant {
    fn score(&self, _: EntityId) -> f64 {
        self.value
    }

    fn above(&self, score: f64) -> usize {
        if self.value > score { self.entities } else { 0 }
    }

    fn tied(&self, score: f64) -> usize {
        if self.value == score { self.entities } else { 0 }
    }

    fn tied_before(&self, score: f64, entity: EntityId) -> usize {
        if self.value == score { entity.index() } else { 0 }
    }

    fn reaches(&self, _: EntityId) -> bool {
        self.value > f64::NEG_INFINITY
    }
}

/// The scores of all candidates of one query, higher is better. Ties are exact equality of the scores as given.
#[derive(Clone, Copy)]
pub enum ScoreRow<'a> {
    /// One score per entity id.
    Dense(&'a [f32]),
    /// Scores of the listed entities; everyone else takes the background's score.
    Sparse {
        /// Distinct entities in any order.
        ids: &'a [EntityId],
        /// Their scores.
        scores: &'a [f64],
        /// Scores of everyone else.
        background: &'a dyn Background,
    },
}

impl ScoreRow<'_> {
    /// Refuses a row that is not as long as it must be: one score per candidate if dense, one per listed entity if sparse.
    pub fn check_length(&self, candidates: usize) -> Result<(), ScoreError> {
        match *self {
            Self::Dense(scores) if scores.len() != candidates => {
                let found = scores.len();
                let message =
                    format!("a dense row holds {found} scores, expected one per entity ({candidates})");
                Err(ScoreError(message))
            }
            Self::Sparse { ids, scores, .. } if ids.len() != scores.len() => {
                let (ids, scores) = (ids.len(), scores.len());
                Err(ScoreError(format!("a sparse row lists {ids} entities but {scores} scores")))
            }
            _ => Ok(()),
        }
    }
}

/// Takes score rows. The evaluator's sink ranks at once and keeps no row.
pub trait ScoreSink {
    /// Takes the row of the query at `index` of the slice that the model was given. Each query once, in any order.
    fn accept(&mut self, index: usize, row: ScoreRow<'_>) -> Result<(), ScoreError>;
}
