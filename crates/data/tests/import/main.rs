//! Imports end to end: what is read, what is refused and where, and that the readers give back what was written.

mod detection;
mod malformed;
mod panics;
#[cfg(feature = "parquet")]
#[path = "parquet.rs"]
mod parquet_files;
#[cfg(feature = "parquet")]
#[path = "../common/parquet.rs"]
mod parquet_writer;
mod round_trip;
mod support;
