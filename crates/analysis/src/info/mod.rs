//! Statistics of a dataset: what a careful person counts before trusting a benchmark.
//!
//! [`info()`] computes everything once; the result is the JSON document of `data info --json`.

mod answers;
mod completion;
mod counting;
mod evolving;
mod evolving_checks;
mod graph;
mod intervals;
mod recurrency;
mod summary;
mod temporal;
mod time;

pub(crate) use completion::inside_train;
pub(crate) use evolving::categories;

pub use answers::{Answers, MeanAnswers};
pub use completion::CompletionInfo;
pub use counting::{IdSpace, Novelty, Share, SharedBySplits, Unseen};
pub use evolving::{CategoryCounts, Change, Classification, EvolvingInfo, Operations, Sampled, StepInfo};
pub use evolving_checks::StepChecks;
pub use graph::StaticInfo;
pub use intervals::{IntervalsInfo, YearRange};
pub use recurrency::Recurrency;
pub use summary::{Details, Info, info};
pub use temporal::{FactsPerTimeStamp, SplitOrder, TemporalInfo};
pub use time::{Gap, GapWidth, SplitRange, TimeInfo, time_span};
