//! What an import did: the content of `import.json` and the text for people.

use std::path::PathBuf;

use quadcast_core::{Duplicates, Split, Splits};
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

/// What happened to facts that stand twice in one step.
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
    /// Facts that stood twice in one step.
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

impl ImportReport {
    /// The report for people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for source in &self.sources {
            text.push_str(&source.text());
        }
        text.extend(self.notes.iter().map(|note| format!("{note}\n")));
        for skipped in &self.skipped {
            text.push_str(&format!("Skipped {} rows: {}.\n", skipped.rows, skipped.reason.words()));
            text.extend(skipped.examples.iter().map(|example| format!("  {example}\n")));
        }
        text.push_str(&format!(
            "\n{} facts, {} entities, {} relations in {}\n",
            self.facts,
            self.entities,
            self.relations,
            self.out.display()
        ));
        for (split, part) in self.splits.iter() {
            text.push_str(&part.text(split));
        }
        text.push_str(&format!(
            "\nNext: quadcast run --data {}\n",
            shell_word(&self.out.display().to_string())
        ));
        text
    }
}

impl SourceReport {
    fn text(&self) -> String {
        let columns: Vec<String> = self.columns.iter().map(ColumnUse::text).collect();
        let mut text = format!("{}: {} rows", self.path.display(), self.rows);
        if self.skipped > 0 {
            text.push_str(&format!(", {} of them skipped", self.skipped));
        }
        text.push_str(&format!("\n  Columns: {}.\n", columns.join(", ")));
        if self.guessed {
            text.push_str("  They were guessed from the names in the header; --columns overrides.\n");
        }
        text.extend(self.notes.iter().map(|note| format!("  {note}\n")));
        text
    }
}

impl ColumnUse {
    fn text(&self) -> String {
        match &self.name {
            Some(name) => format!("{} = {name:?}", self.role),
            None => format!("{} = column {}", self.role, self.position),
        }
    }
}

impl SplitReport {
    fn text(&self, split: Split) -> String {
        let (facts, share, steps) = (self.facts, 100.0 * self.share, self.steps);
        let (first, last) = (&self.first, &self.last);
        let period = if first == last { first.clone() } else { format!("{first} to {last}") };
        format!("  {:<5} {facts:>9} facts {share:>5.1} %  {steps:>6} steps  {period}\n", split.word())
    }
}

/// A path as a shell takes it.
fn shell_word(path: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "/._-+:\\".contains(c);
    if path.chars().all(plain) { path.to_owned() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}
