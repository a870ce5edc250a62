//! Isolation: is each query answered without knowing the others?
//!
//! The evaluator hands a model many queries of one step at once. A model that lets one answer depend on the other queries knows who is
//! active on that day, which is test information; see `docs/query-set-leak.md`. So, once the test period was played, a sample of its
//! questions is asked again: alone, together in another order, in other company, and in the company of questions about entities that
//! the step does not ask about, which a model that remembers all queries has not heard yet. The rows must be the same over all
//! entities, and the ranks must be those that were recorded.
//!
//! **Rounding.** A matrix product of another height may take another path through the kernels and add up in another order, so that
//! an honest row can differ in its last bits. Differences of at most 1e-5 of the spread of the row therefore count as rounding, if the
//! ranks are as recorded or moved among near ties only. The spread of a sparse row is that of its listed scores: a background may lie
//! far below them and would hide everything.
//!
//! **Limits.** It is a sample, and the model is only told to `begin` again. A model that keeps the query set of its first `score` for
//! as long as its history stands still, beyond every later `begin`, answers alike each time and is not found. And a model that keeps
//! what `observe` told it when an earlier step begins again, which the trait forbids, is found although it may not peek.

use quadcast_core::{
    Constant, EntityId, Forecaster, History, ModelError, Query, Run, ScoreError, ScoreRow, ScoreSink,
    Setting, Step, Task, words,
};
use rand::Rng;
use rand::seq::{IndexedRandom, SliceRandom};
use serde::{Deserialize, Serialize};

use crate::asking::TrueAnswers;
use crate::evaluator::Period;
use crate::{EvalError, Rank, RankedQuery, Ranker, Truth};

/// Steps of the sample, spread evenly over the test period.
const STEPS: usize = 4;
/// Questions of the sample about one step.
const QUESTIONS: usize = 16;
/// Other questions that keep them company.
const COMPANY: usize = 48;
/// Differences up to this part of the spread of a row are rounding.
const ROUNDING: f64 = 1e-5;

words! {
    /// Whether queries were answered without knowing each other.
    pub enum IsolationVerdict {
        /// Every row is the same bit for bit, and so are the ranks.
        Exact = "exact",
        /// Rows differ as much as sums in another order do, and ranks at most among near ties.
        Rounding = "rounding",
        /// Answers depend on what else is asked.
        Broken = "broken",
    }
}

/// What asking a sample of questions again has shown.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Isolation {
    /// The finding.
    pub verdict: IsolationVerdict,
    /// Questions of the sample.
    pub questions: usize,
    /// Steps that they are about.
    pub steps: usize,
    /// The largest difference between two scores of the same candidate, as a part of the spread of its row; 1 also stands for more.
    pub largest_difference: f64,
}

impl Isolation {
    /// Whether answers depend on what else is asked.
    pub fn is_broken(&self) -> bool {
        self.verdict == IsolationVerdict::Broken
    }

    /// Takes a finding; the worst counts.
    fn note(&mut self, verdict: IsolationVerdict) {
        self.verdict = self.verdict.max(verdict);
    }

    /// Compares a row with the one that the same question got alone.
    fn compare(&mut self, alone: &Row, scores: &[f64]) {
        let mut largest = None;
        for (&one, &other) in alone.scores.iter().zip(scores) {
            if one.to_bits() != other.to_bits() && !(one.is_nan() && other.is_nan()) {
                let difference = (one - other).abs() / alone.spread;
                // A number and none, or a number and infinity.
                let difference = if difference.is_finite() { difference } else { 1.0 };
                largest = Some(difference.max(largest.unwrap_or(0.0)));
            }
        }
        let Some(largest) = largest else { return };
        self.largest_difference = self.largest_difference.max(largest.min(1.0));
        self.note(if largest <= ROUNDING { IsolationVerdict::Rounding } else { IsolationVerdict::Broken });
    }
}

/// The scores of all entities for one question.
struct Row {
    scores: Vec<f64>,
    /// What differences are measured by; above 0.
    spread: f64,
}

impl Row {
    /// Whether a recorded rank differs from the ranks in this row at most by near ties. `others` are filtered.
    fn nearly_has(&self, recorded: Rank, gold: EntityId, others: &[EntityId]) -> bool {
        let own = self.scores[gold.index()];
        // Both the gold answer and its competitor may have moved.
        let margin = 2.0 * ROUNDING * self.spread;
        let (mut above, mut near) = (0, 0);
        for (id, &score) in (0..).map(EntityId).zip(&self.scores) {
            if id == gold || others.binary_search(&id).is_err() {
                above += u32::from(score > own + margin);
                near += u32::from(score >= own - margin);
            }
        }
        recorded.greater >= above && recorded.greater + recorded.tied <= near
    }
}

