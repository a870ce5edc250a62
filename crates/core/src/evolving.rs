//! Evolving graphs: triples come and go in a sequence of updates.

use crate::{EntityId, RelationId, Split, Triple, Vocabulary};

/// An insertion or deletion of a triple.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TripleOperation {
    /// The triple.
    pub triple: Triple,
    /// `true` for an insertion, `false` for a deletion.
    pub insert: bool,
}

/// Evaluation triples of one step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SplitTriples {
    /// Validation triples.
    pub valid: Vec<Triple>,
    /// Test triples.
    pub test: Vec<Triple>,
}

/// What happened to a triple before it was put into a category file of negative triple classification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CategoryKind {
    /// Category 2, a negative: was inserted once and is absent now.
    Deleted,
    /// Category 3, a positive: was deleted before and is present again.
    Returned,
    /// Category 4, a negative: was inserted again and deleted again.
    DeletedAgain,
}

impl CategoryKind {
    /// All categories in order.
    pub const ALL: [Self; 3] = [Self::Deleted, Self::Returned, Self::DeletedAgain];

    /// The number that the benchmark's documentation uses.
    pub const fn number(self) -> u8 {
        match self {
            Self::Deleted => 2,
            Self::Returned => 3,
            Self::DeletedAgain => 4,
        }
    }
}

/// The triples of one category and split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CategoryTriples {
    /// Which category.
    pub kind: CategoryKind,
    /// Which split the triples belong to.
    pub split: Split,
    /// The triples.
    pub triples: Vec<Triple>,
}

/// One step of an evolving graph: how the training graph changed, and what to evaluate on.
#[derive(Clone, Debug, Default)]
pub struct EvolvingStep {
    /// The step's name in the source (folder name).
    pub label: String,
    /// Operations that lead from the previous training graph to this one.
    pub training: Vec<TripleOperation>,
    /// All operations of the step (training, validation and test together), where the source has them.
    pub operations: Option<Vec<TripleOperation>>,
    /// Training triples added in this step as the source lists them, to check against the operations.
    pub increment: Option<Vec<Triple>>,
    /// The evaluation triples that are ranked (a sample where the source samples).
    pub evaluation: SplitTriples,
    /// The full evaluation sets, where the source has them.
    pub evaluation_all: Option<SplitTriples>,
    /// Categories of negative triple classification.
    pub categories: Vec<CategoryTriples>,
    /// Prepared triple-classification examples with their labels, made from test triples.
    pub classification: Vec<(Triple, bool)>,
    /// The same made from validation triples, to choose thresholds with.
    pub classification_valid: Vec<(Triple, bool)>,
    /// Entities that the source lists as present at this step.
    pub entities: Option<Vec<EntityId>>,
    /// Relations that the source lists as present at this step.
    pub relations: Option<Vec<RelationId>>,
}

/// A graph that changes in steps. All ids are global, also where the source numbers every snapshot anew.
#[derive(Clone, Debug)]
pub struct EvolvingDataset {
    /// Name for people.
    pub name: String,
    /// Every entity and relation that ever occurs.
    pub vocabulary: Vocabulary,
    /// Steps in order.
    pub steps: Vec<EvolvingStep>,
}
