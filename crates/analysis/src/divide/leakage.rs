//! What a training split gives away about test facts: a few counts for a table of before and after.

use quadcast_core::{EntityId, Quad, Triple};
use rustc_hash::FxHashSet;
use serde::Serialize;

use super::units::Partners;

/// Test facts (s, r, o, t) for which train holds something telling. In a graph without time, all facts are at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DivisionLeakage {
    /// Test facts.
    pub facts: usize,
    /// Train has a mirror (o, q, s, t) by the lists of relations; only where there are lists.
    pub listed: Option<usize>,
    /// Train has (o, r, s, t).
    pub mirrored: usize,
    /// Train has (o, q, s, t) for some q.
    pub reversed: usize,
    /// Train has (s, r, o) at some time.
    pub repeated: usize,
    /// Test facts with an entity that is not in train.
    pub unseen: usize,
    /// Entities of test that are not in train.
    pub unseen_entities: usize,
    /// Relations of test that are not in train.
    pub unseen_relations: usize,
}

impl DivisionLeakage {
    pub(super) fn measure(train: &[Quad], test: &[Quad], partners: Option<&Partners>) -> Self {
        let facts: FxHashSet<Quad> = train.iter().copied().collect();
        let pairs: FxHashSet<_> = train.iter().map(|fact| (fact.subject, fact.object, fact.step)).collect();
        let triples: FxHashSet<Triple> = train.iter().map(|fact| fact.triple()).collect();
        let known_entities: FxHashSet<_> =
            train.iter().flat_map(|fact| [fact.subject, fact.object]).collect();
        let known_relations: FxHashSet<_> = train.iter().map(|fact| fact.relation).collect();
        let mut found = Self { facts: test.len(), listed: partners.map(|_| 0), ..Self::default() };
        let (mut entities, mut relations) = (FxHashSet::default(), FxHashSet::default());
        for &fact in test {
            let Quad { subject, relation, object, step } = fact;
            let listed = |partners: &Partners| partners.of(fact).any(|mirror| facts.contains(&mirror));
            if partners.is_some_and(listed) {
                found.listed = found.listed.map(|count| count + 1);
            }
            let mirror = Quad { subject: object, object: subject, ..fact };
            found.mirrored += usize::from(facts.contains(&mirror));
            found.reversed += usize::from(pairs.contains(&(object, subject, step)));
            found.repeated += usize::from(triples.contains(&fact.triple()));
            let ends = [subject, object].into_iter();
            let unseen: Vec<EntityId> = ends.filter(|entity| !known_entities.contains(entity)).collect();
            found.unseen += usize::from(!unseen.is_empty());
            entities.extend(unseen);
            if !known_relations.contains(&relation) {
                relations.insert(relation);
            }
        }
        Self { unseen_entities: entities.len(), unseen_relations: relations.len(), ..found }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadcast_core::{Mirrors, RelationId};

    #[test]
    fn counts_on_paper() {
        let train = [Quad::new(0, 0, 1, 0), Quad::new(1, 1, 2, 0), Quad::new(2, 0, 3, 1)];
        let test = [
            Quad::new(1, 0, 0, 0), // mirrored, and reversed
            Quad::new(2, 0, 1, 0), // reversed; by the lists mirrored
            Quad::new(0, 0, 1, 1), // repeated
            Quad::new(1, 0, 0, 1), // nothing: the mirror is at another time
            Quad::new(0, 2, 7, 1), // a new entity and a new relation
        ];
        let mirrors = Mirrors { symmetric: vec![], inverse: vec![(RelationId(0), RelationId(1))] };
        let partners = Partners::new(&mirrors, 3);
        let found = DivisionLeakage::measure(&train, &test, Some(&partners));
        let expected = DivisionLeakage {
            facts: 5,
            listed: Some(1),
            mirrored: 1,
            reversed: 2,
            repeated: 1,
            unseen: 1,
            unseen_entities: 1,
            unseen_relations: 1,
        };
        assert_eq!(found, expected);
        let without = DivisionLeakage::measure(&train, &test, None);
        assert_eq!(without, DivisionLeakage { listed: None, ..expected });
    }
}
