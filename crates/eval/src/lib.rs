//! The evaluator: it owns the clock, asks the questions, ranks the answers and counts.
//!
//! [`fit`] and [`judge`] play a [`Forecaster`](quadcast_core::Forecaster) through the protocol. Scores flow into a
//! sink that ranks at once under three filters; every tie policy is derived from the counts that remain, one
//! [`RankedQuery`] per question. With a [`Journal`], an evaluation that was interrupted goes on where it stopped.

mod clock;
mod compare;
mod completion;
mod confidence;
mod error;
pub mod evolving;
mod holes;
mod journal;
mod metrics;
mod outcome;
mod questions;
mod rank;
mod rehearsal;
mod validation;

pub use clock::{Fitted, Judged, fit, judge, judge_with};
pub use compare::{Comparison, Difference, Differences, SignFlips};
pub use confidence::{BlockBootstrap, Interval};
pub use error::EvalError;
pub use holes::{HoleOutcome, Holes, judge_holes};
pub use journal::{Journal, JudgedStep};
pub use metrics::{Harmonic, Metrics, Tally};
pub use outcome::{FilterOutcome, Intervals, Outcome, Part, RelationOutcome, StepOutcome};
pub use questions::{RankedQuery, queries};
pub use rank::{Rank, Ranker, Ranks, Truth};
