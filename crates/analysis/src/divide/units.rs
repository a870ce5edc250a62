//! What must stay together, and which of it goes where: the connected components of the graph that joins facts with their
//! mirrors are drawn as units.

use std::collections::BTreeMap;
use std::ops::Range;

use quadcast_core::{Detection, Mirrors, Names, PatternCounts, Quad, RelationId, Split, stream};
use rand::seq::SliceRandom;

use super::options::{HeldOut, PatternSource};
use super::report::ListReport;

/// The relations that mirror a relation, itself included if it is symmetric.
#[derive(Clone, Debug)]
pub(super) struct Partners {
    by_relation: Vec<Vec<RelationId>>,
}

impl Partners {
    /// A table from symmetric relations and pairs, in any order.
    pub(super) fn new(mirrors: &Mirrors, relations: usize) -> Self {
        let mut by_relation = vec![Vec::new(); relations];
        for &p in &mirrors.symmetric {
            by_relation[p.index()].push(p);
        }
        for &(p, q) in &mirrors.inverse {
            by_relation[p.index()].push(q);
            by_relation[q.index()].push(p);
        }
        for partners in &mut by_relation {
            partners.sort_unstable();
            partners.dedup();
        }
        Self { by_relation }
    }

    /// The facts that would mirror this one at the same time.
    pub(super) fn of(&self, fact: Quad) -> impl Iterator<Item = Quad> + '_ {
        let mirror = Quad { subject: fact.object, object: fact.subject, ..fact };
        self.by_relation[fact.relation.index()].iter().map(move |&relation| Quad { relation, ..mirror })
    }
}

/// Finds or takes the patterns. `facts` are all facts, each once.
pub(super) fn resolve(patterns: &PatternSource, facts: &[Quad], relations: &Names) -> (Partners, ListReport) {
    let (mirrors, origin, detection) = match patterns {
        PatternSource::Given { mirrors, origin } => (mirrors.clone(), origin.clone(), None),
        PatternSource::Detected(detection) => {
            let found = detected(facts, relations.len(), detection);
            (found, "detected in all facts".to_owned(), Some(*detection))
        }
    };
    let partners = Partners::new(&mirrors, relations.len());
    let name = |id: RelationId| relations.name(id.0).into_owned();
    let Mirrors { mut symmetric, inverse } = mirrors;
    let (own, pairs): (Vec<_>, Vec<_>) = inverse.into_iter().partition(|(p, q)| p == q);
    symmetric.extend(own.into_iter().map(|(p, _)| p));
    symmetric.sort_unstable();
    symmetric.dedup();
    let mut pairs: Vec<[RelationId; 2]> = pairs.into_iter().map(|(p, q)| [p.min(q), p.max(q)]).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let report = ListReport {
        origin,
        detection,
        symmetric: symmetric.into_iter().map(name).collect(),
        inverse: pairs.into_iter().map(|pair| pair.map(name)).collect(),
    };
    (partners, report)
}

/// Symmetric are relations whose facts are mirrored at the same time. Inverse are pairs that mirror each other at the
/// same time or at any: a pair that answers days later is kept together where it answers at once.
fn detected(facts: &[Quad], relations: usize, detection: &Detection) -> Mirrors {
    let counts = PatternCounts::of(facts.iter().copied(), relations);
    let mut mirrors = Mirrors::detect(&counts, detection, true);
    mirrors.inverse.extend(Mirrors::detect(&counts, detection, false).inverse);
    mirrors
}

/// The kinds of units, which are divided separately so that each split gets its part of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stratum {
    /// Held together by a symmetric relation, among others maybe. A fact of an entity with itself mirrors itself.
    Symmetric,
    /// Held together by inverse relations alone.
    Inverse,
    /// Facts without a mirror.
    Single,
}

impl Stratum {
    pub(super) const ALL: [Self; 3] = [Self::Symmetric, Self::Inverse, Self::Single];

    /// The word in reports and in the names of random streams.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Symmetric => "symmetric",
            Self::Inverse => "inverse",
            Self::Single => "single",
        }
    }
}

/// Facts in groups.
pub(super) struct Units {
    /// Indices of facts, those of a unit next to each other.
    members: Vec<u32>,
    units: Vec<(Stratum, Range<usize>)>,
}

