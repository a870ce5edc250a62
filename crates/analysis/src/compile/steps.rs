//! One step of the benchmark: what its files hold, and its row of the report.

use quadcast_core::{
    EntityId, EvolvingStep, RelationId, Split, SplitTriples, Triple, TripleOperation, stream,
};
use rand::seq::index;

use super::lists::{ENTITIES, EverTrue, RELATIONS};
use super::negatives::{Examples, Published, honest};
use super::normalise::Update;
use super::process::Compilation;
use super::report::{CompiledSplit, CompiledStep};
use super::state::State;
use crate::Operations;
use crate::info::categories;

/// How negatives are made.
pub(super) enum Negatives {
    /// From what was never true. Every triple of the stream; empty where no examples are made.
    Honest(EverTrue),
    Published(Published),
}

impl Compilation<'_> {
    /// The step after update `index` (from 0), its row of the report, and how many positives have no negative.
    pub(super) fn step(
        &self,
        index: usize,
        state: &State<'_>,
        negatives: &mut Negatives,
    ) -> (EvolvingStep, CompiledStep, usize) {
        let update = &self.updates[index];
        let (held_out, categories) = state.sorted_out(self.everything);
        let mut step = EvolvingStep {
            label: (index + 1).to_string(),
            training: self.training(update, state),
            operations: Some(self.operations(update, state)),
            evaluation_all: Some(held_out),
            categories,
            ..EvolvingStep::default()
        };
        let without_negative =
            if self.everything { self.complete(&mut step, index + 1, state, negatives) } else { 0 };
        let row = self.row(&step, self.ranges[index].len(), state);
        (step, row, without_negative)
    }

    /// Adds what follows from the graphs and what is drawn. Returns how many positives have no negative.
    fn complete(
        &self,
        step: &mut EvolvingStep,
        number: usize,
        state: &State<'_>,
        negatives: &mut Negatives,
    ) -> usize {
        let inserted = step.training.iter().filter(|operation| operation.insert);
        step.increment = Some(inserted.map(|operation| operation.triple).collect());
        let (size, seed) = (self.options.sample, self.options.seed);
        if let Some(all) = &step.evaluation_all {
            step.evaluation = SplitTriples {
                valid: sample(&all.valid, size, seed, Split::Valid, number),
                test: sample(&all.test, size, seed, Split::Test, number),
            };
        }
        let (entities, ranked) = (state.graph.occurring(ENTITIES, EntityId), &step.evaluation);
        let [test, valid] = match negatives {
            // There were none of validation. Nor should there be: examples of both kinds in a folder count as fair.
            Negatives::Published(published) => {
                [published.examples(&ranked.test, Split::Test, number), Examples::default()]
            }
            Negatives::Honest(ever) => [(&ranked.test, Split::Test), (&ranked.valid, Split::Valid)]
                .map(|(positives, split)| honest(positives, &entities, ever, (seed, split, number))),
        };
        step.classification = test.labelled;
        step.classification_valid = valid.labelled;
        step.relations = Some(state.graph.occurring(RELATIONS, RelationId));
        step.entities = Some(entities);
        test.without_negative + valid.without_negative
    }

    fn operations(&self, update: &Update, state: &State<'_>) -> Vec<TripleOperation> {
        let entries = update.iter().map(|&at| self.stream.entries()[at as usize]);
        entries
            .map(|entry| TripleOperation { triple: state.triples[entry.triple()], insert: entry.insert() })
            .collect()
    }

    /// The training update (algorithm 3 of the thesis): since a triple keeps its split, it is the part of the update
    /// that touches training triples.
    fn training(&self, update: &Update, state: &State<'_>) -> Vec<TripleOperation> {
        let trains = |at: &u32| {
            state.lives[self.stream.entries()[*at as usize].triple()].split() == Some(Split::Train)
        };
        let mut chosen: Update = update.iter().copied().filter(trains).collect();
        // The published code sorted these, but not the update that they come from.
        if self.options.compat {
            self.order.sort(self.stream, &mut chosen);
        }
        self.operations(&chosen, state)
    }

    fn row(&self, step: &EvolvingStep, interval: usize, state: &State<'_>) -> CompiledStep {
        let made = |count: usize| self.everything.then_some(count);
        let [entities, relations] = state.graph.present;
        let [training_entities, training_relations] = state.train.present;
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
            training_graph: state.train.triples,
            increment: training.inserts,
            valid: split(|triples| &triples.valid),
            test: split(|triples| &triples.test),
            graph: state.graph.triples,
            entities,
            relations,
            training_entities,
            training_relations,
            categories: self.everything.then(|| categories(step)),
            examples_test: made(step.classification.len()),
            examples_valid: made(step.classification_valid.len()),
        }
    }
}

/// Draws so many of the triples without replacement and leaves them in order; all, if there are no more or no number is given.
fn sample(all: &[Triple], size: Option<usize>, seed: u64, split: Split, step: usize) -> Vec<Triple> {
    let Some(size) = size.filter(|size| *size < all.len()) else {
        return all.to_vec();
    };
    let mut random = stream(seed, &format!("evolve sample {split}"), step as u64);
    let mut chosen = index::sample(&mut random, all.len(), size).into_vec();
    chosen.sort_unstable();
    chosen.into_iter().map(|at| all[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_parts_in_order() {
        let all: Vec<Triple> = (0..100).map(|id| Triple::new(id, 0, 200)).collect();
        let some = sample(&all, Some(10), 1, Split::Valid, 3);
        assert_eq!(some.len(), 10);
        assert!(some.is_sorted_by(|a, b| a < b) && some.iter().all(|triple| all.contains(triple)));
        assert_eq!(sample(&all, Some(10), 1, Split::Valid, 3), some);
        assert_ne!(sample(&all, Some(10), 1, Split::Test, 3), some);
        assert_eq!(sample(&all, Some(100), 1, Split::Test, 3), all);
        assert_eq!(sample(&all, None, 1, Split::Test, 3), all);
    }
}
