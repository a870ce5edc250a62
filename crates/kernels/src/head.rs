//! Scores of all entities and their loss in one kernel: the logits `[b, n]` are never held as a whole.
//!
//! A strip of some rows of the batch and all entities is computed, turned into its own gradient while it is
//! in the cache, and used for both products of the backward pass.
//!
//! Loss = Σᵢ wᵢ · Σⱼ tᵢⱼ·(logsumexpᵢ − logitᵢⱼ) / Σᵢ wᵢ; with one target per row and no weights this is the mean
//! cross entropy.

use std::ops::Range;

use crate::Real;
use crate::dense_logits::{Dense, DenseGradients, log_sum_exp, multiply_rows, strips, to_exponentials};
use crate::segment::Csr;

/// Queries against entities: `logits = X·Eᵀ`.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a, T> {
    /// X`[b, d]`
    pub queries: &'a [T],
    /// E`[n, d]`
    pub entities: &'a [T],
    /// Length of a row.
    pub d: usize,
}

/// Gradients of a head; both are added to.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// Of X`[b, d]`.
    pub queries: &'a mut [T],
    /// Of E`[n, d]`.
    pub entities: &'a mut [T],
}

/// The targets of the rows, and the weights of rows.
#[derive(Clone, Copy, Debug)]
pub struct Goal<'a, T> {
    /// The target entities of each row.
    pub lists: &'a Csr,
    /// t for every place of the lists.
    pub weights: &'a [T],
    /// `[b]`; without it, every row counts 1.
    pub row_weights: Option<&'a [T]>,
}

impl<T: Real> Goal<'_, T> {
    /// Entities and weights of a row.
    fn row(&self, i: usize) -> impl Iterator<Item = (usize, T)> + Clone {
        let weights = &self.weights[self.lists.starts[i] as usize..];
        self.lists.segment(i).iter().zip(weights).map(|(&item, &weight)| (item as usize, weight))
    }

    fn check(&self, rows: usize) {
        let lengths = (self.lists.segments(), self.lists.items.len());
        assert_eq!(lengths, (rows, self.weights.len()), "target lists");
    }

    fn share(&self, row: usize) -> f64 {
        self.row_weights.map_or(1.0, |w| w[row].to_f64())
    }

    fn total(&self, rows: usize) -> f64 {
        crate::batch_norm::total_weight(rows, self.row_weights)
    }
}

impl<'a, T: Real> Head<'a, T> {
    fn dense(&self) -> Dense<'a, T> {
        Dense { x: self.queries, weight: self.entities, bias: None, d: self.d, tanh: false }
    }

    fn rows(&self) -> usize {
        self.queries.len() / self.d
    }
}

/// The loss alone.
pub fn loss<T: Real>(head: &Head<T>, goal: &Goal<T>) -> T {
    let b = head.rows();
    goal.check(b);
    let mut losses = vec![0.0; b];
    strips(&head.dense(), |rows, strip, n| {
        multiply_rows(
            strip,
            n,
            losses[rows.clone()].iter_mut().collect(),
            #[inline(always)]
            |i, logits, loss| {
                let row = rows.start + i;
                let log_sum = log_sum_exp(logits);
                let terms = goal.row(row).map(|(j, t)| t.to_f64() * (log_sum - logits[j]).to_f64());
                *loss = goal.share(row) * terms.sum::<f64>();
            },
        );
    });
    T::from_f64(losses.iter().sum::<f64>() / goal.total(b))
}

/// The loss, and its gradients in the same pass: a third less arithmetic than in a second one, because the logits are computed
/// once.
pub fn loss_and_gradients<T: Real>(head: &Head<T>, goal: &Goal<T>, gradients: &mut Gradients<T>) -> T {
    let b = head.rows();
    goal.check(b);
    let total = goal.total(b);
    let dense = head.dense();
    let mut out = DenseGradients { x: &mut *gradients.queries, weight: &mut *gradients.entities, bias: None };
    let mut losses = vec![0.0; b];
    strips(&dense, |rows, strip, n| {
        multiply_rows(
            strip,
            n,
            losses[rows.clone()].iter_mut().collect(),
            #[inline(always)]
            |i, logits, loss| {
                let row = rows.start + i;
                let golds: f64 = goal.row(row).map(|(j, t)| (t * logits[j]).to_f64()).sum();
                let whole: T = goal.row(row).map(|(_, t)| t).sum();
                let (log_sum, sum) = to_exponentials(logits);
                *loss = goal.share(row) * (whole.to_f64() * log_sum.to_f64() - golds);
                let share = T::from_f64(goal.share(row) / total);
                let scale = share * whole / sum;
                logits.iter_mut().for_each(|x| *x *= scale);
                goal.row(row).for_each(|(j, t)| logits[j] -= share * t);
            },
        );
        out.add(&dense, rows, strip);
    });
    T::from_f64(losses.iter().sum::<f64>() / total)
}

/// Calls `f(rows, scores[rows, n])` for one strip of rows after the other, so that memory does not grow with the number of
/// rows.
pub fn score_strips<T: Real>(head: &Head<T>, mut f: impl FnMut(Range<usize>, &mut [T])) {
    strips(&head.dense(), |rows, strip, _| f(rows, strip));
}
