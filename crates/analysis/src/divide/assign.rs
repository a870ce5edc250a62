//! Which unit goes where.

use std::collections::BTreeMap;

use quadcast_core::{Split, stream};
use rand::seq::SliceRandom;

use super::options::HeldOut;

/// Draws a split for each unit of a stratum, given the sizes of the units.
///
/// Units of different sizes are drawn apart, in numbers that do not depend on the seed: whatever the seed, every split
/// gets the same number of facts.
pub(super) fn draw(sizes: &[usize], held_out: HeldOut, seed: u64, purpose: &str) -> Vec<Split> {
    let mut classes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (unit, &size) in sizes.iter().enumerate() {
        classes.entry(size).or_default().push(unit);
    }
    let [valid, test] = held_out.counts(sizes.len());
    let held = apportioned(valid + test, &classes.values().map(Vec::len).collect::<Vec<_>>());
    let tested = apportioned(test, &held);
    let mut splits = vec![Split::Train; sizes.len()];
    for ((size, mut units), (held, test)) in classes.into_iter().zip(held.into_iter().zip(tested)) {
        units.shuffle(&mut stream(seed, purpose, size as u64));
        for (place, unit) in units.into_iter().take(held).enumerate() {
            splits[unit] = if place < test { Split::Test } else { Split::Valid };
        }
    }
    splits
}

/// Divides `total` in proportion to the weights, by largest remainders; of equal remainders the larger weight wins. No
/// part exceeds its weight if `total` does not exceed their sum.
fn apportioned(total: usize, weights: &[usize]) -> Vec<usize> {
    let sum = weights.iter().sum::<usize>().max(1) as u128;
    let exact = |weight: usize| total as u128 * weight as u128;
    let mut parts: Vec<usize> = weights.iter().map(|&weight| (exact(weight) / sum) as usize).collect();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|&i| (std::cmp::Reverse((exact(weights[i]) % sum, weights[i])), i));
    let rest = total.saturating_sub(parts.iter().sum());
    for i in order.into_iter().take(rest) {
        parts[i] += 1;
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn remainders_on_paper() {
        assert_eq!(apportioned(1716, &[1, 8576]), [0, 1716], "one odd unit among many stays in train");
        assert_eq!(apportioned(3, &[2, 2, 1]), [1, 1, 1]);
        assert_eq!(apportioned(1, &[5, 5]), [1, 0]);
        assert_eq!(apportioned(0, &[]), [0; 0]);
    }

    proptest! {
        #[test]
        fn parts_add_up(weights in prop::collection::vec(0_usize..50, 1..6), share in 0.0_f64..1.0) {
            let sum: usize = weights.iter().sum();
            let total = (share * sum as f64) as usize;
            let parts = apportioned(total, &weights);
            prop_assert_eq!(parts.iter().sum::<usize>(), total);
            prop_assert!(parts.iter().zip(&weights).all(|(part, weight)| part <= weight));
        }

        #[test]
        fn facts_per_split_do_not_depend_on_the_seed(
            sizes in prop::collection::vec(1_usize..5, 0..200), seeds in (0_u64..100, 0_u64..100)
        ) {
            let facts = |seed| {
                let splits = draw(&sizes, HeldOut::default(), seed, "test");
                Split::ALL.map(|split| {
                    sizes.iter().zip(&splits).filter(|(_, s)| **s == split).map(|(size, _)| size).sum::<usize>()
                })
            };
            prop_assert_eq!(facts(seeds.0), facts(seeds.1));
        }
    }
}
