//! CyGNet's mixture of two softmaxes as a fused loss:
//!
//! lossᵢ = −log(α·cᵢ(gold) + (1 − α)·gᵢ(gold)), averaged over rows, where g = softmax(X·Wgᵀ + bg) over all entities
//! and c = softmax(tanh(X·Wcᵀ + bc)) over the row's vocabulary, or over all entities if that is empty.

use std::ops::Range;

use rayon::prelude::*;

use crate::Real;
use crate::dense_logits::{Dense, DenseGradients, log_sum_exp, multiply_rows, strips, to_exponentials};
use crate::memory::{Buffer, take, take_zeroed};
use crate::parallel::{add_scaled, dot, vectorised};
use crate::rows::for_each_row;
use crate::segment::{Csr, by_places, gather, scatter_add, softmax};

/// A linear layer onto all entities.
#[derive(Clone, Copy, Debug)]
pub struct Linear<'a, T> {
    /// `[n, d]`
    pub weight: &'a [T],
    /// `[n]`
    pub bias: &'a [T],
}

impl<'a, T> Linear<'a, T> {
    fn dense(self, x: &'a [T], d: usize, tanh: bool) -> Dense<'a, T> {
        Dense { x, weight: self.weight, bias: Some(self.bias), d, tanh }
    }
}

/// The inputs of the mixture.
#[derive(Clone, Copy, Debug)]
pub struct Mixture<'a, T> {
    /// X`[b, d]`
    pub queries: &'a [T],
    /// Wc, bc.
    pub copy: Linear<'a, T>,
    /// Wg, bg.
    pub generate: Linear<'a, T>,
    /// Sorted ids per row, none twice.
    pub vocabulary: &'a Csr,
    /// α, in (0, 1).
    pub alpha: f64,
    /// Length of a row.
    pub d: usize,
}

/// Gradients of the mixture; all are added to, those of the copy layer only in rows that occur in a vocabulary
/// (in all rows if there is an empty vocabulary).
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// Of X`[b, d]`.
    pub queries: &'a mut [T],
    /// Of Wc`[n, d]`.
    pub copy_weight: &'a mut [T],
    /// Of bc`[n]`.
    pub copy_bias: &'a mut [T],
    /// Of Wg`[n, d]`.
    pub generate_weight: &'a mut [T],
    /// Of bg`[n]`.
    pub generate_bias: &'a mut [T],
}

/// Per list place of the vocabulary: tanh(⟨x, w⟩ + b).
fn copy_logits<T: Real>(mixture: &Mixture<T>, out: &mut [T]) {
    let (d, lists) = (mixture.d, mixture.vocabulary);
    by_places(
        lists,
        out,
        #[inline(always)]
        |row, places, out| {
            let x = &mixture.queries[row * d..][..d];
            for (out, &item) in out.iter_mut().zip(&lists.items[places]) {
                let weight = &mixture.copy.weight[item as usize * d..][..d];
                *out = (dot(x, weight) + mixture.copy.bias[item as usize]).tanh();
            }
        },
    );
}

/// log(a·eˣ + b·eʸ) without overflow; one of x, y is finite.
fn log_mix(log_a: f64, x: f64, log_b: f64, y: f64) -> f64 {
    let (x, y) = (log_a + x, log_b + y);
    let peak = x.max(y);
    peak + ((x - peak).exp() + (y - peak).exp()).ln()
}

/// The copy side of a batch, after its forward pass.
struct Copied<T: Real> {
    /// tanh logits and probabilities per place.
    logits: Buffer<T>,
    shares: Buffer<T>,
    /// Rows with an empty vocabulary, their queries, and log Σ exp.
    empty: Vec<u32>,
    queries: Buffer<T>,
    log_sums: Vec<T>,
    /// log c(gold) per row of the batch.
    golds: Vec<f64>,
}

