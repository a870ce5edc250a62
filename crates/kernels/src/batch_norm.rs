//! Batch normalisation of x`[rows, channels, length]` per channel, optionally with weighted rows.
//!
//! A row of weight w counts like w equal rows. Epsilon 1e-5; biased variance to normalise, unbiased for the
//! running estimate, which moves by a tenth per batch.

use rayon::prelude::*;

use crate::Real;
use crate::parallel::{for_rows, vectorised};

/// Added to the variance.
pub const EPSILON: f64 = 1e-5;
/// Share of the batch in a new running estimate.
pub const MOMENTUM: f64 = 0.1;
/// Rows per partial sum.
const ROWS: usize = 16;

/// Sizes of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Rows of the batch.
    pub rows: usize,
    /// Channels.
    pub channels: usize,
    /// Numbers per row and channel.
    pub length: usize,
}

/// Learned scale and shift, `[channels]` each.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a, T> {
    /// γ
    pub scale: &'a [T],
    /// β
    pub shift: &'a [T],
}

/// Gradients of scale and shift; both are added to.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// Of γ.
    pub scale: &'a mut [T],
    /// Of β.
    pub shift: &'a mut [T],
}

/// Running estimates, `[channels]` each; at first mean 0 and variance 1.
#[derive(Debug)]
pub struct Running<'a, T> {
    /// Mean.
    pub mean: &'a mut [T],
    /// Unbiased variance.
    pub variance: &'a mut [T],
}

/// The statistics to normalise with.
#[derive(Clone, Debug)]
pub struct Statistics {
    /// Mean per channel.
    pub mean: Vec<f64>,
    /// Biased variance per channel (of the batch), or the running estimate.
    pub variance: Vec<f64>,
    /// Sum of row weights times length for statistics of a batch; `None` for running estimates, which are
    /// constants for the gradient.
    pub count: Option<f64>,
}

impl Statistics {
    /// Of a batch; `row_weights[rows]` or all 1.
    pub fn of_batch<T: Real>(x: &[T], shape: Shape, row_weights: Option<&[T]>) -> Self {
        let Shape { rows, channels, length } = shape;
        assert_eq!(x.len(), rows * channels * length, "batch normalisation of {shape:?}");
        let count = total_weight(rows, row_weights) * length as f64;
        let mean = channel_sums(
            shape,
            #[inline(always)]
            |row, _, places| weight(row_weights, row) * x[places].iter().map(|&x| x.to_f64()).sum::<f64>(),
        );
        let mean: Vec<f64> = mean.into_iter().map(|sum| sum / count).collect();
        let variance = channel_sums(
            shape,
            #[inline(always)]
            |row, c, places| {
                let square = |x: T| (x.to_f64() - mean[c]) * (x.to_f64() - mean[c]);
                weight(row_weights, row) * x[places].iter().map(|&x| square(x)).sum::<f64>()
            },
        );
        Self { variance: variance.into_iter().map(|sum| sum / count).collect(), mean, count: Some(count) }
    }

    /// From running estimates.
    pub fn of_running<T: Real>(mean: &[T], variance: &[T]) -> Self {
        let wide = |x: &[T]| x.iter().map(|&x| x.to_f64()).collect();
        Self { mean: wide(mean), variance: wide(variance), count: None }
    }

    /// Moves running estimates towards a batch. A batch that counts one number has no unbiased variance: then
    /// the biased one, 0, is taken.
    pub fn update<T: Real>(&self, running: &mut Running<T>) {
        let count = self.count.unwrap_or(f64::INFINITY);
        let unbiased = if count > 1.0 { 1.0 / (1.0 - 1.0 / count) } else { 1.0 };
        let blend =
            |old: &mut T, new: f64| *old = T::from_f64((1.0 - MOMENTUM) * old.to_f64() + MOMENTUM * new);
        for (old, &new) in running.mean.iter_mut().zip(&self.mean) {
            blend(old, new);
        }
        for (old, &new) in running.variance.iter_mut().zip(&self.variance) {
            blend(old, new * unbiased);
        }
    }

    /// 1 / √(variance + ε) of a channel.
    pub fn inverse(&self, channel: usize) -> f64 {
        1.0 / (self.variance[channel] + EPSILON).sqrt()
    }
}

pub(crate) fn weight<T: Real>(row_weights: Option<&[T]>, row: usize) -> f64 {
    row_weights.map_or(1.0, |w| w[row].to_f64())
}

