//! The graphs of an evolving dataset, one after the other.

use quadcast_core::{EvolvingDataset, EvolvingStep, Quad, SplitTriples, Step, Triple};

use quadcast_data::{TripleSet, apply};

/// The graph of one step.
pub(crate) struct Graph<'a> {
    /// The step.
    pub step: &'a EvolvingStep,
    /// The training triples after its operations.
    pub train: &'a TripleSet,
}

impl Graph<'_> {
    /// All evaluation triples of the step, not only the ranked ones.
    pub fn evaluation(&self) -> &SplitTriples {
        self.step.evaluation_all.as_ref().unwrap_or(&self.step.evaluation)
    }

    /// The training triples as facts of one moment.
    pub fn training(&self) -> impl Iterator<Item = Quad> {
        self.train.iter().map(at_once)
    }
}

/// A triple as a fact of the only moment there is.
pub(crate) fn at_once(triple: &Triple) -> Quad {
    triple.at(Step(0))
}

/// Walks through the steps and shows the graph after each.
pub(crate) fn graphs(data: &EvolvingDataset, mut see: impl FnMut(usize, &Graph<'_>)) {
    let mut train = TripleSet::default();
    for (number, step) in data.steps.iter().enumerate() {
        apply(&mut train, &step.training);
        see(number, &Graph { step, train: &train });
    }
}
