//! Training examples: the triples of a graph, or those that matter after a change, and their split into batches.

use std::ops::Range;

use quadcast_core::{GraphUpdate, Run, Triple};
use quadcast_kernels::triples::Draws;
use rand::Rng;
use rustc_hash::FxHashSet;

use super::settings::{Config, Positives};

/// True triples, in groups that an epoch samples at different rates.
pub(super) struct Examples {
    pub triples: Vec<[u32; 3]>,
    /// False triples for the last true ones, one each.
    pub against: Vec<[u32; 3]>,
    /// Ranges of triples, and the mean number of uses of each triple in an epoch.
    groups: Vec<(Range<usize>, f64)>,
}

/// A triple as three ids.
pub(super) fn ids(triple: &Triple) -> [u32; 3] {
    [triple.subject.0, triple.relation.0, triple.object.0]
}

/// By entity: inserted and deleted triples, as a share of its triples before and after.
fn changed_shares(update: &GraphUpdate<'_>) -> Vec<f64> {
    let count = |triples: &[Triple]| {
        let mut counts = vec![0_u32; update.graph.sizes.entities];
        for triple in triples {
            counts[triple.subject.index()] += 1;
            counts[triple.object.index()] += 1;
        }
        counts
    };
    let (now, came, went) = (count(update.graph.triples), count(update.inserted), count(update.deleted));
    let share = |((&now, &came), &went): ((&u32, &u32), &u32)| {
        f64::from(came + went) / f64::from((now + went).max(1))
    };
    now.iter().zip(&came).zip(&went).map(share).collect()
}

impl Examples {
    /// All triples, each once per epoch.
    pub fn all(triples: &[Triple]) -> Self {
        let groups = vec![(0..triples.len(), 1.0)];
        Self { triples: triples.iter().map(ids).collect(), against: Vec::new(), groups }
    }

    /// New triples, samples of old triples near the change and elsewhere, and deleted triples as false ones.
    pub fn of_change(update: &GraphUpdate<'_>, config: &Config, run: &Run) -> Self {
        let Config { replay, replay_near, near, unlearn, .. } = *config;
        if replay == 1.0 && replay_near == 1.0 && unlearn == 0.0 {
            return Self::all(update.graph.triples);
        }
        let inserted: FxHashSet<&Triple> = update.inserted.iter().collect();
        let (changed, near) = (changed_shares(update), near.max(f64::MIN_POSITIVE));
        let is_near =
            |triple: &Triple| [triple.subject, triple.object].iter().any(|end| changed[end.index()] >= near);
        let mut parts: [Vec<[u32; 3]>; 4] = Default::default();
        for triple in update.graph.triples {
            let part = if inserted.contains(triple) {
                0
            } else if is_near(triple) {
                1
            } else {
                2
            };
            parts[part].push(ids(triple));
        }
        let mut against = Vec::new();
        if unlearn > 0.0 && !update.graph.triples.is_empty() {
            (parts[3], against) = unlearning(update, run);
        }
        let mut examples = Self { triples: Vec::new(), against, groups: Vec::new() };
        for (part, weight) in parts.into_iter().zip([1.0, replay_near, replay, unlearn]) {
            let from = examples.triples.len();
            examples.triples.extend(part);
            examples.groups.push((from..examples.triples.len(), weight));
        }
        examples
    }

    pub fn is_empty(&self) -> bool {
        self.size() == 0
    }

    /// Samples of an epoch.
    pub fn size(&self) -> usize {
        self.groups.iter().map(share).sum()
    }

    /// The samples of an epoch, as places in the list of triples.
    pub fn pick(&self, positives: Positives, key: u64) -> Vec<u32> {
        let mut draws = Draws::new(key, 0);
        let mut picks: Vec<u32> = Vec::with_capacity(self.size());
        for group in &self.groups {
            let (range, weight) = group;
            if positives == Positives::Shuffled && *weight == 1.0 {
                picks.extend(range.start as u32..range.end as u32);
            } else {
                let drawn = (0..share(group)).map(|_| (range.start + draws.below(range.len())) as u32);
                picks.extend(drawn);
            }
        }
        // A single group of draws is already in random order.
        if positives == Positives::Shuffled || self.groups.len() > 1 {
            for last in (1..picks.len()).rev() {
                picks.swap(last, draws.below(last + 1));
            }
        }
        picks
    }
}