/// Difference between the largest and the smallest finite score; of equal ones their size, of none 1.
fn spread(scores: &[f64]) -> f64 {
    let finite = || scores.iter().copied().filter(|score| score.is_finite());
    let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
    [high - low, high.abs()].into_iter().find(|size| size.is_finite() && *size > 0.0).unwrap_or(1.0)
}

/// Hands on each row with one score per entity, and the spread of the scores that it lists.
struct Expanding<'a> {
    row: Vec<f64>,
    accepted: Vec<bool>,
    take: &'a mut dyn FnMut(usize, &[f64], f64),
}

impl ScoreSink for Expanding<'_> {
    fn accept(&mut self, index: usize, row: ScoreRow<'_>) -> Result<(), ScoreError> {
        row.check_length(self.row.len())?;
        match self.accepted.get_mut(index) {
            Some(accepted) if !*accepted => *accepted = true,
            _ => return Err(ScoreError(format!("a row for query {index}, which was not asked or has one"))),
        }
        let size = match row {
            ScoreRow::Dense(scores) => {
                self.row.iter_mut().zip(scores).for_each(|(own, &score)| *own = f64::from(score));
                spread(&self.row)
            }
            ScoreRow::Sparse { ids, scores, background } => {
                for (id, own) in (0..).map(EntityId).zip(&mut self.row) {
                    *own = background.score(id);
                }
                for (&id, &score) in ids.iter().zip(scores) {
                    let own = self.row.get_mut(id.index());
                    let unknown = || ScoreError(format!("a sparse row lists the unknown entity {}", id.0));
                    *own.ok_or_else(unknown)? = score;
                }
                spread(if ids.len() > 1 { scores } else { &self.row })
            }
        };
        (self.take)(index, &self.row, size);
        Ok(())
    }
}

/// The same questions about other entities: such as no question is about.
fn strangers(asked: &[Query], queries: &[Query], entities: usize, random: &mut impl Rng) -> Vec<Query> {
    let mut met = vec![false; entities];
    for query in queries {
        met[query.known.index()] = true;
    }
    let unmet: Vec<EntityId> =
        (0..).map(EntityId).zip(&met).filter(|(_, met)| !**met).map(|(id, _)| id).collect();
    let chosen = unmet.choose_multiple(random, COMPANY).copied();
    chosen.zip(asked.iter().cycle()).map(|(known, query)| Query { known, ..*query }).collect()
}

