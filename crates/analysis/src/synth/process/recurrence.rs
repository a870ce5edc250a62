//! Recurrence with decay: what held recently is likely to hold again.
//!
//! A fact that held last `a` steps ago occurs with probability `peak · 2^{−(a−1)/half_life}`, and is forgotten after
//! `memory` steps.

use quadcast_core::{EntityId, History, Query, RelationId, Triple};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashSet;

use super::super::state::State;
use super::answers_during;

#[derive(Clone, Debug)]
pub(in crate::synth) struct Recurrence {
    /// Relations whose facts recur, sorted.
    pub relations: Vec<RelationId>,
    /// Probability one step after the fact held.
    pub peak: f64,
    /// Steps in which the probability halves.
    pub half_life: f64,
    /// Steps after which a fact is forgotten.
    pub memory: u32,
}

impl Recurrence {
    fn at(&self, age: u32) -> f64 {
        if age > self.memory { 0.0 } else { self.peak * (-f64::from(age - 1) / self.half_life).exp2() }
    }

    fn concerns(&self, relation: RelationId) -> bool {
        self.relations.binary_search(&relation).is_ok()
    }

    pub fn candidates(&self, state: &State, take: &mut dyn FnMut(Triple, f64)) {
        for age in 1..=self.memory.min(state.now()) {
            let probability = self.at(age);
            for index in 0..state.ago(age).len() {
                if let Some(fact) = state.silent_since(age, index).filter(|fact| self.concerns(fact.relation))
                {
                    take(fact, probability);
                }
            }
        }
    }

    /// Facts of one age share their probability, so the distance to the next one that fires is geometric.
    pub fn fire(&self, state: &State, random: &mut ChaCha8Rng, take: &mut dyn FnMut(Triple)) {
        for age in 1..=self.memory.min(state.now()) {
            let count = state.ago(age).len();
            let log_silence = (-self.at(age)).ln_1p();
            let mut index = 0;
            loop {
                // 1 − u lies in (0, 1]: its logarithm is finite.
                let skipped = (1.0 - random.random::<f64>()).ln() / log_silence;
                if skipped >= (count - index) as f64 {
                    break;
                }
                index += skipped as usize;
                if let Some(fact) = state.silent_since(age, index).filter(|fact| self.concerns(fact.relation))
                {
                    take(fact);
                }
                index += 1;
            }
        }
    }

    pub fn probability(&self, state: &State, fact: Triple) -> f64 {
        if !self.concerns(fact.relation) {
            return 0.0;
        }
        state.age(fact).map_or(0.0, |age| self.at(age))
    }

    pub fn answers(&self, history: &History<'_>, query: &Query, take: &mut dyn FnMut(EntityId, f64)) {
        if !self.concerns(query.relation) {
            return;
        }
        let now = query.step.0;
        let from = now.saturating_sub(self.memory);
        let events = answers_during(history, query.known, query.relation, query.direction, from, now);
        let mut seen = FxHashSet::default();
        for event in events.iter().rev().filter(|event| seen.insert(event.answer)) {
            take(event.answer, self.at(now - event.step.0));
        }
    }

    pub fn words(&self, relation: &dyn Fn(RelationId) -> String) -> String {
        let names: Vec<String> = self.relations.iter().map(|&id| relation(id)).collect();
        let what = if names.len() > 12 { format!("{} relations", names.len()) } else { names.join(", ") };
        format!(
            "A fact of {what} that held last a steps ago holds again with probability {} · 2^(-(a-1)/{}); after {} \
             steps it is forgotten.",
            self.peak, self.half_life, self.memory
        )
    }
}
