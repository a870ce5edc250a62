//! Streams of operations and the benchmark compiler, from files to files.

mod by_hand;
mod files;
mod malformed;
mod naive;
mod properties;
mod real;
mod support;
