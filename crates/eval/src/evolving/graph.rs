//! The graph of each step, as only the evaluator knows it.

use quadcast_core::{
    EntityId, EvolvingDataset, EvolvingStep, GraphSizes, GraphUpdate, GraphView, RelationId, SplitTriples,
    Step, Triple,
};

use super::answers::{Answers, AskedKeys};
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
    pub(crate) sizes: GraphSizes,
    /// What is true at this step.
    pub(super) now: Answers,
    /// What the questions of validation have for an answer in the test triples alone, whether these are asked about or not.
    pub(super) hidden: Answers,
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
    pub fn has_room_for(&self, triple: &Triple) -> bool {
        let is_present = |id: &EntityId| self.present.binary_search(id).is_ok();
        is_present(&triple.subject)
            && is_present(&triple.object)
            && self.relations.binary_search(&triple.relation).is_ok()
    }

    /// Whether a test triple was true at an earlier step.
    pub(super) fn was_true_before(&self, triple: &Triple) -> bool {
        let born = self.test.binary_search(triple).ok().and_then(|place| self.born.get(place));
        born.is_some_and(|&born| born < self.step)
    }

    /// What a person calls it: its number from 1, and its name if that is another.
    pub(super) fn title(&self) -> String {
        let number = (self.step.0 + 1).to_string();
        if self.label == number { number } else { format!("{number} (\"{}\")", self.label) }
    }

    /// Lets go of what is learned from, once it was. With its exam, later states can still be asked about the test triples, and
    /// ranked among what is true at the step.
    pub(super) fn forget(&mut self, keep_exam: bool) {
        for triples in [&mut self.train, &mut self.inserted, &mut self.deleted, &mut self.forgotten] {
            *triples = Vec::new();
        }
        (self.valid, self.born) = (Vec::new(), Vec::new());
        (self.ever, self.hidden) = (Answers::default(), Answers::default());
        if !keep_exam {
            self.test = Vec::new();
        }
        self.now = self.now.only(&AskedKeys::about(self.test.iter().copied()));
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
        Walk { data, train: Vec::new(), born: Vec::new(), seen: vec![false; data.vocabulary.entities.len()] };
    (0..data.steps.len()).map(move |index| walk.next(index))
}

/// Where a walk has come to. Sets of triples are lists in order: they take half the room of hash tables, and a step goes
/// through all of them anyway.
struct Walk<'a> {
    data: &'a EvolvingDataset,
    train: Vec<Triple>,
    /// Every triple that was ever true, and when it first was.
    born: Vec<(Triple, Step)>,
    /// By entity, whether it was ever present.
    seen: Vec<bool>,
}

impl Walk<'_> {
    fn next(&mut self, index: usize) -> StepGraph {
        let (from, step) = (&self.data.steps[index], Step(index as u32));
        let (inserted, deleted) = self.apply(from);
        let all = from.evaluation_all.as_ref().unwrap_or(&from.evaluation);
        let held_out = || all.valid.iter().chain(&all.test).copied();
        self.bear(inserted.iter().copied().chain(held_out()), step);
        let graph = || self.train.iter().copied().chain(held_out());
        let sizes = GraphSizes {
            entities: self.data.vocabulary.entities.len(),
            relations: self.data.vocabulary.relations.len(),
        };
        let present = members(sizes.entities, graph().flat_map(|t| [t.subject.0, t.object.0]), EntityId);
        for entity in &present {
            self.seen[entity.index()] = true;
        }
        let (valid, test) = (
            ascending(from.evaluation.valid.iter().copied()),
            ascending(from.evaluation.test.iter().copied()),
        );
        let forgotten = unlearning::sample(&deleted);
        let asked = AskedKeys::about(valid.iter().chain(&test).chain(&forgotten).copied());
        StepGraph {
            step,
            label: from.label.clone(),
            now: Answers::new(&asked, graph()),
            hidden: Answers::new(&AskedKeys::about(valid.iter().copied()), self.hidden(all).into_iter()),
            ever: Answers::new(&asked, self.born.iter().map(|(triple, _)| *triple)),
            born: test.iter().map(|triple| self.birth(triple, step)).collect(),
            seen: marked(&self.seen, EntityId),
            train: self.train.clone(),
            inserted,
            deleted,
            forgotten,
            valid,
            test,
            relations: members(sizes.relations, graph().map(|t| t.relation.0), RelationId),
            present,
            sizes,
        }
    }

    /// Test triples that neither training nor validation has: some benchmarks have splits that share triples.
    fn hidden(&self, all: &SplitTriples) -> Vec<Triple> {
        let valid = ascending(all.valid.iter().copied());
        let is_hidden =
            |triple: &Triple| [&self.train, &valid].iter().all(|known| known.binary_search(triple).is_err());
        all.test.iter().copied().filter(is_hidden).collect()
    }

    /// Applies the training operations; returns what came and what went. A triple that came and went within the step did
    /// neither.
    fn apply(&mut self, step: &EvolvingStep) -> (Vec<Triple>, Vec<Triple>) {
        let mut last: Vec<(Triple, usize, bool)> =
            step.training.iter().enumerate().map(|(i, op)| (op.triple, i, op.insert)).collect();
        last.sort_unstable();
        let ends = last.chunk_by(|a, b| a.0 == b.0).filter_map(|same| same.last());
        let (mut inserted, mut deleted) = (Vec::new(), Vec::new());
        for &(triple, _, insert) in ends {
            match (insert, self.train.binary_search(&triple).is_ok()) {
                (true, false) => inserted.push(triple),
                (false, true) => deleted.push(triple),
                _ => {}
            }
        }
        self.train.retain(|triple| deleted.binary_search(triple).is_err());
        self.train.extend_from_slice(&inserted);
        // Two lists in order, one after the other, are what a stable sort merges.
        self.train.sort();
        (inserted, deleted)
    }

    /// Notes triples that were never true before.
    fn bear(&mut self, triples: impl Iterator<Item = Triple>, step: Step) {
        let known = |triple: &Triple| self.born.binary_search_by_key(triple, |born| born.0).is_ok();
        let new = ascending(triples.filter(|triple| !known(triple)));
        self.born.extend(new.into_iter().map(|triple| (triple, step)));
        self.born.sort();
    }

    /// When a triple was first true. A sample that is not part of the whole has triples that are met here first.
    fn birth(&self, triple: &Triple, now: Step) -> Step {
        self.born.binary_search_by_key(triple, |born| born.0).map_or(now, |place| self.born[place].1)
    }
}

fn ascending<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items.dedup();
    items
}

/// Which of so many ids occur, ascending.
fn members<I>(count: usize, ids: impl Iterator<Item = u32>, id: fn(u32) -> I) -> Vec<I> {
    let mut occurs = vec![false; count];
    ids.for_each(|id| occurs[id as usize] = true);
    marked(&occurs, id)
}

/// The ids that are marked, ascending.
fn marked<I>(marks: &[bool], id: fn(u32) -> I) -> Vec<I> {
    (0..).zip(marks).filter(|&(_, &is_marked)| is_marked).map(|(index, _)| id(index)).collect()
}
