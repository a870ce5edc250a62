//! Scores, losses and gradients strip by strip: products, and distances (sums of terms that are no product).

use std::ops::Range;

use rayon::prelude::*;

use super::backward::{add_own, add_shared};
use super::forward::{Sides, pairs, scores};
use super::measure::{Dot, Measure};
use super::{Comparison, Gradients};
use crate::Real;
use crate::dense_logits::{self, Dense, DenseGradients};
use crate::memory::{Buffer, take, take_zeroed};
use crate::parallel::{largest_size, vectorised, zip_rows};

/// Gradients below this part of the largest of their row are left out.
const SMALL: f64 = 1e-7;

/// The rows of a strip; one slice per row even if they are empty.
fn split<T>(strip: &mut [T], n: usize, rows: usize) -> Vec<&mut [T]> {
    if n == 0 { (0..rows).map(|_| &mut [][..]).collect() } else { strip.chunks_mut(n).collect() }
}

/// Calls `f(rows, scores[rows, n])` for one strip after the other.
fn strips<T: Real, M: Measure<Q, C>, const Q: usize, const C: usize>(
    sides: &Sides<T, Q, C>,
    mut f: impl FnMut(Range<usize>, &mut [T]),
) {
    let step = dense_logits::rows_per_strip(sides.n);
    let mut strip = take::<T>(step.min(sides.b) * sides.n);
    for first in (0..sides.b).step_by(step) {
        let rows = first..(first + step).min(sides.b);
        let strip = &mut strip[..rows.len() * sides.n];
        scores::<T, M, Q, C>(sides, rows.clone(), strip);
        f(rows, strip);
    }
}

pub(super) fn score_distances<T: Real, M: Measure<Q, C>, const Q: usize, const C: usize>(
    comparison: &Comparison<T>,
    f: impl FnMut(Range<usize>, &mut [T]),
) {
    strips::<T, M, Q, C>(&Sides::new(comparison), f);
}

pub(super) fn train_distances<T: Real, M: Measure<Q, C>, const Q: usize, const C: usize>(
    comparison: &Comparison<T>,
    loss: impl Fn(usize, &mut T, &mut [T]) -> f64 + Sync,
    gradients: &mut Gradients<T>,
) -> f64 {
    let sides = Sides::<T, Q, C>::new(comparison);
    let mut losses = vec![0.0; sides.b];
    // Scores first, factors then.
    let mut own = vec![T::ZERO; sides.b];
    pairs::<T, M, Q, C>(&sides, &mut own);
    strips::<T, M, Q, C>(&sides, |rows, strip| {
        let outputs = losses[rows.clone()].par_iter_mut().zip(&mut own[rows.clone()]);
        let parts = split(strip, sides.n, rows.len()).into_par_iter();
        parts.zip(rows.clone()).zip(outputs).for_each(|((scores, row), (total, own))| {
            vectorised(
                #[inline(always)]
                || {
                    *total = factors::<T, M, Q, C>(
                        own,
                        scores,
                        #[inline(always)]
                        |own, scores| loss(row, own, scores),
                    );
                },
            );
        });
        add_shared::<T, M, Q, C>(&sides, rows, strip, gradients);
    });
    add_own::<T, M, Q, C>(&sides, &own, gradients);
    losses.iter().sum()
}

/// The loss of a row; the scores become factors of slopes.
#[inline(always)]
fn factors<T: Real, M: Measure<Q, C>, const Q: usize, const C: usize>(
    own: &mut T,
    scores: &mut [T],
    loss: impl Fn(&mut T, &mut [T]) -> f64,
) -> f64 {
    let own_score = *own;
    let mut kept = take::<T>(if M::ROOT { scores.len() } else { 0 });
    if M::ROOT {
        kept.copy_from_slice(scores);
    }
    let total = loss(own, scores);
    *own = M::factor(own_score, *own);
    let small = T::from_f64(SMALL) * largest_size(scores);
    // Written so that NaN is not small.
    scores.iter_mut().for_each(|x| *x = if x.abs() < small { T::ZERO } else { *x });
    if M::ROOT {
        scores.iter_mut().zip(kept.iter()).for_each(|(x, &score)| *x = M::factor(score, *x));
    } else {
        scores.iter_mut().for_each(|x| *x = M::factor(T::ZERO, *x));
    }
    total
}

/// Queries times weights, if there are any: products are matrix multiplications with the weights folded into the queries.
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

pub(super) fn score_products<T: Real>(comparison: &Comparison<T>, mut f: impl FnMut(Range<usize>, &mut [T])) {
    comparison.sizes();
    let folded = fold(comparison);
    dense_logits::strips(&dense(comparison, folded.as_deref()), |rows, strip, _| f(rows, strip));
}

pub(super) fn train_products<T: Real>(
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
    dense_logits::strips(&dense, |rows, strip, n| {
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
