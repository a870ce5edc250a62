//! Graphs that change: the evaluator walks through the steps, hands out what a model may learn, and asks afterwards.
//!
//! [`play`] takes a model through all steps by one [`Procedure`](quadcast_core::Procedure) and judges it after each: link prediction among the
//! entities that are present, triple classification, and classification of triples that were true once.
//! Filters know the graph of the step, or everything that was ever true up to it.

mod answers;
mod classification;
mod graph;
mod links;
mod outcome;
mod play;
mod threshold;
mod unlearning;

pub use classification::{CategoryOutcome, Classification, Counts, NegativeClassification};
pub use graph::{StepGraph, walk};
pub use outcome::{
    AgeOutcome, EvolvingOutcome, Learned, LinkOutcome, Mean, Seconds, Sizes, StepResult, Transfer,
};
pub use play::{Played, Playing, StepExamples, play};
pub use threshold::{Threshold, Thresholds};
pub use unlearning::Unlearning;
