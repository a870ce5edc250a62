//! Link prediction on an evolving graph: both ends of triples are asked for, among the entities of a step.

use quadcast_core::{
    EntityId, EvolvingModel, GraphValidation, LinkScore, ModelError, Protocol, Query, SelectionFilter,
    TiePolicy, Triple, stream,
};

use super::StepGraph;
use crate::asking::{Among, Asking, Questions, RankedQuery, TrueAnswers};
use crate::candidates::{CandidateList, ListKind};
use crate::{EvalError, Harmonic, Tally};

/// Questions that one thread scores in one go: as many as kernels take together, and no more, since each needs a row of scores,
/// and a thread that waits for others may begin with more questions.
const CHUNK: usize = 32;

/// The true answers of a step, as far as the filter may know them.
struct StepTruth<'a> {
    graph: &'a StepGraph,
    filter: SelectionFilter,
}

impl TrueAnswers for StepTruth<'_> {
    fn collect(&self, query: &Query, now: &mut Vec<EntityId>, ever: &mut Vec<EntityId>) {
        let hidden = match self.filter {
            SelectionFilter::AllSplits => &[],
            SelectionFilter::TrainAndValid => self.graph.hidden.of(query),
        };
        let known = |id: &&EntityId| hidden.binary_search(id).is_err();
        now.extend(self.graph.now.of(query).iter().filter(known));
        ever.extend(self.graph.ever.of(query).iter().filter(known));
    }

    fn seen(&self, query: &Query, gold: EntityId) -> bool {
        self.graph.was_true_before(&query.fact(gold, query.step).triple())
    }
}

/// Asks for both ends of triples of a step. Ranks come in the order of (relation, direction, known entity, answer), for any
/// number of threads.
pub(super) fn ask(
    model: &mut dyn EvolvingModel,
    graph: &StepGraph,
    (triples, filter): (&[Triple], SelectionFilter),
    candidates: &CandidateList,
) -> Result<Vec<RankedQuery>, EvalError> {
    model.begin(&candidates.asked)?;
    let (model, questions) = (&*model, Questions::by_relation(triples, graph.step));
    let asking = Asking {
        questions: &questions,
        truth: &StepTruth { graph, filter },
        among: Among::Listed(candidates),
        chunk: CHUNK,
        ordinal: true,
    };
    asking.ask(|queries, sink| model.score(queries, sink))
}

/// Judges states of a model on held-out triples of a step.
pub(super) struct StepValidation<'a> {
    graph: &'a StepGraph,
    asked: &'a [Triple],
    filter: SelectionFilter,
    candidates: CandidateList,
    ties: TiePolicy,
}

impl<'a> StepValidation<'a> {
    /// On the validation triples: models select states by these scores.
    pub fn new(graph: &'a StepGraph, protocol: &Protocol) -> Self {
        let candidates = CandidateList::of(graph, protocol.candidates, ListKind::Whole);
        let Protocol { selection: filter, ties, .. } = *protocol;
        Self { graph, asked: &graph.valid, filter, candidates, ties }
    }

    /// On the test triples, among the same candidates as in the results: for the evaluator alone.
    pub fn of_test(graph: &'a StepGraph, protocol: &Protocol) -> Self {
        let candidates = CandidateList::of(graph, protocol.candidates, ListKind::of_test(protocol));
        Self {
            graph,
            asked: &graph.test,
            filter: SelectionFilter::AllSplits,
            candidates,
            ties: protocol.ties,
        }
    }
}

impl GraphValidation for StepValidation<'_> {
    fn judge(&self, model: &mut dyn EvolvingModel) -> Result<LinkScore, ModelError> {
        if self.asked.is_empty() {
            return Err(EvalError::NoValidation(self.graph.title()).into());
        }
        let ranked = ask(model, self.graph, (self.asked, self.filter), &self.candidates)?;
        let harmonic = Harmonic::up_to(self.candidates.ids().len() + 1);
        let mut tally = Tally::default();
        let mut random = stream(0, "validation ties", 0);
        for query in &ranked {
            tally.add(query.ranks.time, self.ties, &harmonic, &mut random);
        }
        Ok(tally.selection())
    }
}
