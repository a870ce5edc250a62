//! Statistics of a dataset: what a careful person counts before trusting a benchmark.
//!
//! [`info()`] computes everything once; the result is the JSON document of `data info --json`.

mod counting;
mod evolving;
mod graph;
mod intervals;
mod recurrency;
mod summary;
mod temporal;

pub(crate) use evolving::categories;
pub(crate) use recurrency::inside_train;
pub(crate) use summary::kind;

pub use counting::{IdSpace, Novelties, Novelty, Share, SharedBySplits, Unseen};
pub use evolving::{
    CategoryCounts, Change, Classification, EvolvingInfo, Operations, Sampled, StepChecks, StepInfo,
};
pub use graph::StaticInfo;
pub use intervals::{IntervalsInfo, YearRange};
pub use recurrency::{Answers, CompletionInfo, MeanAnswers, Recurrency};
pub use summary::{Details, Info, info};
pub use temporal::{
    FactsPerTimeStamp, Gap, GapWidth, SplitOrder, SplitRange, TemporalInfo, TimeInfo, time_span,
};
