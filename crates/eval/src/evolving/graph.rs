//! The graph of each step, as only the evaluator knows it.

use quadcast_core::{
    EntityId, EvolvingDataset, EvolvingStep, GraphSizes, GraphUpdate, GraphView, RelationId, Step, Triple,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::answers::{Answers, Asked};
use super::unlearning;

/// The graph of one step and how it came about.
#[derive(Clone, Debug)]
pub struct StepGraph {
    /// The step, from 0.
    pub step: Step,
    /// Its name in the source.
    pub label: String,
    /// Training triples, in their order.
    pub train: Vec<Triple>,
    /// Training triples that came with this step, in their order.
    pub inserted: Vec<Triple>,
    /// Training triples that went with this step, in their order.
    pub deleted: Vec<Triple>,
    /// Those of them that are asked about.
    pub(super) forgotten: Vec<Triple>,
    /// Validation triples that are asked about, in their order.
    pub valid: Vec<Triple>,
    /// Test triples that are asked about, in their order.
    pub test: Vec<Triple>,
    /// Entities of the whole graph, ascending.
    pub present: Vec<EntityId>,
    /// Relations of the whole graph, ascending.
    pub relations: Vec<RelationId>,
    /// Entities that were present at this step or an earlier one, ascending.
    pub seen: Vec<EntityId>,
    pub(super) sizes: GraphSizes,
    /// What is true at this step.
    pub(super) now: Answers,
    /// What was true at this step or an earlier one.
    pub(super) ever: Answers,
    /// Step at which each test triple was first inserted, in the order of `test`.
    pub(super) born: Vec<Step>,
}

impl StepGraph {
    /// What a model may learn from.
    pub fn view(&self) -> GraphView<'_> {
        self.view_of(&self.train)
    }

    /// The change, and the whole graph after it.
    pub fn update(&self) -> GraphUpdate<'_> {
        GraphUpdate { graph: self.view(), inserted: &self.inserted, deleted: &self.deleted }
    }

    /// The new triples as if there were nothing else.
    pub fn increment(&self) -> GraphUpdate<'_> {
        GraphUpdate { graph: self.view_of(&self.inserted), inserted: &self.inserted, deleted: &[] }
    }

    /// Whether a model has anything to do. Where no training triple came or went and no validation triple is there to choose a
    /// state by, it stays as it is.
    pub(super) fn is_lesson(&self) -> bool {
        let is_changed = !(self.inserted.is_empty() && self.deleted.is_empty());
        is_changed || !self.valid.is_empty() || self.step.0 == 0
    }

    /// Whether both ends and the relation of a triple are present.
    pub(super) fn has_room_for(&self, triple: &Triple) -> bool {
        let is_present = |id: &EntityId| self.present.binary_search(id).is_ok();
        is_present(&triple.subject)
            && is_present(&triple.object)
            && self.relations.binary_search(&triple.relation).is_ok()
    }

    /// What a person calls it: its number from 1, and its name if that is another.
    pub(super) fn title(&self) -> String {
        let number = (self.step.0 + 1).to_string();
        if self.label == number { number } else { format!("{number} (\"{}\")", self.label) }
    }

    fn view_of<'a>(&'a self, triples: &'a [Triple]) -> GraphView<'a> {
        GraphView {
            step: self.step,
            triples,
            present: &self.present,
            relations: &self.relations,
            sizes: self.sizes,
        }
    }
}

/// The graphs of all steps, in their order. Only questions that are asked have their answers indexed, so that a step costs
/// little more than its triples.
pub fn walk(data: &EvolvingDataset) -> impl Iterator<Item = StepGraph> {
    let mut walk =
        Walk { data, train: FxHashSet::default(), born: FxHashMap::default(), seen: FxHashSet::default() };
    (0..data.steps.len()).map(move |index| walk.next(index))
}

struct Walk<'a> {
    data: &'a EvolvingDataset,
    train: FxHashSet<Triple>,
    /// Every triple that was ever true, and when it first was.
    born: FxHashMap<Triple, Step>,
    seen: FxHashSet<EntityId>,
}

impl Walk<'_> {
    fn next(&mut self, index: usize) -> StepGraph {
        let (from, step) = (&self.data.steps[index], Step(index as u32));
        let (inserted, deleted) = self.apply(from);
        let all = from.evaluation_all.as_ref().unwrap_or(&from.evaluation);
        let held_out = || all.valid.iter().chain(&all.test).copied();
        let graph = || self.train.iter().copied().chain(held_out());
        for triple in self.train.iter().copied().chain(held_out()) {
            self.born.entry(triple).or_insert(step);
        }
        let present = ascending(graph().flat_map(|t| [t.subject, t.object]));
        let relations = ascending(graph().map(|t| t.relation));
        self.seen.extend(&present);
        let (valid, test) = (
            ascending(from.evaluation.valid.iter().copied()),
            ascending(from.evaluation.test.iter().copied()),
        );
        let forgotten = unlearning::sample(&deleted);
        let asked = Asked::about(valid.iter().chain(&test).chain(&forgotten).copied());
        StepGraph {
            step,
            label: from.label.clone(),
            now: Answers::new(&asked, graph()),
            ever: Answers::new(&asked, self.born.keys().copied()),
            // A sample that is not part of the whole has triples that are met here first.
            born: test.iter().map(|triple| self.born.get(triple).copied().unwrap_or(step)).collect(),
            seen: ascending(self.seen.iter().copied()),
            train: ascending(self.train.iter().copied()),
            inserted,
            deleted,
            forgotten,
            valid,
            test,
            present,
            relations,
            sizes: GraphSizes {
                entities: self.data.vocabulary.entities.len(),
                relations: self.data.vocabulary.relations.len(),
            },
        }
    }

    /// Applies the training operations; returns what came and what went. A triple that came and went within the step did
    /// neither.
    fn apply(&mut self, step: &EvolvingStep) -> (Vec<Triple>, Vec<Triple>) {
        let mut was: FxHashMap<Triple, bool> = FxHashMap::default();
        for operation in &step.training {
            let triple = operation.triple;
            was.entry(triple).or_insert_with(|| self.train.contains(&triple));
            if operation.insert {
                self.train.insert(triple);
            } else {
                self.train.remove(&triple);
            }
        }
        let now = |triple: &Triple| self.train.contains(triple);
        let changed = |to: bool| was.iter().filter(move |&(t, &was)| was != to && now(t) == to);
        (ascending(changed(true).map(|(t, _)| *t)), ascending(changed(false).map(|(t, _)| *t)))
    }
}

fn ascending<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items.dedup();
    items
}
