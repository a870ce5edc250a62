//! The three families of task.

use serde::{Deserialize, Serialize};

/// What is asked of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// Future facts, given the facts before them.
    Forecasting,
    /// Missing facts, given other facts of any time.
    Completion,
    /// Triples of a graph that changes by insertions and deletions.
    Evolving,
}

impl Task {
    /// All tasks, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Forecasting, Self::Completion, Self::Evolving];

    /// The word used on the command line and in records.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Forecasting => "forecasting",
            Self::Completion => "completion",
            Self::Evolving => "evolving",
        }
    }
}
