//! Confidence intervals by a block bootstrap. Queries of one time step share their history and neighbouring steps resemble each
//! other, so whole blocks of neighbouring steps are drawn, not single queries. Test triples of evolving graphs are drawn one by one.

use quadcast_core::{Task, stream, words};
use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::RankedQuery;

/// A 95 % interval: lower and upper end.
pub type Interval = [f64; 2];

/// With more facts than this, intervals are narrow and fewer resamples are enough.
const MANY_UNITS: usize = 20_000;

words! {
    /// What is drawn by resampling: queries of one unit depend on each other.
    pub enum Unit {
        /// All queries of a time step.
        Step = "step",
        /// The queries about a fact, in both directions and at all steps of an evolving graph: it has few steps, and its test triples
        /// were drawn one by one.
        Fact = "fact",
    }
}

impl Unit {
    /// The unit of a task.
    pub const fn of(task: Task) -> Self {
        match task {
            Task::Forecasting | Task::Completion => Self::Step,
            Task::Evolving => Self::Fact,
        }
    }

    /// What queries of one unit have in common.
    pub fn key(self, ranked: &RankedQuery) -> [u32; 3] {
        let query = &ranked.query;
        match self {
            Self::Step => [query.step.0, 0, 0],
            Self::Fact => {
                let fact = query.fact(ranked.gold, query.step);
                [fact.subject.0, fact.relation.0, fact.object.0]
            }
        }
    }
}

/// A circular block bootstrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockBootstrap {
    /// What is drawn.
    pub unit: Unit,
    /// Units that are drawn from.
    pub units: usize,
    /// Neighbouring units drawn together: of steps the cube root of their number, rounded; facts are drawn one by one.
    pub block: usize,
    /// Number of resamples.
    pub resamples: usize,
}

impl BlockBootstrap {
    /// The bootstrap for so many units.
    pub fn new(unit: Unit, units: usize) -> Self {
        let block = match unit {
            Unit::Step => ((units as f64).cbrt().round() as usize).max(1),
            Unit::Fact => 1,
        };
        let many = unit == Unit::Fact && units > MANY_UNITS;
        Self { unit, units, block, resamples: if many { 500 } else { 2000 } }
    }

    /// 95 % intervals of ratios of sums. Each unit gives the sums of `N` quantities and a count; the quantity of
    /// interest is the sum over all units divided by the count. `None` with fewer than two units.
    pub fn intervals<const N: usize>(&self, units: &[([f64; N], u64)], seed: u64) -> Option<[Interval; N]> {
        debug_assert_eq!(units.len(), self.units, "the bootstrap was made for these units");
        if units.len() < 2 {
            return None;
        }
        let mut random = stream(seed, "bootstrap", 0);
        let mut samples: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(self.resamples));
        for _ in 0..self.resamples {
            let (mut sums, mut count, mut drawn) = ([0.0; N], 0, 0);
            while drawn < units.len() {
                let start = random.random_range(0..units.len());
                for offset in 0..self.block.min(units.len() - drawn) {
                    let (unit, queries) = &units[(start + offset) % units.len()];
                    sums.iter_mut().zip(unit).for_each(|(sum, value)| *sum += value);
                    count += queries;
                }
                drawn += self.block;
            }
            for (sample, sum) in samples.iter_mut().zip(sums) {
                sample.push(sum / count as f64);
            }
        }
        Some(samples.map(|mut sample| {
            sample.sort_unstable_by(f64::total_cmp);
            let at = |share: f64| sample[((sample.len() - 1) as f64 * share).round() as usize];
            [at(0.025), at(0.975)]
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_step_has_no_interval() {
        assert_eq!(BlockBootstrap::new(Unit::Step, 1).intervals(&[([1.0], 2)], 1), None);
    }

    #[test]
    fn equal_steps_have_no_width() {
        let steps = vec![([1.0, 2.0], 4); 30];
        let intervals = BlockBootstrap::new(Unit::Step, 30).intervals(&steps, 1).expect("30 steps");
        assert_eq!(intervals, [[0.25, 0.25], [0.5, 0.5]]);
    }

    #[test]
    fn covers_the_mean_about_as_often_as_it_says() {
        // Independent steps with mean 0.5 and one query each: about 95 of 100 intervals hold it.
        let hits = (0..200).filter(|&world| {
            let mut random = stream(world, "world", 0);
            let steps: Vec<_> = (0..60).map(|_| ([random.random::<f64>()], 1)).collect();
            let [[low, high]] =
                BlockBootstrap::new(Unit::Step, 60).intervals(&steps, world).expect("60 steps");
            low <= 0.5 && 0.5 <= high
        });
        let covered = hits.count();
        assert!((174..=199).contains(&covered), "{covered} of 200 intervals hold the mean");
    }
}
