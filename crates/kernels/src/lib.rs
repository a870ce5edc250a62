//! CPU kernels on plain row-major slices, with explicit gradients.
//!
//! Conventions, the same in every module:
//!
//! - `x[n, d]` is a slice of `n·d` numbers, row after row. Shapes are checked by assertions: a wrong length is
//!   a mistake in the calling code, never bad input.
//! - Outputs of a forward pass are overwritten. Gradients are **added to** the given buffers, so that a
//!   parameter used in several places needs one buffer only; the caller sets it to zero once per step. Where a
//!   kernel says that it *sets* a gradient, which are the large ones, nobody needs to.
//! - Work is split by fixed sizes and partial sums are added in a fixed order: the same bits for any number of
//!   threads.
//! - Everything is generic over [`Real`]: `f32` runs, `f64` is there to check gradients.

#![deny(unsafe_code)]
// Formulas keep the letters of their papers; sizes are m, n, k, b, d throughout.
#![allow(clippy::many_single_char_names)]
// Said once, in the conventions above: a panic is a wrong length.
#![allow(clippy::missing_panics_doc)]
// Helpers must be compiled into their callers to take over the vector width chosen at run time.
#![allow(clippy::inline_always)]
// Element-wise work in one line, beside the zips of its neighbours.
#![allow(clippy::needless_for_each)]
// An index into several slices at once reads better than a chain of zips.
#![allow(clippy::needless_range_loop)]

pub mod activations;
pub mod adagrad;
pub mod adam;
pub mod batch_norm;
pub mod compare;
pub mod conv_trans;
pub mod dropout;
pub mod gate;
pub mod gcn;
mod gemm_tile;
pub mod gru;
pub mod head;
pub mod linear;
pub mod matrix;
pub mod memory;
pub mod mixture;
pub mod normalise;
mod parallel;
mod real;
pub mod rows;
pub mod segment;
mod simd;
mod strip;
pub mod triples;

pub use parallel::dot;
pub use real::Real;
