//! Examples of triple classification: each positive with a negative that differs from it in the head or the tail.
//!
//! A negative is drawn from the entities that are present at the step and was never true, at no time of the stream. The
//! published examples were drawn from all entities, with a check that had no effect, and once per test triple for all
//! steps; [`Published`] does the same.

use quadcast_core::{EntityId, Split, Triple, stream};
use rand::Rng;
use rustc_hash::FxHashMap;

use super::lists::EverTrue;

/// Draws before the search becomes exhaustive.
const ATTEMPTS: usize = 100;

/// Examples of one step and split.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Examples {
    /// Positives, then their negatives in the same order.
    pub labelled: Vec<(Triple, bool)>,
    /// Positives that were left out because nothing but truth differs from them in one entity.
    pub without_negative: usize,
}

impl Examples {
    fn of(pairs: &[(Triple, Option<Triple>)]) -> Self {
        let without_negative = pairs.iter().filter(|(_, negative)| negative.is_none()).count();
        let found = || pairs.iter().filter_map(|(positive, negative)| Some((*positive, (*negative)?)));
        let labelled = found()
            .map(|(positive, _)| (positive, true))
            .chain(found().map(|(_, negative)| (negative, false)));
        Self { labelled: labelled.collect(), without_negative }
    }
}

/// Honest examples: `present` are the entities of the step, `ever` all triples of the stream.
pub(super) fn honest(
    positives: &[Triple],
    present: &[EntityId],
    ever: &EverTrue,
    (seed, split, step): (u64, Split, usize),
) -> Examples {
    let random = stream(seed, &format!("evolve negatives {split}"), step as u64);
    let fits = |triple: &Triple| triple.subject != triple.object && !ever.has(*triple);
    among(positives, present, fits, random)
}

/// Examples with negatives of entities that are `present` and of which something `fits`.
pub(super) fn among(
    positives: &[Triple],
    present: &[EntityId],
    fits: impl Fn(&Triple) -> bool,
    mut random: impl Rng,
) -> Examples {
    let mut negative = |positive: Triple| {
        if present.is_empty() {
            return None;
        }
        let head_first: bool = random.random();
        for head in [head_first, !head_first] {
            for _ in 0..ATTEMPTS {
                let candidate = replaced(positive, head, present[random.random_range(0..present.len())]);
                if fits(&candidate) {
                    return Some(candidate);
                }
            }
            // So many failures mean that few entities are left or none: they are listed, and one is drawn.
            let left: Vec<Triple> =
                present.iter().map(|&entity| replaced(positive, head, entity)).filter(&fits).collect();
            if !left.is_empty() {
                return Some(left[random.random_range(0..left.len())]);
            }
        }
        None
    };
    let pairs: Vec<_> = positives.iter().map(|&positive| (positive, negative(positive))).collect();
    Examples::of(&pairs)
}

/// The published way: one negative per triple for all steps, of any entity, whether it is true or not.
pub(super) struct Published {
    seed: u64,
    entities: u32,
    known: FxHashMap<Triple, Triple>,
}

impl Published {
    pub(super) fn new(seed: u64, entities: usize) -> Self {
        Self { seed, entities: entities as u32, known: FxHashMap::default() }
    }

    pub(super) fn examples(&mut self, positives: &[Triple], split: Split, step: usize) -> Examples {
        let mut random = stream(self.seed, &format!("evolve published negatives {split}"), step as u64);
        let pairs = positives.iter().map(|&positive| {
            let entity = EntityId(random.random_range(0..self.entities.max(1)));
            let drawn = replaced(positive, random.random(), entity);
            (positive, Some(*self.known.entry(positive).or_insert(drawn)))
        });
        Examples::of(&pairs.collect::<Vec<_>>())
    }
}

const fn replaced(triple: Triple, head: bool, entity: EntityId) -> Triple {
    if head { Triple { subject: entity, ..triple } } else { Triple { object: entity, ..triple } }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSITIVE: Triple = Triple::new(0, 0, 1);

    #[test]
    fn the_only_possible_negative_is_found() {
        // Everything else with an entity of 0..4 on either side is true or leads back to itself.
        let present: Vec<EntityId> = (0..4).map(EntityId).collect();
        let mut true_ones = vec![POSITIVE, Triple::new(0, 0, 2), Triple::new(2, 0, 1), Triple::new(3, 0, 1)];
        let ever = EverTrue::new(true_ones.iter().copied(), 4);
        for seed in 0..20 {
            let found = honest(&[POSITIVE], &present, &ever, (seed, Split::Test, 1));
            assert_eq!(found.labelled, [(POSITIVE, true), (Triple::new(0, 0, 3), false)]);
        }
        true_ones.push(Triple::new(0, 0, 3));
        let ever = EverTrue::new(true_ones.iter().copied(), 4);
        let found = honest(&[POSITIVE, POSITIVE], &present, &ever, (1, Split::Test, 1));
        assert_eq!(found, Examples { labelled: vec![], without_negative: 2 });
        assert_eq!(honest(&[POSITIVE], &[], &ever, (1, Split::Test, 1)).without_negative, 1);
    }

    #[test]
    fn published_negatives_stay_the_same_at_all_steps() {
        let mut published = Published::new(1, 1000);
        let first = published.examples(&[POSITIVE], Split::Test, 1);
        let other = published.examples(&[Triple::new(5, 0, 6), POSITIVE], Split::Test, 2);
        assert_eq!(first.labelled[1], other.labelled[3]);
    }
}
