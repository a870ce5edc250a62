//! A world: its names, its clock and its processes; and how it grows, step by step.

use std::sync::Arc;

use quadcast_core::{
    Calendar, Dataset, Facts, Names, Quad, RelationId, Splits, Step, TimeAxis, Triple, Vocabulary, stream,
};
use serde_json::{Value, json};

use super::background::{Cause, Chance};
use super::process::Process;
use super::state::State;
use super::truth::{Truth, TruthRow};

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
    pub processes: Vec<(&'static str, Process)>,
    pub chance: Chance,
    /// How often the future is rolled out to estimate probabilities several steps ahead; 0 if it is too large for that.
    pub rollouts: u32,
}

/// A fact of the next step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Drawn {
    pub fact: Triple,
    /// Bit `i` for process `i`, then one for activity and one for noise.
    pub causes: u32,
}

impl World {
    /// Draws the next step. The draws are those of `purpose` at this step. A step without any fact could not be
    /// written down, so it is drawn again.
    pub fn draw(&self, state: &State, purpose: &str) -> Vec<Drawn> {
        let step = state.now();
        for attempt in 0_u64.. {
            let index = u64::from(step) | attempt << 32;
            let mut drawn = Vec::new();
            for (number, (_, process)) in self.processes.iter().enumerate() {
                let mut random = stream(self.seed, &format!("{purpose} process {number}"), index);
                process.fire(state, &mut random, &mut |fact| drawn.push(Drawn { fact, causes: 1 << number }));
            }
            let mut random = stream(self.seed, &format!("{purpose} background"), index);
            self.chance.fire(step, &mut random, &mut |fact, cause| {
                let bit = self.processes.len() + usize::from(cause == Cause::Noise);
                drawn.push(Drawn { fact, causes: 1 << bit });
            });
            if !drawn.is_empty() {
                drawn.sort_by_key(|drawn| drawn.fact);
                drawn.dedup_by(|later, first| {
                    let same = later.fact == first.fact;
                    if same {
                        first.causes |= later.causes;
                    }
                    same
                });
                return drawn;
            }
        }
        unreachable!("some attempt draws a fact: every world has activity")
    }

    /// The probability that a fact occurs at the next step.
    pub fn probability(&self, state: &State, fact: Triple) -> f64 {
        let silence = self.processes.iter().map(|(_, process)| 1.0 - process.probability(state, fact));
        with_chance(silence.product(), self.chance_of(fact, state.now()))
    }

    /// The background's probability of a fact at a step.
    pub fn chance_of(&self, fact: Triple, step: u32) -> f64 {
        -(-self.chance.intensity(fact, step)).exp_m1()
    }

    /// Lets the world happen.
    pub fn grow(&self) -> (Dataset, Truth) {
        let mut state = State::default();
        let mut rows = Vec::new();
        for _ in 0..self.clock.steps {
            let drawn = self.draw(&state, "synth");
            rows.extend(drawn.iter().map(|drawn| TruthRow {
                causes: drawn.causes,
                probability: self.probability(&state, drawn.fact),
            }));
            state.push(drawn.into_iter().map(|drawn| drawn.fact).collect());
        }
        let mut labels: Vec<String> = self.processes.iter().map(|(name, _)| (*name).to_owned()).collect();
        labels.extend(["activity".to_owned(), "noise".to_owned()]);
        (self.dataset(state), Truth { labels, rows })
    }

    fn dataset(&self, state: State) -> Dataset {
        let [valid, test] = self.clock.borders();
        let mut parts = [Vec::new(), Vec::new(), Vec::new()];
        for (step, facts) in (0_u32..).zip(state.into_steps()) {
            let part = &mut parts[usize::from(step >= valid) + usize::from(step >= test)];
            part.extend(facts.into_iter().map(|fact| Quad {
                step: Step(step),
                subject: fact.subject,
                relation: fact.relation,
                object: fact.object,
            }));
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
