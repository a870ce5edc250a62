//! Dense logits `X·Wᵀ + bias`, computed strip by strip, with softmax helpers and gradients: shared by the heads.

use std::ops::Range;

use rayon::prelude::*;

use crate::Real;
use crate::gemm_tile::{FEWEST_ROWS, View, grid, parts};
use crate::matrix::{Form, Size, multiply_add};
use crate::memory::take;
use crate::parallel::{add_column_sums, largest, sum, vectorised};

/// Largest number of logits in a strip of more than [`FEWEST_ROWS`] rows: 64 MiB of `f32`.
const LARGEST: usize = 1 << 24;
/// Rows of a strip: as many as make both products of the backward pass efficient, and not fewer than the
/// micro-kernels of a product work on at once.
const MOST: usize = 512;
/// Tile of logits per task.
const TILE: (usize, usize) = (256, 512);

/// A linear layer onto `n` classes, with an optional tanh.
#[derive(Clone, Copy)]
pub(crate) struct Dense<'a, T> {
    /// `[b, d]`
    pub x: &'a [T],
    /// `[n, d]`
    pub weight: &'a [T],
    /// `[n]`
    pub bias: Option<&'a [T]>,
    pub d: usize,
    pub tanh: bool,
}

pub(crate) struct DenseGradients<'a, T> {
    pub x: &'a mut [T],
    pub weight: &'a mut [T],
    pub bias: Option<&'a mut [T]>,
}

/// `out[rows, n]` = the logits of some rows.
pub(crate) fn logits<T: Real>(dense: &Dense<T>, rows: Range<usize>, out: &mut [T]) {
    let (d, n) = (dense.d, dense.weight.len() / dense.d);
    let x = View::new(&dense.x[rows.start * d..rows.end * d], rows.len(), d);
    grid(x, View::new(dense.weight, n, d).transposed(), false, out, n.max(1), TILE);
    if dense.bias.is_none() && !dense.tanh {
        return;
    }
    out.par_chunks_mut(n.max(1)).for_each(|row| {
        vectorised(
            #[inline(always)]
            || {
                if let Some(bias) = dense.bias {
                    crate::parallel::add(row, bias);
                }
                if dense.tanh {
                    row.iter_mut().for_each(|x| *x = x.tanh());
                }
            },
        );
    });
}

/// Rows of length `n` in a strip.
pub(crate) fn rows_per_strip(n: usize) -> usize {
    (LARGEST / n.max(1)).clamp(FEWEST_ROWS, MOST) / FEWEST_ROWS * FEWEST_ROWS
}

/// Calls `f(rows, logits[rows, n], n)` for one strip after the other.
pub(crate) fn strips<T: Real>(dense: &Dense<T>, mut f: impl FnMut(Range<usize>, &mut [T], usize)) {
    let (b, n) = (dense.x.len() / dense.d, dense.weight.len() / dense.d);
    assert_eq!((dense.x.len(), dense.weight.len()), (b * dense.d, n * dense.d), "rows of length {}", dense.d);
    assert!(dense.bias.is_none_or(|bias| bias.len() == n), "one bias per class");
    let step = rows_per_strip(n);
    let count = if b == 0 { 0 } else { parts(b, step) };
    let mut strip = take::<T>((step + FEWEST_ROWS).min(b) * n);
    for i in 0..count {
        let rows = i * step..if i + 1 == count { b } else { (i + 1) * step };
        let strip = &mut strip[..rows.len() * n];
        logits(dense, rows.clone(), strip);
        f(rows, strip, n);
    }
}

/// `f(i, row i, own[i])` for the rows of a strip, in parallel.
pub(crate) fn multiply_rows<T: Real, O: Send>(
    strip: &mut [T],
    n: usize,
    own: Vec<O>,
    f: impl Fn(usize, &mut [T], O) + Sync,
) {
    let rows = strip.par_chunks_mut(n.max(1)).zip(own).enumerate();
    rows.for_each(|(i, (row, own))| {
        vectorised(
            #[inline(always)]
            || f(i, row, own),
        );
    });
}

/// log Σ exp of a row.
#[inline(always)]
pub(crate) fn log_sum_exp<T: Real>(row: &[T]) -> T {
    let peak = largest(row);
    let mut buffer = [T::ZERO; 256];
    let mut total = T::ZERO;
    for part in row.chunks(buffer.len()) {
        for (to, &x) in buffer.iter_mut().zip(part) {
            *to = (x - peak).exp();
        }
        total += sum(&buffer[..part.len()]);
    }
    peak + total.ln()
}

/// Replaces a row by exp(x − max); returns log Σ exp of the row, and the sum of the new values.
#[inline(always)]
pub(crate) fn to_exponentials<T: Real>(row: &mut [T]) -> (T, T) {
    let peak = largest(row);
    let mut total = T::ZERO;
    for part in row.chunks_mut(256) {
        for x in part.iter_mut() {
            *x = (*x - peak).exp();
        }
        total += sum(part);
    }
    (peak + total.ln(), total)
}

impl<T: Real> DenseGradients<'_, T> {
    /// Adds the products of a strip that holds the gradient of the logits before tanh.
    pub fn add(&mut self, dense: &Dense<T>, rows: Range<usize>, strip: &[T]) {
        let (d, n, b) = (dense.d, dense.weight.len() / dense.d, rows.len());
        let x = &dense.x[rows.start * d..rows.end * d];
        let dx = &mut self.x[rows.start * d..rows.end * d];
        multiply_add(Form::Plain, Size { m: b, n: d, k: n }, strip, dense.weight, dx);
        multiply_add(Form::LeftTransposed, Size { m: n, n: d, k: b }, strip, x, self.weight);
        if let Some(bias) = &mut self.bias {
            add_column_sums(strip, n, bias);
        }
    }
}
