//! One step of the benchmark: what its files hold, and its row of the report.

use quadcast_core::{
    CategoryKind, CategoryTriples, EvolvingStep, Split, SplitTriples, Triple, TripleOperation,
};

use super::ever::Ever;
use super::negatives::{Published, honest};
use super::normalise::{TotalOrder, Update};
use super::options::CompileOptions;
use super::report::CompiledStep;
use super::sample::sample;
use super::state::State;
use crate::info::categories;
use crate::{OperationStream, Operations, Sampled};

/// What all steps share.
pub(super) struct Workshop<'a> {
    pub stream: &'a OperationStream,
    pub options: &'a CompileOptions,
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
        let number = index + 1;
        let operations = self.operations(update, state);
        let training = self.training(update, state);
        let increment: Vec<Triple> = training.iter().filter(|o| o.insert).map(|o| o.triple).collect();
        let present = |split| state.those(|life| life.present() && life.split() == Some(split));
        let all = SplitTriples { valid: present(Split::Valid), test: present(Split::Test) };
        let CompileOptions { sample: size, seed, .. } = *self.options;
        let ranked = SplitTriples {
            valid: sample(&all.valid, size, seed, Split::Valid, number),
            test: sample(&all.test, size, seed, Split::Test, number),
        };
        let entities = state.graph.entities();
        let mut examples = |positives: &[Triple], split| match &mut self.published {
            Some(published) => published.examples(positives, split, number),
            None => honest(positives, &entities, &self.ever, (seed, split, number)),
        };
        let [test, valid] = [examples(&ranked.test, Split::Test), examples(&ranked.valid, Split::Valid)];
        let step = EvolvingStep {
            label: number.to_string(),
            training,
            operations: Some(operations),
            increment: Some(increment),
            evaluation: ranked,
            evaluation_all: Some(all),
            categories: in_categories(state),
            classification: test.labelled,
            classification_valid: valid.labelled,
            relations: Some(state.graph.relations()),
            entities: Some(entities),
        };
        let row = row(&step, interval, state);
        Made { step, row, without_negative: test.without_negative + valid.without_negative }
    }

    fn operation(&self, at: u32, state: &State<'_>) -> TripleOperation {
        let entry = self.stream.entries[at as usize];
        TripleOperation { triple: state.triple(entry.triple()), insert: entry.insert() }
    }

    fn operations(&self, update: &Update, state: &State<'_>) -> Vec<TripleOperation> {
        update.iter().map(|&at| self.operation(at, state)).collect()
    }

    /// The training update (algorithm 3 of the thesis): since a triple keeps its split, it is the part of the update
    /// that touches training triples.
    fn training(&self, update: &Update, state: &State<'_>) -> Vec<TripleOperation> {
        let trains =
            |at: &&u32| state.life(self.stream.entries[**at as usize].triple()).split() == Some(Split::Train);
        let chosen = update.iter().filter(trains);
        if !self.options.compat {
            return chosen.map(|&at| self.operation(at, state)).collect();
        }
        let mut chosen: Update = chosen.copied().collect();
        TotalOrder::of(self.stream, self.options.order).sort(self.stream, &mut chosen);
        self.operations(&chosen, state)
    }
}

/// The categories that are not empty.
fn in_categories(state: &State<'_>) -> Vec<CategoryTriples> {
    let mut found = Vec::new();
    for kind in CategoryKind::ALL {
        for split in Split::ALL {
            let triples = state.those(|life| life.category() == Some(kind) && life.split() == Some(split));
            if !triples.is_empty() {
                found.push(CategoryTriples { kind, split, triples });
            }
        }
    }
    found
}

fn row(step: &EvolvingStep, interval: usize, state: &State<'_>) -> CompiledStep {
    let [entities, relations] = state.graph.sizes();
    let [training_entities, training_relations] = state.train.sizes();
    let sampled = |split: fn(&SplitTriples) -> &Vec<Triple>| Sampled {
        ranked: split(&step.evaluation).len(),
        all: step.evaluation_all.as_ref().map_or(0, |all| split(all).len()),
    };
    CompiledStep {
        label: step.label.clone(),
        interval,
        operations: Operations::of(step.operations.as_deref().unwrap_or_default()),
        training: Operations::of(&step.training),
        training_graph: state.training_present,
        increment: step.increment.as_ref().map_or(0, Vec::len),
        valid: sampled(|split| &split.valid),
        test: sampled(|split| &split.test),
        graph: state.triples_present,
        entities,
        relations,
        training_entities,
        training_relations,
        categories: categories(step),
        examples_test: step.classification.len(),
        examples_valid: step.classification_valid.len(),
    }
}
