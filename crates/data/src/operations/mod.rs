//! Streams of triple operations: who was inserted and deleted, and when.
//!
//! A stream is read from text or from a compact binary file, or made from a dataset; it is well-formed once it is here: the
//! operations on each triple alternate and begin with an insertion. Triples are numbered, so that everything that follows
//! works on arrays.

mod binary;
mod build;
mod convert;
mod extend;
mod instants;
mod sources;
mod stream;
mod text;

pub use build::{Fault, StreamBuilder};
pub use convert::{operations_target, read_operations, stream_format, write_operations};
pub(crate) use extend::KnownNames;
pub use extend::{Extended, extend_operations};
pub(crate) use instants::Instants;
pub use sources::{Hold, operations_of};
pub(crate) use stream::head_tail_relation;
pub use stream::{
    Dropped, FaultPolicy, NumberedOperation, OperationStream, StreamClock, StreamFormat, TimedOperation,
    TripleSet, apply,
};
pub use text::{NameNumbers, with_numbers_as_ids};
