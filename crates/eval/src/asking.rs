//! Asking: distinct questions go to a model in chunks, and one sink ranks the answers as they arrive. All tasks use it; a
//! clock decides which questions are asked, what is true, and which entities are candidates.

use quadcast_core::{
    Direction, Duplicates, EntityId, Facts, ModelError, Quad, Query, ScoreError, ScoreRow, ScoreSink, Step,
    Triple,
};
use rayon::prelude::*;

use crate::candidates::{CandidateList, ListKind};
use crate::published_list::PublishedRanker;
use crate::{EvalError, Rank, Ranker, Ranks, Truth};

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

/// Distinct questions with their gold answers. Facts that differ only in the hidden entity share a question, so a model
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
    /// Both directions of every fact, in order of (step, known entity, relation, direction).
    pub fn about(facts: impl Iterator<Item = Quad>, duplicates: Duplicates) -> Self {
        let mut pairs: Vec<(Query, EntityId)> = pairs(facts).collect();
        pairs.sort_unstable();
        if duplicates == Duplicates::Drop {
            pairs.dedup();
        }
        Self::grouped(pairs)
    }

    /// Both ends of triples of a step, in order of (relation, direction, known entity): a model may prepare for a relation.
    pub fn by_relation(triples: &[Triple], step: Step) -> Self {
        let mut pairs: Vec<(Query, EntityId)> = pairs(triples.iter().map(|triple| triple.at(step))).collect();
        pairs.sort_unstable_by_key(|&(query, gold)| (query.relation, query.direction, query.known, gold));
        pairs.dedup();
        Self::grouped(pairs)
    }

    /// Equal questions must be neighbours.
    fn grouped(pairs: Vec<(Query, EntityId)>) -> Self {
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
        pairs.eq(ranked.iter().map(|ranked| (ranked.query, ranked.gold)))
    }

    fn golds(&self, question: usize) -> &[EntityId] {
        &self.golds[self.starts[question]..self.starts[question + 1]]
    }
}

fn pairs(facts: impl Iterator<Item = Quad>) -> impl Iterator<Item = (Query, EntityId)> {
    facts.flat_map(|fact| Direction::BOTH.map(|direction| Query::hide(fact, direction)))
}

/// The distinct questions about facts, in the order in which the evaluator asks them: (step, known entity, relation,
/// direction).
pub fn queries(facts: &Facts) -> Vec<Query> {
    let of_step = |step| Questions::about(facts.snapshot(step).iter(), Duplicates::Drop).queries;
    facts.occupied().flat_map(of_step).collect()
}

/// Knows the true answers to questions.
pub(crate) trait TrueAnswers: Sync {
    /// Collects the answers that are true at the step of a question and those that are true at any step, each list ascending and
    /// without repetitions. Both are empty when it is called.
    fn collect(&self, query: &Query, now: &mut Vec<EntityId>, ever: &mut Vec<EntityId>);

    /// Whether the fact was known before; see [`RankedQuery::seen`].
    fn seen(&self, query: &Query, gold: EntityId) -> bool;
}

/// What is asked, among whom, and what is true.
pub(crate) struct Asking<'a> {
    pub questions: &'a Questions,
    pub truth: &'a dyn TrueAnswers,
    pub among: Among<'a>,
    /// Questions that one thread scores in one go.
    pub chunk: usize,
    /// Whether ties are also counted by id.
    pub ordinal: bool,
}

/// The entities that are ranked.
#[derive(Clone, Copy)]
pub(crate) enum Among<'a> {
    /// All entities of an id space of this size.
    All(usize),
    /// Some entities; rows hold a score for each of them.
    Listed(&'a CandidateList),
}

impl Asking<'_> {
    /// Asks all questions. `score` puts one row per query of a chunk into the sink. Ranks come back in the order of the questions
    /// for any number of threads.
    pub fn ask(
        &self,
        score: impl Fn(&[Query], &mut dyn ScoreSink) -> Result<(), ModelError> + Sync,
    ) -> Result<Vec<RankedQuery>, EvalError> {
        let chunks: Vec<Result<Vec<RankedQuery>, EvalError>> = self
            .questions
            .queries
            .par_chunks(self.chunk)
            .enumerate()
            .map_init(
                || Workspace::new(self),
                |workspace, (i, queries)| {
                    let answered = vec![Vec::new(); queries.len()];
                    let mut sink = RankSink { asking: self, first: i * self.chunk, workspace, answered };
                    score(queries, &mut sink)?;
                    Ok(sink.finish().map_err(ModelError::from)?)
                },
            )
            .collect();
        let mut ranked = Vec::with_capacity(self.questions.golds.len());
        for chunk in chunks {
            ranked.extend(chunk?);
        }
        Ok(ranked)
    }
}

/// Buffers of one thread.
struct Workspace {
    ranker: Ranker,
    published: PublishedRanker,
    now: Vec<EntityId>,
    ever: Vec<EntityId>,
    ids: Vec<EntityId>,
    scores: Vec<f64>,
}

impl Workspace {
    fn new(asking: &Asking<'_>) -> Self {
        let ranker = Ranker::new(match asking.among {
            Among::All(entities) => entities,
            Among::Listed(candidates) => candidates.asked.len(),
        });
        Self {
            ranker: if asking.ordinal { ranker } else { ranker.without_ordinal() },
            published: PublishedRanker::default(),
            now: Vec::new(),
            ever: Vec::new(),
            ids: Vec::new(),
            scores: Vec::new(),
        }
    }
}

