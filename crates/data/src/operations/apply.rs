//! A graph as a set of triples, and what operations do to it.

use quadcast_core::{Triple, TripleOperation};
use rustc_hash::FxHashSet;

/// A set of triples.
pub type TripleSet = FxHashSet<Triple>;

/// Applies operations to a graph. Returns how many of them changed nothing.
pub fn apply(graph: &mut TripleSet, operations: &[TripleOperation]) -> usize {
    let mut void = 0;
    for operation in operations {
        let changed =
            if operation.insert { graph.insert(operation.triple) } else { graph.remove(&operation.triple) };
        void += usize::from(!changed);
    }
    void
}
