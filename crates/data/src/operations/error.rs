//! What can be wrong with a stream of operations.

use std::path::PathBuf;

use thiserror::Error;

use crate::Place;

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
