//! Whether the files of an evolving graph agree with each other.

use quadcast_core::{CategoryKind, EvolvingStep, Triple, TripleOperation};
use quadcast_data::{TripleSet, apply};
use serde::Serialize;

use super::counting::repeated;
use super::evolving::State;

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

impl StepChecks {
    /// Whether nothing is violated.
    pub fn clean(&self) -> bool {
        let optional = [self.increment_differs, self.operations_differ, self.entities_differ];
        let counts =
            [self.void_operations, self.repeated_operations, self.overlap, self.misplaced_categories];
        optional.iter().flatten().chain(&counts).all(|&count| count == 0)
    }

    /// `before` is the whole graph of the step before.
    pub(super) fn of(
        step: &EvolvingStep,
        index: usize,
        before: &TripleSet,
        now: &State,
        void: usize,
    ) -> Self {
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
                let listed: rustc_hash::FxHashSet<_> = listed.iter().copied().collect();
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
