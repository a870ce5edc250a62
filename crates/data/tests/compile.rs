//! Streams of operations and the benchmark compiler, from files to files.

#[path = "../../core/tests/say/mod.rs"]
mod say;

#[path = "compile/by_hand.rs"]
mod by_hand;
#[path = "compile/files.rs"]
mod files;
#[path = "compile/malformed.rs"]
mod malformed;
#[path = "compile/naive.rs"]
mod naive;
#[path = "compile/properties.rs"]
mod properties;
#[path = "compile/real.rs"]
mod real;
#[path = "compile/support.rs"]
mod support;
