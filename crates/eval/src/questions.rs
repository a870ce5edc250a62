//! The questions of one step, and the sink that ranks their answers.

use quadcast_core::{
    Direction, Duplicates, EntityId, Facts, Quad, Query, ScoreError, ScoreRow, ScoreSink, Setting, Snapshot,
};

use crate::clock::Period;
use crate::{Ranker, Ranks, Truth};

/// One question with one gold answer, and how it ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankedQuery {
    /// The question.
    pub query: Query,
    /// The gold answer.
    pub gold: EntityId,
    /// Its ranks.
    pub ranks: Ranks,
    /// Whether the fact was true at some earlier step; for completion, whether it is known from any step.
    pub seen: bool,
}

/// The distinct questions of one step. Facts that differ only in the hidden entity share a question, so a model
/// scores it once.
#[derive(Debug, Default)]
pub(crate) struct Questions {
    pub queries: Vec<Query>,
    /// Gold answers, by question.
    golds: Vec<EntityId>,
    /// Start of each question's gold answers, plus the end of the last.
    starts: Vec<usize>,
}

impl Questions {
    /// Both directions of every fact of a step.
    pub fn of(snapshot: &Snapshot<'_>, duplicates: Duplicates) -> Self {
        Self::about(snapshot.iter(), duplicates)
    }

    /// Both directions of every fact.
    pub fn about(facts: impl Iterator<Item = Quad>, duplicates: Duplicates) -> Self {
        let mut pairs: Vec<(Query, EntityId)> =
            facts.flat_map(|fact| Direction::BOTH.map(|d| Query::hide(fact, d))).collect();
        pairs.sort_unstable();
        if duplicates == Duplicates::Drop {
            pairs.dedup();
        }
        let mut questions = Self::default();
        for (query, gold) in pairs {
            if questions.queries.last() != Some(&query) {
                questions.queries.push(query);
                questions.starts.push(questions.golds.len());
            }
            questions.golds.push(gold);
        }
        questions.starts.push(questions.golds.len());
        questions
    }

    /// Whether these are ranks of exactly these questions, in their order.
    pub fn are_answered_by(&self, ranked: &[RankedQuery]) -> bool {
        let pairs = self
            .queries
            .iter()
            .enumerate()
            .flat_map(|(i, &query)| self.golds(i).iter().map(move |&gold| (query, gold)));
        pairs.eq(ranked.iter().map(|row| (row.query, row.gold)))
    }

    /// The gold answers of a run of questions, and where each question's answers start among them.
    fn golds(&self, question: usize) -> &[EntityId] {
        &self.golds[self.starts[question]..self.starts[question + 1]]
    }
}

/// The distinct questions about facts, in the order in which the evaluator asks them: (step, known entity, relation,
/// direction).
pub fn queries(facts: &Facts) -> Vec<Query> {
    let of_step = |step| Questions::of(&facts.snapshot(step), Duplicates::Drop).queries;
    facts.occupied().flat_map(of_step).collect()
}

/// How much to compute per question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Depth {
    /// The time-aware filter only: what model selection needs.
    Selection,
    /// All filters and policies.
    Full,
}

/// Ranks rows as they arrive.
pub(crate) struct RankSink<'a> {
    questions: &'a Questions,
    /// First question of this sink.
    first: usize,
    asked: usize,
    period: &'a Period<'a>,
    ranker: &'a mut Ranker,
    answered: Vec<Vec<RankedQuery>>,
    now: Vec<EntityId>,
    ever: Vec<EntityId>,
}

impl<'a> RankSink<'a> {
    /// A sink for `asked` questions from `first` on.
    pub fn new(
        questions: &'a Questions,
        (first, asked): (usize, usize),
        period: &'a Period<'a>,
        ranker: &'a mut Ranker,
    ) -> Self {
        let answered = vec![Vec::new(); asked];
        Self { questions, first, asked, period, ranker, answered, now: Vec::new(), ever: Vec::new() }
    }

    /// The ranks in the order of the questions, or an error if one got no scores.
    pub fn finish(self) -> Result<Vec<RankedQuery>, ScoreError> {
        if let Some(index) = self.answered.iter().position(Vec::is_empty) {
            return Err(ScoreError::Missing {
                index: self.first + index,
                asked: self.questions.queries.len(),
            });
        }
        Ok(self.answered.into_iter().flatten().collect())
    }

    /// Collects the true answers of a question.
    fn collect_truth(&mut self, query: &Query) {
        let events = self.period.truth.events(query.known, query.directed(self.period.relations));
        let start = events.partition_point(|event| event.step < query.step);
        let end = events.partition_point(|event| event.step <= query.step);
        self.now.clear();
        self.now.extend(events[start..end].iter().map(|event| event.answer));
        self.now.dedup();
        self.ever.clear();
        if self.period.depth == Depth::Full {
            self.ever.extend(events.iter().map(|event| event.answer));
            self.ever.sort_unstable();
            self.ever.dedup();
        }
    }

    /// Whether the fact was true at an earlier step; for completion, whether it is known from any step.
    fn seen(&self, query: &Query, gold: EntityId) -> bool {
        let Period { history, truth, relations, protocol, depth, .. } = *self.period;
        let completion = protocol.setting == Setting::Completion;
        let index = if completion { history } else { truth };
        let mut events = index.events(query.known, query.directed(relations)).iter();
        depth == Depth::Full && events.any(|e| e.answer == gold && (completion || e.step < query.step))
    }
}

impl ScoreSink for RankSink<'_> {
    fn accept(&mut self, index: usize, row: ScoreRow<'_>) -> Result<(), ScoreError> {
        if self.answered.get(index).is_none_or(|answers| !answers.is_empty()) {
            return Err(ScoreError::Query { index, asked: self.asked });
        }
        let questions = self.questions;
        let query = questions.queries[self.first + index];
        self.collect_truth(&query);
        let golds = questions.golds(self.first + index);
        let mut ranked = Vec::with_capacity(golds.len());
        let truth = Truth { now: &self.now, ever: &self.ever };
        self.ranker.rank(row, golds, truth, |gold, ranks| ranked.push((gold, ranks)))?;
        self.answered[index] = ranked
            .into_iter()
            .map(|(gold, ranks)| RankedQuery { query, gold, ranks, seen: self.seen(&query, gold) })
            .collect();
        Ok(())
    }
}