fn copy_forward<T: Real>(mixture: &Mixture<T>, targets: &[u32]) -> Copied<T> {
    let (d, lists) = (mixture.d, mixture.vocabulary);
    let b = mixture.queries.len() / d;
    assert_eq!((lists.segments(), targets.len()), (b, b), "vocabularies and targets of {b} rows");
    let (mut logits, mut shares) = (take::<T>(lists.items.len()), take::<T>(lists.items.len()));
    copy_logits(mixture, &mut logits);
    softmax(lists, &logits, &mut shares);
    let mut golds: Vec<f64> = (0..b)
        .map(|row| {
            let place = lists.segment(row).binary_search(&targets[row]).ok();
            let start = lists.starts[row] as usize;
            place.map_or(f64::NEG_INFINITY, |place| shares[start + place].to_f64().ln())
        })
        .collect();
    let empty: Vec<u32> = (0..b as u32).filter(|&row| lists.segment(row as usize).is_empty()).collect();
    let mut queries = take::<T>(empty.len() * d);
    gather(&empty, mixture.queries, d, &mut queries);
    let mut log_sums = vec![T::ZERO; empty.len()];
    let mut empty_golds = vec![0.0; empty.len()];
    strips(&mixture.copy.dense(&queries, d, true), |rows, strip, n| {
        let own = log_sums[rows.clone()].iter_mut().zip(&mut empty_golds[rows.clone()]);
        multiply_rows(
            strip,
            n,
            own.collect(),
            #[inline(always)]
            |i, logits, (log_sum, gold)| {
                *log_sum = log_sum_exp(logits);
                let target = targets[empty[rows.start + i] as usize] as usize;
                *gold = (logits[target] - *log_sum).to_f64();
            },
        );
    });
    for (&row, gold) in empty.iter().zip(empty_golds) {
        golds[row as usize] = gold;
    }
    Copied { logits, shares, empty, queries, log_sums, golds }
}

/// The mean loss over rows, and its gradients.
pub fn loss_and_gradients<T: Real>(mixture: &Mixture<T>, targets: &[u32], gradients: &mut Gradients<T>) -> T {
    let b = targets.len();
    let copied = copy_forward(mixture, targets);
    let (log_alpha, log_rest) = (mixture.alpha.ln(), (1.0 - mixture.alpha).ln());
    let factor = 1.0 / b as f64;
    let dense = mixture.generate.dense(mixture.queries, mixture.d, false);
    let mut out = DenseGradients {
        x: &mut *gradients.queries,
        weight: &mut *gradients.generate_weight,
        bias: Some(&mut *gradients.generate_bias),
    };
    // Per row: loss, and the part of the copy side in the mixture, which scales its gradient.
    let mut results = vec![(0.0, 0.0); b];
    strips(&dense, |rows, strip, n| {
        multiply_rows(
            strip,
            n,
            results[rows.clone()].iter_mut().collect(),
            #[inline(always)]
            |i, logits, result| {
                let row = rows.start + i;
                let gold = logits[targets[row] as usize];
                let (log_sum, total) = to_exponentials(logits);
                let log_g = (gold - log_sum).to_f64();
                let log_score = log_mix(log_alpha, copied.golds[row], log_rest, log_g);
                *result = (-log_score, (log_alpha + copied.golds[row] - log_score).exp());
                let part = T::from_f64(factor * (log_rest + log_g - log_score).exp());
                let scale = part / total;
                logits.iter_mut().for_each(|x| *x *= scale);
                logits[targets[row] as usize] -= part;
            },
        );
        out.add(&dense, rows, strip);
    });
    let parts: Vec<T> = results.iter().map(|&(_, part)| T::from_f64(factor * part)).collect();
    copy_backward(mixture, targets, &copied, &parts, gradients);
    T::from_f64(results.iter().map(|&(loss, _)| loss).sum::<f64>() / b as f64)
}

/// Adds the gradients of the copy side; `parts[row]` scales those of a row.
fn copy_backward<T: Real>(
    mixture: &Mixture<T>,
    targets: &[u32],
    copied: &Copied<T>,
    parts: &[T],
    gradients: &mut Gradients<T>,
) {
    let (d, lists) = (mixture.d, mixture.vocabulary);
    let n = mixture.copy.bias.len();
    let mut slopes = take::<T>(lists.items.len());
    by_places(
        lists,
        &mut slopes,
        #[inline(always)]
        |row, places, slopes| {
            for (slope, place) in slopes.iter_mut().zip(places) {
                let gold = if lists.items[place] == targets[row] { T::ONE } else { T::ZERO };
                let tanh = copied.logits[place];
                *slope = parts[row] * (copied.shares[place] - gold) * (T::ONE - tanh * tanh);
            }
        },
    );
    for_each_row(
        gradients.queries,
        d,
        #[inline(always)]
        |row, dx| {
            let slopes = &slopes[lists.starts[row] as usize..];
            for (&slope, &item) in slopes.iter().zip(lists.segment(row)) {
                add_scaled(dx, slope, &mixture.copy.weight[item as usize * d..][..d]);
            }
        },
    );
    let rows = (0..lists.segments()).flat_map(|row| std::iter::repeat_n(row, lists.segment(row).len()));
    let rows: Vec<usize> = rows.collect();
    let places = Csr::from_pairs(n, lists.items.iter().zip(0_u32..).map(|(&item, place)| (item, place)));
    let own = gradients.copy_weight.par_chunks_mut(d).zip(&mut *gradients.copy_bias);
    own.enumerate().with_min_len(64).for_each(|(item, (dweight, dbias))| {
        vectorised(
            #[inline(always)]
            || {
                for &place in places.segment(item) {
                    let slope = slopes[place as usize];
                    add_scaled(dweight, slope, &mixture.queries[rows[place as usize] * d..][..d]);
                    *dbias += slope;
                }
            },
        );
    });
    if !copied.empty.is_empty() {
        empty_backward(mixture, targets, copied, parts, gradients);
    }
}

