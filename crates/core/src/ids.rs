//! Ids and facts. Newtypes keep an entity from being used where a relation or a step is meant.

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into a table.
            pub const fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// An entity, an index into the entity names.
    EntityId
);
id!(
    /// An original (never inverse) relation, an index into the relation names.
    RelationId
);
id!(
    /// A time step: an index on the [`TimeAxis`](crate::TimeAxis), which knows the original times.
    Step
);

/// A fact without time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Triple {
    /// Subject.
    pub subject: EntityId,
    /// Relation.
    pub relation: RelationId,
    /// Object.
    pub object: EntityId,
}

impl Triple {
    /// A triple from bare ids, in the order subject, relation, object.
    pub const fn new(subject: u32, relation: u32, object: u32) -> Self {
        Self { subject: EntityId(subject), relation: RelationId(relation), object: EntityId(object) }
    }

    /// The fact at a time step.
    pub const fn at(self, step: Step) -> Quad {
        Quad { step, subject: self.subject, relation: self.relation, object: self.object }
    }
}

/// A fact at a time step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Quad {
    /// Time step; first, so that the derived order is chronological.
    pub step: Step,
    /// Subject.
    pub subject: EntityId,
    /// Relation.
    pub relation: RelationId,
    /// Object.
    pub object: EntityId,
}

impl Quad {
    /// A quad from bare ids, in the order of the files: subject, relation, object, step.
    pub const fn new(subject: u32, relation: u32, object: u32, step: u32) -> Self {
        Self {
            step: Step(step),
            subject: EntityId(subject),
            relation: RelationId(relation),
            object: EntityId(object),
        }
    }

    /// The fact without its time.
    pub const fn triple(self) -> Triple {
        Triple { subject: self.subject, relation: self.relation, object: self.object }
    }
}
