//! The stream in memory: numbered triples, and per operation a number, a sign and a time.

use std::path::Path;

use quadcast_core::{Split, Triple, TripleOperation, Vocabulary};
use rustc_hash::FxHashSet;
use serde::Serialize;

use crate::files::{Compression, file_name};

/// What happens to an operation that contradicts the graph.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultPolicy {
    /// It is an error.
    #[default]
    Error,
    /// It is left out and counted.
    Drop,
}

/// What the times of a stream are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamClock {
    /// There are none: operations are in order, and their times are numbers in that order.
    #[default]
    Order,
    /// Whole numbers of some unit.
    Number,
    /// Seconds since 1970, written `2013-04-12T16:12:19Z`.
    Utc,
}

/// How a stream is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StreamFormat {
    /// A line per operation: `head tail relation +|- [time]`.
    Text,
    /// Columns of numbers with checksums.
    Binary,
}

impl StreamFormat {
    /// The ending of files in the binary form.
    pub const BINARY_ENDING: &str = "qops";

    /// The form that the name of a new file asks for, a compression aside.
    pub fn of(path: &Path) -> Self {
        let name = file_name(path);
        let ending = Path::new(Compression::of(&name).1).extension();
        if ending.is_some_and(|ending| ending == Self::BINARY_ENDING) { Self::Binary } else { Self::Text }
    }
}

/// Operations that were left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// Insertions of present triples.
    pub void_inserts: usize,
    /// Deletions of absent triples.
    pub void_deletes: usize,
    /// Operations on triples whose head is their tail.
    pub reflexive: usize,
}

/// An operation and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedOperation {
    /// What was done to which triple.
    pub operation: TripleOperation,
    /// When, on the stream's clock.
    pub moment: i64,
}

/// The number of a triple and whether it is inserted, in four bytes: a stream has millions of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NumberedOperation(pub(crate) u32);

impl NumberedOperation {
    pub(crate) const fn new(triple: u32, insert: bool) -> Self {
        Self(triple << 1 | !insert as u32)
    }

    /// The number of the triple.
    pub const fn triple(self) -> usize {
        (self.0 >> 1) as usize
    }

    /// Whether the triple is inserted rather than deleted.
    pub const fn insert(self) -> bool {
        self.0 & 1 == 0
    }
}

/// The ids of a triple in the order of the files.
pub(crate) fn head_tail_relation(triple: Triple) -> String {
    format!("{} {} {}", triple.subject.0, triple.object.0, triple.relation.0)
}

/// A graph as a set of triples.
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

/// A well-formed stream: the operations on a triple alternate and begin with an insertion; times never decrease; no
/// triple leads from an entity to itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OperationStream {
    /// Name for people.
    pub name: String,
    /// Names of entities and relations: the numbers of a text file, or the names of a dataset.
    pub vocabulary: Vocabulary,
    /// What the times are.
    pub clock: StreamClock,
    /// Operations that were left out when the stream was made.
    pub dropped: Dropped,
    pub(crate) triples: Vec<Triple>,
    pub(crate) entries: Vec<NumberedOperation>,
    pub(crate) moments: Vec<i64>,
    pub(crate) step_ends: Option<Vec<usize>>,
    pub(crate) splits: Option<Vec<Split>>,
}

impl OperationStream {
    /// Number of operations.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Every triple that is true at some time, once, in order of first appearance.
    pub fn triples(&self) -> &[Triple] {
        &self.triples
    }

    /// The operations in order.
    pub fn iter(&self) -> impl Iterator<Item = TimedOperation> + '_ {
        self.entries.iter().zip(&self.moments).map(|(entry, &moment)| {
            let operation = TripleOperation { triple: self.triples[entry.triple()], insert: entry.insert() };
            TimedOperation { operation, moment }
        })
    }

    /// The operations in order, by the number of their triple in [`OperationStream::triples`].
    pub fn entries(&self) -> &[NumberedOperation] {
        &self.entries
    }

    /// The time of every operation, on the stream's clock; never decreasing.
    pub fn moments(&self) -> &[i64] {
        &self.moments
    }

    /// Where the steps of the source end, as places in the stream; `None` if it has no steps.
    pub fn step_ends(&self) -> Option<&[usize]> {
        self.step_ends.as_deref()
    }

    /// The number of steps of the source, if it has steps.
    pub fn steps(&self) -> Option<usize> {
        self.step_ends.as_ref().map(Vec::len)
    }

    /// The split of every triple, if the source says.
    pub fn splits(&self) -> Option<&[Split]> {
        self.splits.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_told_by_their_endings() {
        let of = |name: &str| StreamFormat::of(Path::new(name));
        for binary in ["a.qops", "a.qops.zst", "b/a.txt.qops.gz", "a.qops.xz"] {
            assert_eq!(of(binary), StreamFormat::Binary, "{binary}");
        }
        for text in ["a", "a.txt", "a.txt.gz", "a.zst", "qops", "a.qops/b"] {
            assert_eq!(of(text), StreamFormat::Text, "{text}");
        }
    }
}
