//! Content hashes of everything that can be loaded, in the manner of `Dataset::split_fingerprint`: SHA-256 over
//! sorted canonical lines. They do not depend on line order, padding or line ends of the files.

use std::fmt::Write;

use quadcast_core::{
    EvolvingDataset, EvolvingStep, Fingerprint, IntervalDataset, Split, Splits, StaticGraph, Triple,
    TripleOperation,
};
use sha2::{Digest, Sha256};

use crate::Content;

/// Content hash of the whole.
pub fn fingerprint(content: &Content) -> Fingerprint {
    match content {
        Content::Temporal(data) => data.fingerprint(),
        Content::Evolving(data) => evolving(data),
        Content::Static(data) => {
            of_splits(data.vocabulary.entities.len(), data.vocabulary.relations.len(), &static_splits(data))
        }
        Content::Intervals(data) => {
            of_splits(data.vocabulary.entities.len(), data.vocabulary.relations.len(), &interval_splits(data))
        }
    }
}

/// Content hash of each split; `None` for evolving graphs, which have no fixed splits.
pub fn split_fingerprints(content: &Content) -> Option<Splits<Fingerprint>> {
    match content {
        Content::Temporal(data) => Some(Splits {
            train: data.split_fingerprint(Split::Train),
            valid: data.split_fingerprint(Split::Valid),
            test: data.split_fingerprint(Split::Test),
        }),
        Content::Static(data) => Some(static_splits(data)),
        Content::Intervals(data) => Some(interval_splits(data)),
        Content::Evolving(_) => None,
    }
}

/// The whole from its parts, by the rule of `Dataset::fingerprint`.
pub(crate) fn of_splits(entities: usize, relations: usize, splits: &Splits<Fingerprint>) -> Fingerprint {
    let mut hash = Sha256::new();
    hash.update(format!("{entities}\t{relations}\n").as_bytes());
    for (split, part) in splits.iter() {
        hash.update(format!("{split}\t{part}\n").as_bytes());
    }
    Fingerprint::from_hash(hash)
}

fn static_splits(data: &StaticGraph) -> Splits<Fingerprint> {
    data.splits.map(|triples| {
        let mut hash = Sha256::new();
        hash_triples(&mut hash, triples);
        Fingerprint::from_hash(hash)
    })
}

fn interval_splits(data: &IntervalDataset) -> Splits<Fingerprint> {
    data.splits.map(|facts| {
        let mut lines: Vec<(Triple, String)> =
            facts.iter().map(|fact| (fact.triple, format!("{}\t{}", fact.start, fact.end))).collect();
        lines.sort_unstable();
        let mut hash = Sha256::new();
        let mut line = String::new();
        for (triple, dates) in lines {
            start_line(&mut line, triple);
            line.push('\t');
            line.push_str(&dates);
            line.push('\n');
            hash.update(line.as_bytes());
        }
        Fingerprint::from_hash(hash)
    })
}

fn evolving(data: &EvolvingDataset) -> Fingerprint {
    let mut hash = Sha256::new();
    let (entities, relations) = (data.vocabulary.entities.len(), data.vocabulary.relations.len());
    hash.update(format!("{entities}\t{relations}\n").as_bytes());
    for (index, step) in data.steps.iter().enumerate() {
        hash.update(format!("step\t{}\n", index + 1).as_bytes());
        hash_step(&mut hash, step);
    }
    Fingerprint::from_hash(hash)
}

fn hash_step(hash: &mut Sha256, step: &EvolvingStep) {
    hash_operations(hash, &step.training);
    let full = step.evaluation_all.as_ref().unwrap_or(&step.evaluation);
    for triples in [&full.valid, &full.test, &step.evaluation.valid, &step.evaluation.test] {
        hash.update(b"part\n");
        hash_triples(hash, triples);
    }
}

fn hash_operations(hash: &mut Sha256, operations: &[TripleOperation]) {
    // A stable sort keeps the order of several operations on one triple, which has a meaning.
    let mut sorted = operations.to_vec();
    sorted.sort_by_key(|operation| operation.triple);
    let mut line = String::new();
    for operation in sorted {
        start_line(&mut line, operation.triple);
        line.push_str(if operation.insert { "\t+\n" } else { "\t-\n" });
        hash.update(line.as_bytes());
    }
}

fn hash_triples(hash: &mut Sha256, triples: &[Triple]) {
    let mut sorted = triples.to_vec();
    sorted.sort_unstable();
    let mut line = String::new();
    for triple in sorted {
        start_line(&mut line, triple);
        line.push('\n');
        hash.update(line.as_bytes());
    }
}

fn start_line(line: &mut String, triple: Triple) {
    line.clear();
    write!(line, "{}\t{}\t{}", triple.subject.0, triple.relation.0, triple.object.0)
        .expect("writing to a string");
}
