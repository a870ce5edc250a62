//! The figures of a record by filter, by step and by relation.

use quadcast_eval::{FilterOutcome, Part};
use serde::{Deserialize, Serialize};

/// Results by filter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilterMetrics {
    /// Time-aware filter.
    pub time: FilterOutcome,
    /// Static filter.
    #[serde(rename = "static")]
    pub fixed: FilterOutcome,
    /// No filter.
    pub raw: FilterOutcome,
}

/// One step of the curve over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRow {
    /// The step.
    pub step: u32,
    /// The step in words.
    pub time: String,
    /// Its queries, time-aware filter.
    #[serde(flatten)]
    pub part: Part,
}

/// One relation in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelationRow {
    /// Relation id.
    pub id: u32,
    /// Relation name.
    pub relation: String,
    /// `object` or `subject`.
    pub direction: String,
    /// Its queries, time-aware filter.
    #[serde(flatten)]
    pub part: Part,
}
