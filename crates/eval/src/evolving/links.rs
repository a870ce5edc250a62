//! Link prediction: both ends of triples are asked for, among the entities of a step.

use quadcast_core::{
    Direction, EntityId, EvolvingModel, GraphValidation, LinkScore, ModelError, Query, RelationId,
    ScoreError, ScoreRow, ScoreSink, Step, TiePolicy, Triple, stream,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::answers::questions_of;
use super::candidates::{Candidates, List};
use super::published::PublishedRanker;
use super::{Present, StepGraph};
use crate::{EvalError, Harmonic, Metrics, Rank, RankedQuery, Ranker, Ranks, Tally, Truth};

/// Questions that one thread scores in one go: as many as kernels take together, and no more, since each needs a row of scores,
/// and a thread that waits for others may begin with more questions.
const CHUNK: usize = 32;

/// How links are ranked. Results are comparable only when this is equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkProtocol {
    /// Among whom answers are looked for.
    pub candidates: Present,
    /// What happens to candidates that score exactly as the answer.
    pub ties: TiePolicy,
    /// Whether published results are repeated with their artefacts. Test triples are ranked in the published list, where every
    /// other candidate is replaced by entity 0, by procedures that go on from step to step; models that may have nothing to say
    /// about a triple are asked for its energy with tail and relation swapped; thresholds lie on energies; ranks of validation
    /// triples are filtered with test triples too.
    pub compat: bool,
}

/// A question and all its answers that are asked for.
struct Question {
    query: Query,
    golds: Vec<EntityId>,
}

/// Both ends of triples, sorted by relation and direction: a model may prepare for a relation.
fn questions(triples: &[Triple], step: Step) -> Vec<Question> {
    let mut rows: Vec<((RelationId, Direction, EntityId), EntityId)> =
        triples.iter().copied().flat_map(questions_of).collect();
    rows.sort_unstable();
    rows.dedup();
    let mut questions: Vec<Question> = Vec::new();
    for ((relation, direction, known), gold) in rows {
        let query = Query { step, known, relation, direction };
        match questions.last_mut() {
            Some(last) if last.query == query => last.golds.push(gold),
            _ => questions.push(Question { query, golds: vec![gold] }),
        }
    }
    questions
}

/// What the filter of a question knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// The whole graph of the step.
    Everything,
    /// The graph without its test triples: states are chosen by these ranks, and test triples must not choose.
    NoTest,
}

/// Asks for both ends of triples of a step. Ranks come in the order of (relation, direction, known entity, answer), for any
/// number of threads.
pub(super) fn ask(
    model: &mut dyn EvolvingModel,
    graph: &StepGraph,
    (triples, filter): (&[Triple], Known),
    candidates: &Candidates,
) -> Result<Vec<RankedQuery>, EvalError> {
    model.begin(&candidates.asked)?;
    let (model, questions) = (&*model, questions(triples, graph.step));
    let chunks: Vec<Result<Vec<RankedQuery>, EvalError>> = questions
        .par_chunks(CHUNK)
        .map_init(
            || (Ranker::new(candidates.asked.len()), PublishedRanker::default()),
            |(ranker, published), questions| {
                let queries: Vec<Query> = questions.iter().map(|question| question.query).collect();
                let answered = vec![None; questions.len()];
                let mut sink = Sink {
                    questions,
                    candidates,
                    graph,
                    filter,
                    ranker,
                    published,
                    answered,
                    ids: Vec::new(),
                    scores: Vec::new(),
                };
                model.score(&queries, &mut sink)?;
                sink.finish()
            },
        )
        .collect();
    let mut ranked = Vec::with_capacity(2 * triples.len());
    for chunk in chunks {
        ranked.extend(chunk?);
    }
    Ok(ranked)
}

/// Ranks rows as they arrive.
struct Sink<'a> {
    questions: &'a [Question],
    candidates: &'a Candidates,
    graph: &'a StepGraph,
    filter: Known,
    ranker: &'a mut Ranker,
    published: &'a mut PublishedRanker,
    answered: Vec<Option<Vec<RankedQuery>>>,
    ids: Vec<EntityId>,
    scores: Vec<f64>,
}

impl Sink<'_> {
    fn finish(self) -> Result<Vec<RankedQuery>, EvalError> {
        let asked = self.questions.len();
        let mut ranked = Vec::with_capacity(asked);
        for (index, rows) in self.answered.into_iter().enumerate() {
            ranked.extend(rows.ok_or(ModelError::Score(ScoreError::Missing { index, asked }))?);
        }
        Ok(ranked)
    }

    /// The places of true answers, without those that are hidden.
    fn truth(&self, answers: &[EntityId], hidden: &[EntityId]) -> Vec<EntityId> {
        let known = answers.iter().filter(|id| hidden.binary_search(id).is_err());
        known.filter_map(|&id| self.candidates.place(id)).collect()
    }
}

