//! Content hashes of everything that can be loaded, in the manner of `Dataset::split_fingerprint`: SHA-256 over
//! sorted canonical lines. They do not depend on line order, padding or line ends of the files.

use std::fmt::Write;

use quadcast_core::{
    EvolvingDataset, Fingerprint, IntervalDataset, Split, Splits, StaticGraph, Triple, TripleOperation,
};
use sha2::{Digest, Sha256};

use super::Hashes;
use crate::Content;

/// Content hash of the whole.
pub fn fingerprint(content: &Content) -> Fingerprint {
    match content {
        Content::Temporal(data) => data.fingerprint(),
        Content::Evolving(data) => evolving(data),
        Content::Static(_) | Content::Intervals(_) => Hashes::of(content).whole,
    }
}

/// Content hash of each split; `None` for evolving graphs, which have no fixed splits.
pub fn split_fingerprints(content: &Content) -> Option<Splits<Fingerprint>> {
    match content {
        Content::Temporal(data) => {
            let [train, valid, test] = Split::ALL.map(|split| data.split_fingerprint(split));
            Some(Splits { train, valid, test })
        }
        Content::Static(data) => Some(static_splits(data)),
        Content::Intervals(data) => Some(interval_splits(data)),
        Content::Evolving(_) => None,
    }
}

/// The whole from its parts, by the rule of `Dataset::fingerprint`.
pub(super) fn of_splits([entities, relations]: [usize; 2], splits: &Splits<Fingerprint>) -> Fingerprint {
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
            facts.iter().map(|fact| (fact.triple, format!("\t{}\t{}", fact.start, fact.end))).collect();
        lines.sort_unstable();
        let mut hash = Sha256::new();
        hash_lines(&mut hash, lines.iter().map(|(triple, dates)| (*triple, dates.as_str())));
        Fingerprint::from_hash(hash)
    })
}

fn evolving(data: &EvolvingDataset) -> Fingerprint {
    let mut hash = Sha256::new();
    let (entities, relations) = (data.vocabulary.entities.len(), data.vocabulary.relations.len());
    hash.update(format!("{entities}\t{relations}\n").as_bytes());
    for (index, step) in data.steps.iter().enumerate() {
        hash.update(format!("step\t{}\n", index + 1).as_bytes());
        hash_operations(&mut hash, &step.training);
        let full = step.evaluation_all.as_ref().unwrap_or(&step.evaluation);
        for triples in [&full.valid, &full.test, &step.evaluation.valid, &step.evaluation.test] {
            hash.update(b"part\n");
            hash_triples(&mut hash, triples);
        }
    }
    Fingerprint::from_hash(hash)
}

fn hash_operations(hash: &mut Sha256, operations: &[TripleOperation]) {
    // A stable sort keeps the order of several operations on one triple, which has a meaning.
    let mut sorted = operations.to_vec();
    sorted.sort_by_key(|operation| operation.triple);
    let mark = |operation: &TripleOperation| if operation.insert { "\t+" } else { "\t-" };
    hash_lines(hash, sorted.iter().map(|operation| (operation.triple, mark(operation))));
}

fn hash_triples(hash: &mut Sha256, triples: &[Triple]) {
    let mut sorted = triples.to_vec();
    sorted.sort_unstable();
    hash_lines(hash, sorted.into_iter().map(|triple| (triple, "")));
}

/// One line per triple, with what follows its ids.
fn hash_lines<'a>(hash: &mut Sha256, lines: impl Iterator<Item = (Triple, &'a str)>) {
    let mut line = String::new();
    for (Triple { subject, relation, object }, rest) in lines {
        line.clear();
        writeln!(line, "{}\t{}\t{}{rest}", subject.0, relation.0, object.0).expect("writing to a string");
        hash.update(line.as_bytes());
    }
}
