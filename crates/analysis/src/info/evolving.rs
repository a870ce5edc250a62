//! Statistics of a graph that changes in steps, and whether its files agree with each other.

use quadcast_core::{
    CategoryKind, EntityId, EvolvingDataset, EvolvingStep, Split, SplitTriples, Splits, Triple,
    TripleOperation,
};
use quadcast_data::{TripleSet, apply};
use rustc_hash::FxHashSet;
use serde::Serialize;

use super::Details;
use super::counting::{IdSpace, Marks, Used, repeated};

/// Inserts and deletes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Operations {
    /// Triples inserted.
    pub inserts: usize,
    /// Triples deleted.
    pub deletes: usize,
}

impl Operations {
    pub(crate) fn of(operations: &[TripleOperation]) -> Self {
        let inserts = operations.iter().filter(|operation| operation.insert).count();
        Self { inserts, deletes: operations.len() - inserts }
    }

    /// Both together.
    pub const fn total(self) -> usize {
        self.inserts + self.deletes
    }
}

/// Members that came and went since the step before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Members that were not there before.
    pub added: usize,
    /// Members that are no longer there.
    pub removed: usize,
}

/// Size of an evaluation set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sampled {
    /// Triples that are ranked.
    pub ranked: usize,
    /// All triples of the set.
    pub all: usize,
}

/// Triples of one category of negative triple classification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CategoryCounts {
    /// The benchmark's number of the category.
    pub number: u8,
    /// Triples per split.
    pub triples: Splits<usize>,
    /// Triples in all splits.
    pub total: usize,
}

/// Prepared examples of triple classification.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Classification {
    /// Examples labelled true.
    pub positives: usize,
    /// Examples labelled false.
    pub negatives: usize,
    /// Examples labelled false that are true in the graph.
    pub negatives_in_graph: usize,
    /// Examples labelled true that are not in the graph.
    pub positives_not_in_graph: usize,
}

/// Checks of one step. Every count is a number of violations; `None` where the source has nothing to check against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StepChecks {
    /// Training operations that change nothing: inserts of present triples, deletes of absent ones.
    pub void_operations: usize,
    /// Triples with more than one training operation in this step.
    pub repeated_operations: usize,
    /// Triples by which the source's increment file differs from the inserts.
    pub increment_differs: Option<usize>,
    /// Triples by which the graph after all operations differs from train, valid and test together.
    pub operations_differ: Option<usize>,
    /// Distinct triples that stand in two of train, valid and test.
    pub overlap: usize,
    /// Triples of categories 2 and 4 that are present, and of category 3 that are absent.
    pub misplaced_categories: usize,
    /// Listed entities that do not occur, and occurring ones that are not listed.
    pub entities_differ: Option<usize>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StepInfo {
    /// Name of the step in the source.
    pub label: String,
    /// Operations on the training graph.
    pub training: Operations,
    /// Size of the training graph after them.
    pub training_graph: usize,
    /// Validation triples.
    pub valid: Sampled,
    /// Test triples.
    pub test: Sampled,
    /// Triples of the whole graph: train, valid and test together.
    pub graph: usize,
    /// Operations on the whole graph, where the source lists them.
    pub operations: Option<Operations>,
    /// Entities that occur in the whole graph.
    pub entities: usize,
    /// Relations that occur in the whole graph.
    pub relations: usize,
    /// Entities that the source lists.
    pub listed_entities: Option<usize>,
    /// Relations that the source lists.
    pub listed_relations: Option<usize>,
    /// Entities that came and went: of the source's lists if there are any, of the whole graph otherwise.
    pub entity_change: Change,
    /// Validation triples that came and went.
    pub valid_change: Change,
    /// Test triples that came and went.
    pub test_change: Change,
    /// Entities in the training graph.
    pub training_entities: usize,
    /// Relations in the training graph.
    pub training_relations: usize,
    /// Entities of all test triples that the training graph lacks.
    pub test_entities_unseen: usize,
    /// Distinct test triples that stand in the training graph.
    pub test_in_train: usize,
    /// Categories of negative triple classification.
    pub categories: Vec<CategoryCounts>,
    /// Prepared examples of triple classification, if there are any.
    pub classification: Option<Classification>,
    /// Whether the files agree with each other.
    pub checks: StepChecks,
}

