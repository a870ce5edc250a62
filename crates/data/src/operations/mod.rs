//! Streams of triple operations: who was inserted and deleted, and when.
//!
//! A stream is read from text or from a compact binary file, or made from a dataset; it is well-formed once it is here: the
//! operations on each triple alternate and begin with an insertion. Triples are numbered, so that everything that follows
//! works on arrays.

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

pub(crate) use binary::MAGIC;
pub(crate) use build::{Fault, StreamBuilder};
pub use convert::{operations_target, read_operations, stream_format, write_operations};
pub use error::OperationsError;
pub(crate) use extend::Known;
pub use extend::{Extended, extend_operations};
pub(crate) use instants::Instants;
pub use renumber::with_numbers_as_ids;
pub use sources::{Hold, operations_of};
pub use stream::{Dropped, FaultPolicy, OperationStream, StreamClock, StreamFormat, TimedOperation};
pub(crate) use text::Numbers;
