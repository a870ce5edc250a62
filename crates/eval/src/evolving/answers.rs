//! True answers to questions, for the keys that are asked about and no others.

use quadcast_core::{Direction, EntityId, Query, RelationId, Triple};
use rustc_hash::FxHashSet;

/// A question without its time.
type Key = (RelationId, Direction, EntityId);

fn key(query: &Query) -> Key {
    (query.relation, query.direction, query.known)
}

/// The two questions that hide one end of a triple, with their answers.
pub(super) fn questions_of(triple: Triple) -> [(Key, EntityId); 2] {
    let Triple { subject, relation, object } = triple;
    [((relation, Direction::Object, subject), object), ((relation, Direction::Subject, object), subject)]
}

/// The keys that are asked about.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked(FxHashSet<Key>);

impl Asked {
    /// Both ends of all triples.
    pub fn about(triples: impl Iterator<Item = Triple>) -> Self {
        Self(triples.flat_map(questions_of).map(|(key, _)| key).collect())
    }
}

/// Answers by question, both ascending. A question like "who is human?" may have most of a graph for its answers, so that an
/// answer is kept as an entity and no more.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers {
    keys: Vec<Key>,
    /// Where the answers of each key end.
    ends: Vec<usize>,
    entities: Vec<EntityId>,
}

impl Answers {
    /// What `triples` say about the keys that are asked about.
    pub fn new(asked: &Asked, triples: impl Iterator<Item = Triple>) -> Self {
        let mut rows: Vec<_> =
            triples.flat_map(questions_of).filter(|(key, _)| asked.0.contains(key)).collect();
        rows.sort_unstable();
        rows.dedup();
        let mut answers = Self { entities: Vec::with_capacity(rows.len()), ..Self::default() };
        for same in rows.chunk_by(|a, b| a.0 == b.0) {
            answers.keys.push(same[0].0);
            answers.entities.extend(same.iter().map(|row| row.1));
            answers.ends.push(answers.entities.len());
        }
        answers
    }

    /// The answers to a question.
    pub fn of(&self, query: &Query) -> impl Iterator<Item = EntityId> {
        let range = self.keys.binary_search(&key(query)).map_or(0..0, |place| {
            let start = if place == 0 { 0 } else { self.ends[place - 1] };
            start..self.ends[place]
        });
        self.entities[range].iter().copied()
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
        let asked = Asked::about([Triple::new(0, 0, 1)].into_iter());
        let answers = Answers::new(&asked, triples.into_iter());
        let ask = |known, relation, direction| {
            let query =
                Query { step: Step(0), known: EntityId(known), relation: RelationId(relation), direction };
            answers.of(&query).map(|id| id.0).collect::<Vec<_>>()
        };
        assert_eq!(ask(0, 0, Direction::Object), [1, 2]);
        assert_eq!(ask(1, 0, Direction::Subject), [0]);
        assert_eq!(ask(2, 0, Direction::Subject), [] as [u32; 0], "nobody asks");
    }
}