impl Units {
    /// Finds the components among sorted, different facts. Units are in the order of their first facts.
    pub(super) fn of(facts: &[Quad], partners: &Partners) -> Self {
        let mut parents: Vec<u32> = (0..facts.len() as u32).collect();
        let mut strata = vec![Stratum::Single; facts.len()];
        for (index, &fact) in facts.iter().enumerate() {
            for mirror in partners.of(fact) {
                let Ok(other) = facts.binary_search(&mirror) else { continue };
                if mirror.relation == fact.relation {
                    strata[index] = Stratum::Symmetric;
                } else if strata[index] == Stratum::Single {
                    strata[index] = Stratum::Inverse;
                }
                let (a, b) = (root(&mut parents, index as u32), root(&mut parents, other as u32));
                // The smaller index is the root, so that the order of units does not depend on how they were joined.
                parents[a.max(b) as usize] = a.min(b);
            }
        }
        let roots: Vec<u32> = (0..facts.len() as u32).map(|index| root(&mut parents, index)).collect();
        let mut members: Vec<u32> = (0..facts.len() as u32).collect();
        members.sort_by_key(|&index| roots[index as usize]);
        let mut start = 0;
        let mut units = Vec::new();
        for unit in members.chunk_by(|&a, &b| roots[a as usize] == roots[b as usize]) {
            let of = |wanted| unit.iter().any(|&index| strata[index as usize] == wanted);
            let stratum = Stratum::ALL.into_iter().find(|&stratum| of(stratum)).unwrap_or(Stratum::Single);
            units.push((stratum, start..start + unit.len()));
            start += unit.len();
        }
        Self { members, units }
    }

    /// The units of a stratum, each as indices of facts.
    pub(super) fn stratum(&self, wanted: Stratum) -> Vec<&[u32]> {
        let of_it = self.units.iter().filter(|(stratum, _)| *stratum == wanted);
        of_it.map(|(_, range)| &self.members[range.clone()]).collect()
    }
}

/// The root of a component; paths are halved on the way.
fn root(parents: &mut [u32], mut index: u32) -> u32 {
    while parents[index as usize] != index {
        let above = parents[parents[index as usize] as usize];
        parents[index as usize] = above;
        index = above;
    }
    index
}

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
    fn mirrors_make_units() {
        // Relation 0 is symmetric, 1 and 2 are inverse to each other, 3 to 1 as well.
        let r = RelationId;
        let mirrors = Mirrors { symmetric: vec![r(0)], inverse: vec![(r(1), r(2)), (r(3), r(1))] };
        let mut facts = vec![
            Quad::new(0, 0, 1, 5), // A with the next
            Quad::new(1, 0, 0, 5),
            Quad::new(0, 0, 1, 6), // no mirror at that time
            Quad::new(2, 0, 2, 5), // mirrors itself
            Quad::new(0, 1, 1, 5), // B with the next two
            Quad::new(1, 2, 0, 5),
            Quad::new(1, 3, 0, 5),
            Quad::new(1, 3, 0, 6), // no partner of relation 1 at that time
            Quad::new(4, 4, 5, 5), // no pattern
        ];
        facts.sort_unstable();
        let units = Units::of(&facts, &Partners::new(&mirrors, 5));
        let named = |stratum| {
            let relation_and_step = |&i: &u32| (facts[i as usize].relation.0, facts[i as usize].step.0);
            let members = units.stratum(stratum).into_iter();
            let mut found: Vec<Vec<(u32, u32)>> =
                members.map(|unit| unit.iter().map(relation_and_step).collect()).collect();
            found.sort();
            found
        };
        assert_eq!(named(Stratum::Symmetric), [vec![(0, 5)], vec![(0, 5), (0, 5)]]);
        assert_eq!(named(Stratum::Inverse), [vec![(1, 5), (2, 5), (3, 5)]]);
        assert_eq!(named(Stratum::Single), [vec![(0, 6)], vec![(3, 6)], vec![(4, 5)]]);
    }

    #[test]
    fn a_symmetric_link_decides_the_stratum() {
        let r = RelationId;
        let mirrors = Mirrors { symmetric: vec![r(0)], inverse: vec![(r(0), r(1))] };
        let mut facts = vec![Quad::new(0, 0, 1, 0), Quad::new(1, 0, 0, 0), Quad::new(1, 1, 0, 0)];
        facts.sort_unstable();
        let units = Units::of(&facts, &Partners::new(&mirrors, 2));
        assert_eq!(units.stratum(Stratum::Symmetric), [&[0, 1, 2]]);
    }

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
