//! Comparisons by products: matrix multiplication, with the weights folded into the queries.

use std::ops::Range;

use rayon::prelude::*;

use super::backward::add_own;
use super::distance::split;
use super::forward::{Sides, pairs};
use super::measure::Dot;
use super::{Comparison, Gradients};
use crate::Real;
use crate::dense_logits::{Dense, DenseGradients, strips};
use crate::memory::{Buffer, take, take_zeroed};
use crate::parallel::{vectorised, zip_rows};

/// Queries times weights, if there are any.
fn fold<T: Real>(comparison: &Comparison<T>) -> Option<Buffer<T>> {
    comparison.weights.map(|weights| {
        let mut folded = take::<T>(comparison.queries.len());
        zip_rows(
            &mut folded,
            comparison.queries,
            weights,
            #[inline(always)]
            |y, q, w| *y = q * w,
        );
        folded
    })
}

fn dense<'a, T>(comparison: &Comparison<'a, T>, folded: Option<&'a [T]>) -> Dense<'a, T> {
    let x = folded.unwrap_or(comparison.queries);
    Dense { x, weight: comparison.candidates, bias: None, d: comparison.d, tanh: false }
}

pub(super) fn score_strips<T: Real>(comparison: &Comparison<T>, mut f: impl FnMut(Range<usize>, &mut [T])) {
    comparison.sizes();
    let folded = fold(comparison);
    strips(&dense(comparison, folded.as_deref()), |rows, strip, _| f(rows, strip));
}

pub(super) fn train<T: Real>(
    comparison: &Comparison<T>,
    loss: impl Fn(usize, &mut T, &mut [T]) -> f64 + Sync,
    gradients: &mut Gradients<T>,
) -> f64 {
    let sides = Sides::<T, 1, 1>::new(comparison);
    let folded = fold(comparison);
    let dense = dense(comparison, folded.as_deref());
    let mut dfolded = folded.as_ref().map(|folded| take_zeroed::<T>(folded.len()));
    let mut out = DenseGradients {
        x: dfolded.as_deref_mut().unwrap_or(&mut *gradients.queries),
        weight: &mut *gradients.candidates,
        bias: None,
    };
    let mut losses = vec![0.0; sides.b];
    // Scores first, gradients then.
    let mut own = vec![T::ZERO; sides.b];
    pairs::<T, Dot, 1, 1>(&sides, &mut own);
    strips(&dense, |rows, strip, n| {
        let outputs = losses[rows.clone()].par_iter_mut().zip(&mut own[rows.clone()]);
        let parts = split(strip, n, rows.len()).into_par_iter();
        parts.zip(rows.clone()).zip(outputs).for_each(|((scores, row), (total, own))| {
            vectorised(
                #[inline(always)]
                || *total = loss(row, own, scores),
            );
        });
        out.add(&dense, rows, strip);
    });
    if let (Some(dfolded), Some(weights)) = (&dfolded, comparison.weights) {
        zip_rows(
            gradients.queries,
            dfolded,
            weights,
            #[inline(always)]
            |dq, dfolded, w| *dq += dfolded * w,
        );
    }
    own.iter_mut().for_each(|x| *x = -*x);
    add_own::<T, Dot, 1, 1>(&sides, &own, gradients);
    losses.iter().sum()
}
