//! How a command can fail: with the error of the run library, which knows its exit code.

pub use quadcast_run::RunError as Failure;
