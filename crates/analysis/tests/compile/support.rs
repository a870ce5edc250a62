//! Streams and benchmarks made on the spot.

use std::collections::BTreeSet;

use quadcast_analysis::{CompileOptions, Compiled, FrequencyFilter, FrequencyRule, compile};
use quadcast_core::{EvolvingDataset, EvolvingStep, Split, Triple, TripleOperation, Vocabulary};
use quadcast_data::{Content, FaultPolicy, LoadOptions, OperationStream, load, read_operations};
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
    let filter = FrequencyFilter { rule: FrequencyRule::Off, ..FrequencyFilter::default() };
    CompileOptions { filter, ..CompileOptions::default() }
}

/// Compiles what can be compiled.
pub fn compiled(stream: &OperationStream, options: &CompileOptions) -> Compiled {
    compile(stream, options).unwrap_or_else(|error| panic!("{error}"))
}

/// Reads an evolving dataset.
pub fn evolving(path: &std::path::Path) -> EvolvingDataset {
    let loaded = load(path, &LoadOptions::default()).unwrap_or_else(|error| panic!("{error}"));
    match loaded.content {
        Content::Evolving(dataset) => dataset,
        other => panic!("{} does not evolve", other.name()),
    }
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
    pub train: Triples,
    pub valid: Triples,
    pub test: Triples,
}

impl Graphs {
    pub fn split(&self, split: Split) -> &Triples {
        match split {
            Split::Train => &self.train,
            Split::Valid => &self.valid,
            Split::Test => &self.test,
        }
    }
}

/// The graph after every step, by its operations and training operations.
pub fn graphs(steps: &[EvolvingStep]) -> Vec<Graphs> {
    let (mut all, mut train) = (Triples::new(), Triples::new());
    let mut graphs = Vec::new();
    for step in steps {
        apply(&mut all, step.operations.as_deref().expect("all operations"));
        apply(&mut train, &step.training);
        let full = step.evaluation_all.as_ref().expect("full evaluation sets");
        let (valid, test) = (set(&full.valid), set(&full.test));
        graphs.push(Graphs { all: all.clone(), train: train.clone(), valid, test });
    }
    graphs
}
