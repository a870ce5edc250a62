//! What follows from something else: temporal rules with one and with two bodies, and bursts.

use std::sync::Arc;

use quadcast_core::{Direction, EntityId, Event, History, Quad, Query, RelationId, Step, Triple};
use rustc_hash::FxHashSet;

use super::super::state::State;
use super::{Process, answers_during};

/// Past answers `age` steps before the step of a query; none before the world began.
fn answers_ago<'a>(
    history: &History<'a>,
    asked: (EntityId, RelationId, Direction),
    step: Step,
    age: u32,
) -> &'a [Event] {
    step.0.checked_sub(age).map_or(&[], |at| answers_during(history, asked, at..at + 1))
}

/// A fact of one relation is followed by a fact of another about the same two entities.
///
/// With `swap` the two change sides. A rule from a relation to itself with `swap` makes the relation symmetric over
/// time; a rule to another relation with `swap` makes the two inverse to each other.
#[derive(Debug)]
pub(in crate::synth) struct Rule {
    pub body: RelationId,
    pub head: RelationId,
    /// Whether subject and object change sides.
    pub swap: bool,
    /// Steps from body to head, at least 1.
    pub lag: u32,
    /// Probability that the head follows.
    pub confidence: f64,
}

impl Rule {
    /// The same two entities under another relation, on the sides that the rule puts them. Its own inverse.
    const fn turn(&self, fact: Triple, relation: RelationId) -> Triple {
        if self.swap {
            Triple { subject: fact.object, relation, object: fact.subject }
        } else {
            Triple { subject: fact.subject, relation, object: fact.object }
        }
    }
}

impl Process for Rule {
    fn candidates(&self, state: &State, take: &mut dyn FnMut(Triple, f64)) {
        for &fact in state.ago(self.lag).iter().filter(|fact| fact.relation == self.body) {
            take(self.turn(fact, self.head), self.confidence);
        }
    }

    fn probability(&self, state: &State, fact: Triple) -> f64 {
        let follows = fact.relation == self.head && state.held(self.turn(fact, self.body), self.lag);
        if follows { self.confidence } else { 0.0 }
    }

    fn answers(&self, history: &History<'_>, query: &Query, take: &mut dyn FnMut(EntityId, f64)) {
        if query.relation != self.head {
            return;
        }
        let direction = match (query.direction, self.swap) {
            (Direction::Object, false) | (Direction::Subject, true) => Direction::Object,
            (Direction::Subject, false) | (Direction::Object, true) => Direction::Subject,
        };
        for event in answers_ago(history, (query.known, self.body, direction), query.step, self.lag) {
            take(event.answer, self.confidence);
        }
    }

    fn words(&self, relation: &dyn Fn(RelationId) -> String) -> String {
        let (subject, object) = if self.swap { ("Y", "X") } else { ("X", "Y") };
        let [body, head] = [self.body, self.head].map(relation);
        let Self { lag, confidence, .. } = self;
        format!(
            "If (X {body} Y) at t, then ({subject} {head} {object}) at t+{lag} with probability {confidence}."
        )
    }
}

/// A rule with two bodies that share an entity: (X first Y) and (Y second Z) at one step are followed by (X head Z).
/// Several middle entities make the head no more likely.
#[derive(Debug)]
pub(in crate::synth) struct Chain {
    pub first: RelationId,
    pub second: RelationId,
    pub head: RelationId,
    /// Steps from the bodies to the head, at least 1.
    pub lag: u32,
    /// Probability that the head follows.
    pub confidence: f64,
}

impl Process for Chain {
    fn candidates(&self, state: &State, take: &mut dyn FnMut(Triple, f64)) {
        let mut heads = Vec::new();
        for first in state.ago(self.lag).iter().filter(|fact| fact.relation == self.first) {
            for second in state.about(first.object, self.second, self.lag) {
                if second.object != first.subject {
                    heads.push(Triple { subject: first.subject, relation: self.head, object: second.object });
                }
            }
        }
        heads.sort_unstable();
        heads.dedup();
        for fact in heads {
            take(fact, self.confidence);
        }
    }

    fn probability(&self, state: &State, fact: Triple) -> f64 {
        if fact.relation != self.head || fact.subject == fact.object {
            return 0.0;
        }
        let ends =
            |first: &Triple| Triple { subject: first.object, relation: self.second, object: fact.object };
        let firsts = state.about(fact.subject, self.first, self.lag);
        if firsts.iter().any(|first| state.held(ends(first), self.lag)) { self.confidence } else { 0.0 }
    }

