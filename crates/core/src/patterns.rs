//! How relations mirror, repeat and accompany each other: shares of facts, and the patterns that they make.
//!
//! For relations p and q, *mirrored* counts the facts (s, p, o, t) for which (o, q, s) is a fact too, at t or at any
//! time; *parallel* those for which (s, q, o) is. With p = q, mirrored is symmetry. Facts count once, however often
//! they are listed; a fact that an entity has with itself mirrors itself and is left out.

use rayon::slice::ParallelSliceMut;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::{Quad, RelationId, Step};

/// How many facts of a relation have a companion.
#[derive(Clone, Copy, Debug, Default)]
struct Companions {
    same_time: u64,
    /// The same time included.
    any_time: u64,
}

/// Companions as shares of a relation's facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Shares {
    /// At the same time: *static* in the literature.
    pub same_time: f64,
    /// At some time: *dynamic* in the literature.
    pub any_time: f64,
}

/// Companions of all pairs of relations.
#[derive(Clone, Debug, Default)]
pub struct PatternCounts {
    /// Facts by relation, without those of an entity with itself.
    facts: Vec<u64>,
    mirrored: FxHashMap<(RelationId, RelationId), Companions>,
    parallel: FxHashMap<(RelationId, RelationId), Companions>,
}

/// A fact between an unordered pair of entities.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Between {
    low: u32,
    high: u32,
    step: Step,
    relation: RelationId,
    /// Whether the larger id is the subject.
    backwards: bool,
}

impl PatternCounts {
    /// Counts over facts in any order, with `relations` relations.
    pub fn of(facts: impl IntoIterator<Item = Quad>, relations: usize) -> Self {
        let between = |fact: Quad| {
            let (s, o) = (fact.subject.0, fact.object.0);
            let (low, high) = (s.min(o), s.max(o));
            (s != o).then_some(Between {
                low,
                high,
                step: fact.step,
                relation: fact.relation,
                backwards: s > o,
            })
        };
        let mut facts: Vec<Between> = facts.into_iter().filter_map(between).collect();
        facts.par_sort_unstable();
        facts.dedup();
        let mut counts = Self { facts: vec![0; relations], ..Self::default() };
        for fact in &facts {
            counts.facts[fact.relation.index()] += 1;
        }
        let mut kinds = Kinds::default();
        for pair in facts.chunk_by(|a, b| (a.low, a.high) == (b.low, b.high)) {
            for moment in pair.chunk_by(|a, b| a.step == b.step) {
                kinds.take(moment);
                counts.add(&kinds, |companions, facts| companions.same_time += facts);
            }
            kinds.take(pair);
            counts.add(&kinds, |companions, facts| companions.any_time += facts);
        }
        counts
    }

    fn add(&mut self, kinds: &Kinds, add: impl Fn(&mut Companions, u64)) {
        let Kinds { forwards, backwards } = kinds;
        for (own, other) in [(forwards, backwards), (backwards, forwards)] {
            for &(p, facts) in own {
                for &(q, _) in other {
                    add(self.mirrored.entry((p, q)).or_default(), facts);
                }
                for &(q, _) in own.iter().filter(|(q, _)| *q != p) {
                    add(self.parallel.entry((p, q)).or_default(), facts);
                }
            }
        }
    }

    /// Number of relations.
    pub fn relations(&self) -> usize {
        self.facts.len()
    }

    /// Number of facts of a relation, without those of an entity with itself.
    pub fn facts(&self, relation: RelationId) -> u64 {
        self.facts.get(relation.index()).copied().unwrap_or_default()
    }

    /// Shares of the facts (s, p, o) that come with (o, q, s).
    pub fn mirrored(&self, p: RelationId, q: RelationId) -> Shares {
        self.shares(p, self.mirrored.get(&(p, q)))
    }

    /// Shares of the facts (s, p, o) that come with (s, q, o).
    pub fn parallel(&self, p: RelationId, q: RelationId) -> Shares {
        self.shares(p, self.parallel.get(&(p, q)))
    }

