//! Ranking by counting. A rank is kept as three counts (greater, tied, tied with a smaller id), from which every
//! tie policy follows; nothing is ever sorted.

use quadcast_core::{Background, EntityId, ScoreError, ScoreRow};

/// How the gold answer stands among the candidates under one filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rank {
    /// Candidates that score strictly higher.
    pub greater: u32,
    /// Candidates that score the same, the gold answer included: at least 1.
    pub tied: u32,
    /// Candidates that score the same and have a smaller id.
    pub tied_before: u32,
}

/// True answers to the question of a row, each list sorted and without repetitions. Gold answers are in both.
#[derive(Clone, Copy, Debug, Default)]
pub struct Truth<'a> {
    /// True at the step of the question.
    pub now: &'a [EntityId],
    /// True at any step.
    pub ever: &'a [EntityId],
}

/// The ranks of one gold answer under the three filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ranks {
    /// Time-aware filter.
    pub time: Rank,
    /// Static filter.
    pub fixed: Rank,
    /// No filter.
    pub raw: Rank,
    /// Whether the model said anything about the gold answer.
    pub reached: bool,
    /// Whether the gold answer's score was not a number; it then ranks last.
    pub not_a_number: bool,
}

/// Ranks score rows. Holds scratch space the size of the id space, so keep one per thread.
pub struct Ranker {
    /// For each entity, its position in the current sparse row; valid where `stamp` equals `epoch`.
    position: Vec<u32>,
    stamp: Vec<u32>,
    epoch: u32,
    ordinal: bool,
}

impl Ranker {
    /// A ranker for `entities` candidates.
    pub fn new(entities: usize) -> Self {
        Self { position: vec![0; entities], stamp: vec![0; entities], epoch: 0, ordinal: true }
    }

    /// Leaves [`Rank::tied_before`] at zero, which costs a background a scan and is not needed to select a model.
    #[must_use]
    pub fn without_ordinal(mut self) -> Self {
        self.ordinal = false;
        self
    }

    /// Ranks each gold answer of a row.
    pub fn rank(
        &mut self,
        row: ScoreRow<'_>,
        golds: &[EntityId],
        truth: Truth<'_>,
        mut out: impl FnMut(EntityId, Ranks),
    ) -> Result<(), ScoreError> {
        row.check_length(self.position.len())?;
        match row {
            ScoreRow::Dense(scores) => {
                for &gold in golds {
                    out(gold, rank_gold(&Dense(scores), gold, truth));
                }
            }
            ScoreRow::Sparse { ids, scores, background } => {
                self.mark(ids)?;
                let row = Sparse { ranker: self, ids, scores, background };
                for &gold in golds {
                    out(gold, rank_gold(&row, gold, truth));
                }
            }
        }
        Ok(())
    }

    /// Notes where each entity of a sparse row stands.
    fn mark(&mut self, ids: &[EntityId]) -> Result<(), ScoreError> {
        self.epoch = self.epoch.wrapping_add(1);
        if self.epoch == 0 {
            self.stamp.fill(0);
            self.epoch = 1;
        }
        for (i, &id) in ids.iter().enumerate() {
            match self.stamp.get_mut(id.index()) {
                None => {
                    let (id, last) = (id.0, self.position.len() - 1);
                    return Err(ScoreError(format!(
                        "a sparse row lists entity {id}, ids run from 0 to {last}"
                    )));
                }
                Some(stamp) if *stamp == self.epoch => return Err(ScoreError::repeated(id)),
                Some(stamp) => *stamp = self.epoch,
            }
            self.position[id.index()] = i as u32;
        }
        Ok(())
    }
}

/// What ranking needs to know of a row, whatever its form.
trait Row {
    fn candidates(&self) -> usize;
    fn score(&self, entity: EntityId) -> f64;
    fn reaches(&self, entity: EntityId) -> bool;
    /// Counts over all candidates, unfiltered.
    fn count(&self, score: f64, gold: EntityId) -> Rank;
}

