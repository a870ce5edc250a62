//! Statistics of a dataset: what a careful person counts before trusting a benchmark.
//!
//! [`info()`] computes everything once; the result is the JSON document of `data info --json`, and [`Info::text`] says the
//! same for people.

mod answers;
mod block;
mod completion;
mod counting;
mod evolving;
mod evolving_checks;
mod graph;
mod intervals;
mod recurrency;
mod summary;
mod temporal;
mod text;
mod text_evolving;
mod text_splits;
mod time;

pub(crate) use block::Block;
pub(crate) use completion::inside_train;
pub(crate) use evolving::{TripleSet, apply, categories};
pub(crate) use text_splits::width;

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
pub use time::{Gap, GapWidth, SplitRange, TimeInfo};
