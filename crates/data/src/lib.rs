//! Readers of every dataset format Quadcast knows, the catalogue of benchmark variants, statistics, the audit, and
//! synthetic worlds.
//!
//! [`load`] finds out what a folder holds, reads it and says what it assumed. Everything wrong with the input is a
//! [`DataError`] that names file, line, column, what was expected and what to do.

mod audit;
mod catalogue;
mod content;
mod error;
mod fetch;
mod import;
mod info;
mod load;
mod locate;
mod readers;
mod rules;
pub mod scores;
mod synth;

pub use audit::{Audit, audit};
pub use catalogue::{
    CatalogueMatch, Download, Family, SnapshotCounts, VARIANTS, Variant, compare, fingerprint, identify,
    lookup, split_fingerprints,
};
pub use content::{Content, Format, LoadOptions, Loaded, SourceFile};
pub use error::{DataError, IdKind, Place};
pub use fetch::{Cause, FetchError, FetchOptions, FetchReport, Fetched, Mirror, cache_folder, fetch};
pub use import::{
    ColumnUse, Columns, DateOrder, Granularity, ImportError, ImportOptions, ImportReport, NameChanges,
    Reference, Removed, Role, Shares, SkipReason, Skipped, SourceReport, SplitReport, import,
};
pub use info::{
    Answers, CategoryCounts, Change, Classification, CompletionInfo, Details, EvolvingInfo,
    FactsPerTimeStamp, Gap, GapWidth, IdSpace, Info, IntervalsInfo, MeanAnswers, Novelty, Operations,
    Recurrency, Sampled, Share, SharedBySplits, SplitOrder, SplitRange, StaticInfo, StepChecks, StepInfo,
    TemporalInfo, TimeInfo, Unseen, YearRange, info,
};
pub use load::load;
pub use locate::locate;
pub use rules::{NamedRelation, RelationNames, RuleFileError, RulesRead, read_rules, write_rules};
pub use synth::{Oracle, SynthWorld, Truth, TruthRow, WorldName, synth, synth_target};
