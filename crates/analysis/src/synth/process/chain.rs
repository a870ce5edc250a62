//! Temporal rules with two bodies that share an entity: (X first Y) and (Y second Z) at one step are followed by
//! (X head Z). Several middle entities make the head no more likely.

use quadcast_core::{Direction, EntityId, History, Query, RelationId, Triple};
use rustc_hash::FxHashSet;

use super::super::state::State;
use super::answers_ago;

#[derive(Clone, Debug)]
pub(in crate::synth) struct Chain {
    pub first: RelationId,
    pub second: RelationId,
    pub head: RelationId,
    /// Steps from the bodies to the head, at least 1.
    pub lag: u32,
    /// Probability that the head follows.
    pub confidence: f64,
}

impl Chain {
    pub fn candidates(&self, state: &State, take: &mut dyn FnMut(Triple, f64)) {
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

    pub fn probability(&self, state: &State, fact: Triple) -> f64 {
        if fact.relation != self.head || fact.subject == fact.object {
            return 0.0;
        }
        let ends =
            |first: &Triple| Triple { subject: first.object, relation: self.second, object: fact.object };
        let firsts = state.about(fact.subject, self.first, self.lag);
        if firsts.iter().any(|first| state.held(ends(first), self.lag)) { self.confidence } else { 0.0 }
    }

    pub fn answers(&self, history: &History<'_>, query: &Query, take: &mut dyn FnMut(EntityId, f64)) {
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

    pub fn words(&self, relation: &dyn Fn(RelationId) -> String) -> String {
        format!(
            "If (X {} Y) and (Y {} Z) at t, then (X {} Z) at t+{} with probability {}.",
            relation(self.first),
            relation(self.second),
            relation(self.head),
            self.lag,
            self.confidence
        )
    }
}
