//! The readers, on small folders made by hand and on the published datasets where they are at hand.

mod errors;
mod evolving;
mod fuzz;
mod layouts;
mod real;
mod support;
