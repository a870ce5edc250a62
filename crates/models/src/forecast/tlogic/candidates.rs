//! Candidates of one query: each keeps the scores that rules gave it, best first.

use std::cmp::Ordering;

use quadcast_core::EntityId;

/// Candidates with their lists of rule scores. Buffers are kept from query to query.
#[derive(Default)]
pub(super) struct Candidates {
    /// One past the slot of each entity; 0 for entities that are no candidates.
    slots: Vec<u32>,
    /// Candidates in order of discovery.
    pub ids: Vec<EntityId>,
    /// Rule scores in descending order, by slot. Longer than `ids`: the rest waits to be used again.
    lists: Vec<Vec<f32>>,
    /// Slots, to be ordered.
    order: Vec<u32>,
    /// Noisy-or of each list, by slot.
    pub scores: Vec<f64>,
}

impl Candidates {
    pub fn new(entities: usize) -> Self {
        Self { slots: vec![0; entities], ..Self::default() }
    }

    pub fn clear(&mut self) {
        for (slot, id) in self.ids.drain(..).enumerate() {
            self.slots[id.index()] = 0;
            self.lists[slot].clear();
        }
        self.scores.clear();
    }

    /// Adds the score that a rule gives a candidate.
    pub fn add(&mut self, id: EntityId, score: f32) {
        let slot = &mut self.slots[id.index()];
        if *slot == 0 {
            self.ids.push(id);
            *slot = self.ids.len() as u32;
            if self.lists.len() < self.ids.len() {
                self.lists.push(Vec::new());
            }
        }
        let list = &mut self.lists[*slot as usize - 1];
        let place = list.partition_point(|other| *other >= score);
        list.insert(place, score);
    }

    /// Whether the `k` best candidates have no ties: lists compare element by element, and a longer list is better than its
    /// prefix.
    pub fn has_no_ties(&mut self, k: usize) -> bool {
        if self.ids.len() < k {
            return false;
        }
        let lists = &self.lists;
        let better = |a: &u32, b: &u32| compare(&lists[*b as usize], &lists[*a as usize]);
        self.order.clear();
        self.order.extend(0..self.ids.len() as u32);
        if self.order.len() > k {
            self.order.select_nth_unstable_by(k - 1, better);
        }
        let best = &mut self.order[..k];
        best.sort_unstable_by(better);
        best.windows(2).all(|pair| better(&pair[0], &pair[1]) != Ordering::Equal)
    }

    /// Computes the final scores: the chance that at least one rule is right, if rules were independent.
    pub fn finish(&mut self) {
        let Self { ids, lists, scores, .. } = self;
        scores.extend(lists[..ids.len()].iter().map(|list| noisy_or(list)));
    }
}

/// `1 − Π(1 − f)`.
pub(super) fn noisy_or(scores: &[f32]) -> f64 {
    1.0 - scores.iter().map(|score| 1.0 - f64::from(*score)).product::<f64>()
}

fn compare(a: &[f32], b: &[f32]) -> Ordering {
    for (x, y) in a.iter().zip(b) {
        match x.total_cmp(y) {
            Ordering::Equal => {}
            other => return other,
        }
    }
    a.len().cmp(&b.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_applied_while_the_best_are_tied() {
        let mut candidates = Candidates::new(10);
        for (id, score) in [(1, 0.5), (2, 0.5), (3, 0.4), (3, 0.6)] {
            candidates.add(EntityId(id), score);
        }
        assert!(!candidates.has_no_ties(4), "there are only three");
        assert!(!candidates.has_no_ties(3), "1 and 2 tie");
        assert!(candidates.has_no_ties(1));
        candidates.add(EntityId(2), 0.1);
        assert!(candidates.has_no_ties(3), "a longer list is better");
        candidates.finish();
        let expected = [0.5, 1.0 - 0.5 * 0.9, 1.0 - 0.4 * 0.6];
        for (score, expected) in candidates.scores.iter().zip(expected) {
            assert!((score - expected).abs() < 1e-7, "{score} {expected}");
        }
        candidates.clear();
        assert!(candidates.ids.is_empty() && !candidates.has_no_ties(1));
    }
}
