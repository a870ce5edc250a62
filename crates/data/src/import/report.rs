//! What an import did: the content of `import.json`.

use std::path::PathBuf;

use quadcast_core::{Duplicates, Splits};
use serde::Serialize;

use super::columns::Role;
use super::options::{DateOrder, Granularity, Shares};

pub use super::rows::SkipReason;

/// A column and the role that it plays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ColumnUse {
    /// The role.
    pub role: Role,
    /// Position in the file, counted from 1.
    pub position: usize,
    /// Name in the header, or key.
    pub name: Option<String>,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceReport {
    /// The file.
    pub path: PathBuf,
    /// `table` or `json-lines`.
    pub format: &'static str,
    /// What separates the fields of a table, in words.
    pub delimiter: Option<String>,
    /// Whether the first line is a header.
    pub header: bool,
    /// Which column is what.
    pub columns: [ColumnUse; 4],
    /// Whether the roles of the columns were guessed.
    pub guessed: bool,
    /// Rows, without the header.
    pub rows: u64,
    /// Rows of these that were left out.
    pub skipped: u64,
    /// What was detected and why.
    pub notes: Vec<String>,
}

/// Rows that were left out for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The reason.
    pub reason: SkipReason,
    /// Number of rows.
    pub rows: u64,
    /// The first of them.
    pub examples: Vec<String>,
}

/// What happened to duplicate facts of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Removed {
    /// Rows that repeat another one of their step.
    pub rows: u64,
    /// Whether they were dropped.
    pub policy: Duplicates,
}

/// What was done to names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct NameChanges {
    /// Rows in which blanks around a field were cut off.
    pub trimmed_rows: u64,
    /// Names in which line ends or tabs became blanks.
    pub cleaned: u64,
}

/// A split that was written.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SplitReport {
    /// Number of facts.
    pub facts: usize,
    /// Share of all facts.
    pub share: f64,
    /// Number of steps.
    pub steps: usize,
    /// First step.
    pub first: String,
    /// Last step.
    pub last: String,
}

/// Everything about an import.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImportReport {
    /// Version of this document.
    pub schema: u32,
    /// The folder that was made.
    pub out: PathBuf,
    /// The layout of the folder: always `labelled`.
    pub layout: &'static str,
    /// The files.
    pub sources: Vec<SourceReport>,
    /// Rows of all files.
    pub rows: u64,
    /// Rows that were left out, by reason.
    pub skipped: Vec<Skipped>,
    /// Duplicate facts of a step.
    pub duplicates: Removed,
    /// What was done to names.
    pub names: NameChanges,
    /// Facts that were written.
    pub facts: usize,
    /// Entities of these facts.
    pub entities: usize,
    /// Relations of these facts.
    pub relations: usize,
    /// Length of a step.
    pub granularity: Granularity,
    /// Order of day and month, where dates leave it open.
    pub date_order: Option<DateOrder>,
    /// Shares that were asked for.
    pub shares: Shares,
    /// What was written.
    pub splits: Splits<SplitReport>,
    /// What was decided about dates and names.
    pub notes: Vec<String>,
}
