//! What is learned: the triples of a graph, or those that matter after a change of it.

use std::ops::Range;

use quadcast_core::{GraphUpdate, Run, Triple};
use quadcast_kernels::triples::Draws;
use rand::Rng;
use rustc_hash::FxHashSet;

use super::settings::{Config, Positives};

/// True triples, in groups of which an epoch goes through different shares.
pub(super) struct Examples {
    pub triples: Vec<[u32; 3]>,
    /// False triples that the last true ones are learned against.
    pub against: Vec<[u32; 3]>,
    /// Which triples, and how often each in an epoch, in the mean.
    groups: Vec<(Range<usize>, f64)>,
}

/// Which entities a change concerns.
pub(super) struct Changes {
    /// By entity: share of its triples, before and after, that came or went.
    changed: Vec<f64>,
}

fn ids(triple: &Triple) -> [u32; 3] {
    [triple.subject.0, triple.relation.0, triple.object.0]
}

impl Changes {
    pub fn new(update: &GraphUpdate<'_>) -> Self {
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
        Self { changed: now.iter().zip(&came).zip(&went).map(share).collect() }
    }

    fn is_near(&self, triple: &Triple, near: f64) -> bool {
        [triple.subject, triple.object]
            .iter()
            .any(|end| self.changed[end.index()] >= near.max(f64::MIN_POSITIVE))
    }
}

impl Examples {
    /// All triples alike.
    pub fn all(triples: &[Triple]) -> Self {
        let groups = vec![(0..triples.len(), 1.0)];
        Self { triples: triples.iter().map(ids).collect(), against: Vec::new(), groups }
    }

    /// New triples, some of the old ones near and far from the change, and deleted ones as false ones.
    pub fn of_change(update: &GraphUpdate<'_>, changes: &Changes, config: &Config, run: &Run) -> Self {
        let Config { replay, replay_near, near, unlearn, .. } = *config;
        if replay == 1.0 && replay_near == 1.0 && unlearn == 0.0 {
            return Self::all(update.graph.triples);
        }
        let inserted: FxHashSet<&Triple> = update.inserted.iter().collect();
        let mut parts: [Vec<[u32; 3]>; 4] = Default::default();
        for triple in update.graph.triples {
            let part = if inserted.contains(triple) {
                0
            } else if changes.is_near(triple, near) {
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
        // One group of draws is in random order already.
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

/// For each deleted triple a true one that it is learned against: one with the same relation and the same head or tail, if
/// there is one, so that what is learned is which of two answers is right; else any.
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