pub(crate) fn total_weight<T: Real>(rows: usize, row_weights: Option<&[T]>) -> f64 {
    row_weights.map_or(rows as f64, |w| w.iter().map(|w| w.to_f64()).sum())
}

/// Σ over rows of `f(row, channel, places)`, per channel, in a fixed order.
fn channel_sums(shape: Shape, f: impl Fn(usize, usize, std::ops::Range<usize>) -> f64 + Sync) -> Vec<f64> {
    let Shape { rows, channels, length } = shape;
    let parts: Vec<Vec<f64>> = crate::parallel::ranges(rows, ROWS)
        .map(|part| {
            let mut sums = vec![0.0; channels];
            vectorised(
                #[inline(always)]
                || {
                    for row in part {
                        for (c, sum) in sums.iter_mut().enumerate() {
                            let start = (row * channels + c) * length;
                            *sum += f(row, c, start..start + length);
                        }
                    }
                },
            );
            sums
        })
        .collect();
    let mut total = vec![0.0; channels];
    for part in parts {
        crate::parallel::add(&mut total, &part);
    }
    total
}

/// `out = γ·(x − mean) / √(variance + ε) + β`, shapes as [`Shape`] says.
pub fn forward<T: Real>(x: &[T], shape: Shape, statistics: &Statistics, weights: &Weights<T>, out: &mut [T]) {
    let Shape { channels, length, .. } = shape;
    assert_eq!(x.len(), out.len(), "batch normalisation of {shape:?}");
    for_rows(
        out,
        channels * length,
        #[inline(always)]
        |first, out| {
            let x = &x[first * channels * length..][..out.len()];
            for (i, (out, x)) in out.chunks_exact_mut(length).zip(x.chunks_exact(length)).enumerate() {
                let c = i % channels;
                let scale = weights.scale[c].to_f64() * statistics.inverse(c);
                let shift = T::from_f64(weights.shift[c].to_f64() - statistics.mean[c] * scale);
                let scale = T::from_f64(scale);
                for (out, &x) in out.iter_mut().zip(x) {
                    *out = scale * x + shift;
                }
            }
        },
    );
}

/// Adds the gradients of [`forward`] for `dout`: `dx += …` and those of scale and shift. With the statistics
/// of a batch, these are functions of x, and `row_weights` must be the ones they were computed with.
pub fn backward<T: Real>(
    (x, shape): (&[T], Shape),
    statistics: &Statistics,
    (weights, row_weights): (&Weights<T>, Option<&[T]>),
    dout: &[T],
    dx: &mut [T],
    gradients: &mut Gradients<T>,
) {
    let Shape { channels, length, .. } = shape;
    assert_eq!((x.len(), x.len()), (dout.len(), dx.len()), "batch normalisation of {shape:?}");
    let sums = channel_sums(
        shape,
        #[inline(always)]
        |_, _, places| dout[places].iter().map(|g| g.to_f64()).sum(),
    );
    let along = channel_sums(
        shape,
        #[inline(always)]
        |_, c, places| {
            let (mean, inverse) = (statistics.mean[c], statistics.inverse(c));
            let products = x[places.clone()].iter().zip(&dout[places]);
            products.map(|(x, g)| g.to_f64() * (x.to_f64() - mean) * inverse).sum()
        },
    );
    for c in 0..channels {
        gradients.shift[c] += T::from_f64(sums[c]);
        gradients.scale[c] += T::from_f64(along[c]);
    }
    dx.par_chunks_mut(channels * length).enumerate().for_each(|(row, dx)| {
        for (c, dx) in dx.chunks_exact_mut(length).enumerate() {
            let start = (row * channels + c) * length;
            let (x, g) = (&x[start..][..length], &dout[start..][..length]);
            let inverse = statistics.inverse(c);
            let scale = weights.scale[c].to_f64() * inverse;
            let share = statistics.count.map_or(0.0, |count| weight(row_weights, row) / count);
            let slope = -share * along[c] * inverse * scale;
            let constant = -share * sums[c] * scale - slope * statistics.mean[c];
            let (scale, slope, constant) = (T::from_f64(scale), T::from_f64(slope), T::from_f64(constant));
            for ((dx, &x), &g) in dx.iter_mut().zip(x).zip(g) {
                *dx += scale * g + slope * x + constant;
            }
        }
    });
}