    fn answers(&self, history: &History<'_>, query: &Query, take: &mut dyn FnMut(EntityId, f64)) {
        if query.relation != self.head {
            return;
        }
        let (near, far) = match query.direction {
            Direction::Object => (self.first, self.second),
            Direction::Subject => (self.second, self.first),
        };
        let mut seen = FxHashSet::from_iter([query.known]);
        let ago = |known, relation| {
            answers_ago(history, (known, relation, query.direction), query.step, self.lag).iter()
        };
        for middle in ago(query.known, near) {
            for event in ago(middle.answer, far).filter(|event| seen.insert(event.answer)) {
                take(event.answer, self.confidence);
            }
        }
    }

    fn words(&self, relation: &dyn Fn(RelationId) -> String) -> String {
        let [first, second, head] = [self.first, self.second, self.head].map(relation);
        let Self { lag, confidence, .. } = self;
        format!(
            "If (X {first} Y) and (Y {second} Z) at t, then (X {head} Z) at t+{lag} with probability {confidence}."
        )
    }
}

/// A rare fact about an object draws everyone there for a while.
///
/// For `length` steps after (· trigger O), each subject X of a fixed set takes part with (X head O), each with the same
/// probability. Subjects that have not appeared yet take no part.
#[derive(Debug)]
pub(in crate::synth) struct Burst {
    pub trigger: RelationId,
    pub head: RelationId,
    /// Who takes part, sorted.
    pub subjects: Vec<EntityId>,
    /// Step at which each entity appears.
    pub births: Arc<[u32]>,
    /// Steps that a burst lasts.
    pub length: u32,
    /// Probability per subject and step.
    pub probability: f64,
}

impl Burst {
    fn takes_part(&self, subject: EntityId, object: EntityId, step: u32) -> bool {
        subject != object
            && self.births[subject.index()] <= step
            && self.subjects.binary_search(&subject).is_ok()
    }

    /// The objects of triggers, each once.
    fn objects(&self, facts: impl Iterator<Item = Triple>) -> Vec<EntityId> {
        let triggers = facts.filter(|fact| fact.relation == self.trigger);
        let mut objects: Vec<EntityId> = triggers.map(|fact| fact.object).collect();
        objects.sort_unstable();
        objects.dedup();
        objects
    }
}

impl Process for Burst {
    fn candidates(&self, state: &State, take: &mut dyn FnMut(Triple, f64)) {
        let recent = (1..=self.length).flat_map(|age| state.ago(age).iter().copied());
        for object in self.objects(recent) {
            for &subject in self.subjects.iter().filter(|&&s| self.takes_part(s, object, state.now())) {
                take(Triple { subject, relation: self.head, object }, self.probability);
            }
        }
    }

    fn probability(&self, state: &State, fact: Triple) -> f64 {
        let takes_part =
            fact.relation == self.head && self.takes_part(fact.subject, fact.object, state.now());
        let is_trigger = |past: &Triple| past.relation == self.trigger && past.object == fact.object;
        let triggered = || (1..=self.length).any(|age| state.ago(age).iter().any(is_trigger));
        if takes_part && triggered() { self.probability } else { 0.0 }
    }

    fn answers(&self, history: &History<'_>, query: &Query, take: &mut dyn FnMut(EntityId, f64)) {
        if query.relation != self.head {
            return;
        }
        let now = query.step.0;
        let from = now.saturating_sub(self.length);
        match query.direction {
            Direction::Object => {
                let recent = (from..now).filter_map(|step| history.snapshot(Step(step)).ok());
                let facts = recent.flatten().map(Quad::triple);
                let objects = self.objects(facts).into_iter();
                objects
                    .filter(|&object| self.takes_part(query.known, object, now))
                    .for_each(|object| take(object, self.probability));
            }
            Direction::Subject => {
                let triggers = (query.known, self.trigger, Direction::Subject);
                if answers_during(history, triggers, from..now).is_empty() {
                    return;
                }
                for &subject in self.subjects.iter().filter(|&&s| self.takes_part(s, query.known, now)) {
                    take(subject, self.probability);
                }
            }
        }
    }

    fn words(&self, relation: &dyn Fn(RelationId) -> String) -> String {
        let Self { length, probability, .. } = self;
        let (trigger, head, subjects) = (relation(self.trigger), relation(self.head), self.subjects.len());
        format!(
            "For {length} steps after (somebody {trigger} Z), each of {subjects} entities X joins in with (X {head} Z), each \
             with probability {probability} per step."
        )
    }
}
