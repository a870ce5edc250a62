//! What can be said of data without a model, and data made from data: statistics, the audit, patterns of relations, the
//! comparison and division of datasets, the benchmark compiler, and synthetic worlds.
//!
//! Everything here returns values. Text for people is made from them by the report crate.

mod audit;
mod compile;
mod diff;
mod divide;
mod error;
mod index;
mod info;
mod patterns;
mod synth;
mod unroll;

pub use audit::{
    Audit, ClassCount, Leakage, LeakageCheck, LeakageExample, LeakageOptions, LeakingRelation, NamedFact,
    ReferenceScore, SplitKind, UnseenInTest, audit, audit_with,
};
pub use compile::{
    BenchmarkLayout, BenchmarkTarget, Border, CompileOptions, CompileReport, Compiled, CompiledSplit,
    CompiledStep, FrequencyFilter, FrequencyRule, IdRule, IntervalRule, KeptOperation, OperationOrder,
    PublishedNegatives, SplitRule, Spread, WrittenBenchmark, as_single_step, compile, compile_to,
    draw_examples, draw_published_examples,
};
pub use diff::{DiffExamples, DiffReport, DiffSide, NameMatch, Spelling, TimeMatch, Unmatched, diff};
pub use divide::{
    DivideOptions, Division, DivisionLeakage, DivisionMethod, DivisionReport, DivisionSource, HeldOut,
    ListReport, PatternSource, StratumReport, divide,
};
pub use error::AnalysisError;
pub use info::{
    Answers, CategoryCounts, Change, Classification, CompletionInfo, Details, EvolvingInfo,
    FactsPerTimeStamp, Gap, GapWidth, IdSpace, Info, IntervalsInfo, MeanAnswers, Novelties, Novelty,
    Operations, Recurrency, Sampled, Share, SharedBySplits, SplitOrder, SplitRange, StaticInfo, StepChecks,
    StepInfo, TemporalInfo, TimeInfo, Unseen, YearRange, info, time_span,
};
pub use patterns::{
    Lags, NamedMirrors, NamedPair, NamedSymmetric, Partner, PatternOptions, Patterns, RelationPatterns,
    patterns,
};
pub use synth::{Oracle, SynthWorld, Truth, TruthRow, WorldName, synth, synth_operations, synth_target};
pub use unroll::unroll;