    /// The pairs (p, q) with at least one mirrored fact, in order.
    pub fn mirrored_pairs(&self) -> Vec<(RelationId, RelationId)> {
        sorted(self.mirrored.keys())
    }

    /// The pairs (p, q), p ≠ q, with at least one parallel fact, in order.
    pub fn parallel_pairs(&self) -> Vec<(RelationId, RelationId)> {
        sorted(self.parallel.keys())
    }

    fn shares(&self, p: RelationId, companions: Option<&Companions>) -> Shares {
        let (Companions { same_time, any_time }, facts) =
            (companions.copied().unwrap_or_default(), self.facts(p));
        let share = |count: u64| if facts == 0 { 0.0 } else { count as f64 / facts as f64 };
        Shares { same_time: share(same_time), any_time: share(any_time) }
    }
}

fn sorted<'a>(pairs: impl Iterator<Item = &'a (RelationId, RelationId)>) -> Vec<(RelationId, RelationId)> {
    let mut pairs: Vec<_> = pairs.copied().collect();
    pairs.sort_unstable();
    pairs
}

/// Relations between two entities with their numbers of facts, by direction.
#[derive(Default)]
struct Kinds {
    forwards: Vec<(RelationId, u64)>,
    backwards: Vec<(RelationId, u64)>,
}

impl Kinds {
    fn take(&mut self, facts: &[Between]) {
        self.forwards.clear();
        self.backwards.clear();
        for fact in facts {
            let kinds = if fact.backwards { &mut self.backwards } else { &mut self.forwards };
            // Two entities have few relations: a search from the end beats a table.
            match kinds.iter_mut().rev().find(|(relation, _)| *relation == fact.relation) {
                Some((_, count)) => *count += 1,
                None => kinds.push((fact.relation, 1)),
            }
        }
    }
}

/// When shares make a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Detection {
    /// A share must be larger than this.
    pub threshold: f64,
    /// Relations with fewer facts have no pattern.
    pub min_support: u64,
    /// Inverses must hold in both directions.
    pub mutual: bool,
}

impl Default for Detection {
    fn default() -> Self {
        Self { threshold: 0.5, min_support: 20, mutual: true }
    }
}

/// Which relations answer a relation from the other side.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mirrors {
    /// Relations that mirror themselves, ascending.
    pub symmetric: Vec<RelationId>,
    /// Pairs (p, q): facts of p are mirrored by facts of q; the strongest q for each p, ascending.
    pub inverse: Vec<(RelationId, RelationId)>,
}

impl Mirrors {
    /// Finds the patterns at the same time (`true`), or at any time.
    pub fn detect(counts: &PatternCounts, detection: &Detection, same_time: bool) -> Self {
        let share = |p, q| {
            let shares = counts.mirrored(p, q);
            if same_time { shares.same_time } else { shares.any_time }
        };
        let supported = |relation| counts.facts(relation) >= detection.min_support;
        let mut mirrors = Self::default();
        let mut strongest: Option<(f64, (RelationId, RelationId))> = None;
        for (p, q) in counts.mirrored_pairs() {
            if strongest.is_some_and(|(_, (last, _))| last != p) {
                mirrors.inverse.extend(strongest.take().map(|(_, pair)| pair));
            }
            let found = share(p, q);
            if !supported(p) || !supported(q) || found <= detection.threshold {
                continue;
            }
            if p == q {
                mirrors.symmetric.push(p);
            } else if (!detection.mutual || share(q, p) > detection.threshold)
                && strongest.is_none_or(|(best, _)| found > best)
            {
                strongest = Some((found, (p, q)));
            }
        }
        mirrors.inverse.extend(strongest.map(|(_, pair)| pair));
        mirrors
    }

