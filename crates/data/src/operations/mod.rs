//! Streams of triple operations: who was inserted and deleted, and when.
//!
//! A stream is read from text or from a compact binary file, or made from a dataset; it is well-formed once it is here: the
//! operations on each triple alternate and begin with an insertion. Triples are numbered, so that everything that follows
//! works on arrays.

mod apply;
mod binary;
mod build;
mod convert;
mod error;
mod extend;
mod instants;
mod renumber;
mod sources;
mod stream;
mod text;
mod unpack;

pub use apply::{TripleSet, apply};
pub(crate) use binary::MAGIC;
pub use build::{Fault, StreamBuilder};
pub use convert::{operations_target, read_operations, stream_format, write_operations};
pub use error::OperationsError;
pub(crate) use extend::Known;
pub use extend::{Extended, extend_operations};
pub(crate) use instants::Instants;
pub use renumber::with_numbers_as_ids;
pub use sources::{Hold, operations_of};
pub use stream::{
    Dropped, FaultPolicy, NumberedOperation, OperationStream, StreamClock, StreamFormat, TimedOperation,
};
pub use text::NameNumbers;
