//! Trunk of `ConvTransE` and `ConvTransR`: two vectors of length d in, one of length d out.
//!
//! x`[b, 2, d]` → normalise 2 channels → dropout → convolution 2→k, width 3, padding 1 → normalise k channels → `ReLU`
//! → dropout → linear k·d→d → dropout → normalise d channels (unless training on one row) → `ReLU`.
//!
//! The large `[b, k, d]` in the middle is linear in the six shifted inputs zᵢ of each place (2 channels × 3 taps).
//! Hence the mean and variance of all k channels follow from the mean and covariance of z, normalisation
//! folds into the weights of the convolution, and in the backward pass everything that normalisation adds
//! follows from Σ g and Σ g·zᵢ per channel. So the middle is computed once per pass, some rows at a time, and never
//! kept.

use crate::Real;
use crate::batch_norm::{self, Running, Shape, Statistics};
use crate::dropout::Mask;
use crate::matrix::{Form, Size, multiply};
use crate::memory::{Buffer, take};
use crate::parallel::{add, for_rows};
use crate::rows::for_each_row;

mod backward;
mod middle;

pub use backward::{Gradients, Output, backward};
use middle::{Folded, Moments, TAPS, wide};

/// Rows whose middle is held at once.
const BLOCK: usize = 256;

/// Parameters of the trunk.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a, T> {
    /// `[k, 2, 3]`
    pub conv: &'a [T],
    /// `[k]`
    pub conv_bias: &'a [T],
    /// `[d, k·d]`
    pub linear: &'a [T],
    /// `[d]`
    pub linear_bias: &'a [T],
    /// Of the 2, k and d channels; without them nothing is normalised.
    pub norms: Option<[batch_norm::Weights<'a, T>; 3]>,
}

/// Dropout masks.
#[derive(Clone, Copy, Debug, Default)]
pub struct Masks<'a> {
    /// `[b, 2, d]`
    pub input: Option<&'a Mask>,
    /// `[b, k, d]`
    pub middle: Option<&'a Mask>,
    /// `[b, d]`
    pub output: Option<&'a Mask>,
}

/// The source of the statistics of the normalisations. Without normalisation, this has no effect.
#[derive(Debug)]
pub enum Mode<'a, 'r, T> {
    /// From the batch, whose rows count `row_weights[b]` or 1; moves the running estimates (2, k, d channels).
    Train {
        /// `[b]`
        row_weights: Option<&'a [T]>,
        /// To be moved.
        running: &'r mut [Running<'a, T>; 3],
    },
    /// From the running estimates (2, k, d channels).
    Test {
        /// Used unchanged.
        running: &'r [Running<'a, T>; 3],
    },
    /// For trunks without normalisation.
    Plain,
}

/// Results of the forward pass that the backward pass needs.
#[derive(Debug)]
pub struct ForwardState<T: Real> {
    /// Input of the convolution, with a 0 at both ends: `[b, 2, d + 2]`.
    z: Buffer<T>,
    /// Output of the linear map after dropout `[b, d]`.
    y: Buffer<T>,
    statistics: Option<[Statistics; 3]>,
    /// Whether the last normalisation took place.
    last: bool,
    moments: Moments,
    row_weights: Option<Vec<T>>,
}