    /// The relation that answers `p` from the other side: itself if symmetric, else its inverse.
    pub fn partner(&self, p: RelationId) -> Option<RelationId> {
        if self.symmetric.binary_search(&p).is_ok() {
            return Some(p);
        }
        let place = self.inverse.binary_search_by_key(&p, |pair| pair.0).ok()?;
        Some(self.inverse[place].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const R: fn(u32) -> RelationId = RelationId;

    #[test]
    fn shares_on_paper() {
        // Relation 0: three facts, one mirrored at once, one later. Relation 1 mirrors relation 2.
        let facts = [
            Quad::new(0, 0, 1, 5),
            Quad::new(1, 0, 0, 5),
            Quad::new(1, 0, 0, 5),
            Quad::new(0, 0, 1, 9),
            Quad::new(2, 0, 3, 1),
            Quad::new(4, 1, 5, 2),
            Quad::new(5, 2, 4, 2),
            Quad::new(5, 2, 4, 3),
            Quad::new(4, 3, 5, 2),
            Quad::new(7, 0, 7, 1),
        ];
        let counts = PatternCounts::of(facts, 4);
        assert_eq!(counts.facts(R(0)), 4);
        assert_eq!(counts.mirrored(R(0), R(0)), Shares { same_time: 0.5, any_time: 0.75 });
        assert_eq!(counts.mirrored(R(1), R(2)), Shares { same_time: 1.0, any_time: 1.0 });
        assert_eq!(counts.mirrored(R(2), R(1)), Shares { same_time: 0.5, any_time: 1.0 });
        assert_eq!(counts.parallel(R(1), R(3)), Shares { same_time: 1.0, any_time: 1.0 });
        assert_eq!(counts.parallel(R(1), R(2)), Shares::default());

        let any = Detection { min_support: 1, ..Detection::default() };
        let at_any_time = Mirrors::detect(&counts, &any, false);
        assert_eq!(at_any_time.symmetric, [R(0)]);
        assert_eq!(at_any_time.inverse, [(R(1), R(2)), (R(2), R(1)), (R(3), R(2))]);
        assert_eq!(at_any_time.partner(R(0)), Some(R(0)));
        assert_eq!(at_any_time.partner(R(3)), Some(R(2)));
        let at_once = Mirrors::detect(&counts, &any, true);
        assert_eq!((at_once.symmetric.len(), at_once.inverse.len()), (0, 0));
        let one_way = Mirrors::detect(&counts, &Detection { mutual: false, ..any }, true);
        assert_eq!(one_way.inverse, [(R(1), R(2)), (R(3), R(2))]);
        let supported = Detection { min_support: 2, ..Detection::default() };
        assert!(Mirrors::detect(&counts, &supported, false).inverse.is_empty());
    }

    proptest! {
        #[test]
        fn shares_are_those_of_the_definition(
            facts in prop::collection::vec((0_u32..5, 0_u32..3, 0_u32..5, 0_u32..4), 0..60)
        ) {
            let facts: Vec<Quad> = facts.into_iter().map(|(s, r, o, t)| Quad::new(s, r, o, t)).collect();
            let counts = PatternCounts::of(facts.iter().copied(), 3);
            let mut distinct = facts;
            distinct.retain(|fact| fact.subject != fact.object);
            distinct.sort_unstable();
            distinct.dedup();
            for (p, q) in (0..9).map(|i| (R(i / 3), R(i % 3))) {
                let of_p: Vec<&Quad> = distinct.iter().filter(|fact| fact.relation == p).collect();
                let share = |mirrored: bool, same_time: bool| {
                    let has = |fact: &&&Quad| {
                        distinct.iter().any(|other| {
                            let ends = (other.subject, other.object);
                            let wanted = if mirrored { (fact.object, fact.subject) } else { (fact.subject, fact.object) };
                            other.relation == q && ends == wanted && (!same_time || other.step == fact.step)
                        })
                    };
                    if of_p.is_empty() { 0.0 } else { of_p.iter().filter(has).count() as f64 / of_p.len() as f64 }
                };
                let shares = |mirrored| Shares { same_time: share(mirrored, true), any_time: share(mirrored, false) };
                prop_assert_eq!(counts.mirrored(p, q), shares(true));
                if p != q {
                    prop_assert_eq!(counts.parallel(p, q), shares(false));
                }
            }
        }
    }
}
