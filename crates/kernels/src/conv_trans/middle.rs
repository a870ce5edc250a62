//! The convolution with its normalisation folded in, and the moments of its input.

use rayon::prelude::*;

use super::Weights;
use crate::Real;
use crate::batch_norm::{self, Statistics};
use crate::dropout::Mask;
use crate::parallel::{dot, ranges, sum, vectorised};

/// Shifted inputs per place: 2 channels × 3 taps.
pub(super) const TAPS: usize = 6;
/// Rows per task and partial sum.
pub(super) const ROWS: usize = 8;

/// Mean and covariance of the six shifted inputs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Moments {
    pub mean: [f64; TAPS],
    pub covariance: [[f64; TAPS]; TAPS],
}

/// The shifted input i of a padded row `[2, d + 2]`.
#[inline(always)]
pub(super) fn tap<T>(z: &[T], i: usize, d: usize) -> &[T] {
    &z[i / 3 * (d + 2) + i % 3..][..d]
}

impl Moments {
    pub fn new<T: Real>(z: &[T], d: usize, row_weights: Option<&[T]>) -> Self {
        let b = z.len() / (2 * (d + 2));
        let parts: Vec<([f64; TAPS], [[f64; TAPS]; TAPS])> = ranges(b, ROWS)
            .map(|rows| {
                let (mut sums, mut products) = ([0.0; TAPS], [[0.0; TAPS]; TAPS]);
                vectorised(
                    #[inline(always)]
                    || {
                        for row in rows {
                            let z = &z[row * 2 * (d + 2)..][..2 * (d + 2)];
                            let weight = batch_norm::weight(row_weights, row);
                            for i in 0..TAPS {
                                sums[i] += weight * sum(tap(z, i, d)).to_f64();
                                for j in 0..=i {
                                    products[i][j] += weight * dot(tap(z, i, d), tap(z, j, d)).to_f64();
                                }
                            }
                        }
                    },
                );
                (sums, products)
            })
            .collect();
        let count = batch_norm::total_weight(b, row_weights) * d as f64;
        let mut moments = Self::default();
        for (sums, products) in &parts {
            for i in 0..TAPS {
                moments.mean[i] += sums[i] / count;
                for j in 0..=i {
                    moments.covariance[i][j] += products[i][j] / count;
                }
            }
        }
        for i in 0..TAPS {
            for j in 0..=i {
                moments.covariance[i][j] -= moments.mean[i] * moments.mean[j];
                moments.covariance[j][i] = moments.covariance[i][j];
            }
        }
        moments
    }

    /// Mean and variance of Σ wᵢzᵢ + bias.
    pub fn of_channel(&self, weight: &[f64; TAPS], bias: f64) -> (f64, f64) {
        let mean: f64 = (0..TAPS).map(|i| weight[i] * self.mean[i]).sum();
        let variance: f64 = (0..TAPS).map(|i| weight[i] * self.times(weight, i)).sum();
        (mean + bias, variance.max(0.0))
    }

    /// Element i of covariance·weight.
    pub fn times(&self, weight: &[f64; TAPS], i: usize) -> f64 {
        (0..TAPS).map(|j| self.covariance[i][j] * weight[j]).sum()
    }
}

pub(super) fn wide<T: Real>(conv: &[T], channel: usize) -> [f64; TAPS] {
    std::array::from_fn(|i| conv[channel * TAPS + i].to_f64())
}

/// Convolution and normalisation in one: γ / √(variance + ε) per channel, and the folded weights and bias.
pub(super) struct Folded<T> {
    pub scale: Vec<f64>,
    pub weights: Vec<[T; TAPS]>,
    pub bias: Vec<T>,
}

impl<T: Real> Folded<T> {
    pub fn new(weights: &Weights<T>, statistics: Option<&[Statistics; 3]>) -> Self {
        let k = weights.conv_bias.len();
        let mut folded = Self { scale: vec![1.0; k], weights: Vec::new(), bias: weights.conv_bias.to_vec() };
        if let (Some(norms), Some(statistics)) = (&weights.norms, statistics) {
            for c in 0..k {
                folded.scale[c] = norms[1].scale[c].to_f64() * statistics[1].inverse(c);
                let centred = weights.conv_bias[c].to_f64() - statistics[1].mean[c];
                folded.bias[c] = T::from_f64(centred * folded.scale[c] + norms[1].shift[c].to_f64());
            }
        }
        folded.weights =
            (0..k).map(|c| wide(weights.conv, c).map(|w| T::from_f64(w * folded.scale[c]))).collect();
        folded
    }

    /// `out[k, d]` = `ReLU` of the folded convolution of a padded row, times the mask.
    #[inline(always)]
    pub fn row(&self, z: &[T], d: usize, mask: Option<(&Mask, usize)>, out: &mut [T]) {
        let [a, b, c, e, f, g]: [&[T]; TAPS] = std::array::from_fn(|i| tap(z, i, d));
        for (channel, out) in out.chunks_exact_mut(d).enumerate() {
            let (w, bias) = (&self.weights[channel], self.bias[channel]);
            for p in 0..d {
                let left = w[0] * a[p] + w[1] * b[p] + w[2] * c[p];
                let right = w[3] * e[p] + w[4] * f[p] + w[5] * g[p];
                out[p] = (left + right + bias).larger(T::ZERO);
            }
            if let Some((mask, first)) = mask {
                mask.apply(first + channel * d, out);
            }
        }
    }

    /// The middle `[rows, k, d]` of some rows.
    pub fn middle(&self, z: &[T], d: usize, first: usize, mask: Option<&Mask>, out: &mut [T]) {
        let (length, padded) = (self.bias.len() * d, 2 * (d + 2));
        out.par_chunks_mut(length).enumerate().for_each(|(i, out)| {
            let row = first + i;
            let mask = mask.map(|mask| (mask, row * length));
            vectorised(
                #[inline(always)]
                || self.row(&z[row * padded..][..padded], d, mask, out),
            );
        });
    }
}
