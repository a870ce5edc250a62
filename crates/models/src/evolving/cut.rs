//! How the samples of an epoch become batches.

use std::ops::Range;

use super::settings::Positives;

/// Batches one after the other; the first ones may have a sample more than the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// How many there are.
    pub batches: usize,
    /// Samples that each of them has.
    each: usize,
    /// How many of them have one more.
    longer: usize,
}

impl Cut {
    pub fn new(samples: usize, batches: usize, positives: Positives) -> Self {
        let batches = batches.min(samples);
        let each = samples / batches.max(1);
        let longer = match positives {
            // As published: drawn samples are as good as any others, and those that make no whole batch are left out.
            Positives::Drawn => 0,
            // An epoch goes through all triples.
            Positives::Shuffled => samples - batches * each,
        };
        Self { batches, each, longer }
    }

    /// Samples of the largest batch.
    pub fn largest(self) -> usize {
        self.each + usize::from(self.longer > 0)
    }

    /// The samples of a batch, as places in those of the epoch.
    pub fn batch(self, batch: usize) -> Range<usize> {
        let from = batch * self.each + batch.min(self.longer);
        from..from + self.each + usize::from(batch < self.longer)
    }
}

#[cfg(test)]
mod tests {
    use super::{Cut, Positives};

    #[test]
    fn batches_of_all_triples_leave_none_out() {
        for (samples, batches, largest) in [(199, 100, 2), (200, 100, 2), (7, 100, 1), (23, 5, 5), (1, 1, 1)]
        {
            let cut = Cut::new(samples, batches, Positives::Shuffled);
            let all: Vec<usize> = (0..cut.batches).flat_map(|batch| cut.batch(batch)).collect();
            assert_eq!(all, (0..samples).collect::<Vec<usize>>(), "{samples} in {batches}");
            let sizes: Vec<usize> = (0..cut.batches).map(|batch| cut.batch(batch).len()).collect();
            assert_eq!(sizes.iter().max(), Some(&largest));
            assert_eq!(cut.largest(), largest);
            assert!(sizes.iter().all(|&size| size + 1 >= largest), "{sizes:?}");
        }
    }

    #[test]
    fn batches_of_drawn_triples_are_alike() {
        let cut = Cut::new(199, 100, Positives::Drawn);
        assert_eq!((cut.batches, cut.largest()), (100, 1));
        assert!((0..100).all(|batch| cut.batch(batch) == (batch..batch + 1)));
    }
}
