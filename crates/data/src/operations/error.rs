//! What can be wrong with a stream of operations.

use std::path::PathBuf;

use thiserror::Error;

use crate::{IdKind, Place};

/// Whatever can go wrong when a stream is read.
#[derive(Debug, Error)]
pub enum OperationsError {
    /// An insertion of a triple that is there.
    #[error(
        "{place}: found + for the triple {triple}, which is present already; expected - next; correct the stream, or \
         leave such operations out with --policy drop"
    )]
    Present {
        /// Where.
        place: Place,
        /// The triple as `head tail relation`.
        triple: String,
    },
    /// A deletion of a triple that is not there.
    #[error(
        "{place}: found - for the triple {triple}, which is absent; expected + first; correct the stream, or leave \
         such operations out with --policy drop"
    )]
    Absent {
        /// Where.
        place: Place,
        /// The triple as `head tail relation`.
        triple: String,
    },
    /// A time before the one of the operation before.
    #[error(
        "{place}: found the time {found} after {before}; expected operations in order of time; sort the file"
    )]
    Unsorted {
        /// Where.
        place: Place,
        /// What stands there.
        found: String,
        /// The time of the operation before.
        before: String,
    },
    /// Something else where a time belongs.
    #[error("{place}: found {found}, expected {expected}; the first row decides how times are written")]
    NotATime {
        /// Where.
        place: Place,
        /// What stands there.
        found: String,
        /// How times are written in this file.
        expected: &'static str,
    },
    /// A row with more columns than a stream has.
    #[error(
        "{place}: found a column {found} too many, expected head, tail, relation, operation and perhaps a time"
    )]
    ExtraColumn {
        /// Where.
        place: Place,
        /// What stands there.
        found: String,
    },
    /// A file without an operation.
    #[error("{}: the stream holds no operation, expected at least one row of head tail relation operation", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// A binary file that cannot be used.
    #[error("{}: byte {byte}: {problem}; the file is truncated or damaged, write it again", path.display())]
    Binary {
        /// The file.
        path: PathBuf,
        /// Where the part begins that is wrong.
        byte: u64,
        /// What is wrong.
        problem: String,
    },
    /// A name that ends like an archive, where a stream is to be written.
    #[error(
        "{}: a stream cannot be written as an archive; expected a name without .zip, or with .gz, .bz2, .xz or .zst",
        path.display()
    )]
    Archive {
        /// The file.
        path: PathBuf,
    },
    /// A number of a text that cannot be an id.
    #[error(
        "{name}: --keep-ids cannot make an id of the {kind} number {largest}; expected numbers from 0 without large holes \
         (below {limit} here); leave --keep-ids out: ids then follow the first appearance, and the numbers are names"
    )]
    SparseNumbers {
        /// The stream.
        name: String,
        /// What the number stands for.
        kind: IdKind,
        /// The number.
        largest: u32,
        /// The first number that is refused.
        limit: usize,
    },
    /// A row of a benchmark that contradicts the rows and steps before it.
    #[error(
        "{place}: found {mark} for the triple {triple}, which is {state} after the rows and steps before; expected \
         {expected}; correct the file (data audit counts such rows), or leave them out with data compile --policy drop"
    )]
    Contradiction {
        /// Where.
        place: Place,
        /// What stands there: `+` or `-`.
        mark: char,
        /// The triple as `head tail relation`.
        triple: String,
        /// What it is: present already, or absent.
        state: &'static str,
        /// What could stand there.
        expected: &'static str,
    },
    /// An id that the graph does not have, where a name or an id belongs.
    #[error(
        "{place}: found {found}, which means the {kind} with that id; expected an id below {count}, as many as the graph \
         has, or a name; a new {kind} needs a name that does not begin with # followed by digits, nor is a number in a graph \
         without names"
    )]
    UnknownId {
        /// Where.
        place: Place,
        /// What kind of id.
        kind: IdKind,
        /// What stands there.
        found: String,
        /// How many the graph has.
        count: usize,
    },
    /// A stream in the binary form where text belongs.
    #[error(
        "{}: found a stream in the binary form, expected text: head tail relation +|- [time], with the names of the \
         graph; quadcast data convert makes text of it, in which numbers stand for names",
        path.display()
    )]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// A step of a dataset whose operations contradict the graph.
    #[error(
        "{name}: step {step} {problem} the triple {triple}; correct the dataset (data audit says more), or leave such \
         operations out with --policy drop"
    )]
    Step {
        /// The dataset.
        name: String,
        /// Its step.
        step: String,
        /// What it does.
        problem: &'static str,
        /// The triple as `head tail relation`.
        triple: String,
    },
    /// A dataset without a history.
    #[error(
        "{name} is {kind}; a stream comes from a file of operations, facts with time stamps, or an evolving graph"
    )]
    Unsuitable {
        /// The dataset.
        name: String,
        /// What it holds.
        kind: &'static str,
    },
}
