//! The evaluator: it owns the clock, asks the questions, ranks the answers and counts.
//!
//! An [`Evaluator`] plays a [`Forecaster`](quadcast_core::Forecaster) through the protocol; [`evolving::play`] does the same for
//! models of evolving graphs. There is one clock per task. Asking, filters, ranking and metrics exist once: scores flow into a
//! sink that ranks at once under three filters; every tie policy is derived from the counts that remain, one [`RankedQuery`] per
//! question. With a [`Journal`], an evaluation that was interrupted continues where it stopped.

mod asking;
mod candidates;
mod compare;
mod completion;
mod confidence;
mod error;
mod evaluator;
pub mod evolving;
mod forecasting;
mod journal;
mod metrics;
mod outcome;
mod published_list;
mod rank;
mod rehearsal;
mod relation_time;
mod validation;

pub use asking::{RankedQuery, queries};
pub use compare::{Comparison, Difference, Differences, SignFlips};
pub use confidence::{BlockBootstrap, Interval, Unit};
pub use error::EvalError;
pub use evaluator::{Evaluator, Fitted, Judged, fit, judge};
pub use journal::{Forgetful, Journal, JudgedStep};
pub use metrics::{Harmonic, Metrics, Tally};
pub use outcome::{FilterOutcome, Intervals, Outcome, Part, RelationOutcome, StepOutcome};
pub use rank::{Rank, Ranker, Ranks, Truth};
pub use relation_time::{RelationTime, SlotOutcome};
