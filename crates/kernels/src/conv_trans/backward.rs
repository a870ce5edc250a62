//! Gradients of the trunk.

use rayon::prelude::*;

use super::middle::{Folded, ROWS, TAPS, tap, wide};
use super::{BLOCK, ForwardState, Masks, Weights};
use crate::Real;
use crate::batch_norm::{self, Shape};
use crate::dropout::Mask;
use crate::matrix::{Form, Size, multiply, multiply_add};
use crate::memory::{Buffer, take, take_zeroed};
use crate::parallel::{add, add_column_sums, add_scaled, dot, for_rows, sum, vectorised};
use crate::rows::for_each_row;

/// Gradients of the trunk; all are added to.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// Of x`[b, 2, d]`.
    pub x: &'a mut [T],
    /// `[k, 2, 3]`
    pub conv: &'a mut [T],
    /// `[k]`
    pub conv_bias: &'a mut [T],
    /// `[d, k·d]`
    pub linear: &'a mut [T],
    /// `[d]`
    pub linear_bias: &'a mut [T],
    /// Of the 2, k and d channels; needed exactly if the trunk normalises.
    pub norms: Option<[batch_norm::Gradients<'a, T>; 3]>,
}

/// Result of a forward pass and its gradient.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a, T> {
    /// As the forward pass left it, `[b, d]`.
    pub out: &'a [T],
    /// Gradient of the loss for `out`.
    pub dout: &'a [T],
}

/// Adds the gradients of [`forward`](super::forward) for the same weights, input and masks.
pub fn backward<T: Real>(
    weights: &Weights<T>,
    x: &[T],
    masks: &Masks,
    kept: &ForwardState<T>,
    output: &Output<T>,
    gradients: &mut Gradients<T>,
) {
    let (d, k) = (weights.linear_bias.len(), weights.conv_bias.len());
    let b = x.len() / (2 * d);
    let row_weights = kept.row_weights.as_deref();
    let mut dy = output_backward(weights, kept, output, gradients.norms.as_mut());
    if let Some(mask) = masks.output {
        for_rows(
            &mut dy,
            1,
            #[inline(always)]
            |first, dy| mask.apply(first, dy),
        );
    }
    add_column_sums(&dy, d, gradients.linear_bias);

    let folded = Folded::new(weights, kept.statistics.as_ref());
    let mut dz = take_zeroed::<T>(kept.z.len());
    let mut sums = Sums::new(k);
    let (mut middle, mut dmiddle) = (take::<T>(BLOCK.min(b) * k * d), take::<T>(BLOCK.min(b) * k * d));
    for start in (0..b).step_by(BLOCK) {
        let rows = BLOCK.min(b - start);
        let (middle, dmiddle) = (&mut middle[..rows * k * d], &mut dmiddle[..rows * k * d]);
        let dy = &dy[start * d..][..rows * d];
        folded.middle(&kept.z, d, start, masks.middle, middle);
        multiply(Form::Plain, Size { m: rows, n: k * d, k: d }, dy, weights.linear, dmiddle);
        let size = Size { m: d, n: k * d, k: rows };
        multiply_add(Form::LeftTransposed, size, dy, middle, gradients.linear);
        let padded = 2 * (d + 2);
        let (z, dz) =
            (&kept.z[start * padded..][..rows * padded], &mut dz[start * padded..][..rows * padded]);
        let mask = masks.middle.map(|mask| (mask, start * k * d));
        sums.add_rows(&folded, (z, dz, d), (middle, dmiddle, mask));
    }
    conv_backward(weights, kept, &folded, &sums, gradients);
    if let Some(count) = kept.statistics.as_ref().and_then(|statistics| statistics[1].count) {
        let correction = Correction::new(weights, kept, &folded, &sums, count);
        correction.apply(&kept.z, d, row_weights, &mut dz);
    }
    input_backward(weights, x, masks, kept, &dz, gradients);
}

