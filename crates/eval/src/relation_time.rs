//! Relation prediction and time prediction: which relation holds between two entities at some time, and when did a fact hold?
//!
//! Asked of completion models that can rate whole facts. All relations, or all times of the dataset, are candidates; other
//! true ones are filtered, whichever split they are in.

use std::ops::Deref;

use quadcast_core::{Dataset, Facts, Forecaster, History, Quad, RelationId, Run, Step, TiePolicy};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::metrics::{Harmonic, Metrics, Tally};
use crate::rank::Rank;
use crate::{EvalError, Evaluator};

/// How well the relation or the time of facts was predicted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlotOutcome {
    /// Facts that were asked about.
    pub queries: u64,
    /// Number of candidates.
    pub candidates: usize,
    /// How the true one ranked.
    #[serde(flatten)]
    pub metrics: Metrics,
}

/// Relation prediction and time prediction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelationTime {
    /// `(s, ?, o, t)`
    pub relation: SlotOutcome,
    /// `(s, r, o, ?)`
    pub time: SlotOutcome,
}

/// What is missing in a fact.
#[derive(Clone, Copy)]
enum Slot {
    Relation,
    Time,
}

impl Slot {
    /// What is known of a fact, and what is missing.
    fn split(self, fact: Quad) -> ([u32; 3], u32) {
        let (s, r, o, t) = (fact.subject.0, fact.relation.0, fact.object.0, fact.step.0);
        match self {
            Self::Relation => ([s, o, t], r),
            Self::Time => ([s, o, r], t),
        }
    }

    /// The fact with another value in the slot.
    fn fill(self, fact: Quad, with: u32) -> Quad {
        match self {
            Self::Relation => Quad { relation: RelationId(with), ..fact },
            Self::Time => Quad { step: Step(with), ..fact },
        }
    }
}

/// Facts that are rated together: enough to be worth a call, few enough to be in the cache.
const FACTS_AT_ONCE: usize = 16;

impl<D: Deref<Target = Dataset>> Evaluator<D> {
    /// Asks for the relation and for the time of every test fact. `None` if the model cannot rate facts.
    pub fn relation_time(
        &self,
        model: &mut dyn Forecaster,
        run: &Run,
    ) -> Result<Option<RelationTime>, EvalError> {
        let dataset = self.dataset();
        let history = self.history().whole();
        model.begin(Step(0), &history)?;
        if model.rate(&history, &[])?.is_none() {
            return Ok(None);
        }
        let mut facts: Vec<Quad> = dataset.splits.test.iter().collect();
        facts.sort_unstable();
        facts.dedup();
        run.progress.begin("relation and time", 2 * facts.len() as u64);
        let ask = |slot, candidates| ask(slot, candidates, dataset, &facts, (&*model, &history), run);
        let both = (ask(Slot::Relation, dataset.relations()), ask(Slot::Time, dataset.axis.len()));
        run.progress.end();
        Ok(match (both.0?, both.1?) {
            (Some(relation), Some(time)) => Some(RelationTime { relation, time }),
            _ => None,
        })
    }
}

fn ask(
    slot: Slot,
    candidates: usize,
    dataset: &Dataset,
    facts: &[Quad],
    (model, history): (&dyn Forecaster, &History<'_>),
    run: &Run,
) -> Result<Option<SlotOutcome>, EvalError> {
    let splits = &dataset.splits;
    let all = [&splits.train, &splits.valid, &splits.test, &dataset.beyond];
    let all = all.into_iter().flat_map(Facts::iter);
    let mut truth: Vec<([u32; 3], u32)> = all.map(|fact| slot.split(fact)).collect();
    truth.sort_unstable();
    truth.dedup();
    let chunks: Vec<Result<Vec<Rank>, EvalError>> = facts
        .par_chunks(FACTS_AT_ONCE)
        .map(|facts| {
            let filled = facts.iter().flat_map(|fact| (0..candidates as u32).map(|x| slot.fill(*fact, x)));
            let filled: Vec<Quad> = filled.collect();
            run.check_cancelled()?;
            let scores = model.rate(history, &filled)?.unwrap_or_default();
            run.progress.advance(facts.len() as u64);
            let rows = facts.iter().zip(scores.chunks_exact(candidates.max(1)));
            Ok(rows.map(|(fact, scores)| rank(slot, *fact, scores, &truth)).collect())
        })
        .collect();
    let harmonic = Harmonic::up_to(candidates);
    let mut tally = Tally::default();
    // Expectations draw nothing.
    let mut random = run.stream("ties", 0);
    for chunk in chunks {
        for rank in chunk? {
            tally.add(rank, TiePolicy::Expected, &harmonic, &mut random);
        }
    }
    Ok(tally.metrics().map(|metrics| SlotOutcome { queries: tally.queries, candidates, metrics }))
}

/// The rank of the true value among values that are not true as well.
fn rank(slot: Slot, fact: Quad, scores: &[f32], truth: &[([u32; 3], u32)]) -> Rank {
    let (key, gold) = slot.split(fact);
    let others = &truth[truth.partition_point(|entry| entry.0 < key)..];
    let mut others = others.iter().take_while(|entry| entry.0 == key).map(|entry| entry.1).peekable();
    let own = scores[gold as usize];
    let mut rank = Rank { greater: 0, tied: 1, tied_before: 0 };
    for (candidate, &score) in scores.iter().enumerate() {
        let candidate = candidate as u32;
        if others.next_if_eq(&candidate).is_some() {
            continue;
        }
        rank.greater += u32::from(score > own);
        if score == own {
            rank.tied += 1;
            rank.tied_before += u32::from(candidate < gold);
        }
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadcast_core::EntityId;

    fn fact(relation: u32, step: u32) -> Quad {
        let (subject, object) = (EntityId(0), EntityId(1));
        Quad { subject, relation: RelationId(relation), object, step: Step(step) }
    }

    #[test]
    fn other_true_relations_are_no_competitors() {
        // Relations 0 and 2 hold at step 3; 0 is asked for. Relation 4 holds at another time.
        let truth = {
            let mut truth: Vec<_> =
                [fact(0, 3), fact(2, 3), fact(4, 1)].map(|fact| Slot::Relation.split(fact)).to_vec();
            truth.sort_unstable();
            truth
        };
        let scores = [0.5, 0.5, 0.9, 0.1, 0.8];
        let found = rank(Slot::Relation, fact(0, 3), &scores, &truth);
        assert_eq!(found, Rank { greater: 1, tied: 2, tied_before: 0 });
    }

    #[test]
    fn other_true_times_are_no_competitors() {
        let mut truth: Vec<_> = [fact(1, 0), fact(1, 2)].map(|fact| Slot::Time.split(fact)).to_vec();
        truth.sort_unstable();
        let found = rank(Slot::Time, fact(1, 2), &[9.0, 0.5, 0.5, 0.7], &truth);
        assert_eq!(found, Rank { greater: 1, tied: 2, tied_before: 1 });
    }
}
