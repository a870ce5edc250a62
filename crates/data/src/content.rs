//! What a loaded folder can be.

use std::path::PathBuf;

use quadcast_core::{Dataset, EvolvingDataset, IntervalDataset, Splits, StaticGraph};
use serde::{Deserialize, Serialize};

use crate::Variant;

/// The layouts that the readers know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// `subject relation object time [ignored]` with integer ids: the layout of the forecasting benchmarks.
    Quads,
    /// `subject relation object date` with names and ISO dates: the layout of the completion benchmarks.
    Labelled,
    /// `subject relation object start end` with dates of which parts may be unknown.
    Intervals,
    /// `head tail relation`, with a count line: the layout of `OpenKE`.
    Openke,
    /// Folders `updates/k`, `increments/k`, `snapshots/k`: the layout of `WikidataEvolve`.
    WikidataEvolve,
    /// Folders `snapshot1..n` in `OpenKE`'s layout with ids of their own: the layout of DKGE.
    Snapshots,
    /// Folders `0..n` of names, each with new facts only: the layout of LKGE.
    Lkge,
}

impl Format {
    /// The layout's name on the command line.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Quads => "quads",
            Self::Labelled => "labelled",
            Self::Intervals => "intervals",
            Self::Openke => "openke",
            Self::WikidataEvolve => "wikidata-evolve",
            Self::Snapshots => "snapshots",
            Self::Lkge => "lkge",
        }
    }
}

/// What was read.
// One value per run, moved a few times: a box would cost readability and save nothing.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug)]
pub enum Content {
    /// Facts with time stamps.
    Temporal(Dataset),
    /// Facts without time.
    Static(StaticGraph),
    /// Facts with validity intervals.
    Intervals(IntervalDataset),
    /// A graph that changes in steps.
    Evolving(EvolvingDataset),
}

impl Content {
    /// Name for people.
    pub fn name(&self) -> &str {
        match self {
            Self::Temporal(d) => &d.name,
            Self::Static(d) => &d.name,
            Self::Intervals(d) => &d.name,
            Self::Evolving(d) => &d.name,
        }
    }
}

/// How to read a folder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// The layout, where the user knows better than the detection.
    pub format: Option<Format>,
    /// Whether operations that contradict the graph (`+` on a present triple, `-` on an absent one) are read as they are, to
    /// be counted by `info` and `audit`, or left out by `operations_of`. Otherwise they are an error.
    pub contradictory: bool,
}

/// The file that a split came from, and where its times lie: evidence for the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceFile {
    /// The file.
    pub path: PathBuf,
    /// Number of facts.
    pub rows: usize,
    /// First line whose time is smaller than that of the line before it.
    pub unsorted_at: Option<u64>,
    /// Line of the (first) earliest fact.
    pub earliest_at: Option<u64>,
    /// Line of the (first) latest fact.
    pub latest_at: Option<u64>,
}

/// A dataset and how it was read.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The folder.
    pub path: PathBuf,
    /// The layout that was read.
    pub format: Format,
    /// What was detected and assumed, in sentences for people.
    pub notes: Vec<String>,
    /// The data.
    pub content: Content,
    /// Files of the splits, for temporal data.
    pub sources: Option<Splits<SourceFile>>,
    /// The catalogue entry that the content equals.
    pub variant: Option<&'static Variant>,
}
