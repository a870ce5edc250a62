//! Which relations mirror which, as a table of partners, and what is said about it.

use quadcast_core::{Detection, Mirrors, Names, PatternCounts, Quad, RelationId};

use super::options::PatternSource;
use super::report::ListReport;

/// The relations that mirror a relation, itself included if it is symmetric.
#[derive(Clone, Debug)]
pub(super) struct Partners {
    by_relation: Vec<Vec<RelationId>>,
}

impl Partners {
    /// A table from symmetric relations and pairs in any order.
    pub(super) fn new(
        symmetric: &[RelationId],
        inverse: &[(RelationId, RelationId)],
        relations: usize,
    ) -> Self {
        let mut by_relation = vec![Vec::new(); relations];
        for &p in symmetric {
            by_relation[p.index()].push(p);
        }
        for &(p, q) in inverse {
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
    let (symmetric, inverse, origin) = match patterns {
        PatternSource::Given { symmetric, inverse, origin } => {
            (symmetric.clone(), inverse.clone(), origin.clone())
        }
        PatternSource::Detected(detection) => {
            let (symmetric, inverse) = detected(facts, relations.len(), detection);
            (symmetric, inverse, "detected in all facts".to_owned())
        }
    };
    let detection = match patterns {
        PatternSource::Detected(detection) => Some(*detection),
        PatternSource::Given { .. } => None,
    };
    let partners = Partners::new(&symmetric, &inverse, relations.len());
    let name = |id: RelationId| relations.name(id.0).into_owned();
    let mut pairs: Vec<[RelationId; 2]> =
        inverse.iter().filter(|(p, q)| p != q).map(|&(p, q)| [p.min(q), p.max(q)]).collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut symmetric = symmetric;
    symmetric.extend(inverse.iter().filter(|(p, q)| p == q).map(|&(p, _)| p));
    symmetric.sort_unstable();
    symmetric.dedup();
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
fn detected(
    facts: &[Quad],
    relations: usize,
    detection: &Detection,
) -> (Vec<RelationId>, Vec<(RelationId, RelationId)>) {
    let counts = PatternCounts::of(facts.iter().copied(), relations);
    let [at_once, at_any_time] =
        [true, false].map(|same_time| Mirrors::detect(&counts, detection, same_time));
    let mut inverse = at_once.inverse;
    inverse.extend(at_any_time.inverse);
    (at_once.symmetric, inverse)
}
