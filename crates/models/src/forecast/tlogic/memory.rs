//! What rules led to, kept while the known facts stay the same: several steps ahead, the same questions come up at
//! every step, and only the time that has passed differs.

use std::sync::{Arc, Mutex, PoisonError};

use quadcast_core::{DirectedRelation, EntityId};
use rustc_hash::FxHashMap;

use super::apply::Hit;

/// At most this many hits are kept, 8 bytes each.
const MOST_HITS: usize = 1 << 26;

/// The hits of the first rules of a relation, from one entity.
pub(super) type Trail = Vec<Arc<[Hit]>>;

/// Trails by (relation, entity).
#[derive(Default)]
pub(super) struct Memory {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    trails: FxHashMap<(DirectedRelation, EntityId), Trail>,
    hits: usize,
}

impl Memory {
    /// What is known so far.
    pub fn recall(&self, relation: DirectedRelation, known: EntityId) -> Trail {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.trails.get(&(relation, known)).cloned().unwrap_or_default()
    }

    /// Keeps a trail if it is longer than the one that is kept and there is room.
    pub fn keep(&self, relation: DirectedRelation, known: EntityId, trail: Trail) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let old = kept.trails.get(&(relation, known)).map_or(0, Vec::len);
        let new: usize = trail.iter().skip(old).map(|hits| hits.len() + 1).sum();
        if trail.len() > old && kept.hits + new <= MOST_HITS {
            kept.hits += new;
            kept.trails.insert((relation, known), trail);
        }
    }
}