fn rank_gold(row: &impl Row, gold: EntityId, truth: Truth<'_>) -> Ranks {
    let score = row.score(gold);
    let reached = row.reaches(gold);
    if score.is_nan() {
        let last = |others: &[EntityId]| {
            let filtered = others.iter().filter(|&&other| other != gold).count();
            Rank { greater: (row.candidates() - filtered - 1) as u32, tied: 1, tied_before: 0 }
        };
        let (time, fixed, raw) = (last(truth.now), last(truth.ever), last(&[]));
        return Ranks { time, fixed, raw, reached, not_a_number: true };
    }
    let raw = row.count(score, gold);
    let without = |others: &[EntityId]| {
        let mut rank = raw;
        for &other in others.iter().filter(|&&other| other != gold) {
            let theirs = competitor(row.score(other));
            if theirs > score {
                rank.greater -= 1;
            } else if theirs == score {
                rank.tied -= 1;
                // Zero stays zero for a ranker without ordinal ranks.
                rank.tied_before = rank.tied_before.saturating_sub(u32::from(other < gold));
            }
        }
        rank
    };
    Ranks { time: without(truth.now), fixed: without(truth.ever), raw, reached, not_a_number: false }
}

/// A competitor whose score is not a number counts as minus infinity.
fn competitor(score: f64) -> f64 {
    if score.is_nan() { f64::NEG_INFINITY } else { score }
}

struct Dense<'a>(&'a [f32]);

impl Row for Dense<'_> {
    fn candidates(&self) -> usize {
        self.0.len()
    }

    fn score(&self, entity: EntityId) -> f64 {
        f64::from(self.0[entity.index()])
    }

    fn reaches(&self, _: EntityId) -> bool {
        true
    }

    fn count(&self, _: f64, gold: EntityId) -> Rank {
        let score = self.0[gold.index()];
        let (before, after) = self.0.split_at(gold.index());
        let (greater_before, tied_before) = count_dense(before, score);
        let (greater_after, tied_after) = count_dense(after, score);
        Rank { greater: greater_before + greater_after, tied: tied_before + tied_after, tied_before }
    }
}

/// How many scores are greater, and how many equal. The plain loop over one comparison each is what the compiler
/// turns into vector code.
fn count_dense(scores: &[f32], score: f32) -> (u32, u32) {
    if score == f32::NEG_INFINITY {
        let tied = scores.iter().filter(|s| s.is_nan() || **s == score).count() as u32;
        return (scores.len() as u32 - tied, tied);
    }
    let (mut greater, mut tied) = (0_u32, 0_u32);
    for &other in scores {
        greater += u32::from(other > score);
        tied += u32::from(other == score);
    }
    (greater, tied)
}

struct Sparse<'a> {
    ranker: &'a Ranker,
    ids: &'a [EntityId],
    scores: &'a [f64],
    background: &'a dyn Background,
}

impl Sparse<'_> {
    fn listed(&self, entity: EntityId) -> Option<f64> {
        let i = entity.index();
        (self.ranker.stamp[i] == self.ranker.epoch).then(|| self.scores[self.ranker.position[i] as usize])
    }
}

