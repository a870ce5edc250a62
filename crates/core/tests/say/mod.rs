//! A word that the test runner does not swallow: tests that skip say so on the terminal, also when they pass.

use std::io::{Write, stderr};

/// Writes a line to standard error. The print macros are captured by the test runner, this is not.
pub fn say(text: &str) {
    writeln!(stderr(), "{text}").expect("standard error is open");
}
