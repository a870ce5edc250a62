//! A world: its names, its clock and its processes; how it grows, step by step; and what is known about each fact.

use std::sync::Arc;

use quadcast_core::{
    Calendar, Dataset, Facts, Names, Quad, RelationId, Splits, Step, TimeAxis, Triple, Vocabulary, stream,
};
use serde_json::{Value, json};

use super::background::{Cause, Chance};
use super::process::NamedProcess;
use super::state::State;

/// One fact, in the order of the dataset (train, valid, test; within each by step, subject, relation, object).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TruthRow {
    /// Bit `i` stands for cause `i` of [`Truth::labels`].
    pub(super) causes: u32,
    /// Probability of the fact right before its step, given everything earlier.
    pub probability: f64,
}

/// What a generator knows about each fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Truth {
    /// Names of the causes.
    pub labels: Vec<String>,
    /// One row per fact.
    pub rows: Vec<TruthRow>,
}

impl Truth {
    /// The causes of one fact; several if more than one process fired.
    pub fn causes(&self, row: &TruthRow) -> String {
        let bits = row.causes;
        let named = self.labels.iter().enumerate().filter(|(bit, _)| bits >> bit & 1 == 1);
        named.map(|(_, label)| label.as_str()).collect::<Vec<_>>().join("+")
    }
}

/// Steps and what they are called.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub steps: u32,
    /// Original time stamp of step 0.
    pub first: i64,
    /// Distance of the original time stamps.
    pub raster: i64,
    pub calendar: Calendar,
}

impl Clock {
    pub fn axis(&self) -> TimeAxis {
        let times = (0..self.steps).map(|step| self.first + self.raster * i64::from(step));
        TimeAxis::new(times.collect(), self.calendar)
    }

    /// The first validation step and the first test step: 80, 10 and 10 per cent of the steps.
    pub fn borders(&self) -> [u32; 2] {
        [self.steps * 8 / 10, self.steps * 9 / 10]
    }
}

/// Everything that decides what happens.
#[derive(Debug)]
pub(super) struct World {
    pub name: &'static str,
    pub seed: u64,
    pub clock: Clock,
    pub entities: Vec<String>,
    pub relations: Vec<String>,
    /// Names and processes. At most 30: a fact keeps its causes as bits.
    pub processes: Vec<NamedProcess>,
    pub chance: Chance,
    /// How often the future is rolled out to estimate probabilities several steps ahead; 0 if it is too large for that.
    pub rollouts: u32,
}

/// Sorts by fact and merges what is said about the same fact.
pub(super) fn merged<T: Copy>(mut all: Vec<(Triple, T)>, merge: impl Fn(T, T) -> T) -> Vec<(Triple, T)> {
    all.sort_by_key(|(fact, _)| *fact);
    all.dedup_by(|later, first| {
        let same = later.0 == first.0;
        if same {
            first.1 = merge(first.1, later.1);
        }
        same
    });
    all
}

impl World {
    /// Draws the facts of the next step, each with its causes: bit `i` for process `i`, then one for activity and one for
    /// noise. The draws are those of `purpose` at this step. A step without any fact could not be written down, so it is
    /// drawn again.
    pub fn draw(&self, state: &State, purpose: &str) -> Vec<(Triple, u32)> {
        let step = state.now();
        for attempt in 0_u64.. {
            let index = u64::from(step) | attempt << 32;
            let mut drawn: Vec<(Triple, u32)> = Vec::new();
            for (number, (_, process)) in self.processes.iter().enumerate() {
                let mut random = stream(self.seed, &format!("{purpose} process {number}"), index);
                process.fire(state, &mut random, &mut |fact| drawn.push((fact, 1 << number)));
            }
            let mut random = stream(self.seed, &format!("{purpose} background"), index);
            self.chance.fire(step, &mut random, &mut |fact, cause| {
                let bit = self.processes.len() + usize::from(cause == Cause::Noise);
                drawn.push((fact, 1 << bit));
            });
            if !drawn.is_empty() {
                return merged(drawn, |first, later| first | later);
            }
        }
        unreachable!("some attempt draws a fact: every world has activity")
    }

    /// The probability that a fact occurs at the next step.
    pub fn probability(&self, state: &State, fact: Triple) -> f64 {
        let silence = self.processes.iter().map(|(_, process)| 1.0 - process.probability(state, fact));
        with_chance(silence.product(), -(-self.chance.intensity(fact, state.now())).exp_m1())
    }

    /// Lets the world happen.
    pub fn grow(&self) -> (Dataset, Truth) {
        let mut state = State::default();
        let mut rows = Vec::new();
        for _ in 0..self.clock.steps {
            let drawn = self.draw(&state, "synth");
            let known = |&(fact, causes)| TruthRow { causes, probability: self.probability(&state, fact) };
            rows.extend(drawn.iter().map(known));
            state.push(drawn.into_iter().map(|(fact, _)| fact).collect());
        }
        let mut labels: Vec<String> = self.processes.iter().map(|(name, _)| (*name).to_owned()).collect();
        labels.extend(["activity".to_owned(), "noise".to_owned()]);
        (self.dataset(state), Truth { labels, rows })
    }

    fn dataset(&self, state: State) -> Dataset {
        let [valid, test] = self.clock.borders();
        let mut parts: [Vec<Quad>; 3] = Default::default();
        for (step, facts) in (0_u32..).zip(state.steps) {
            let part = &mut parts[usize::from(step >= valid) + usize::from(step >= test)];
            part.extend(facts.into_iter().map(|fact| fact.at(Step(step))));
        }
        let steps = self.clock.steps as usize;
        let [train, valid, test] = parts.map(|quads| Facts::new(quads, steps));
        let names = |names: &[String]| Names::new(names.iter().cloned().map(Some).collect(), None);
        Dataset {
            beyond: Facts::default(),
            name: self.name.to_owned(),
            vocabulary: Vocabulary { entities: names(&self.entities), relations: names(&self.relations) },
            axis: self.clock.axis(),
            splits: Splits { train, valid, test },
        }
    }

    /// The processes in words.
    pub fn words(&self) -> Vec<Value> {
        let relation = |id: RelationId| self.relations[id.index()].clone();
        let causes = self.processes.iter();
        let mut words: Vec<Value> =
            causes.map(|(name, process)| json!({ "name": name, "rule": process.words(&relation) })).collect();
        words.extend(self.chance.words(&relation).into_iter().map(|rule| {
            let name = if rule.starts_with("Noise") { "noise" } else { "activity" };
            json!({ "name": name, "rule": rule })
        }));
        words
    }
}

/// Adds the background's probability to a fact that the processes leave out with probability `silence`.
pub(super) fn with_chance(silence: f64, chance: f64) -> f64 {
    // In this order a fact that no process concerns keeps the background's probability to the last digit.
    chance + (1.0 - chance) * (1.0 - silence)
}

/// All entities appear at once.
pub(super) fn born_at_once(entities: usize) -> Arc<[u32]> {
    vec![0; entities].into()
}
