//! True answers to questions, for the keys that are asked about and no others.

use std::sync::Arc;

use quadcast_core::{Direction, EntityId, Query, RelationId, Triple};
use rustc_hash::FxHashMap;

/// A question without its time.
type Key = (RelationId, Direction, EntityId);

fn key(query: &Query) -> Key {
    (query.relation, query.direction, query.known)
}

/// The two questions that hide one end of a triple, with their answers.
fn questions_of(triple: Triple) -> [(Key, EntityId); 2] {
    let Triple { subject, relation, object } = triple;
    [((relation, Direction::Object, subject), object), ((relation, Direction::Subject, object), subject)]
}

/// The keys that are asked about, ascending, and the place of each.
#[derive(Clone, Debug, Default)]
pub(super) struct AskedKeys {
    keys: Arc<[Key]>,
    places: FxHashMap<Key, u32>,
}

impl AskedKeys {
    /// Both ends of all triples.
    pub fn about(triples: impl Iterator<Item = Triple>) -> Self {
        let mut keys: Vec<Key> = triples.flat_map(questions_of).map(|(key, _)| key).collect();
        keys.sort_unstable();
        keys.dedup();
        Self { places: keys.iter().copied().zip(0..).collect(), keys: keys.into() }
    }
}

/// Answers by question, both ascending. A question like "who is human?" may have most of a graph for its answers, so that an
/// answer is kept as an entity and no more.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    keys: Arc<[Key]>,
    /// Where the answers of each key end.
    ends: Vec<usize>,
    entities: Vec<EntityId>,
}

impl Answers {
    /// What `triples` say about the keys that are asked about. They are gone through twice, to count answers and then to put
    /// each where it belongs: a list of all of them with their keys would take four times the room.
    pub fn new(asked: &AskedKeys, triples: impl Iterator<Item = Triple> + Clone) -> Self {
        let rows = triples
            .flat_map(questions_of)
            .filter_map(|(key, entity)| Some((*asked.places.get(&key)? as usize, entity)));
        let mut next = vec![0; asked.keys.len() + 1];
        rows.clone().for_each(|(place, _)| next[place + 1] += 1);
        for place in 0..asked.keys.len() {
            next[place + 1] += next[place];
        }
        let mut entities = vec![EntityId(0); next[asked.keys.len()]];
        for (place, entity) in rows {
            entities[next[place]] = entity;
            next[place] += 1;
        }
        // Each place is now where its answers end.
        let (mut ends, mut start, mut kept) = (Vec::with_capacity(asked.keys.len()), 0, 0);
        for &end in &next[..asked.keys.len()] {
            entities[start..end].sort_unstable();
            let first = kept;
            for from in start..end {
                if kept == first || entities[kept - 1] != entities[from] {
                    entities[kept] = entities[from];
                    kept += 1;
                }
            }
            ends.push(kept);
            start = end;
        }
        entities.truncate(kept);
        Self { keys: asked.keys.clone(), ends, entities }
    }

    /// The same for fewer keys.
    pub fn only(&self, asked: &AskedKeys) -> Self {
        let mut answers = Self { keys: asked.keys.clone(), ..Self::default() };
        for key in asked.keys.iter() {
            answers.entities.extend_from_slice(self.to(key));
            answers.ends.push(answers.entities.len());
        }
        answers.entities.shrink_to_fit();
        answers
    }

    /// The answers to a question, ascending.
    pub fn of(&self, query: &Query) -> &[EntityId] {
        self.to(&key(query))
    }

    fn to(&self, key: &Key) -> &[EntityId] {
        let range = self.keys.binary_search(key).map_or(0..0, |place| {
            let start = if place == 0 { 0 } else { self.ends[place - 1] };
            start..self.ends[place]
        });
        &self.entities[range]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quadcast_core::Step;

    #[test]
    fn only_what_is_asked_about_is_kept() {
        let triples =
            [Triple::new(0, 0, 1), Triple::new(0, 0, 2), Triple::new(3, 0, 2), Triple::new(0, 1, 2)];
        let asked = AskedKeys::about([Triple::new(0, 0, 1)].into_iter());
        // What is said twice is one answer.
        let answers = Answers::new(&asked, triples.into_iter().chain(triples));
        let ask = |known, relation, direction| {
            let query =
                Query { step: Step(0), known: EntityId(known), relation: RelationId(relation), direction };
            answers.of(&query).iter().map(|id| id.0).collect::<Vec<_>>()
        };
        let fewer = answers.only(&AskedKeys::about([Triple::new(9, 0, 1)].into_iter()));
        assert_eq!(fewer.entities, [EntityId(0)], "who is before 1, and after 9");
        assert_eq!(ask(0, 0, Direction::Object), [1, 2]);
        assert_eq!(ask(1, 0, Direction::Subject), [0]);
        assert_eq!(ask(2, 0, Direction::Subject), [] as [u32; 0], "nobody asks");
    }
}