/// Back through the last `ReLU` and normalisation: the gradient of `kept.y`.
fn output_backward<T: Real>(
    weights: &Weights<T>,
    kept: &ForwardState<T>,
    output: &Output<T>,
    norms: Option<&mut [batch_norm::Gradients<T>; 3]>,
) -> Buffer<T> {
    let d = weights.linear_bias.len();
    let mut dout = take::<T>(kept.y.len());
    for_rows(
        &mut dout,
        1,
        #[inline(always)]
        |first, dout| {
            for ((to, &out), &g) in dout.iter_mut().zip(&output.out[first..]).zip(&output.dout[first..]) {
                *to = if out > T::ZERO { g } else { T::ZERO };
            }
        },
    );
    let (Some(weights), Some(statistics), Some(norms), true) =
        (&weights.norms, &kept.statistics, norms, kept.last)
    else {
        return dout;
    };
    let shape = Shape { rows: kept.y.len() / d, channels: d, length: 1 };
    let mut dy = take_zeroed::<T>(kept.y.len());
    let row_weights = kept.row_weights.as_deref();
    batch_norm::backward(
        (&kept.y, shape),
        &statistics[2],
        (&weights[2], row_weights),
        &dout,
        &mut dy,
        &mut norms[2],
    );
    dy
}

/// Per channel: Σ g, then Σ g·zᵢ, where g is the gradient of the folded convolution.
struct Sums(Vec<[f64; TAPS + 1]>);

impl Sums {
    fn new(channels: usize) -> Self {
        Self(vec![[0.0; TAPS + 1]; channels])
    }

    /// Turns the gradients `dmiddle` of some rows into sums and, through the folded weights, into `dz`.
    fn add_rows<T: Real>(
        &mut self,
        folded: &Folded<T>,
        (z, dz, d): (&[T], &mut [T], usize),
        (middle, dmiddle, mask): (&[T], &mut [T], Option<(&Mask, usize)>),
    ) {
        let (length, padded) = (self.0.len() * d, 2 * (d + 2));
        let parts: Vec<Vec<[T; TAPS + 1]>> = dz
            .par_chunks_mut(ROWS * padded)
            .zip(dmiddle.par_chunks_mut(ROWS * length))
            .enumerate()
            .map(|(task, (dz, dmiddle))| {
                let mut part = vec![[T::ZERO; TAPS + 1]; self.0.len()];
                vectorised(
                    #[inline(always)]
                    || {
                        let rows = dz.chunks_exact_mut(padded).zip(dmiddle.chunks_exact_mut(length));
                        for (i, (dz, g)) in rows.enumerate() {
                            let row = task * ROWS + i;
                            let middle = &middle[row * length..][..length];
                            g.iter_mut()
                                .zip(middle)
                                .for_each(|(g, &x)| *g = if x > T::ZERO { *g } else { T::ZERO });
                            if let Some((mask, first)) = mask {
                                mask.apply(first + row * length, g);
                            }
                            let z = &z[row * padded..][..padded];
                            for ((g, part), w) in g.chunks_exact(d).zip(&mut part).zip(&folded.weights) {
                                part[0] += sum(g);
                                for i in 0..TAPS {
                                    part[i + 1] += dot(g, tap(z, i, d));
                                    add_scaled(&mut dz[i / 3 * (d + 2) + i % 3..][..d], w[i], g);
                                }
                            }
                        }
                    },
                );
                part
            })
            .collect();
        for part in parts {
            for (total, part) in self.0.iter_mut().zip(part) {
                add(total, &part.map(T::to_f64));
            }
        }
    }
}

/// Gradients of the convolution and of its normalisation, from the sums alone.
fn conv_backward<T: Real>(
    weights: &Weights<T>,
    kept: &ForwardState<T>,
    folded: &Folded<T>,
    sums: &Sums,
    gradients: &mut Gradients<T>,
) {
    for (c, [total, along @ ..]) in sums.0.iter().enumerate() {
        let (w, scale) = (wide(weights.conv, c), folded.scale[c]);
        let (mut dbias, mut dw) = (scale * total, along.map(|along| scale * along));
        if let (Some(statistics), Some(norms)) = (&kept.statistics, &mut gradients.norms) {
            let dscale = along_normalised(weights, kept, sums, c);
            norms[1].shift[c] += T::from_f64(*total);
            norms[1].scale[c] += T::from_f64(dscale);
            if statistics[1].count.is_some() {
                // The mean takes the bias away, and the batch part of the gradient is along mean and ŷ.
                dbias = 0.0;
                let inverse = statistics[1].inverse(c);
                for (i, dw) in dw.iter_mut().enumerate() {
                    let moments = &kept.moments;
                    *dw -= scale * (total * moments.mean[i] + dscale * inverse * moments.times(&w, i));
                }
            }
        }
        gradients.conv_bias[c] += T::from_f64(dbias);
        for (to, dw) in gradients.conv[c * TAPS..].iter_mut().zip(dw) {
            *to += T::from_f64(dw);
        }
    }
}