/// Statistics of a graph that changes in steps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EvolvingInfo {
    /// Steps in order.
    pub steps: Vec<StepInfo>,
    /// Entities that were present once and are gone at the last step.
    pub entities_gone: usize,
    /// Whether validation and test are the same at every step.
    pub evaluation_constant: bool,
}

/// The sets of one step, as the next step needs them.
#[derive(Default)]
struct State {
    train: TripleSet,
    graph: TripleSet,
    valid: TripleSet,
    test: TripleSet,
    /// The entities of the step: as the source lists them, else those that occur.
    present: Marks,
}

impl EvolvingInfo {
    /// Computes everything; also returns the id spaces, which belong to the general part.
    pub(super) fn of(data: &EvolvingDataset) -> (Details, [IdSpace; 2]) {
        let mut ever = Used::new(&data.vocabulary);
        let mut state = State::default();
        let mut once_present = Marks::new(data.vocabulary.entities.len());
        let mut steps = Vec::with_capacity(data.steps.len());
        for (index, step) in data.steps.iter().enumerate() {
            steps.push(advance(data, step, index, &mut state));
            ever.mark(state.graph.iter().copied());
            // Categories only hold triples that were in the graph at some time; marking them covers samples.
            for category in &step.categories {
                ever.mark(category.triples.iter().copied());
            }
            once_present.join(&state.present);
        }
        let unchanged =
            |step: &StepInfo| [step.valid_change, step.test_change].iter().all(|c| *c == Change::default());
        let info = Self {
            evaluation_constant: steps.iter().skip(1).all(unchanged),
            steps,
            entities_gone: once_present.without(&state.present).count(),
        };
        (Details::Evolving(Box::new(info)), ever.spaces(&data.vocabulary))
    }
}

/// Which ids a step uses.
struct StepUse {
    training_entities: usize,
    training_relations: usize,
    test_entities_unseen: usize,
    all: Used,
}

impl StepUse {
    fn of(data: &EvolvingDataset, state: &State) -> Self {
        let mut used = Used::new(&data.vocabulary);
        used.mark(state.train.iter().copied());
        let (training_entities, training_relations) = (used.entities.count(), used.relations.count());
        let test_entities = state.test.iter().flat_map(|triple| [triple.subject, triple.object]);
        let unseen: FxHashSet<EntityId> =
            test_entities.filter(|entity| !used.entities.has(entity.0)).collect();
        used.mark(state.valid.iter().chain(&state.test).copied());
        Self { training_entities, training_relations, test_entities_unseen: unseen.len(), all: used }
    }
}

impl State {
    /// The sets after a step, and how many of its operations changed nothing. Takes the training graph along.
    fn after(&mut self, step: &EvolvingStep, full: &SplitTriples) -> (Self, usize) {
        let mut next = Self {
            train: std::mem::take(&mut self.train),
            valid: full.valid.iter().copied().collect(),
            test: full.test.iter().copied().collect(),
            ..Self::default()
        };
        let void = apply(&mut next.train, &step.training);
        next.graph = next.train.iter().chain(&next.valid).chain(&next.test).copied().collect();
        (next, void)
    }
}

/// Applies one step to the state and describes it.
fn advance(data: &EvolvingDataset, step: &EvolvingStep, index: usize, state: &mut State) -> StepInfo {
    let full = step.evaluation_all.as_ref().unwrap_or(&step.evaluation);
    let (mut next, void) = state.after(step, full);
    let used = StepUse::of(data, &next);
    next.present = used.all.entities.clone();
    if let Some(listed) = &step.entities {
        next.present = Marks::new(data.vocabulary.entities.len());
        for entity in listed {
            next.present.set(entity.0);
        }
    }
    let info = StepInfo {
        label: step.label.clone(),
        training: Operations::of(&step.training),
        training_graph: next.train.len(),
        valid: Sampled { ranked: step.evaluation.valid.len(), all: full.valid.len() },
        test: Sampled { ranked: step.evaluation.test.len(), all: full.test.len() },
        graph: next.graph.len(),
        operations: step.operations.as_deref().map(Operations::of),
        entities: used.all.entities.count(),
        relations: used.all.relations.count(),
        listed_entities: step.entities.as_ref().map(Vec::len),
        listed_relations: step.relations.as_ref().map(Vec::len),
        entity_change: Change {
            added: next.present.without(&state.present).count(),
            removed: state.present.without(&next.present).count(),
        },
        valid_change: change(&state.valid, &next.valid),
        test_change: change(&state.test, &next.test),
        training_entities: used.training_entities,
        training_relations: used.training_relations,
        test_entities_unseen: used.test_entities_unseen,
        test_in_train: next.test.intersection(&next.train).count(),
        categories: categories(step),
        classification: classification(step, &next.graph),
        checks: StepChecks::of(step, index, &state.graph, &next, void),
    };
    *state = next;
    info
}

