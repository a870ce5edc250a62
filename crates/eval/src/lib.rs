//! The evaluator: it owns the clock, asks the questions, ranks the answers and counts.
//!
//! An [`Evaluator`] plays a [`Forecaster`](quadcast_core::Forecaster) through the protocol; [`evolving::play`] does the same for
//! models of evolving graphs. There is one clock per task. Asking, filters, ranking and metrics exist once: scores flow into a
//! sink that ranks at once under three filters; every tie policy is derived from the counts that remain, one [`RankedQuery`] per
//! question. With a [`Journal`], an evaluation that was interrupted continues where it stopped.

mod asking;
mod candidates;
mod clocks;
mod compare;
mod confidence;
mod error;
mod evaluator;
pub mod evolving;
mod graphs;
mod isolation;
mod journal;
mod metrics;
mod outcome;
mod published_list;
mod rank;
mod relation_time;
mod validation;

pub use asking::{RankedQuery, queries};
pub use compare::{Comparison, Difference, SignFlips};
pub use confidence::{BlockBootstrap, Interval, Unit};
pub use error::EvalError;
pub use evaluator::{Evaluator, Judged, fit, judge};
pub use graphs::{GraphScore, ProbabilityRange, calibration, distinct, score_graph};
pub use isolation::{Isolation, IsolationVerdict};
pub use journal::{Forgetful, Journal, JudgedStep};
pub use metrics::{ByMetric, Harmonic, Metrics, Tally};
pub use outcome::{Counting, FilterOutcome, Outcome, Part};
pub use rank::{Rank, Ranker, Ranks, Truth};
pub use relation_time::{RelationTime, SlotOutcome};
