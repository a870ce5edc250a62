//! What was compiled, as it stands in `compile.json`: every count of the benchmark's tables. Nothing in it depends on the
//! folder or on the hour, so that the same stream and seed give the same bytes.

use serde::Serialize;

use super::options::CompileOptions;
use crate::{CategoryCounts, Operations};
use quadcast_data::{Dropped, StreamClock};

/// Version of `compile.json`.
pub(super) const SCHEMA: u32 = 1;

/// The stream that a benchmark was compiled from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StreamReport {
    /// Its name.
    pub name: String,
    /// What its times are.
    pub clock: StreamClock,
    /// Operations, those that were left out not counted.
    pub operations: usize,
    /// Different triples.
    pub triples: usize,
    /// Different entities.
    pub entities: usize,
    /// Different relations.
    pub relations: usize,
    /// Operations that were left out.
    pub dropped: Dropped,
}

/// What was taken away.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RemovedReport {
    /// Operations that others of the same interval cancel or stand for.
    pub cancelled: usize,
    /// Operations that touch something rare.
    pub rare_operations: usize,
    /// Entities that are too rare.
    pub rare_entities: usize,
    /// Relations that are too rare.
    pub rare_relations: usize,
    /// Passes of the filter over the operations.
    pub filter_passes: usize,
    /// Evaluation triples without a possible negative, over all steps.
    pub without_negative: usize,
}

/// Evaluation triples of one step and split.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CompiledSplit {
    /// Triples that are ranked, where the layout has room for a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ranked: Option<usize>,
    /// All triples of the set.
    pub all: usize,
}

/// One step of the benchmark. What the layout has no room for is not made, and not counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CompiledStep {
    /// Its number.
    pub label: String,
    /// Operations of the interval in the stream.
    pub interval: usize,
    /// Operations of the update.
    pub operations: Operations,
    /// Operations of the training update.
    pub training: Operations,
    /// Triples of the training graph.
    pub training_graph: usize,
    /// Triples of the increment.
    pub increment: usize,
    /// Validation triples.
    pub valid: CompiledSplit,
    /// Test triples.
    pub test: CompiledSplit,
    /// Triples of the whole graph.
    pub graph: usize,
    /// Entities of the whole graph.
    pub entities: usize,
    /// Relations of the whole graph.
    pub relations: usize,
    /// Entities of the training graph.
    pub training_entities: usize,
    /// Relations of the training graph.
    pub training_relations: usize,
    /// Categories of negative triple classification that are not empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories: Option<Vec<CategoryCounts>>,
    /// Prepared examples of triple classification made from test triples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples_test: Option<usize>,
    /// The same made from validation triples.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub examples_valid: Option<usize>,
}

/// A quantity over the steps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// What is counted.
    pub quantity: &'static str,
    /// Mean.
    pub mean: f64,
    /// Standard deviation of a sample; 0 for one step.
    pub deviation: f64,
    /// Smallest.
    pub smallest: usize,
    /// Largest.
    pub largest: usize,
}

impl Spread {
    fn of(quantity: &'static str, steps: &[CompiledStep], count: impl Fn(&CompiledStep) -> usize) -> Self {
        let counts: Vec<usize> = steps.iter().map(count).collect();
        let n = counts.len().max(1) as f64;
        let mean = counts.iter().map(|&count| count as f64).sum::<f64>() / n;
        let squares: f64 = counts.iter().map(|&count| (count as f64 - mean).powi(2)).sum();
        Self {
            quantity,
            mean,
            deviation: (squares / (n - 1.0).max(1.0)).sqrt(),
            smallest: counts.iter().copied().min().unwrap_or(0),
            largest: counts.iter().copied().max().unwrap_or(0),
        }
    }
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CompileReport {
    /// Version of this structure.
    pub schema: u32,
    /// Version of the program.
    pub version: &'static str,
    /// How.
    pub options: CompileOptions,
    /// What the numbers in the id files are, if they are not the names themselves: `wikidata-numbers`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<&'static str>,
    /// From what.
    pub stream: StreamReport,
    /// What was taken away.
    pub removed: RemovedReport,
    /// Different entities of the benchmark.
    pub entities: usize,
    /// Different relations of the benchmark.
    pub relations: usize,
    /// Step by step.
    pub steps: Vec<CompiledStep>,
    /// Over the steps.
    pub spread: Vec<Spread>,
}

/// The quantities of the benchmark's tables over the steps.
pub(super) fn spread(steps: &[CompiledStep]) -> Vec<Spread> {
    vec![
        Spread::of("training triples", steps, |step| step.training_graph),
        Spread::of("increment", steps, |step| step.increment),
        Spread::of("training operations", steps, |step| step.training.total()),
        Spread::of("training insertions", steps, |step| step.training.inserts),
        Spread::of("training deletions", steps, |step| step.training.deletes),
        Spread::of("valid", steps, |step| step.valid.all),
        Spread::of("test", steps, |step| step.test.all),
        Spread::of("entities", steps, |step| step.entities),
        Spread::of("relations", steps, |step| step.relations),
    ]
}