impl Row for Sparse<'_> {
    fn candidates(&self) -> usize {
        self.ranker.position.len()
    }

    fn score(&self, entity: EntityId) -> f64 {
        self.listed(entity).unwrap_or_else(|| self.background.score(entity))
    }

    fn reaches(&self, entity: EntityId) -> bool {
        self.listed(entity).is_some() || self.background.reaches(entity)
    }

    /// Counts the background as a whole, then moves each listed entity from its background score to its own.
    fn count(&self, score: f64, gold: EntityId) -> Rank {
        let mut greater = self.background.above(score) as i64;
        let mut tied = self.background.tied(score) as i64;
        let ordinal = self.ranker.ordinal;
        let mut tied_before = if ordinal { self.background.tied_before(score, gold) as i64 } else { 0 };
        for (&id, &own) in self.ids.iter().zip(self.scores) {
            let (own, base) = (competitor(own), self.background.score(id));
            greater += i64::from(own > score) - i64::from(base > score);
            let moved = i64::from(own == score) - i64::from(base == score);
            tied += moved;
            tied_before += if ordinal && id < gold { moved } else { 0 };
        }
        Rank { greater: greater as u32, tied: tied as u32, tied_before: tied_before as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use quadcast_core::Constant;

    fn ids(list: &[u32]) -> Vec<EntityId> {
        list.iter().copied().map(EntityId).collect()
    }

    fn rank_one(row: ScoreRow<'_>, entities: usize, gold: u32, now: &[u32], ever: &[u32]) -> Ranks {
        let (now, ever) = (ids(now), ids(ever));
        let mut result = None;
        Ranker::new(entities)
            .rank(row, &[EntityId(gold)], Truth { now: &now, ever: &ever }, |_, ranked| result = Some(ranked))
            .expect("a valid row");
        result.expect("one gold, one rank")
    }

    #[test]
    fn counts_on_paper() {
        // Scores: 0:5 1:3 2:3 3:9 4:3 5:1, gold 2. Greater: 0 and 3; tied: 1, 2, 4.
        let scores = [5.0, 3.0, 3.0, 9.0, 3.0, 1.0];
        let ranked = rank_one(ScoreRow::Dense(&scores), 6, 2, &[2, 3], &[1, 2, 3, 5]);
        assert_eq!(ranked.raw, Rank { greater: 2, tied: 3, tied_before: 1 });
        assert_eq!(ranked.time, Rank { greater: 1, tied: 3, tied_before: 1 });
        assert_eq!(ranked.fixed, Rank { greater: 1, tied: 2, tied_before: 0 });
    }

    #[test]
    fn unreached_gold_ties_with_the_unreached() {
        let background = Constant::unreached(10);
        let (listed, scores) = (ids(&[7, 1]), [0.5, 0.25]);
        let row = ScoreRow::Sparse { ids: &listed, scores: &scores, background: &background };
        let ranked = rank_one(row, 10, 4, &[0, 4, 7], &[0, 4, 7]);
        assert!(!ranked.reached);
        assert_eq!(ranked.raw, Rank { greater: 2, tied: 8, tied_before: 3 });
        assert_eq!(ranked.time, Rank { greater: 1, tied: 7, tied_before: 2 });
    }

    #[test]
    fn a_gold_that_is_not_a_number_ranks_last_and_such_competitors_count_as_minus_infinity() {
        let scores = [f32::NAN, 1.0, f32::NEG_INFINITY, f32::INFINITY, f32::NAN];
        let gold_is_nan = rank_one(ScoreRow::Dense(&scores), 5, 0, &[0, 1], &[0, 1]);
        assert!(gold_is_nan.not_a_number);
        assert_eq!(gold_is_nan.raw, Rank { greater: 4, tied: 1, tied_before: 0 });
        assert_eq!(gold_is_nan.time, Rank { greater: 3, tied: 1, tied_before: 0 });
        let gold_is_lowest = rank_one(ScoreRow::Dense(&scores), 5, 2, &[2], &[2, 4]);
        assert_eq!(gold_is_lowest.raw, Rank { greater: 2, tied: 3, tied_before: 1 });
        assert_eq!(gold_is_lowest.fixed, Rank { greater: 2, tied: 2, tied_before: 1 });
        let gold_is_highest = rank_one(ScoreRow::Dense(&scores), 5, 3, &[3], &[3]);
        assert_eq!(gold_is_highest.raw, Rank { greater: 0, tied: 1, tied_before: 0 });
    }

    #[test]
    fn malformed_rows_are_errors() {
        let mut ranker = Ranker::new(3);
        let mut refused = |row| {
            let ranked = ranker.rank(row, &[EntityId(0)], Truth::default(), |_, _| ());
            ranked.expect_err("a malformed row").to_string()
        };
        let background = Constant::unreached(3);
        let sparse = |ids: &'static [EntityId], scores: &'static [f64]| ScoreRow::Sparse {
            ids,
            scores,
            background: Box::leak(Box::new(background)),
        };
        let cases = [
            (ScoreRow::Dense(&[1.0]), "a dense row holds 1 scores, expected one per entity (3)"),
            (sparse(&[EntityId(1)], &[]), "a sparse row lists 1 entities but 0 scores"),
            (sparse(&[EntityId(3)], &[1.0]), "a sparse row lists entity 3, ids run from 0 to 2"),
            (sparse(&[EntityId(1), EntityId(1)], &[1.0, 2.0]), "a sparse row lists entity 1 twice"),
        ];
        for (row, message) in cases {
            assert_eq!(refused(row), message);
        }
    }

    /// Sort-free counts against a plain double loop over an explicit candidate list.
    fn brute_force(scores: &[f64], gold: usize, filtered: &[EntityId]) -> Rank {
        let mut rank = Rank::default();
        for (i, &score) in scores.iter().enumerate() {
            if i != gold && filtered.contains(&EntityId(i as u32)) {
                continue;
            }
            rank.greater += u32::from(score > scores[gold]);
            rank.tied += u32::from(score == scores[gold]);
            rank.tied_before += u32::from(score == scores[gold] && i < gold);
        }
        rank
    }

    proptest! {
        #[test]
        fn dense_and_sparse_agree_with_brute_force(
            levels in prop::collection::vec(0_u8..4, 1..40),
            listed in prop::collection::vec(any::<bool>(), 40),
            truth in prop::collection::vec(0_u8..3, 40),
            gold in any::<prop::sample::Index>(),
        ) {
            let n = levels.len();
            let gold = gold.index(n);
            // Unlisted entities share the background score 0.
            let scores: Vec<f64> =
                (0..n).map(|i| if listed[i] { f64::from(levels[i]) } else { 0.0 }).collect();
            let pick = |least: u8| -> Vec<EntityId> {
                (0..n).filter(|&i| i == gold || truth[i] >= least).map(|i| EntityId(i as u32)).collect()
            };
            let (now, ever) = (pick(2), pick(1));
            let dense: Vec<f32> = scores.iter().map(|&s| s as f32).collect();
            let sparse_ids: Vec<EntityId> = (0..n).filter(|&i| listed[i]).map(|i| EntityId(i as u32)).collect();
            let sparse_scores: Vec<f64> = sparse_ids.iter().map(|id| scores[id.index()]).collect();
            let background = Constant { value: 0.0, entities: n };
            let rows = [
                ScoreRow::Dense(&dense),
                ScoreRow::Sparse { ids: &sparse_ids, scores: &sparse_scores, background: &background },
            ];
            for row in rows {
                let mut result = None;
                let truth = Truth { now: &now, ever: &ever };
                Ranker::new(n).rank(row, &[EntityId(gold as u32)], truth, |_, r| result = Some(r)).unwrap();
                let result = result.unwrap();
                prop_assert_eq!(result.raw, brute_force(&scores, gold, &[]));
                prop_assert_eq!(result.time, brute_force(&scores, gold, &now));
                prop_assert_eq!(result.fixed, brute_force(&scores, gold, &ever));
                // A larger filter never makes a rank worse.
                prop_assert!(result.fixed.greater <= result.time.greater);
                prop_assert!(result.time.greater <= result.raw.greater);
                prop_assert!(result.fixed.greater + result.fixed.tied <= result.time.greater + result.time.tied);
                prop_assert!(result.time.greater + result.time.tied <= result.raw.greater + result.raw.tied);
            }
        }
    }
}