/// As [`copy_backward`], for the rows with an empty vocabulary.
fn empty_backward<T: Real>(
    mixture: &Mixture<T>,
    targets: &[u32],
    copied: &Copied<T>,
    parts: &[T],
    gradients: &mut Gradients<T>,
) {
    let mut dqueries = take_zeroed::<T>(copied.queries.len());
    let dense = mixture.copy.dense(&copied.queries, mixture.d, true);
    let mut out = DenseGradients {
        x: &mut dqueries,
        weight: &mut *gradients.copy_weight,
        bias: Some(&mut *gradients.copy_bias),
    };
    strips(&dense, |rows, strip, n| {
        let own = copied.empty[rows.clone()].iter().zip(&copied.log_sums[rows.clone()]);
        multiply_rows(
            strip,
            n,
            own.collect(),
            #[inline(always)]
            |_, logits, (&row, &log_sum)| {
                let (part, gold) = (parts[row as usize], targets[row as usize] as usize);
                let tanh = logits[gold];
                for x in logits.iter_mut() {
                    *x = part * (*x - log_sum).exp() * (T::ONE - *x * *x);
                }
                logits[gold] -= part * (T::ONE - tanh * tanh);
            },
        );
        out.add(&dense, rows, strip);
    });
    scatter_add(&copied.empty, &dqueries, mixture.d, gradients.queries);
}

/// The mean loss over rows alone.
pub fn loss<T: Real>(mixture: &Mixture<T>, targets: &[u32]) -> T {
    let mut losses = vec![0.0; targets.len()];
    let copied = copy_forward(mixture, targets);
    let (log_alpha, log_rest) = (mixture.alpha.ln(), (1.0 - mixture.alpha).ln());
    let dense = mixture.generate.dense(mixture.queries, mixture.d, false);
    strips(&dense, |rows, strip, n| {
        multiply_rows(
            strip,
            n,
            losses[rows.clone()].iter_mut().collect(),
            #[inline(always)]
            |i, logits, loss| {
                let row = rows.start + i;
                let log_g = (logits[targets[row] as usize] - log_sum_exp(logits)).to_f64();
                *loss = -log_mix(log_alpha, copied.golds[row], log_rest, log_g);
            },
        );
    });
    T::from_f64(losses.iter().sum::<f64>() / targets.len() as f64)
}

/// Calls `f(rows, log scores[rows, n])` for one strip of rows after the other. With a vocabulary, the copy side of all other
/// entities is 0.
pub fn score_strips<T: Real>(mixture: &Mixture<T>, mut f: impl FnMut(Range<usize>, &mut [T])) {
    let b = mixture.queries.len() / mixture.d;
    let lists = mixture.vocabulary;
    let copied = copy_forward(mixture, &vec![0; b]);
    let rest = T::from_f64((1.0 - mixture.alpha).ln());
    let alpha = T::from_f64(mixture.alpha);
    let dense = mixture.generate.dense(mixture.queries, mixture.d, false);
    let place_of_empty = |row: usize| copied.empty.binary_search(&(row as u32)).ok();
    strips(&dense, |rows, strip, n| {
        multiply_rows(
            strip,
            n,
            rows.clone().collect(),
            #[inline(always)]
            |_, scores, row| {
                let log_sum = log_sum_exp(scores);
                scores.iter_mut().for_each(|x| *x = *x - log_sum + rest);
                let mix = |x: &mut T, c: T| *x = x.larger(c) + (-(*x - c).abs()).exp().ln_1p();
                if let Some(place) = place_of_empty(row) {
                    let x = &mixture.queries[row * mixture.d..][..mixture.d];
                    for (j, score) in scores.iter_mut().enumerate() {
                        let weight = &mixture.copy.weight[j * mixture.d..][..mixture.d];
                        let tanh = (dot(x, weight) + mixture.copy.bias[j]).tanh();
                        mix(score, alpha.ln() + tanh - copied.log_sums[place]);
                    }
                }
                let start = lists.starts[row] as usize;
                for (place, &item) in lists.segment(row).iter().enumerate() {
                    mix(&mut scores[item as usize], (alpha * copied.shares[start + place]).ln());
                }
            },
        );
        f(rows, strip);
    });
}