impl ScoreSink for Sink<'_> {
    fn accept(&mut self, index: usize, row: ScoreRow<'_>) -> Result<(), ScoreError> {
        let asked = self.questions.len();
        let question = match self.answered.get(index) {
            Some(None) => &self.questions[index],
            _ => return Err(ScoreError::Query { index, asked }),
        };
        let (graph, query) = (self.graph, &question.query);
        let hidden = if self.filter == Known::NoTest { graph.hidden.of(query) } else { &[] };
        let (now, ever) = (self.truth(graph.now.of(query), hidden), self.truth(graph.ever.of(query), hidden));
        let ids = self.candidates.ids();
        let mut ranked = Vec::with_capacity(question.golds.len());
        let mut present = Vec::with_capacity(question.golds.len());
        for &gold in &question.golds {
            match self.candidates.place(gold) {
                Some(place) => present.push(place),
                // Asked of a model about a step that its candidates are not of.
                None => ranked.push((gold, last(ids.len() + 1, &now, &ever, None))),
            }
        }
        // Whoever is not reached is last, and not somewhere among the others that are not; in published ranks behind the last.
        let end = ids.len() + usize::from(self.candidates.list == List::Published);
        let note = |place: EntityId, ranks: Ranks| {
            let ranks = if ranks.reached { ranks } else { last(end, &now, &ever, Some(place)) };
            ranked.push((ids[place.index()], ranks));
        };
        let truth = Truth { now: &now, ever: &ever };
        match self.candidates.list {
            List::Whole => {
                let row = by_place(row, self.candidates, &mut self.ids, &mut self.scores)?;
                self.ranker.rank(row, &present, truth, note)?;
            }
            List::Published => self.published.rank(row, &present, truth, self.candidates, note)?,
        }
        ranked.sort_unstable_by_key(|(gold, _)| *gold);
        let of = |(gold, ranks)| RankedQuery { query: question.query, gold, ranks, seen: false };
        self.answered[index] = Some(ranked.into_iter().map(of).collect());
        Ok(())
    }
}

/// A row in places of candidates instead of ids. `own_ids` and `own_scores` are scratch space.
fn by_place<'a>(
    row: ScoreRow<'a>,
    candidates: &Candidates,
    own_ids: &'a mut Vec<EntityId>,
    own_scores: &'a mut Vec<f64>,
) -> Result<ScoreRow<'a>, ScoreError> {
    let ScoreRow::Sparse { ids, scores, background } = row else { return Ok(row) };
    if ids.len() != scores.len() {
        return Err(ScoreError::Columns { ids: ids.len(), scores: scores.len() });
    }
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

/// Judges states of a model on held-out triples of a step.
pub(super) struct StepValidation<'a> {
    graph: &'a StepGraph,
    asked: &'a [Triple],
    filter: Known,
    candidates: Candidates,
    ties: TiePolicy,
}

impl<'a> StepValidation<'a> {
    /// On the validation triples: what models get to choose states by. Published states were chosen with test triples among
    /// what is known.
    pub fn new(graph: &'a StepGraph, protocol: LinkProtocol) -> Self {
        let candidates = Candidates::of(graph, protocol.candidates, List::Whole);
        let filter = if protocol.compat { Known::Everything } else { Known::NoTest };
        Self { graph, asked: &graph.valid, filter, candidates, ties: protocol.ties }
    }

    /// On the test triples, among the same candidates as in the results: for the evaluator alone.
    pub fn of_test(graph: &'a StepGraph, protocol: LinkProtocol, list: List) -> Self {
        let candidates = Candidates::of(graph, protocol.candidates, list);
        Self { graph, asked: &graph.test, filter: Known::Everything, candidates, ties: protocol.ties }
    }
}

impl GraphValidation for StepValidation<'_> {
    fn judge(&self, model: &mut dyn EvolvingModel) -> Result<LinkScore, ModelError> {
        if self.asked.is_empty() {
            return Err(EvalError::NoValidation { step: self.graph.title() }.into());
        }
        let ranked = ask(model, self.graph, (self.asked, self.filter), &self.candidates)?;
        let harmonic = Harmonic::up_to(self.candidates.ids().len() + 1);
        let mut tally = Tally::default();
        let mut random = stream(0, "validation ties", 0);
        for query in &ranked {
            tally.add(query.ranks.time, self.ties, &harmonic, &mut random);
        }
        let Metrics { hits10, mrr, mr, .. } = tally.metrics().unwrap_or_default();
        Ok(LinkScore { queries: tally.queries, hits10, mrr, mr })
    }
}
