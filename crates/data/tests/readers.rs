//! The readers, on small folders made by hand and on the published datasets where they are at hand.

#[path = "readers/errors.rs"]
mod errors;
#[path = "readers/evolving.rs"]
mod evolving;
#[path = "readers/fuzz.rs"]
mod fuzz;
#[path = "readers/layouts.rs"]
mod layouts;
#[path = "readers/real.rs"]
mod real;
#[path = "../../core/tests/say/mod.rs"]
mod say;
#[path = "readers/support.rs"]
mod support;