/// `out[b, d]` for x`[b, 2, d]`.
pub fn forward<T: Real>(
    weights: &Weights<T>,
    x: &[T],
    masks: &Masks,
    mut mode: Mode<T>,
    out: &mut [T],
) -> ForwardState<T> {
    let (d, k) = (weights.linear_bias.len(), weights.conv_bias.len());
    let b = x.len() / (2 * d);
    assert_eq!((x.len(), out.len()), (b * 2 * d, b * d), "trunk of {b} rows of length {d}");
    assert_eq!((weights.conv.len(), weights.linear.len()), (k * TAPS, d * k * d), "weights of the trunk");
    let row_weights = match &mode {
        Mode::Train { row_weights, .. } => *row_weights,
        _ => None,
    };
    let inputs = Shape { rows: b, channels: 2, length: d };
    let outputs = Shape { rows: b, channels: d, length: 1 };
    let of_running =
        |running: &[Running<T>; 3], i: usize| Statistics::of_running(running[i].mean, running[i].variance);
    let first = match &mode {
        Mode::Train { .. } => Some(Statistics::of_batch(x, inputs, row_weights)),
        Mode::Test { running } => Some(of_running(running, 0)),
        Mode::Plain => None,
    };
    assert_eq!(first.is_some(), weights.norms.is_some(), "normalisation needs a mode, and only it");
    let z = padded_input(x, d, weights.norms.as_ref().zip(first.as_ref()), masks.input);
    let moments = match &mode {
        Mode::Train { .. } => Moments::new(&z, d, row_weights),
        _ => Moments::default(),
    };
    let mut statistics = first.map(|first| {
        let second = if let Mode::Test { running } = &mode {
            of_running(running, 1)
        } else {
            let bias = |c: usize| weights.conv_bias[c].to_f64();
            let channels = (0..k).map(|c| moments.of_channel(&wide(weights.conv, c), bias(c)));
            let (mean, variance) = channels.unzip();
            Statistics { mean, variance, count: first.count }
        };
        [first.clone(), second, first]
    });
    let folded = Folded::new(weights, statistics.as_ref());
    let y = linear_part(weights, &folded, &z, masks);
    // A single row has no variance; running estimates do not need one, and a score must not depend on other queries.
    let last = weights.norms.is_some() && (b > 1 || matches!(mode, Mode::Test { .. }));
    if let (Some([.., norm]), Some([.., statistics]), true) = (&weights.norms, &mut statistics, last) {
        *statistics = match &mode {
            Mode::Test { running } => of_running(running, 2),
            _ => Statistics::of_batch(&y, outputs, row_weights),
        };
        batch_norm::forward(&y, outputs, statistics, norm, out);
    } else {
        out.copy_from_slice(&y);
    }
    for_rows(
        out,
        1,
        #[inline(always)]
        |_, out| out.iter_mut().for_each(|x| *x = x.larger(T::ZERO)),
    );
    if let (Mode::Train { running, .. }, Some(statistics)) = (&mut mode, &statistics) {
        for (statistics, running) in statistics.iter().zip(running.iter_mut()).take(if last { 3 } else { 2 })
        {
            statistics.update(running);
        }
    }
    ForwardState { z, y, statistics, last, moments, row_weights: row_weights.map(<[T]>::to_vec) }
}

/// The linear layer on the convolution, `[b, d]`, block by block: the convolution of all rows would be large.
fn linear_part<T: Real>(weights: &Weights<T>, folded: &Folded<T>, z: &[T], masks: &Masks) -> Buffer<T> {
    let (d, k) = (weights.linear_bias.len(), weights.conv_bias.len());
    let b = z.len() / (2 * (d + 2));
    let mut y = take::<T>(b * d);
    let mut middle = take::<T>(BLOCK.min(b) * k * d);
    for start in (0..b).step_by(BLOCK) {
        let rows = BLOCK.min(b - start);
        let middle = &mut middle[..rows * k * d];
        folded.middle(z, d, start, masks.middle, middle);
        let size = Size { m: rows, n: d, k: k * d };
        multiply(Form::RightTransposed, size, middle, weights.linear, &mut y[start * d..][..rows * d]);
    }
    for_each_row(
        &mut y,
        d,
        #[inline(always)]
        |row, y| {
            add(y, weights.linear_bias);
            if let Some(mask) = masks.output {
                mask.apply(row * d, y);
            }
        },
    );
    y
}

/// Input of the convolution: normalised, masked, with a 0 at both ends of each channel.
fn padded_input<T: Real>(
    x: &[T],
    d: usize,
    norm: Option<(&[batch_norm::Weights<T>; 3], &Statistics)>,
    mask: Option<&Mask>,
) -> Buffer<T> {
    let mut z = take::<T>(x.len() / d * (d + 2));
    for_each_row(
        &mut z,
        d + 2,
        #[inline(always)]
        |i, z| {
            let (scale, shift) = norm.map_or((T::ONE, T::ZERO), |(weights, statistics)| {
                let c = i % 2;
                let scale = weights[0].scale[c].to_f64() * statistics.inverse(c);
                let shift = weights[0].shift[c].to_f64() - statistics.mean[c] * scale;
                (T::from_f64(scale), T::from_f64(shift))
            });
            (z[0], z[d + 1]) = (T::ZERO, T::ZERO);
            for (z, &x) in z[1..=d].iter_mut().zip(&x[i * d..]) {
                *z = scale * x + shift;
            }
            if let Some(mask) = mask {
                mask.apply(i * d, &mut z[1..=d]);
            }
        },
    );
    z
}
