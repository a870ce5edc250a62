//! The evaluation triples that are ranked.

use quadcast_core::{Split, Triple, stream};
use rand::seq::index;

/// Draws so many of the triples without replacement and leaves them in order; all, if there are no more or no number is given.
pub(super) fn sample(
    all: &[Triple],
    size: Option<usize>,
    seed: u64,
    split: Split,
    step: usize,
) -> Vec<Triple> {
    let Some(size) = size.filter(|size| *size < all.len()) else {
        return all.to_vec();
    };
    let mut random = stream(seed, &format!("evolve sample {split}"), step as u64);
    let mut chosen = index::sample(&mut random, all.len(), size).into_vec();
    chosen.sort_unstable();
    chosen.into_iter().map(|at| all[at]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_parts_in_order() {
        let all: Vec<Triple> = (0..100).map(|id| Triple::new(id, 0, 200)).collect();
        let some = sample(&all, Some(10), 1, Split::Valid, 3);
        assert_eq!(some.len(), 10);
        assert!(
            some.windows(2).all(|pair| pair[0] < pair[1]) && some.iter().all(|triple| all.contains(triple))
        );
        assert_eq!(sample(&all, Some(10), 1, Split::Valid, 3), some);
        assert_ne!(sample(&all, Some(10), 1, Split::Test, 3), some);
        assert_eq!(sample(&all, Some(100), 1, Split::Test, 3), all);
        assert_eq!(sample(&all, None, 1, Split::Test, 3), all);
    }
}
