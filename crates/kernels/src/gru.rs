//! Gated recurrent cell, in the gate order (r, z, n) and the formula of `PyTorch`:
//!
//! r = σ(xᵣ + Wₕᵣh + bₕᵣ), z likewise, n = tanh(xₙ + r∘(Wₕₙh + bₕₙ)), h' = (1 − z)∘n + z∘h.
//!
//! The x of the gates are the inputs after their own [`linear`](crate::linear) map, which is left to the caller:
//! parts of an input that many steps share are then mapped once.

use rayon::prelude::*;

use crate::Real;
use crate::matrix::{Form, Size, multiply, multiply_add};
use crate::memory::{Buffer, take};
use crate::parallel::{add_column_sums, vectorised};

/// Parameters of a cell with `d` hidden numbers.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a, T> {
    /// `[3d, d]`
    pub hidden: &'a [T],
    /// `[3d]`
    pub hidden_bias: &'a [T],
}

/// Gradients of a cell; those of x and h are set, the others are added to.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// Of x`[b, 3d]`.
    pub x: &'a mut [T],
    /// Of h`[b, d]`.
    pub h: &'a mut [T],
    /// Of the hidden weights `[3d, d]`.
    pub hidden: &'a mut [T],
    /// Of the hidden bias `[3d]`.
    pub hidden_bias: &'a mut [T],
}

/// Results of the forward pass that the backward pass needs.
#[derive(Debug)]
pub struct ForwardState<T: Real> {
    /// r, z, n: `[b, 3d]`
    gates: Buffer<T>,
    /// Wₕₙh + bₕₙ is the last third of `[b, 3d]`.
    hidden: Buffer<T>,
}

/// `out[b, d]` = h' for x`[b, 3d]` and h`[b, d]`.
pub fn forward<T: Real>(weights: &Weights<T>, x: &[T], h: &[T], out: &mut [T]) -> ForwardState<T> {
    let d = weights.hidden_bias.len() / 3;
    let b = h.len() / d;
    let (mut gates, mut hidden) = (take::<T>(b * 3 * d), take::<T>(b * 3 * d));
    multiply(Form::RightTransposed, Size { m: b, n: 3 * d, k: d }, h, weights.hidden, &mut hidden);
    let rows = gates.par_chunks_mut(3 * d).zip(hidden.par_chunks_mut(3 * d)).zip(x.par_chunks(3 * d));
    rows.zip(out.par_chunks_mut(d)).zip(h.par_chunks(d)).for_each(|((((gates, hidden), x), out), h)| {
        vectorised(
            #[inline(always)]
            || {
                for j in 0..3 * d {
                    hidden[j] += weights.hidden_bias[j];
                }
                for j in 0..2 * d {
                    gates[j] = (x[j] + hidden[j]).sigmoid();
                }
                for j in 0..d {
                    let n = (x[2 * d + j] + gates[j] * hidden[2 * d + j]).tanh();
                    gates[2 * d + j] = n;
                    out[j] = (T::ONE - gates[d + j]) * n + gates[d + j] * h[j];
                }
            },
        );
    });
    ForwardState { gates, hidden }
}

/// The gradients for `dout[b, d]`.
pub fn backward<T: Real>(
    weights: &Weights<T>,
    h: &[T],
    kept: &ForwardState<T>,
    dout: &[T],
    gradients: &mut Gradients<T>,
) {
    let d = weights.hidden_bias.len() / 3;
    let b = h.len() / d;
    let mut dhidden = take::<T>(b * 3 * d);
    let rows = gradients.x.par_chunks_mut(3 * d).zip(dhidden.par_chunks_mut(3 * d));
    rows.zip(gradients.h.par_chunks_mut(d)).enumerate().for_each(|(i, ((dinput, dhidden), dh))| {
        let gates = &kept.gates[i * 3 * d..][..3 * d];
        let hidden = &kept.hidden[i * 3 * d..][..3 * d];
        let (h, g) = (&h[i * d..][..d], &dout[i * d..][..d]);
        vectorised(
            #[inline(always)]
            || {
                for j in 0..d {
                    let (r, z, n) = (gates[j], gates[d + j], gates[2 * d + j]);
                    let dn = g[j] * (T::ONE - z) * (T::ONE - n * n);
                    let dr = dn * hidden[2 * d + j] * r * (T::ONE - r);
                    let dz = g[j] * (h[j] - n) * z * (T::ONE - z);
                    (dinput[j], dhidden[j]) = (dr, dr);
                    (dinput[d + j], dhidden[d + j]) = (dz, dz);
                    (dinput[2 * d + j], dhidden[2 * d + j]) = (dn, dn * r);
                    dh[j] = g[j] * z;
                }
            },
        );
    });
    let g = gradients;
    multiply_add(Form::Plain, Size { m: b, n: d, k: 3 * d }, &dhidden, weights.hidden, g.h);
    multiply_add(Form::LeftTransposed, Size { m: 3 * d, n: d, k: b }, &dhidden, h, g.hidden);
    add_column_sums(&dhidden, 3 * d, g.hidden_bias);
}