fn change(before: &TripleSet, after: &TripleSet) -> Change {
    Change { added: after.difference(before).count(), removed: before.difference(after).count() }
}

/// Sizes of the categories of a step that are not empty.
pub(crate) fn categories(step: &EvolvingStep) -> Vec<CategoryCounts> {
    let count = |kind: CategoryKind, split: Split| -> usize {
        let matching =
            step.categories.iter().filter(|category| (category.kind, category.split) == (kind, split));
        matching.map(|category| category.triples.len()).sum()
    };
    let of_kind = |kind: CategoryKind| {
        let triples = Splits {
            train: count(kind, Split::Train),
            valid: count(kind, Split::Valid),
            test: count(kind, Split::Test),
        };
        CategoryCounts { number: kind.number(), triples, total: triples.train + triples.valid + triples.test }
    };
    CategoryKind::ALL.into_iter().map(of_kind).filter(|category| category.total > 0).collect()
}

fn classification(step: &EvolvingStep, graph: &TripleSet) -> Option<Classification> {
    let mut counts = Classification::default();
    for (triple, label) in &step.classification {
        let holds = graph.contains(triple);
        if *label {
            counts.positives += 1;
            counts.positives_not_in_graph += usize::from(!holds);
        } else {
            counts.negatives += 1;
            counts.negatives_in_graph += usize::from(holds);
        }
    }
    (!step.classification.is_empty()).then_some(counts)
}

impl StepChecks {
    /// Whether nothing is violated.
    pub fn clean(&self) -> bool {
        let optional = [self.increment_differs, self.operations_differ, self.entities_differ];
        let counts =
            [self.void_operations, self.repeated_operations, self.overlap, self.misplaced_categories];
        optional.iter().flatten().chain(&counts).all(|&count| count == 0)
    }

    /// `before` is the whole graph of the step before.
    fn of(step: &EvolvingStep, index: usize, before: &TripleSet, now: &State, void: usize) -> Self {
        Self {
            void_operations: void,
            repeated_operations: repeated_operations(&step.training),
            increment_differs: step.increment.as_ref().map(|increment| increment_differs(step, increment)),
            operations_differ: step.operations.as_ref().and_then(|operations| {
                // Where the first step lists operations they start from nothing; later ones from the step before.
                let known = index == 0 || !before.is_empty();
                known.then(|| operations_differ(before, operations, &now.graph))
            }),
            overlap: overlap(now),
            misplaced_categories: misplaced(step, &now.graph),
            entities_differ: step.entities.as_ref().map(|listed| {
                let listed: FxHashSet<_> = listed.iter().copied().collect();
                let used = now.graph.iter().flat_map(|triple| [triple.subject, triple.object]).collect();
                listed.symmetric_difference(&used).count()
            }),
        }
    }
}

fn repeated_operations(operations: &[TripleOperation]) -> usize {
    let mut triples: Vec<Triple> = operations.iter().map(|operation| operation.triple).collect();
    triples.sort_unstable();
    repeated(&triples)
}

fn increment_differs(step: &EvolvingStep, increment: &[Triple]) -> usize {
    let inserts: TripleSet = step.training.iter().filter(|o| o.insert).map(|o| o.triple).collect();
    let listed: TripleSet = increment.iter().copied().collect();
    inserts.symmetric_difference(&listed).count()
}

fn operations_differ(before: &TripleSet, operations: &[TripleOperation], now: &TripleSet) -> usize {
    let mut graph = before.clone();
    apply(&mut graph, operations);
    graph.symmetric_difference(now).count()
}

fn overlap(now: &State) -> usize {
    let in_train = now.valid.iter().chain(&now.test).filter(|triple| now.train.contains(triple)).count();
    in_train + now.valid.intersection(&now.test).count()
}

fn misplaced(step: &EvolvingStep, graph: &TripleSet) -> usize {
    let wrong = step.categories.iter().map(|category| {
        let should_hold = category.kind == CategoryKind::Returned;
        category.triples.iter().filter(|triple| graph.contains(triple) != should_hold).count()
    });
    wrong.sum()
}
