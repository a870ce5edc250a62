//! Run records: what a run leaves behind, and the tables made from it.
//!
//! A record is one folder with fixed file names; [`RunRecord`] is its `metrics.json`. Everything that is shown or
//! compared later is derived from records and from nothing else.

mod evolving;
mod explanations;
mod files;
mod html;
mod options;
mod partial_ranks;
mod ranks;
mod record;
mod runs;
#[cfg(test)]
mod samples;
mod significance;
mod study;
mod svg;
mod tables;
mod terminal;

pub use evolving::{
    AskedAbout, EvolvingCard, EvolvingRecord, EvolvingSeconds, PublishedComparison, PublishedLine,
    PublishedMeasure, PublishedVerdict, UpdateCard, evolving_csv, evolving_latex, evolving_markdown,
    evolving_summary, published_comparisons,
};
pub use explanations::{
    Addition, Answer, DatedFact, DirectedName, Fired, Forecast, Reason, RuleCard, Sample, TrueAnswer, Why,
};
pub use files::{FileError, write_atomically};
pub use html::{PatternMap, PatternPartner, PatternReport, PatternRow, evolving_page, html, patterns_page};
pub use options::{Options, Reference};
pub use partial_ranks::PartialRanks;
pub use ranks::{RANKS_FILE, read_ranks, write_ranks};
pub use record::{
    DatasetCard, FilterMetrics, ModelCard, RelationRow, RulesCard, RunRecord, ScoreSource, Seconds,
    Selection, Status, StepRow,
};
pub use runs::{LoadedRun, Reading};
pub use tables::{csv, latex, markdown};
pub use terminal::{bytes, counted, percent, plain_table, seconds, summary, wrapped};
