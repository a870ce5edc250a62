//! How often each answer occurred for a relation. A second table, the number of answers with at least each count, makes
//! "how many answers are more popular?" a lookup.

use quadcast_core::{Background, DirectedRelation, Direction, EntityId, History, HistoryKey, Query, Step};
use rustc_hash::FxHashMap;

/// Answer counts of one directed relation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Popularity {
    answers: Vec<EntityId>,
    counts: Vec<u32>,
    slots: FxHashMap<EntityId, u32>,
    /// `at_least[c - 1]` answers were given `c` times or more.
    at_least: Vec<u32>,
    /// Number of counted answers.
    pub total: u32,
}

impl Popularity {
    /// Counts one answer.
    pub fn add(&mut self, answer: EntityId) {
        let slot = *self.slots.entry(answer).or_insert_with(|| {
            self.answers.push(answer);
            self.counts.push(0);
            self.answers.len() as u32 - 1
        });
        let count = &mut self.counts[slot as usize];
        if self.at_least.len() == *count as usize {
            self.at_least.push(0);
        }
        self.at_least[*count as usize] += 1;
        *count += 1;
        self.total += 1;
    }

    /// How often the answer occurred.
    pub fn count(&self, answer: EntityId) -> u32 {
        self.slots.get(&answer).map_or(0, |&slot| self.counts[slot as usize])
    }
}

/// Answer counts of all directed relations in a history.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counted {
    by_relation: Vec<Popularity>,
    key: Option<HistoryKey>,
}

impl Counted {
    /// Brings the counts up to the end of a history; only facts that are new are read.
    pub fn follow(&mut self, history: &History<'_>) {
        let relations = history.relations();
        let from = match self.key {
            Some(key) if key.follows_in(history.key()) => key.ceiling(),
            _ => {
                self.by_relation = vec![Popularity::default(); 2 * relations];
                Step(0)
            }
        };
        for fact in history.snapshots_from(from).flatten() {
            for direction in Direction::BOTH {
                let (query, answer) = Query::hide(fact, direction);
                self.by_relation[query.directed(relations).index()].add(answer);
            }
        }
        self.key = Some(history.key());
    }

    /// The counts of one relation, if anything was counted.
    pub fn of(&self, relation: DirectedRelation) -> Option<&Popularity> {
        self.by_relation.get(relation.index())
    }
}

/// `weight · ξ` as the background of a score row.
pub(crate) struct Prior<'a> {
    pub popularity: &'a Popularity,
    pub weight: f64,
    pub entities: usize,
}

impl Prior<'_> {
    fn of_count(&self, count: u32) -> f64 {
        if count == 0 {
            return 0.0;
        }
        self.weight * (f64::from(count) / f64::from(self.popularity.total))
    }

    /// Entities with at least this count.
    fn at_least(&self, count: u32) -> usize {
        match count.checked_sub(1) {
            None => self.entities,
            Some(i) => self.popularity.at_least.get(i as usize).map_or(0, |&answers| answers as usize),
        }
    }

    /// The smallest count whose score is not below (`strictly`: is above) `score`.
    fn smallest_count(&self, score: f64, strictly: bool) -> u32 {
        let (mut low, mut high) = (0, self.popularity.at_least.len() as u32 + 1);
        while low < high {
            let middle = u32::midpoint(low, high);
            let value = self.of_count(middle);
            if value > score || (!strictly && value == score) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low
    }
}

impl Background for Prior<'_> {
    fn score(&self, entity: EntityId) -> f64 {
        self.of_count(self.popularity.count(entity))
    }

    fn above(&self, score: f64) -> usize {
        self.at_least(self.smallest_count(score, true))
    }

    fn tied(&self, score: f64) -> usize {
        self.at_least(self.smallest_count(score, false)) - self.above(score)
    }

    fn tied_before(&self, score: f64, entity: EntityId) -> usize {
        let (from, to) = (self.smallest_count(score, false), self.smallest_count(score, true));
        let (mut named, mut tied) = (0, 0);
        for (&answer, count) in self.popularity.answers.iter().zip(&self.popularity.counts) {
            let before = usize::from(answer < entity);
            named += before;
            tied += before & usize::from((from..to).contains(count));
        }
        // All entities that were never an answer have a count of zero.
        if from == 0 && to > 0 { tied + entity.index() - named } else { tied }
    }

    fn reaches(&self, entity: EntityId) -> bool {
        self.weight > 0.0 && self.popularity.count(entity) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn counts_agree_with_a_scan(
            answers in prop::collection::vec(0_u32..12, 0..60),
            weight in prop::sample::select(vec![0.0, 0.25, 1.0]),
            entity in 0_u32..15,
        ) {
            let mut popularity = Popularity::default();
            for &answer in &answers {
                popularity.add(EntityId(answer));
            }
            let prior = Prior { popularity: &popularity, weight, entities: 15 };
            let scores: Vec<f64> = (0..15).map(|e| prior.score(EntityId(e))).collect();
            let mut thresholds = scores.clone();
            thresholds.extend([-1.0, 0.0, 0.07, 2.0]);
            for threshold in thresholds {
                let count = |f: &dyn Fn(usize, f64) -> bool| {
                    scores.iter().enumerate().filter(|&(i, &s)| f(i, s)).count()
                };
                prop_assert_eq!(prior.above(threshold), count(&|_, s| s > threshold));
                prop_assert_eq!(prior.tied(threshold), count(&|_, s| s == threshold));
                prop_assert_eq!(
                    prior.tied_before(threshold, EntityId(entity)),
                    count(&|i, s| s == threshold && i < entity as usize)
                );
            }
        }
    }
}
