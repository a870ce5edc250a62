//! What can keep a benchmark from being compiled.

use thiserror::Error;

/// Whatever can go wrong when a benchmark is compiled or written.
#[derive(Debug, Error)]
pub enum CompileError {
    /// A stream in which nothing happens.
    #[error(
        "{name}: no operation is left: {reflexive} of its rows lead from an entity to itself and {void} contradict the graph, \
         and such rows are left out; expected at least one insertion of a triple between two entities"
    )]
    NoOperations {
        /// The stream.
        name: String,
        /// Operations on triples whose head is their tail.
        reflexive: usize,
        /// Insertions of present triples and deletions of absent ones.
        void: usize,
    },
    /// A number of intervals that the stream does not have.
    #[error("--intervals {wanted}: expected 1 to {operations}, as many as the stream has operations")]
    Intervals {
        /// How many were asked for.
        wanted: usize,
        /// Operations of the stream.
        operations: usize,
    },
    /// Intervals of no operation.
    #[error("--size 0: expected a number of operations per interval from 1")]
    Size,
    /// Times of a stream without times.
    #[error("{name} has no times, only an order; intervals can be cut with --by ops or --by size")]
    NoTimes {
        /// The stream.
        name: String,
    },
    /// Borders that do not follow each other.
    #[error("--borders: found {found} after {before}; expected times in ascending order, each once")]
    Borders {
        /// The time that is too early.
        found: String,
        /// The one before it.
        before: String,
    },
    /// A border before the stream begins or after it ends.
    #[error(
        "--borders: {border} cuts off nothing of {name}, whose operations are from {first} to {last}; expected times after \
         the first and not after the last of them; leave this one out"
    )]
    IdleBorder {
        /// The border.
        border: String,
        /// The stream.
        name: String,
        /// When it begins.
        first: String,
        /// When it ends.
        last: String,
    },
    /// Steps of a stream without steps.
    #[error("{name} is not cut into steps; intervals can be cut with --by ops, --by time or --by size")]
    NoSteps {
        /// The stream.
        name: String,
    },
    /// Splits of a stream without splits.
    #[error(
        "{name} does not say which split a triple belongs to; give shares instead, such as --split 90/5/5"
    )]
    NoSplits {
        /// The stream.
        name: String,
    },
    /// A filter that removes everything.
    #[error(
        "{name}: the frequency filter leaves no operation of {operations}; lower --min-entity {entity} or \
         --min-relation {relation}, or use --filter off"
    )]
    NothingLeft {
        /// The stream.
        name: String,
        /// Operations before the filter.
        operations: usize,
        /// Threshold of entities.
        entity: u32,
        /// Threshold of relations.
        relation: u32,
    },
}
