//! The processes that a world is composed of. Each assigns a probability to every fact that it can bring about at the
//! next step, given what happened before; a fact occurs if any of them fires (noisy-or).
//!
//! A process speaks about the same probabilities in four ways: it lists its candidates, draws from them, tells the
//! probability of one fact, and tells the probabilities of all answers to a question. The first three look at the
//! [`State`] of a world under construction, the last at the [`History`] that any model is given. Tests hold all four
//! against each other.

mod recurrence;
mod rules;

use std::fmt::Debug;
use std::ops::Range;

use quadcast_core::{DirectedRelation, Direction, EntityId, Event, History, Query, RelationId, Step, Triple};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::state::State;
pub(super) use recurrence::{Habit, Periodic, Recurrence};
pub(super) use rules::{Burst, Chain, Rule};

/// A process whose candidates can be listed.
pub(super) trait Process: Debug + Send + Sync {
    /// Lists every fact that may occur at the next step with its probability; each fact once.
    fn candidates(&self, state: &State, take: &mut dyn FnMut(Triple, f64));

    /// Draws the facts that the process brings about at the next step.
    fn fire(&self, state: &State, random: &mut ChaCha8Rng, take: &mut dyn FnMut(Triple)) {
        self.candidates(state, &mut |fact, probability| {
            if random.random::<f64>() < probability {
                take(fact);
            }
        });
    }

    /// The probability that the process brings about a fact at the next step.
    fn probability(&self, state: &State, fact: Triple) -> f64;

    /// Lists every answer to a question with its probability; each answer once. The history ends right before the step
    /// of the query.
    fn answers(&self, history: &History<'_>, query: &Query, take: &mut dyn FnMut(EntityId, f64));

    /// The process in words, with its numbers.
    fn words(&self, relation: &dyn Fn(RelationId) -> String) -> String;
}

/// A process and its name, which is a cause of facts.
pub(super) type NamedProcess = (&'static str, Box<dyn Process>);

pub(super) fn named(name: &'static str, process: impl Process + 'static) -> NamedProcess {
    (name, Box::new(process))
}

/// Past answers to (known, relation, ?) during some steps.
fn answers_during<'a>(
    history: &History<'a>,
    (known, relation, direction): (EntityId, RelationId, Direction),
    steps: Range<u32>,
) -> &'a [Event] {
    let directed = DirectedRelation::new(relation, direction, history.relations());
    let events = history.answers(known, directed);
    let [start, end] =
        [steps.start, steps.end].map(|at| events.partition_point(|event| event.step < Step(at)));
    &events[start..end.max(start)]
}
