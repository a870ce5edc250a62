//! Imports end to end: what is read, what is refused and where, and that the readers give back what was written.

#[path = "import/detection.rs"]
mod detection;
#[path = "import/malformed.rs"]
mod malformed;
#[path = "import/panics.rs"]
mod panics;
#[cfg(feature = "parquet")]
#[path = "import/parquet.rs"]
mod parquet_files;
#[path = "import/round_trip.rs"]
mod round_trip;
#[path = "import/support.rs"]
mod support;
