//! The processes that a world is composed of. Each assigns a probability to every fact that it can bring about at the
//! next step, given what happened before; a fact occurs if any of them fires (noisy-or).
//!
//! A process speaks about the same probabilities in four ways: it lists its candidates, draws from them, tells the
//! probability of one fact, and tells the probabilities of all answers to a question. The first three look at the
//! [`State`] of a world under construction, the last at the [`History`] that any model is given. Tests hold all four
//! against each other.

mod burst;
mod chain;
mod periodic;
mod recurrence;
mod rule;

use quadcast_core::{Direction, EntityId, Event, History, Query, RelationId, Step, Triple};
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use super::state::State;
pub(super) use burst::Burst;
pub(super) use chain::Chain;
pub(super) use periodic::{Habit, Periodic};
pub(super) use recurrence::Recurrence;
pub(super) use rule::Rule;

/// A process whose candidates can be listed.
#[derive(Clone, Debug)]
pub(super) enum Process {
    Recurrence(Recurrence),
    Periodic(Periodic),
    Rule(Rule),
    Chain(Chain),
    Burst(Burst),
}

impl Process {
    /// Lists every fact that may occur at the next step with its probability; each fact once.
    pub fn candidates(&self, state: &State, take: &mut dyn FnMut(Triple, f64)) {
        match self {
            Self::Recurrence(process) => process.candidates(state, take),
            Self::Periodic(process) => process.candidates(state, take),
            Self::Rule(process) => process.candidates(state, take),
            Self::Chain(process) => process.candidates(state, take),
            Self::Burst(process) => process.candidates(state, take),
        }
    }

    /// Draws the facts that the process brings about at the next step.
    pub fn fire(&self, state: &State, random: &mut ChaCha8Rng, take: &mut dyn FnMut(Triple)) {
        match self {
            // Most candidates of a long memory do not fire; they are skipped in one go.
            Self::Recurrence(process) => process.fire(state, random, take),
            _ => self.candidates(state, &mut |fact, probability| {
                if random.random::<f64>() < probability {
                    take(fact);
                }
            }),
        }
    }

    /// The probability that the process brings about a fact at the next step.
    pub fn probability(&self, state: &State, fact: Triple) -> f64 {
        match self {
            Self::Recurrence(process) => process.probability(state, fact),
            Self::Periodic(process) => process.probability(state, fact),
            Self::Rule(process) => process.probability(state, fact),
            Self::Chain(process) => process.probability(state, fact),
            Self::Burst(process) => process.probability(state, fact),
        }
    }

    /// Lists every answer to a question with its probability; each answer once. The history ends right before the step
    /// of the query.
    pub fn answers(&self, history: &History<'_>, query: &Query, take: &mut dyn FnMut(EntityId, f64)) {
        match self {
            Self::Recurrence(process) => process.answers(history, query, take),
            Self::Periodic(process) => process.answers(query, take),
            Self::Rule(process) => process.answers(history, query, take),
            Self::Chain(process) => process.answers(history, query, take),
            Self::Burst(process) => process.answers(history, query, take),
        }
    }

    /// The process in words, with its numbers.
    pub fn words(&self, relation: &dyn Fn(RelationId) -> String) -> String {
        match self {
            Self::Recurrence(process) => process.words(relation),
            Self::Periodic(process) => process.words(),
            Self::Rule(process) => process.words(relation),
            Self::Chain(process) => process.words(relation),
            Self::Burst(process) => process.words(relation),
        }
    }
}

/// Past answers to (known, relation, ?) during the steps `from..until`.
fn answers_during<'a>(
    history: &History<'a>,
    known: EntityId,
    relation: RelationId,
    direction: Direction,
    from: u32,
    until: u32,
) -> &'a [Event] {
    let directed = quadcast_core::DirectedRelation::new(relation, direction, history.relations());
    let events = history.answers(known, directed);
    let start = events.partition_point(|event| event.step < Step(from));
    let end = events.partition_point(|event| event.step < Step(until));
    &events[start..end.max(start)]
}

/// Past answers `age` steps before the step of a query; none before the world began.
fn answers_ago<'a>(
    history: &History<'a>,
    (known, relation, direction): (EntityId, RelationId, Direction),
    step: Step,
    age: u32,
) -> &'a [Event] {
    match step.0.checked_sub(age) {
        Some(at) => answers_during(history, known, relation, direction, at, at + 1),
        None => &[],
    }
}

const fn opposite(direction: Direction) -> Direction {
    match direction {
        Direction::Object => Direction::Subject,
        Direction::Subject => Direction::Object,
    }
}
