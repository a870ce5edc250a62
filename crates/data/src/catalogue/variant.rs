//! What the catalogue knows about one variant.

use quadcast_core::{Calendar, Splits};
use serde::Serialize;

/// The kind of task that a variant was made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Predict facts of the future; the splits follow each other in time.
    Forecasting,
    /// Predict missing facts of the past; the splits interleave in time.
    Completion,
    /// Facts with a start and an end.
    Intervals,
    /// Graphs that change in steps.
    Evolving,
    /// Graphs without time.
    Static,
}

impl Family {
    /// The word used in tables.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Forecasting => "forecasting",
            Self::Completion => "completion",
            Self::Intervals => "intervals",
            Self::Evolving => "evolving",
            Self::Static => "static",
        }
    }
}

/// Sizes of an evolving graph at one of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SnapshotCounts {
    /// Entities present (or seen so far, where the source counts so).
    pub entities: usize,
    /// Relations present, inverses not counted.
    pub relations: usize,
    /// Training triples: of the whole snapshot, or the new ones where each step lists only those.
    pub train: usize,
    /// Validation triples, all of them.
    pub valid: usize,
    /// Test triples, all of them.
    pub test: usize,
}

/// A file that can be downloaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Download {
    /// Path in the folder of the dataset.
    pub path: &'static str,
    /// Addresses, in the order in which they are tried.
    pub urls: &'static [&'static str],
    /// Size.
    pub bytes: u64,
    /// SHA-256 of the content, in hexadecimal.
    pub sha256: &'static str,
}

/// A benchmark variant. Numbers are `None` where no source states them and no file was at hand to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Variant {
    /// Name, unique without regard to case.
    pub name: &'static str,
    /// The task.
    pub family: Family,
    /// Other names in circulation. One alias may belong to several variants: that is the trouble with them.
    pub aliases: &'static [&'static str],
    /// Size of the entity id space.
    pub entities: Option<usize>,
    /// Number of relations.
    pub relations: Option<usize>,
    /// Training facts.
    pub train: Option<usize>,
    /// Validation facts.
    pub valid: Option<usize>,
    /// Test facts.
    pub test: Option<usize>,
    /// Sizes per step, for evolving graphs.
    pub snapshots: &'static [SnapshotCounts],
    /// Steps and their unit, in words.
    pub time: &'static str,
    /// What an original time stamp means; `None` where the files carry dates or nothing is known.
    pub calendar: Option<Calendar>,
    /// Content hash of each split.
    pub fingerprints: Splits<Option<&'static str>>,
    /// Content hash of the whole.
    pub fingerprint: Option<&'static str>,
    /// Where it comes from.
    pub source: &'static str,
    /// What is known about its licence.
    pub licence: &'static str,
    /// Peculiarities that change results.
    pub quirks: &'static [&'static str],
    /// The published files, where their addresses and checksums are known: what `data fetch` downloads.
    pub files: &'static [Download],
    /// Whether the project holds the files and counted and hashed them itself.
    pub stored: bool,
}