/// Σ g·ŷ of a channel, where ŷ is its normalised value before scale and shift.
fn along_normalised<T: Real>(weights: &Weights<T>, kept: &ForwardState<T>, sums: &Sums, c: usize) -> f64 {
    let Some(statistics) = &kept.statistics else { return 0.0 };
    let [total, along @ ..] = &sums.0[c];
    let products: f64 = wide(weights.conv, c).iter().zip(along).map(|(w, along)| w * along).sum();
    let constant = weights.conv_bias[c].to_f64() - statistics[1].mean[c];
    (products + constant * total) * statistics[1].inverse(c)
}

/// What the dependence of the batch statistics of the k channels on z takes off the gradient of the shifted
/// inputs: `weight·(constant + matrix·(z − mean))`.
struct Correction {
    constant: [f64; TAPS],
    matrix: [[f64; TAPS]; TAPS],
}

impl Correction {
    fn new<T: Real>(
        weights: &Weights<T>,
        kept: &ForwardState<T>,
        folded: &Folded<T>,
        sums: &Sums,
        count: f64,
    ) -> Self {
        let mut correction = Self { constant: [0.0; TAPS], matrix: [[0.0; TAPS]; TAPS] };
        let Some(statistics) = &kept.statistics else { return correction };
        for (c, sum) in sums.0.iter().enumerate() {
            let w = wide(weights.conv, c);
            let along = along_normalised(weights, kept, sums, c) * statistics[1].inverse(c) / count;
            for i in 0..TAPS {
                let from = w[i] * folded.scale[c];
                correction.constant[i] += from * sum[0] / count;
                for j in 0..TAPS {
                    correction.matrix[i][j] += from * along * w[j];
                }
            }
        }
        for i in 0..TAPS {
            for j in 0..TAPS {
                correction.constant[i] -= correction.matrix[i][j] * kept.moments.mean[j];
            }
        }
        correction
    }

    fn apply<T: Real>(&self, z: &[T], d: usize, row_weights: Option<&[T]>, dz: &mut [T]) {
        let padded = 2 * (d + 2);
        for_each_row(
            dz,
            padded,
            #[inline(always)]
            |row, dz| {
                let z = &z[row * padded..][..padded];
                let weight = batch_norm::weight(row_weights, row);
                for to in 0..TAPS {
                    let dz = &mut dz[to / 3 * (d + 2) + to % 3..][..d];
                    let constant = T::from_f64(weight * self.constant[to]);
                    dz.iter_mut().for_each(|dz| *dz -= constant);
                    for from in 0..TAPS {
                        add_scaled(dz, T::from_f64(-weight * self.matrix[to][from]), tap(z, from, d));
                    }
                }
            },
        );
    }
}

/// From the padded gradient `dz` through mask and first normalisation to x.
fn input_backward<T: Real>(
    weights: &Weights<T>,
    x: &[T],
    masks: &Masks,
    kept: &ForwardState<T>,
    dz: &[T],
    gradients: &mut Gradients<T>,
) {
    let d = weights.linear_bias.len();
    let mut inner = take::<T>(x.len());
    for_each_row(
        &mut inner,
        d,
        #[inline(always)]
        |row, inner| {
            inner.copy_from_slice(&dz[row * (d + 2) + 1..][..d]);
            if let Some(mask) = masks.input {
                mask.apply(row * d, inner);
            }
        },
    );
    if let (Some([norm, ..]), Some([statistics, ..]), Some([out, ..])) =
        (&weights.norms, &kept.statistics, &mut gradients.norms)
    {
        let shape = Shape { rows: x.len() / (2 * d), channels: 2, length: d };
        let row_weights = (norm, kept.row_weights.as_deref());
        batch_norm::backward((x, shape), statistics, row_weights, &inner, gradients.x, out);
    } else {
        for_rows(
            gradients.x,
            1,
            #[inline(always)]
            |first, dx| add(dx, &inner[first..]),
        );
    }
}
