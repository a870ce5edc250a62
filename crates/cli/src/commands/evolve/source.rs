//! Where a changing graph comes from: a dataset, or a stream of operations that knows its steps and splits.

use std::path::Path;

use quadcast_core::{EvolvingDataset, Fingerprint};
use quadcast_data::{
    CompileOptions, Content, FaultPolicy, Format, FrequencyFilter, FrequencyRule, Hold, IdRule, IntervalRule,
    LoadOptions, OperationStream, SplitRule, as_single_step, compile, fingerprint, operations_of,
    read_operations,
};

use crate::commands::data::open;
use crate::failure::Failure;
use crate::output::Output;

/// A changing graph.
pub struct Graph {
    pub dataset: EvolvingDataset,
    /// Content hash of what was read.
    pub content: Fingerprint,
    /// Catalogue variant that the content equals.
    pub variant: Option<&'static str>,
}

impl Graph {
    /// Finds and reads a dataset, or a file of operations with steps and splits.
    pub fn open(place: &str, format: Option<Format>, output: &Output) -> Result<Self, Failure> {
        if Path::new(place).is_file() {
            let stream = read_operations(Path::new(place), FaultPolicy::Error)?;
            if stream.steps().is_none() || !stream.has_splits() {
                return Err(Failure::input(format!(
                    "{place} is a stream without steps and splits: make a benchmark of it with quadcast evolve compile"
                )));
            }
            return Self::of_stream(&stream);
        }
        let loaded = open(place, LoadOptions { format, ..LoadOptions::default() })?;
        loaded.notes.iter().for_each(|note| output.detail(note));
        Self::of_content(loaded.content, loaded.variant.map(|variant| variant.name))
    }

    /// The data as a graph that changes.
    fn of_content(content: Content, variant: Option<&'static str>) -> Result<Self, Failure> {
        let refuse = |name: &str, kind: &str| {
            Err(Failure::input(format!(
                "{name} has facts with {kind}, not triples that come and go: make a benchmark of it with \
                 quadcast evolve compile"
            )))
        };
        let fingerprint = fingerprint(&content);
        let dataset = match content {
            Content::Evolving(data) => data,
            Content::Static(data) => as_single_step(data),
            Content::Temporal(data) => return refuse(&data.name, "times"),
            Content::Intervals(data) => return refuse(&data.name, "intervals"),
        };
        Ok(Self { dataset, content: fingerprint, variant })
    }

    /// The graph of a stream: its steps, splits and ids as they are.
    pub fn of_stream(stream: &OperationStream) -> Result<Self, Failure> {
        let options = CompileOptions {
            intervals: IntervalRule::Steps,
            filter: FrequencyFilter { rule: FrequencyRule::Off, ..FrequencyFilter::default() },
            split: SplitRule::Given,
            ids: IdRule::Source,
            ..CompileOptions::default()
        };
        Self::of_content(Content::Evolving(compile(stream, &options)?.dataset), None)
    }

    /// All operations of the graph, with its names, steps and splits.
    pub fn into_stream(self) -> Result<OperationStream, Failure> {
        Ok(operations_of(&Content::Evolving(self.dataset), Hold::default(), FaultPolicy::Drop)?)
    }
}
