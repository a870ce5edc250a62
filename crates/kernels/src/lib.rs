//! CPU kernels on plain row-major slices, with explicit gradients.
//!
//! Conventions, the same in every module:
//!
//! - `x[n, d]` is a slice of `n·d` numbers, row after row. Shapes are checked by assertions: a wrong length is
//!   a mistake in the calling code, never bad input.
//! - Outputs of a forward pass are overwritten. Gradients are **added to** the given buffers, so that a
//!   parameter used in several places needs one buffer only; the caller sets it to zero once per step. Kernels
//!   with large gradients *set* them instead, and say so.
//! - Work is split by fixed sizes and partial sums are added in a fixed order: the same bits for any number of
//!   threads.
//! - Everything is generic over [`Real`]: `f32` runs, `f64` is there to check gradients.

#![deny(unsafe_code)]
// Formulas keep the letters of their papers; sizes are m, n, k, b, d throughout.
#![allow(clippy::many_single_char_names)]
// See the conventions above: a panic means a wrong length.
#![allow(clippy::missing_panics_doc)]
// Helpers must be compiled into their callers to take over the vector width chosen at run time.
#![allow(clippy::inline_always)]
// Element-wise work is one line, like the zips around it.
#![allow(clippy::needless_for_each)]
// An index into several slices at once reads better than a chain of zips.
#![allow(clippy::needless_range_loop)]

pub mod activations;
pub mod batch_norm;
pub mod compare;
pub mod conv_trans;
mod dense_logits;
pub mod dropout;
pub mod gate;
pub mod gcn;
mod gemm_tile;
pub mod grouped;
pub mod gru;
pub mod head;
pub mod linear;
pub mod matrix;
pub mod memory;
pub mod messages;
pub mod mixture;
pub mod optimisers;
mod parallel;
mod real;
pub mod rows;
pub mod segment;
mod simd;
pub mod triples;

pub use parallel::{add_scaled, dot};
pub use real::Real;
