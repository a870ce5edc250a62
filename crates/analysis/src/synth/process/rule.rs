//! Temporal rules with one body: a fact of one relation is followed by a fact of another about the same two entities.
//!
//! With `swap` the two change sides. A rule from a relation to itself with `swap` makes the relation symmetric over
//! time; a rule to another relation with `swap` makes the two inverse to each other.

use quadcast_core::{EntityId, History, Query, RelationId, Triple};

use super::super::state::State;
use super::{answers_ago, opposite};

#[derive(Clone, Debug)]
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

    pub fn candidates(&self, state: &State, take: &mut dyn FnMut(Triple, f64)) {
        for &fact in state.ago(self.lag).iter().filter(|fact| fact.relation == self.body) {
            take(self.turn(fact, self.head), self.confidence);
        }
    }

    pub fn probability(&self, state: &State, fact: Triple) -> f64 {
        let follows = fact.relation == self.head && state.held(self.turn(fact, self.body), self.lag);
        if follows { self.confidence } else { 0.0 }
    }

    pub fn answers(&self, history: &History<'_>, query: &Query, take: &mut dyn FnMut(EntityId, f64)) {
        if query.relation != self.head {
            return;
        }
        let direction = if self.swap { opposite(query.direction) } else { query.direction };
        for event in answers_ago(history, (query.known, self.body, direction), query.step, self.lag) {
            take(event.answer, self.confidence);
        }
    }

    pub fn words(&self, relation: &dyn Fn(RelationId) -> String) -> String {
        let (subject, object) = if self.swap { ("Y", "X") } else { ("X", "Y") };
        format!(
            "If (X {} Y) at t, then ({subject} {} {object}) at t+{} with probability {}.",
            relation(self.body),
            relation(self.head),
            self.lag,
            self.confidence
        )
    }
}
