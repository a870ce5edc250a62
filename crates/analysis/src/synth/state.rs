//! What has happened in a world so far, in the form in which the processes ask about it.

use quadcast_core::{EntityId, RelationId, Triple};
use rustc_hash::FxHashMap;

/// Every step so far, and when each fact held last.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    /// Facts by step, each step sorted by (subject, relation, object).
    pub steps: Vec<Vec<Triple>>,
    /// The slots of the facts in `steps`.
    slots: Vec<Vec<u32>>,
    slot_of: FxHashMap<Triple, u32>,
    /// By slot: the last step at which the fact held.
    last: Vec<u32>,
}

impl State {
    /// The step to come.
    pub fn now(&self) -> u32 {
        self.steps.len() as u32
    }

    /// Adds the facts of the step to come, sorted and without repetition.
    pub fn push(&mut self, facts: Vec<Triple>) {
        debug_assert!(facts.is_sorted_by(|a, b| a < b), "facts are sorted and distinct");
        let now = self.now();
        let mut slots = Vec::with_capacity(facts.len());
        for &fact in &facts {
            let slot = *self.slot_of.entry(fact).or_insert_with(|| {
                self.last.push(now);
                self.last.len() as u32 - 1
            });
            self.last[slot as usize] = now;
            slots.push(slot);
        }
        self.steps.push(facts);
        self.slots.push(slots);
    }

    /// The facts that held `age` steps ago; none before the world began.
    pub fn ago(&self, age: u32) -> &[Triple] {
        let step = self.steps.len().checked_sub(age as usize);
        step.and_then(|step| self.steps.get(step)).map_or(&[], Vec::as_slice)
    }

    /// Of the facts that held `age` steps ago, the one at `index`, if it has not held since.
    pub fn silent_since(&self, age: u32, index: usize) -> Option<Triple> {
        let step = self.steps.len().checked_sub(age as usize)?;
        let slot = *self.slots.get(step)?.get(index)?;
        (self.last[slot as usize] == step as u32).then(|| self.steps[step][index])
    }

    /// How many steps ago a fact held last.
    pub fn age(&self, fact: Triple) -> Option<u32> {
        self.slot_of.get(&fact).map(|&slot| self.now() - self.last[slot as usize])
    }

    /// Whether a fact held `age` steps ago.
    pub fn held(&self, fact: Triple, age: u32) -> bool {
        self.ago(age).binary_search(&fact).is_ok()
    }

    /// The facts about a subject and a relation `age` steps ago.
    pub fn about(&self, subject: EntityId, relation: RelationId, age: u32) -> &[Triple] {
        let facts = self.ago(age);
        let start = facts.partition_point(|fact| (fact.subject, fact.relation) < (subject, relation));
        let length =
            facts[start..].partition_point(|fact| (fact.subject, fact.relation) == (subject, relation));
        &facts[start..start + length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_when_a_fact_held_last() {
        let (a, b) = (Triple::new(0, 0, 1), Triple::new(0, 1, 1));
        let mut state = State::default();
        state.push(vec![a, b]);
        state.push(vec![a]);
        assert_eq!((state.age(a), state.age(b), state.age(Triple::new(1, 0, 0))), (Some(1), Some(2), None));
        assert_eq!((state.silent_since(2, 0), state.silent_since(2, 1)), (None, Some(b)));
        assert!(state.held(b, 2) && !state.held(b, 1) && !state.held(b, 9));
        assert_eq!(state.about(EntityId(0), RelationId(1), 2), [b]);
    }
}
