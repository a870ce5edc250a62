//! Bytes in and out: readers and writers of every dataset format Quadcast knows, the catalogue of benchmark variants,
//! import of event tables, downloads, score files, rule files and streams of operations.
//!
//! [`load`] finds out what a folder holds, reads it and says what it assumed. Everything wrong with the input is a
//! [`DataError`] that names file, line, column, what was expected and what to do.

mod catalogue;
mod content;
mod error;
mod fetch;
mod files;
mod import;
mod locate;
mod operations;
mod readers;
mod rules;
pub mod scores;
pub mod wikidata;
pub mod write;

pub use catalogue::{
    CatalogueMatch, Download, Family, Hashes, SnapshotCounts, Variant, compare, compare_with, fingerprint,
    identify, lookup, split_fingerprints, variant, variants,
};
pub use content::{Content, Format, LoadOptions, Loaded, SourceFile};
pub use error::{DataError, Place};
pub use fetch::{Cause, FetchError, FetchOptions, FetchReport, Fetched, Mirror, cache_folder, fetch};
pub use files::{Compression, LONGEST_LINE, read_lines};
pub use import::{
    ColumnUse, Columns, DateOrder, Granularity, ImportError, ImportOptions, ImportReport, NameChanges,
    Reference, Removed, Role, Shares, SkipReason, Skipped, SourceReport, SplitReport, cuts, import,
};
pub use locate::locate;
pub use operations::{
    Dropped, Extended, Fault, FaultPolicy, Hold, NameNumbers, NumberedOperation, OperationStream,
    StreamBuilder, StreamClock, StreamFormat, TimedOperation, TripleSet, apply, extend_operations,
    operations_of, operations_target, read_operations, stream_format, with_numbers_as_ids, write_operations,
};
pub use readers::{COMPILED, DIVISION, load, unquoted};
pub use rules::{RuleFileError, RulesRead, read_rules, write_rules};
