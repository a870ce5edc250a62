//! Readers of every dataset format Quadcast knows, the catalogue of benchmark variants, statistics, the audit, and
//! synthetic worlds.
//!
//! [`load`] finds out what a folder holds, reads it and says what it assumed. Everything wrong with the input is a
//! [`DataError`] that names file, line, column, what was expected and what to do.

mod audit;
mod catalogue;
mod compile;
mod content;
mod diff;
mod divide;
mod error;
mod fetch;
mod import;
mod index;
mod info;
mod load;
mod locate;
mod operations;
mod patterns;
mod readers;
mod rules;
pub mod scores;
mod synth;
mod unroll;
mod wikidata;
mod write;

pub use audit::{
    Audit, ClassCount, Leakage, LeakageCheck, LeakageExample, LeakageOptions, LeakingRelation, NamedFact,
    ReferenceScore, SplitKind, UnseenInTest, audit, audit_with,
};
pub use catalogue::{
    CatalogueMatch, Download, Family, SnapshotCounts, VARIANTS, Variant, compare, fingerprint, identify,
    lookup, split_fingerprints,
};
pub use compile::{
    BenchmarkLayout, BenchmarkTarget, Border, CompileError, CompileOptions, CompileReport, Compiled,
    CompiledSplit, CompiledStep, FrequencyFilter, FrequencyRule, IdRule, IntervalRule, KeptOperation,
    OperationOrder, PublishedNegatives, SplitRule, Spread, WrittenBenchmark, as_single_step, compile,
    compile_to, draw_examples, draw_published_examples,
};
pub use content::{Content, Format, LoadOptions, Loaded, SourceFile};
pub use diff::{
    DiffError, DiffExamples, DiffReport, DiffSide, NameMatch, Spelling, TimeMatch, Unmatched, diff,
};
pub use divide::{
    DivideError, DivideOptions, Division, DivisionLeakage, DivisionMethod, DivisionReport, DivisionSource,
    HeldOut, ListReport, PatternSource, StratumReport, divide, division_target,
};
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
pub use operations::{
    Dropped, Extended, FaultPolicy, Hold, OperationStream, OperationsError, StreamClock, StreamFormat,
    TimedOperation, extend_operations, operations_of, operations_target, read_operations, stream_format,
    with_numbers_as_ids, write_operations,
};
pub use patterns::{
    Lags, NamedMirrors, NamedPair, NamedSymmetric, Partner, PatternOptions, Patterns, RelationPatterns,
    patterns,
};
pub use rules::{NamedRelation, RelationNames, RuleFileError, RulesRead, read_rules, write_rules};
pub use synth::{Oracle, SynthWorld, Truth, TruthRow, WorldName, synth, synth_operations, synth_target};
pub use unroll::unroll;
