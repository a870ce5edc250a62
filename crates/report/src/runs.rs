//! What a report is made from: runs with their results and ranks, and what a caller may add that the records do not hold.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use quadcast_core::{Check, Filter};
use quadcast_eval::{Counting, FilterOutcome, RankedQuery};
use quadcast_run::{FilterMetrics, Record, Reference, Results, RunError, Sample, Status, read_results};

use crate::shown;

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
    /// A run without results, or one that demonstrates the query-set leak: what it is instead.
    LeftOut(String),
}

impl LoadedRun {
    /// A run from its parts; `None` if the record holds no results, or those of a demonstration of the query-set leak.
    pub fn new(name: impl Into<String>, record: Record, ranks: Vec<RankedQuery>) -> Option<Self> {
        let metrics = record.metrics.clone().filter(|_| record.protocol.leak.is_none())?;
        Some(Self { name: name.into(), record, ranks, samples: Vec::new(), metrics })
    }

    /// Reads a run folder. Figures that do not follow from the ranks are an error.
    pub fn read(folder: &Path) -> Result<Reading, RunError> {
        let record = Record::read(folder)?;
        let why = match record.status {
            Status::Incomplete => "not finished: still running, or killed".to_owned(),
            Status::Failed => format!("failed: {}", in_one_line(record.error.as_deref())),
            Status::Complete => "complete, but without metrics".to_owned(),
        };
        if record.protocol.leak.is_some() {
            let why = "a demonstration of the query-set leak, whose figures are not results";
            return Ok(Reading::LeftOut(why.to_owned()));
        }
        if record.status != Status::Complete {
            return Ok(Reading::LeftOut(why));
        }
        let Results { record, ranks, samples } = read_results(folder)?;
        let run = Self::new(folder.display().to_string(), record, ranks);
        Ok(run.map_or(Reading::LeftOut(why), |run| Reading::Complete(Box::new(Self { samples, ..run }))))
    }

    /// Reads run folders, each once, and says in a sentence of every run that is left out what it is instead.
    pub fn read_all(folders: &[PathBuf]) -> Result<(Vec<Self>, Vec<String>), RunError> {
        let (mut runs, mut left_out, mut known) = (Vec::new(), Vec::new(), BTreeSet::new());
        for folder in folders {
            if !known.insert(fs::canonicalize(folder).unwrap_or_else(|_| folder.clone())) {
                continue;
            }
            match Self::read(folder)? {
                Reading::Complete(run) => runs.push(*run),
                Reading::LeftOut(why) => {
                    left_out.push(format!("left out: {} is {why}", shown(folder.display())));
                }
            }
        }
        Ok((runs, left_out))
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

/// The reason of a failure, whose lines may have been several.
fn in_one_line(reason: Option<&str>) -> String {
    let words: Vec<&str> = reason.unwrap_or("without a reason").split_whitespace().collect();
    words.join(" ")
}

/// What a report shows beside the runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Heading; by default made from the models and datasets.
    pub title: Option<String>,
    /// Rows that are not runs.
    pub references: Vec<Reference>,
    /// Checks of the data, from an audit.
    pub audit: Vec<Check>,
    /// Remarks for the reader, such as runs that were left out.
    pub notes: Vec<String>,
    /// CSV: whether names that a spreadsheet takes for formulas are marked as text.
    pub spreadsheet: bool,
}
