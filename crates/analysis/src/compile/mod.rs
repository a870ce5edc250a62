//! The benchmark compiler: from a stream of operations to snapshots, updates, increments, permanently disjoint splits,
//! categories and prepared examples.
//!
//! The stages follow each other: [`intervals`] cuts the stream, [`normalise`] leaves one operation per triple and interval,
//! [`frequency`] removes what is rare, [`ids`] numbers what is left, [`assign`] divides triples for good, [`state`] follows
//! them from step to step, [`steps`] and [`negatives`] draw what is evaluated. A model never sees any of this: it is handed
//! the [`EvolvingDataset`](quadcast_core::EvolvingDataset) that comes out.

mod assign;
mod examples;
mod frequency;
mod ids;
mod intervals;
mod lists;
mod negatives;
mod normalise;
mod options;
mod process;
mod report;
mod state;
mod steps;
mod write;

pub use examples::{PublishedNegatives, as_single_step, draw_examples, draw_published_examples};
pub use options::{
    BenchmarkLayout, Border, CompileOptions, FrequencyFilter, FrequencyRule, IdRule, IntervalRule,
    KeptOperation, OperationOrder, SplitRule,
};
pub use process::{Compiled, compile};
pub use report::{CompileReport, CompiledSplit, CompiledStep, Spread};
pub(crate) use state::sorted_out;
pub use write::{BenchmarkTarget, WrittenBenchmark, compile_to};
