//! Importing tables of events: CSV, TSV, JSON Lines and, with the feature `parquet`, Parquet become a dataset that the readers load.
//!
//! [`source`] opens files and takes compression off, [`layout`] finds delimiter, header and columns, [`table`] and
//! [`json_lines`] stream rows, [`dates`] reads dates, [`collect`] turns names into ids, [`divide`] cuts the facts into
//! steps and splits, [`write`](mod@write) puts the folder in place. Nothing is guessed silently: every decision is a note of the
//! [`ImportReport`], and what cannot be decided is an error with a place and the option that decides it.

mod collect;
mod columns;
mod dates;
mod divide;
mod error;
mod json_lines;
mod layout;
mod options;
#[cfg(feature = "parquet")]
mod parquet;
mod process;
mod report;
mod rows;
mod source;
mod steps;
mod table;
mod write;

pub use columns::{Columns, Reference, Role};
pub use divide::cuts;
pub use error::ImportError;
pub use options::{DateOrder, Granularity, ImportOptions, Shares};
#[cfg(feature = "parquet")]
pub(crate) use parquet::{WHOLE, guarded};
pub use process::import;
pub use report::{
    ColumnUse, ImportReport, NameChanges, Removed, SkipReason, Skipped, SourceReport, SplitReport,
};
