//! What comes back: facts that held before, and facts that hold at fixed turns.

use quadcast_core::{EntityId, History, Query, RelationId, Triple};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rustc_hash::FxHashSet;

use super::super::state::State;
use super::{Process, answers_during};

/// Recurrence with decay: what held recently is likely to hold again.
///
/// A fact that held last `a` steps ago occurs with probability `peak · 2^{−(a−1)/half_life}`, and is forgotten after
/// `memory` steps.
#[derive(Debug)]
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

    /// Of the facts that held `age` steps ago and not since, the one at `index`, if it is of a relation that recurs.
    fn recurring(&self, state: &State, age: u32, index: usize) -> Option<Triple> {
        state.silent_since(age, index).filter(|fact| self.concerns(fact.relation))
    }
}

impl Process for Recurrence {
    fn candidates(&self, state: &State, take: &mut dyn FnMut(Triple, f64)) {
        for age in 1..=self.memory.min(state.now()) {
            let probability = self.at(age);
            for index in 0..state.ago(age).len() {
                if let Some(fact) = self.recurring(state, age, index) {
                    take(fact, probability);
                }
            }
        }
    }

    /// Most candidates of a long memory do not fire. Facts of one age share their probability, so the distance to the
    /// next one that fires is geometric.
    fn fire(&self, state: &State, random: &mut ChaCha8Rng, take: &mut dyn FnMut(Triple)) {
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
                if let Some(fact) = self.recurring(state, age, index) {
                    take(fact);
                }
                index += 1;
            }
        }
    }

    fn probability(&self, state: &State, fact: Triple) -> f64 {
        if !self.concerns(fact.relation) {
            return 0.0;
        }
        state.age(fact).map_or(0.0, |age| self.at(age))
    }

    fn answers(&self, history: &History<'_>, query: &Query, take: &mut dyn FnMut(EntityId, f64)) {
        if !self.concerns(query.relation) {
            return;
        }
        let now = query.step.0;
        let asked = (query.known, query.relation, query.direction);
        let events = answers_during(history, asked, now.saturating_sub(self.memory)..now);
        let mut seen = FxHashSet::default();
        for event in events.iter().rev().filter(|event| seen.insert(event.answer)) {
            take(event.answer, self.at(now - event.step.0));
        }
    }

    fn words(&self, relation: &dyn Fn(RelationId) -> String) -> String {
        let names: Vec<String> = self.relations.iter().map(|&id| relation(id)).collect();
        let what = if names.len() > 12 { format!("{} relations", names.len()) } else { names.join(", ") };
        format!(
            "A fact of {what} that held last a steps ago holds again with probability {} · 2^(-(a-1)/{}); after {} \
             steps it is forgotten.",
            self.peak, self.half_life, self.memory
        )
    }
}

/// A fact and its turns: the steps `t ≥ from` with `t mod period = phase`.
#[derive(Clone, Copy, Debug)]
pub(in crate::synth) struct Habit {
    pub fact: Triple,
    pub period: u32,
    pub phase: u32,
    pub from: u32,
}

impl Habit {
    fn is_due(&self, step: u32) -> bool {
        step >= self.from && step % self.period == self.phase
    }
}

/// Fixed facts that hold at every turn of their period, with a given reliability.
#[derive(Debug)]
pub(in crate::synth) struct Periodic {
    /// Sorted by fact; every fact once.
    habits: Vec<Habit>,
    /// Probability of a fact at its turn.
    reliability: f64,
}

impl Periodic {
    /// Of several habits with the same fact the first stays.
    pub fn new(mut habits: Vec<Habit>, reliability: f64) -> Self {
        habits.sort_by_key(|habit| habit.fact);
        habits.dedup_by_key(|habit| habit.fact);
        Self { habits, reliability }
    }
}

impl Process for Periodic {
    fn candidates(&self, state: &State, take: &mut dyn FnMut(Triple, f64)) {
        for habit in self.habits.iter().filter(|habit| habit.is_due(state.now())) {
            take(habit.fact, self.reliability);
        }
    }

    fn probability(&self, state: &State, fact: Triple) -> f64 {
        match self.habits.binary_search_by_key(&fact, |habit| habit.fact) {
            Ok(found) if self.habits[found].is_due(state.now()) => self.reliability,
            _ => 0.0,
        }
    }

    fn answers(&self, _: &History<'_>, query: &Query, take: &mut dyn FnMut(EntityId, f64)) {
        for habit in self.habits.iter().filter(|habit| habit.fact.relation == query.relation) {
            let (asked, answer) = Query::hide(habit.fact.at(query.step), query.direction);
            if asked.known == query.known && habit.is_due(query.step.0) {
                take(answer, self.reliability);
            }
        }
    }

    fn words(&self, _: &dyn Fn(RelationId) -> String) -> String {
        let periods = self.habits.iter().map(|habit| habit.period);
        format!(
            "{} fixed facts hold at every turn of their period ({} to {} steps) with probability {}.",
            self.habits.len(),
            periods.clone().min().unwrap_or_default(),
            periods.max().unwrap_or_default(),
            self.reliability
        )
    }
}