/// Ranks rows as they arrive.
struct RankSink<'a> {
    asking: &'a Asking<'a>,
    /// First question of this sink.
    first: usize,
    workspace: &'a mut Workspace,
    answered: Vec<Vec<RankedQuery>>,
}

impl RankSink<'_> {
    /// The ranks in the order of the questions, or an error if one got no scores.
    fn finish(self) -> Result<Vec<RankedQuery>, ScoreError> {
        if let Some(index) = self.answered.iter().position(Vec::is_empty) {
            let (index, asked) = (self.first + index, self.asking.questions.queries.len());
            return Err(ScoreError(format!("query {index} of {asked} got no scores")));
        }
        Ok(self.answered.into_iter().flatten().collect())
    }
}

impl ScoreSink for RankSink<'_> {
    fn accept(&mut self, index: usize, row: ScoreRow<'_>) -> Result<(), ScoreError> {
        if self.answered.get(index).is_none_or(|answers| !answers.is_empty()) {
            return Err(ScoreError(format!(
                "a row for query {index}, which was not asked or is answered already ({} were asked)",
                self.answered.len()
            )));
        }
        let Asking { questions, truth, among, .. } = self.asking;
        let query = questions.queries[self.first + index];
        let golds = questions.golds(self.first + index);
        let Workspace { now, ever, .. } = &mut *self.workspace;
        now.clear();
        ever.clear();
        truth.collect(&query, now, ever);
        let mut ranked = Vec::with_capacity(golds.len());
        match among {
            Among::All(_) => {
                let Workspace { ranker, now, ever, .. } = &mut *self.workspace;
                ranker.rank(row, golds, Truth { now, ever }, |gold, ranks| ranked.push((gold, ranks)))?;
            }
            Among::Listed(candidates) => rank_listed(row, golds, candidates, self.workspace, &mut ranked)?,
        }
        self.answered[index] = ranked
            .into_iter()
            .map(|(gold, ranks)| RankedQuery { query, gold, ranks, seen: truth.seen(&query, gold) })
            .collect();
        Ok(())
    }
}

/// Ranks gold answers among listed candidates, in the order of their ids. The workspace holds the true answers.
fn rank_listed(
    row: ScoreRow<'_>,
    golds: &[EntityId],
    candidates: &CandidateList,
    workspace: &mut Workspace,
    ranked: &mut Vec<(EntityId, Ranks)>,
) -> Result<(), ScoreError> {
    let Workspace { ranker, published, now, ever, ids: own_ids, scores: own_scores } = workspace;
    // From here on, entities are places among the candidates.
    for answers in [&mut *now, &mut *ever] {
        answers.retain_mut(|id| candidates.place(*id).map(|place| *id = place).is_some());
    }
    let ids = candidates.ids();
    let mut present = Vec::with_capacity(golds.len());
    for &gold in golds {
        match candidates.place(gold) {
            Some(place) => present.push(place),
            // A model is asked about a step whose gold answer is not among its candidates.
            None => ranked.push((gold, last(ids.len() + 1, now, ever, None))),
        }
    }
    // A gold answer without a score is last, not tied with others without one; in published ranks it is behind the last.
    let end = ids.len() + usize::from(candidates.kind == ListKind::Published);
    let note = |place: EntityId, ranks: Ranks| {
        let ranks = if ranks.reached { ranks } else { last(end, now, ever, Some(place)) };
        ranked.push((ids[place.index()], ranks));
    };
    let truth = Truth { now, ever };
    match candidates.kind {
        ListKind::Whole => {
            let row = by_place(row, candidates, own_ids, own_scores)?;
            ranker.rank(row, &present, truth, note)?;
        }
        ListKind::Published => published.rank(row, &present, truth, candidates, note)?,
    }
    ranked.sort_unstable_by_key(|(gold, _)| *gold);
    Ok(())
}

/// A row in places of candidates instead of ids. `own_ids` and `own_scores` are scratch space.
fn by_place<'a>(
    row: ScoreRow<'a>,
    candidates: &CandidateList,
    own_ids: &'a mut Vec<EntityId>,
    own_scores: &'a mut Vec<f64>,
) -> Result<ScoreRow<'a>, ScoreError> {
    row.check_length(candidates.asked.len())?;
    let ScoreRow::Sparse { ids, scores, background } = row else { return Ok(row) };
    own_ids.clear();
    own_scores.clear();
    for (&id, &score) in ids.iter().zip(scores) {
        if let Some(place) = candidates.place(id) {
            own_ids.push(place);
            own_scores.push(score);
        }
    }
    Ok(ScoreRow::Sparse { ids: own_ids, scores: own_scores, background })
}

/// The last place among `count` candidates, other true answers left out.
fn last(count: usize, now: &[EntityId], ever: &[EntityId], own: Option<EntityId>) -> Ranks {
    let place = |others: &[EntityId]| {
        let filtered = others.iter().filter(|&&other| Some(other) != own).count();
        Rank { greater: (count - 1 - filtered) as u32, tied: 1, tied_before: 0 }
    };
    Ranks { time: place(now), fixed: place(ever), raw: place(&[]), reached: false, not_a_number: false }
}
