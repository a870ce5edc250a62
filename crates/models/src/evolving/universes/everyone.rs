//! What is said of answers that no universe knows.

use quadcast_core::{Background, EntityId};

/// The same score for everybody who is not listed, as a candidate.
pub(super) struct Everyone {
    pub score: f64,
    pub candidates: usize,
}

impl Background for Everyone {
    fn score(&self, _: EntityId) -> f64 {
        self.score
    }

    fn above(&self, score: f64) -> usize {
        if self.score > score { self.candidates } else { 0 }
    }

    fn tied(&self, score: f64) -> usize {
        if self.score == score { self.candidates } else { 0 }
    }

    fn tied_before(&self, score: f64, entity: EntityId) -> usize {
        if self.score == score { entity.index() } else { 0 }
    }

    fn reaches(&self, _: EntityId) -> bool {
        self.score > f64::NEG_INFINITY
    }
}