impl Period<'_> {
    /// Asks a sample of the questions again, of which these are the ranks in order.
    pub(crate) fn check_isolation(
        &self,
        model: &mut dyn Forecaster,
        run: &Run,
        ranked: &[RankedQuery],
    ) -> Result<Isolation, EvalError> {
        let mut found =
            Isolation { verdict: IsolationVerdict::Exact, questions: 0, steps: 0, largest_difference: 0.0 };
        let sample = self.sample(ranked);
        run.progress.begin("isolation", sample.len() as u64);
        let checked = sample.into_iter().try_for_each(|own| {
            run.check_cancelled()?;
            self.check_questions(model, run, own, &mut found)?;
            run.progress.advance(1);
            Ok(())
        });
        run.progress.end();
        checked.map(|()| found)
    }

    /// The ranks of the steps of the sample. The last step is always one of them; online it is the only one, because the weights have
    /// changed since the others. Completion has one `begin` for all.
    fn sample<'r>(&self, ranked: &'r [RankedQuery]) -> Vec<&'r [RankedQuery]> {
        if self.protocol.task == Task::Completion {
            return if ranked.is_empty() { Vec::new() } else { vec![ranked] };
        }
        let steps: Vec<&[RankedQuery]> =
            ranked.chunk_by(|one, other| one.query.step == other.query.step).collect();
        let most = if self.protocol.setting == Setting::Online { 1 } else { STEPS };
        let count = most.min(steps.len());
        (1..=count).map(|place| steps[place * steps.len() / count - 1]).collect()
    }

    /// Begins as the clock does, and asks some questions several times.
    fn check_questions(
        &self,
        model: &mut dyn Forecaster,
        run: &Run,
        ranked: &[RankedQuery],
        found: &mut Isolation,
    ) -> Result<(), EvalError> {
        let (step, history) = self.begin_again(ranked[0].query.step);
        model.begin(step, &history)?;
        let mut random = run.stream("isolation", u64::from(step.0));
        let mut queries: Vec<Query> = ranked.iter().map(|ranked| ranked.query).collect();
        queries.dedup();
        queries.shuffle(&mut random);
        let (asked, others) = queries.split_at(QUESTIONS.min(queries.len()));
        let mut alone = Vec::with_capacity(asked.len());
        for query in asked {
            let mut keep =
                |_: usize, scores: &[f64], spread: f64| alone.push(Row { scores: scores.to_vec(), spread });
            self.score_again(model, &history, &[*query], &mut keep)?;
        }
        let strangers = strangers(asked, &queries, history.entities(), &mut random);
        for company in [&[][..], &others[..COMPANY.min(others.len())], &strangers] {
            let sampled = asked.iter().zip(&alone).map(|(&query, row)| (query, Some(row)));
            let mut group: Vec<(Query, Option<&Row>)> =
                sampled.chain(company.iter().map(|&query| (query, None))).collect();
            group.shuffle(&mut random);
            let together: Vec<Query> = group.iter().map(|(query, _)| *query).collect();
            self.score_again(model, &history, &together, &mut |index, scores, _| {
                if let Some(row) = group[index].1 {
                    found.compare(row, scores);
                }
            })?;
        }
        self.check_ranks(&alone, asked, ranked, found)?;
        let mut steps: Vec<Step> = asked.iter().map(|query| query.step).collect();
        steps.sort_unstable();
        steps.dedup();
        found.questions += asked.len();
        found.steps += steps.len();
        Ok(())
    }

    /// The step and the history that the clock begins with, to ask about a step.
    fn begin_again(&self, step: Step) -> (Step, History<'_>) {
        match (self.protocol.task, self.protocol.setting) {
            (Task::Completion, _) => (Step(0), self.history.whole()),
            (_, Setting::MultiStep) => (step, self.history.before(self.asked.first_step().unwrap_or(step))),
            (_, Setting::SingleStep | Setting::Online) => (step, self.history.before(step)),
        }
    }

    /// Scores some questions. A model that demonstrates the leak is shown these and no others.
    fn score_again(
        &self,
        model: &mut dyn Forecaster,
        history: &History<'_>,
        queries: &[Query],
        take: &mut dyn FnMut(usize, &[f64], f64),
    ) -> Result<(), EvalError> {
        if let Some(leak) = self.protocol.leak {
            model.shown_queries(leak, queries);
        }
        let row = vec![0.0; history.entities()];
        let mut sink = Expanding { row, accepted: vec![false; queries.len()], take };
        model.score(history, queries, &mut sink)?;
        if let Some(missing) = sink.accepted.iter().position(|accepted| !accepted) {
            let error = ScoreError(format!("query {missing} of {} got no scores", queries.len()));
            return Err(ModelError::from(error).into());
        }
        Ok(())
    }

    /// Compares ranks in the rows of questions that were asked alone with those that were recorded: a model that remembers earlier
    /// queries may answer alike by now.
    fn check_ranks(
        &self,
        alone: &[Row],
        asked: &[Query],
        ranked: &[RankedQuery],
        found: &mut Isolation,
    ) -> Result<(), EvalError> {
        let entities = self.history.entities();
        let (mut ranker, background) = (Ranker::new(entities), Constant::unreached(entities));
        let ids: Vec<EntityId> = (0..entities as u32).map(EntityId).collect();
        let (mut now, mut ever) = (Vec::new(), Vec::new());
        for (row, query) in alone.iter().zip(asked) {
            now.clear();
            ever.clear();
            self.collect(query, &mut now, &mut ever);
            let from = ranked.partition_point(|ranked| ranked.query < *query);
            let recorded = ranked[from..].iter().take_while(|ranked| ranked.query == *query);
            for RankedQuery { gold, ranks, .. } in recorded {
                let scores = ScoreRow::Sparse { ids: &ids, scores: &row.scores, background: &background };
                let truth = Truth { now: &now, ever: &ever };
                let mut again = None;
                let ranked = ranker.rank(scores, &[*gold], truth, |_, ranks| again = Some(ranks));
                ranked.map_err(ModelError::from)?;
                if again.is_some_and(|a| (a.time, a.fixed, a.raw) == (ranks.time, ranks.fixed, ranks.raw)) {
                    continue;
                }
                let filters = [(ranks.time, &now[..]), (ranks.fixed, &ever[..]), (ranks.raw, &[][..])];
                let near = filters.iter().all(|&(rank, others)| row.nearly_has(rank, *gold, others));
                found.note(if near { IsolationVerdict::Rounding } else { IsolationVerdict::Broken });
            }
        }
        Ok(())
    }
}
