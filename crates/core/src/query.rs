//! Queries, and the one place where inverse relations are numbered.

use serde::{Deserialize, Serialize};

use crate::{EntityId, Quad, RelationId, Step, words};

words! {
    /// Which side of the fact is asked for.
    pub enum Direction {
        /// `(s, r, ?, t)`.
        Object = "object",
        /// `(?, r, o, t)`.
        Subject = "subject",
    }
}

impl Direction {
    /// Both directions.
    pub const BOTH: [Self; 2] = Self::ALL;
}

/// A relation read from the known entity to the answer: `r` for object queries, `r + R` for subject queries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DirectedRelation(pub u32);

impl DirectedRelation {
    /// The directed id of a relation among `relations` original ones.
    pub const fn new(relation: RelationId, direction: Direction, relations: usize) -> Self {
        match direction {
            Direction::Object => Self(relation.0),
            Direction::Subject => Self(relation.0 + relations as u32),
        }
    }

    /// The id as an index into a table of `2R` rows.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The same relation read from the other side.
    #[must_use]
    pub const fn inverse(self, relations: usize) -> Self {
        let relations = relations as u32;
        if self.0 < relations { Self(self.0 + relations) } else { Self(self.0 - relations) }
    }

    /// Back to the original relation and the direction.
    pub const fn split(self, relations: usize) -> (RelationId, Direction) {
        if self.index() < relations {
            (RelationId(self.0), Direction::Object)
        } else {
            (RelationId(self.0 - relations as u32), Direction::Subject)
        }
    }
}

/// A question about one step: who stands on the other side of `known`?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Query {
    /// The step asked about.
    pub step: Step,
    /// The entity that is given.
    pub known: EntityId,
    /// The original relation.
    pub relation: RelationId,
    /// Which side is asked for.
    pub direction: Direction,
}

impl Query {
    /// The query that hides one side of a fact, and the hidden entity.
    pub const fn hide(fact: Quad, direction: Direction) -> (Self, EntityId) {
        let (known, answer) = match direction {
            Direction::Object => (fact.subject, fact.object),
            Direction::Subject => (fact.object, fact.subject),
        };
        (Self { step: fact.step, known, relation: fact.relation, direction }, answer)
    }

    /// The relation as read from the known entity.
    pub const fn directed(&self, relations: usize) -> DirectedRelation {
        DirectedRelation::new(self.relation, self.direction, relations)
    }

    /// The fact that the query becomes when answered.
    pub const fn fact(&self, answer: EntityId, step: Step) -> Quad {
        let (subject, object) = match self.direction {
            Direction::Object => (self.known, answer),
            Direction::Subject => (answer, self.known),
        };
        Quad { step, subject, relation: self.relation, object }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hide_and_answer_are_inverse() {
        let fact = Quad::new(3, 1, 7, 2);
        for direction in Direction::BOTH {
            let (query, answer) = Query::hide(fact, direction);
            assert_eq!(query.fact(answer, fact.step), fact);
            assert_eq!(query.directed(5).split(5), (RelationId(1), direction));
        }
    }
}
