//! One step of the benchmark: what its files hold, and its row of the report.

use quadcast_core::{EvolvingStep, Split, SplitTriples, Triple, TripleOperation};

use super::ever::Ever;
use super::negatives::{Examples, Published, honest};
use super::normalise::{TotalOrder, Update};
use super::options::CompileOptions;
use super::report::{CompiledSplit, CompiledStep};
use super::sample::sample;
use super::state::State;
use crate::Operations;
use crate::info::categories;
use quadcast_data::OperationStream;

/// How much of a step is made: what a layout has no room for need not be worked out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Operations and the full evaluation sets.
    Graphs,
    /// Increments, samples, examples, categories and lists of what is present as well.
    Everything,
}

/// What all steps share.
pub(super) struct Workshop<'a> {
    pub stream: &'a OperationStream,
    pub options: &'a CompileOptions,
    pub detail: Detail,
    /// The order of training operations, if those of the update have none.
    pub order: &'a TotalOrder,
    /// Every triple of the stream; empty where nothing is asked about it.
    pub ever: Ever,
    /// The published way of making negatives, if it is asked for.
    pub published: Option<Published>,
}

/// A step, its row of the report, and how many positives have no negative.
pub(super) struct Made {
    pub step: EvolvingStep,
    pub row: CompiledStep,
    pub without_negative: usize,
}

impl Workshop<'_> {
    /// Describes the state after update `index` (from 0), which comes from an interval of so many operations.
    pub(super) fn make(&mut self, index: usize, interval: usize, update: &Update, state: &State<'_>) -> Made {
        let everything = self.detail == Detail::Everything;
        let mut sorted = state.sorted_out(everything);
        let all =
            SplitTriples { valid: std::mem::take(&mut sorted.valid), test: std::mem::take(&mut sorted.test) };
        let mut step = EvolvingStep {
            label: (index + 1).to_string(),
            training: self.training(update, state),
            operations: Some(self.operations(update, state)),
            evaluation_all: Some(all),
            ..EvolvingStep::default()
        };
        let mut without_negative = 0;
        if everything {
            step.categories = sorted.into_categories();
            without_negative = self.complete(&mut step, index + 1, state);
        }
        Made { row: self.row(&step, interval, state), step, without_negative }
    }

    /// Adds what follows from the graphs and what is drawn. Returns how many positives have no negative.
    fn complete(&mut self, step: &mut EvolvingStep, number: usize, state: &State<'_>) -> usize {
        let inserted = step.training.iter().filter(|operation| operation.insert);
        step.increment = Some(inserted.map(|operation| operation.triple).collect());
        let CompileOptions { sample: size, seed, .. } = *self.options;
        if let Some(all) = &step.evaluation_all {
            step.evaluation = SplitTriples {
                valid: sample(&all.valid, size, seed, Split::Valid, number),
                test: sample(&all.test, size, seed, Split::Test, number),
            };
        }
        let (entities, ranked) = (state.graph.entities(), &step.evaluation);
        let examples =
            |positives: &[Triple], split| honest(positives, &entities, &self.ever, (seed, split, number));
        let [test, valid] = match &mut self.published {
            // There were none of validation. Nor should there be: examples of both kinds in a folder count as fair.
            Some(published) => [published.examples(&ranked.test, Split::Test, number), Examples::default()],
            None => [examples(&ranked.test, Split::Test), examples(&ranked.valid, Split::Valid)],
        };
        step.classification = test.labelled;
        step.classification_valid = valid.labelled;
        step.relations = Some(state.graph.relations());
        step.entities = Some(entities);
        test.without_negative + valid.without_negative
    }

    fn operation(&self, at: u32, state: &State<'_>) -> TripleOperation {
        let entry = self.stream.entries()[at as usize];
        TripleOperation { triple: state.triple(entry.triple()), insert: entry.insert() }
    }

    fn operations(&self, update: &Update, state: &State<'_>) -> Vec<TripleOperation> {
        update.iter().map(|&at| self.operation(at, state)).collect()
    }

    /// The training update (algorithm 3 of the thesis): since a triple keeps its split, it is the part of the update
    /// that touches training triples.
    fn training(&self, update: &Update, state: &State<'_>) -> Vec<TripleOperation> {
        let trains = |at: &&u32| {
            state.life(self.stream.entries()[**at as usize].triple()).split() == Some(Split::Train)
        };
        let chosen = update.iter().filter(trains);
        if !self.options.compat {
            return chosen.map(|&at| self.operation(at, state)).collect();
        }
        let mut chosen: Update = chosen.copied().collect();
        self.order.sort(self.stream, &mut chosen);
        self.operations(&chosen, state)
    }

    fn row(&self, step: &EvolvingStep, interval: usize, state: &State<'_>) -> CompiledStep {
        let made = |count: usize| (self.detail == Detail::Everything).then_some(count);
        let [entities, relations] = state.graph.sizes();
        let [training_entities, training_relations] = state.train.sizes();
        let split = |of: fn(&SplitTriples) -> &Vec<Triple>| CompiledSplit {
            ranked: made(of(&step.evaluation).len()),
            all: step.evaluation_all.as_ref().map_or(0, |all| of(all).len()),
        };
        let training = Operations::of(&step.training);
        CompiledStep {
            label: step.label.clone(),
            interval,
            operations: Operations::of(step.operations.as_deref().unwrap_or_default()),
            training,
            training_graph: state.training_present,
            increment: training.inserts,
            valid: split(|triples| &triples.valid),
            test: split(|triples| &triples.test),
            graph: state.triples_present,
            entities,
            relations,
            training_entities,
            training_relations,
            categories: (self.detail == Detail::Everything).then(|| categories(step)),
            examples_test: made(step.classification.len()),
            examples_valid: made(step.classification_valid.len()),
        }
    }
}
