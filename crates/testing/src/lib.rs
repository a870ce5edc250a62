//! What tests of several crates share: small datasets, the real ones, score sinks and stand-ins. A dev-dependency only.
//!
//! The crate depends on `core` and `data`, so that every other crate can use it in its tests. It may be used in the
//! integration tests of `data`; unit tests there would see two copies of the types.

// A helper that panics fails the test that called it, which is its purpose.
#![allow(clippy::missing_panics_doc)]

pub mod changing;
mod folders;
pub mod graphs;
pub mod hashed;
pub mod mutation;
pub mod real;
pub mod sinks;
pub mod small;
pub mod stubs;
pub mod world;

pub use folders::{files, write_files};
pub use sinks::{Collected, Discarded};
pub use stubs::{Indifferent, MemoryCheckpoints};
