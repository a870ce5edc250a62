//! Streams and benchmarks made on the spot.

use std::collections::BTreeSet;
use std::path::Path;

use quadcast_analysis::{
    BenchmarkLayout, BenchmarkTarget, CompileOptions, Compiled, FrequencyFilter, compile, compile_to,
};
use quadcast_core::{EvolvingDataset, EvolvingStep, Splits, Triple, TripleOperation, Vocabulary};
use quadcast_data::{
    Content, FaultPolicy, Hold, LoadOptions, OperationStream, StreamFormat, load, operations_of,
    read_operations,
};
use tempfile::TempDir;

/// A triple in the numbers of a text file: head, tail, relation.
pub type Numbers = (u32, u32, u32);

pub type Triples = BTreeSet<Triple>;

/// Reads operations from text.
pub fn stream_with(text: &str, policy: FaultPolicy) -> OperationStream {
    let folder = TempDir::new().expect("a temporary folder");
    let path = folder.path().join("operations.txt");
    std::fs::write(&path, text).expect("a file");
    read_operations(&path, policy).unwrap_or_else(|error| panic!("{error}"))
}

/// Reads operations from text without faults.
pub fn stream(text: &str) -> OperationStream {
    stream_with(text, FaultPolicy::Error)
}

/// Options without a frequency filter.
pub fn unfiltered() -> CompileOptions {
    CompileOptions { filter: FrequencyFilter::OFF, ..CompileOptions::default() }
}

/// Compiles what can be compiled.
pub fn compiled(stream: &OperationStream, options: &CompileOptions) -> Compiled {
    compile(stream, options).unwrap_or_else(|error| panic!("{error}"))
}

/// Compiles into a folder as everything that a benchmark can hold.
pub fn write_whole(
    folder: &Path,
    stream: &OperationStream,
    options: &CompileOptions,
    operations: Option<StreamFormat>,
) {
    let target = BenchmarkTarget { folder, layout: BenchmarkLayout::WikidataEvolve, operations };
    compile_to(stream, options, target).unwrap_or_else(|error| panic!("{error}"));
}

/// Reads an evolving dataset.
pub fn evolving(path: &Path) -> EvolvingDataset {
    let loaded = load(path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    match loaded.content {
        Content::Evolving(dataset) => dataset,
        other => panic!("{} does not evolve", other.name()),
    }
}

/// The operations of an evolving dataset.
pub fn stream_of(folder: &Path) -> OperationStream {
    let content = Content::Evolving(evolving(folder));
    operations_of(&content, Hold::default(), FaultPolicy::Error).expect("an evolving graph")
}

/// A triple in the numbers of its file.
pub fn original(triple: Triple, vocabulary: &Vocabulary) -> Numbers {
    let entity = |id: u32| vocabulary.entities.name(id).parse().expect("a number");
    let relation = vocabulary.relations.name(triple.relation.0).parse().expect("a number");
    (entity(triple.subject.0), entity(triple.object.0), relation)
}

/// Applies operations, each of which must change something.
pub fn apply(graph: &mut Triples, operations: &[TripleOperation]) {
    for operation in operations {
        let changed =
            if operation.insert { graph.insert(operation.triple) } else { graph.remove(&operation.triple) };
        assert!(changed, "{operation:?} changes nothing");
    }
}

pub fn set(triples: &[Triple]) -> Triples {
    let set: Triples = triples.iter().copied().collect();
    assert_eq!(set.len(), triples.len(), "a triple stands twice");
    set
}

/// The sets of one step.
pub struct Graphs {
    pub all: Triples,
    pub splits: Splits<Triples>,
}

/// The graph after every step, by its operations and training operations.
pub fn graphs(steps: &[EvolvingStep]) -> Vec<Graphs> {
    let (mut all, mut train) = (Triples::new(), Triples::new());
    let mut graphs = Vec::new();
    for step in steps {
        apply(&mut all, step.operations.as_deref().expect("all operations"));
        apply(&mut train, &step.training);
        let full = step.evaluation_all.as_ref().expect("full evaluation sets");
        let splits = Splits { train: train.clone(), valid: set(&full.valid), test: set(&full.test) };
        graphs.push(Graphs { all: all.clone(), splits });
    }
    graphs
}