/// Samples of an epoch from one group.
fn share((range, weight): &(Range<usize>, f64)) -> usize {
    (range.len() as f64 * weight).round() as usize
}

/// Pairs each deleted triple with a true one. If possible the true one has the same relation and the same head or tail, so that
/// the model learns which of two answers is right; otherwise it is any true triple.
fn unlearning(update: &GraphUpdate<'_>, run: &Run) -> (Vec<[u32; 3]>, Vec<[u32; 3]>) {
    let triples = update.graph.triples;
    let sorted = |key: fn(&Triple) -> [u32; 2]| {
        let mut places: Vec<u32> = (0..triples.len() as u32).collect();
        places.sort_by_key(|&place| key(&triples[place as usize]));
        places
    };
    let keys: [fn(&Triple) -> [u32; 2]; 2] =
        [|triple| [triple.relation.0, triple.subject.0], |triple| [triple.relation.0, triple.object.0]];
    let lists = keys.map(sorted);
    let mut stream = run.stream("unlearning", u64::from(update.graph.step.0));
    let mut right = Vec::with_capacity(update.deleted.len());
    for deleted in update.deleted {
        let found = keys.iter().zip(&lists).find_map(|(key, list)| {
            let wanted = key(deleted);
            let from = list.partition_point(|&place| key(&triples[place as usize]) < wanted);
            let same = list[from..].partition_point(|&place| key(&triples[place as usize]) == wanted);
            (same > 0).then(|| list[from + stream.random_range(0..same)] as usize)
        });
        right.push(ids(&triples[found.unwrap_or_else(|| stream.random_range(0..triples.len()))]));
    }
    (right, update.deleted.iter().map(ids).collect())
}

/// How the samples of an epoch are split into batches. The first batches may have one sample more than the others.
#[derive(Clone, Copy, Debug)]
pub(super) struct BatchSplit {
    /// Number of batches.
    pub batches: usize,
    /// Samples of a batch, at least.
    each: usize,
    /// Number of batches with one more.
    longer: usize,
}

impl BatchSplit {
    pub fn new(samples: usize, batches: usize, positives: Positives) -> Self {
        let batches = batches.min(samples);
        let each = samples / batches.max(1);
        let longer = match positives {
            // As published: samples are drawn, so the rest that fills no batch can be left out.
            Positives::Drawn => 0,
            // An epoch uses every triple.
            Positives::Shuffled => samples - batches * each,
        };
        Self { batches, each, longer }
    }

    /// Samples of the largest batch.
    pub fn largest(self) -> usize {
        self.each + usize::from(self.longer > 0)
    }

    /// The samples of a batch, as a range of those of the epoch.
    pub fn batch(self, batch: usize) -> Range<usize> {
        let from = batch * self.each + batch.min(self.longer);
        from..from + self.each + usize::from(batch < self.longer)
    }
}

#[cfg(test)]
mod tests {
    use super::{BatchSplit, Positives};

    #[test]
    fn batches_of_all_triples_leave_none_out() {
        for (samples, batches, largest) in [(199, 100, 2), (200, 100, 2), (7, 100, 1), (23, 5, 5), (1, 1, 1)]
        {
            let split = BatchSplit::new(samples, batches, Positives::Shuffled);
            let all: Vec<usize> = (0..split.batches).flat_map(|batch| split.batch(batch)).collect();
            assert_eq!(all, (0..samples).collect::<Vec<usize>>(), "{samples} in {batches}");
            let sizes: Vec<usize> = (0..split.batches).map(|batch| split.batch(batch).len()).collect();
            assert_eq!(sizes.iter().max(), Some(&largest));
            assert_eq!(split.largest(), largest);
            assert!(sizes.iter().all(|&size| size + 1 >= largest), "{sizes:?}");
        }
    }

    #[test]
    fn batches_of_drawn_triples_have_one_size() {
        let split = BatchSplit::new(199, 100, Positives::Drawn);
        assert_eq!((split.batches, split.largest()), (100, 1));
        assert!((0..100).all(|batch| split.batch(batch) == (batch..batch + 1)));
    }
}
