//! Periodic facts: fixed facts that hold at every turn of their period, with a given reliability.

use quadcast_core::{Direction, EntityId, Query, Triple};

use super::super::state::State;

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

#[derive(Clone, Debug)]
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

    pub fn candidates(&self, state: &State, take: &mut dyn FnMut(Triple, f64)) {
        for habit in self.habits.iter().filter(|habit| habit.is_due(state.now())) {
            take(habit.fact, self.reliability);
        }
    }

    pub fn probability(&self, state: &State, fact: Triple) -> f64 {
        match self.habits.binary_search_by_key(&fact, |habit| habit.fact) {
            Ok(found) if self.habits[found].is_due(state.now()) => self.reliability,
            _ => 0.0,
        }
    }

    pub fn answers(&self, query: &Query, take: &mut dyn FnMut(EntityId, f64)) {
        for habit in self.habits.iter().filter(|habit| habit.fact.relation == query.relation) {
            let (known, answer) = match query.direction {
                Direction::Object => (habit.fact.subject, habit.fact.object),
                Direction::Subject => (habit.fact.object, habit.fact.subject),
            };
            if known == query.known && habit.is_due(query.step.0) {
                take(answer, self.reliability);
            }
        }
    }

    pub fn words(&self) -> String {
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
