//! What a report is made from: runs with their results and ranks, and what a caller may add that the records do not hold.

use std::path::Path;

use quadcast_core::{Check, Filter, Fingerprint, Setting};
use quadcast_eval::{Counting, FilterOutcome, Interval, Metrics, RankedQuery};
use quadcast_run::{FileError, FilterMetrics, Record, Sample, Status, read_ranks};

/// A complete run.
#[derive(Clone, Debug)]
pub struct LoadedRun {
    /// What tells it from other runs of the same model: as a rule the folder.
    pub name: String,
    /// The record.
    pub record: Record,
    /// One row per query.
    pub ranks: Vec<RankedQuery>,
    /// A few test queries with the reasons for their answers; empty if the run kept none.
    pub samples: Vec<Sample>,
    metrics: FilterMetrics,
}

/// What a run folder holds.
#[derive(Clone, Debug)]
pub enum Reading {
    /// A complete run.
    Complete(Box<LoadedRun>),
    /// A run without results, and why it has none.
    Unfinished(String),
}

impl LoadedRun {
    /// A run from its parts; `None` if the record holds no results.
    pub fn new(name: impl Into<String>, record: Record, ranks: Vec<RankedQuery>) -> Option<Self> {
        let metrics = record.metrics.clone()?;
        Some(Self { name: name.into(), record, ranks, samples: Vec::new(), metrics })
    }

    /// Reads a run folder.
    pub fn read(folder: &Path) -> Result<Reading, FileError> {
        let record = Record::read(folder)?;
        let why = match record.status {
            Status::Incomplete => "not finished: still running, or killed".to_owned(),
            Status::Failed => format!("failed: {}", record.error.as_deref().unwrap_or("without a reason")),
            Status::Complete => "complete, but without metrics".to_owned(),
        };
        if record.status != Status::Complete {
            return Ok(Reading::Unfinished(why));
        }
        let ranks = read_ranks(folder)?;
        let samples = Sample::read_all(folder)?;
        let run = Self::new(folder.display().to_string(), record, ranks);
        Ok(run.map_or(Reading::Unfinished(why), |run| Reading::Complete(Box::new(Self { samples, ..run }))))
    }

    /// Counts its ranks under its own tie policy.
    pub(crate) fn counting(&self) -> Counting {
        Counting::new(self.record.candidates(), self.record.protocol.ties, self.record.seed)
    }

    /// The results under one filter.
    pub fn outcome(&self, filter: Filter) -> &FilterOutcome {
        match filter {
            Filter::Time => &self.metrics.time,
            Filter::Static => &self.metrics.fixed,
            Filter::Raw => &self.metrics.raw,
        }
    }
}

/// A row to measure runs against that is not a run: the best score that is possible, or a published one.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    /// The dataset it holds for.
    pub fingerprint: Fingerprint,
    /// The setting it holds for.
    pub setting: Setting,
    /// Its name in tables.
    pub name: String,
    /// Its results under the time-aware filter, as fractions.
    pub metrics: Metrics,
    /// 95 % interval of the mean reciprocal rank.
    pub interval: Option<Interval>,
}

/// What a report shows beside the runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Heading; by default made from the models and datasets.
    pub title: Option<String>,
    /// Rows that are not runs.
    pub references: Vec<Reference>,
    /// Checks of the data, made elsewhere.
    pub audit: Vec<Check>,
    /// Remarks for the reader, such as runs that were left out.
    pub notes: Vec<String>,
}
