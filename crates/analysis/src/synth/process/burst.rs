//! Bursts: a rare fact about an object draws everyone there for a while.
//!
//! For `length` steps after (· trigger O), each subject X of a fixed set takes part with (X head O), each with the same
//! probability. Subjects that have not appeared yet take no part.

use std::sync::Arc;

use quadcast_core::{Direction, EntityId, History, Query, RelationId, Triple};

use super::super::state::State;
use super::answers_during;

#[derive(Clone, Debug)]
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

    pub fn candidates(&self, state: &State, take: &mut dyn FnMut(Triple, f64)) {
        let recent = (1..=self.length).flat_map(|age| state.ago(age).iter().copied());
        for object in self.objects(recent) {
            for &subject in self.subjects.iter().filter(|&&s| self.takes_part(s, object, state.now())) {
                take(Triple { subject, relation: self.head, object }, self.probability);
            }
        }
    }

    pub fn probability(&self, state: &State, fact: Triple) -> f64 {
        let takes_part =
            fact.relation == self.head && self.takes_part(fact.subject, fact.object, state.now());
        let is_trigger = |past: &Triple| past.relation == self.trigger && past.object == fact.object;
        let triggered = || (1..=self.length).any(|age| state.ago(age).iter().any(is_trigger));
        if takes_part && triggered() { self.probability } else { 0.0 }
    }

    pub fn answers(&self, history: &History<'_>, query: &Query, take: &mut dyn FnMut(EntityId, f64)) {
        if query.relation != self.head {
            return;
        }
        let now = query.step.0;
        let from = now.saturating_sub(self.length);
        match query.direction {
            Direction::Object => {
                let recent = (from..now).filter_map(|step| history.snapshot(quadcast_core::Step(step)).ok());
                let facts = recent.flatten().map(quadcast_core::Quad::triple);
                let objects = self.objects(facts).into_iter();
                objects
                    .filter(|&object| self.takes_part(query.known, object, now))
                    .for_each(|object| take(object, self.probability));
            }
            Direction::Subject => {
                let by = Direction::Subject;
                if answers_during(history, query.known, self.trigger, by, from, now).is_empty() {
                    return;
                }
                for &subject in self.subjects.iter().filter(|&&s| self.takes_part(s, query.known, now)) {
                    take(subject, self.probability);
                }
            }
        }
    }

    pub fn words(&self, relation: &dyn Fn(RelationId) -> String) -> String {
        format!(
            "For {} steps after (somebody {} Z), each of {} entities X joins in with (X {} Z), each with probability {} \
             per step.",
            self.length,
            relation(self.trigger),
            self.subjects.len(),
            relation(self.head),
            self.probability
        )
    }
}
