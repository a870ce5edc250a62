//! The compiler's stages once more, as plainly as they can be said: sets, no counters, no arrays. The oracle of the
//! properties.

use std::collections::{BTreeMap, BTreeSet};

use quadcast_analysis::{FrequencyFilter, FrequencyRule};
use quadcast_data::OperationStream;

use crate::support::{Numbers, original};

/// An operation in the numbers of the file.
pub type Operation = (Numbers, bool, i64);

pub type Graph = BTreeSet<Numbers>;

pub fn operations(stream: &OperationStream) -> Vec<Operation> {
    let plain = |timed: quadcast_data::TimedOperation| {
        (original(timed.operation.triple, &stream.vocabulary), timed.operation.insert, timed.moment)
    };
    stream.iter().map(plain).collect()
}

/// The graph after each interval: everything is simply applied.
pub fn snapshots(intervals: &[&[Operation]]) -> Vec<Graph> {
    let mut graph = Graph::new();
    let mut snapshots = Vec::new();
    for interval in intervals {
        for (triple, insert, _) in *interval {
            let changed = if *insert { graph.insert(*triple) } else { graph.remove(triple) };
            assert!(changed);
        }
        snapshots.push(graph.clone());
    }
    snapshots
}

/// Entities (false) and relations (true) that some snapshot has with fewer triples than asked for.
fn rare(snapshots: &[Graph], entity: u32, relation: u32) -> BTreeSet<(bool, u32)> {
    let mut rare = BTreeSet::new();
    for graph in snapshots {
        let mut counts: BTreeMap<(bool, u32), u32> = BTreeMap::new();
        for (head, tail, relation) in graph {
            for key in [(false, *head), (false, *tail), (true, *relation)] {
                *counts.entry(key).or_default() += 1;
            }
        }
        for (key, count) in counts {
            if count < if key.0 { relation } else { entity } {
                rare.insert(key);
            }
        }
    }
    rare
}

fn without(snapshots: &[Graph], rare: &BTreeSet<(bool, u32)>) -> Vec<Graph> {
    let keeps = |(head, tail, relation): &Numbers| {
        ![(false, *head), (false, *tail), (true, *relation)].iter().any(|key| rare.contains(key))
    };
    snapshots.iter().map(|graph| graph.iter().filter(|triple| keeps(triple)).copied().collect()).collect()
}

/// The snapshots after the frequency filter.
pub fn filtered(snapshots: Vec<Graph>, filter: FrequencyFilter) -> Vec<Graph> {
    let (entity, relation) = (filter.min_entity, filter.min_relation);
    let in_turn = |snapshots: &[Graph]| {
        let left = without(snapshots, &rare(snapshots, entity, 0));
        without(&left, &rare(&left, 0, relation))
    };
    match filter.rule {
        FrequencyRule::Off => snapshots,
        FrequencyRule::Joint => without(&snapshots, &rare(&snapshots, entity, relation)),
        FrequencyRule::Sequential => in_turn(&snapshots),
        FrequencyRule::Fixpoint => {
            let mut left = in_turn(&snapshots);
            while !rare(&left, entity, relation).is_empty() {
                left = in_turn(&left);
            }
            left
        }
    }
}
