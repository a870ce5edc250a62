//! Confidence intervals by a block bootstrap over time. Queries of one step share their history and neighbouring
//! steps resemble each other, so whole blocks of neighbouring steps are drawn, not single queries.

use quadcast_core::stream;
use rand::Rng;
use serde::{Deserialize, Serialize};

/// A 95 % interval: lower and upper end.
pub type Interval = [f64; 2];

/// A circular block bootstrap over time steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockBootstrap {
    /// Steps that are drawn from.
    pub steps: usize,
    /// Neighbouring steps drawn together: the cube root of the number of steps, rounded.
    pub block: usize,
    /// Number of resamples.
    pub resamples: usize,
}

impl BlockBootstrap {
    /// The bootstrap for `steps` steps.
    pub fn new(steps: usize) -> Self {
        let block = ((steps as f64).cbrt().round() as usize).max(1);
        Self { steps, block, resamples: 2000 }
    }

    /// 95 % intervals of ratios of sums. Each step gives the sums of `N` quantities and a count; the quantity of
    /// interest is the sum over all steps divided by the count. `None` with fewer than two steps.
    pub fn intervals<const N: usize>(&self, steps: &[([f64; N], u64)], seed: u64) -> Option<[Interval; N]> {
        debug_assert_eq!(steps.len(), self.steps, "the bootstrap was made for these steps");
        if steps.len() < 2 {
            return None;
        }
        let mut random = stream(seed, "bootstrap", 0);
        let mut samples: [Vec<f64>; N] = std::array::from_fn(|_| Vec::with_capacity(self.resamples));
        for _ in 0..self.resamples {
            let (mut sums, mut count, mut drawn) = ([0.0; N], 0, 0);
            while drawn < steps.len() {
                let start = random.random_range(0..steps.len());
                for offset in 0..self.block.min(steps.len() - drawn) {
                    let (step, queries) = &steps[(start + offset) % steps.len()];
                    sums.iter_mut().zip(step).for_each(|(sum, value)| *sum += value);
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
        assert_eq!(BlockBootstrap::new(1).intervals(&[([1.0], 2)], 1), None);
    }

    #[test]
    fn equal_steps_have_no_width() {
        let steps = vec![([1.0, 2.0], 4); 30];
        let intervals = BlockBootstrap::new(30).intervals(&steps, 1).expect("30 steps");
        assert_eq!(intervals, [[0.25, 0.25], [0.5, 0.5]]);
    }

    #[test]
    fn covers_the_mean_about_as_often_as_it_says() {
        // Independent steps with mean 0.5 and one query each: about 95 of 100 intervals hold it.
        let hits = (0..200).filter(|&world| {
            let mut random = stream(world, "world", 0);
            let steps: Vec<_> = (0..60).map(|_| ([random.random::<f64>()], 1)).collect();
            let [[low, high]] = BlockBootstrap::new(60).intervals(&steps, world).expect("60 steps");
            low <= 0.5 && 0.5 <= high
        });
        let covered = hits.count();
        assert!((174..=199).contains(&covered), "{covered} of 200 intervals hold the mean");
    }
}
