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

/// Queries against entities: `logits = X·Eᵀ + bias`.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a, T> {
    /// X`[b, d]`
    pub queries: &'a [T],
    /// E`[n, d]`
    pub entities: &'a [T],
    /// `[n]`
    pub bias: Option<&'a [T]>,
    /// Length of a row.
    pub d: usize,
}

/// Gradients of a head; all are added to.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// Of X`[b, d]`.
    pub queries: &'a mut [T],
    /// Of E`[n, d]`.
    pub entities: &'a mut [T],
    /// Of the bias `[n]`; without it, that gradient is not computed.
    pub bias: Option<&'a mut [T]>,
}

/// The targets of the rows.
#[derive(Clone, Copy, Debug)]
pub enum Targets<'a, T> {
    /// One entity per row.
    One(&'a [u32]),
    /// Several entities per row: lists, and one weight t per place of the lists.
    Soft {
        /// Entities per row.
        lists: &'a Csr,
        /// Weight of every place.
        weights: &'a [T],
    },
}

impl<T: Real> Targets<'_, T> {
    /// Entities and weights of a row.
    fn row(&self, i: usize) -> impl Iterator<Item = (usize, T)> + Clone {
        let (items, weights): (&[u32], &[T]) = match self {
            Self::One(targets) => (&targets[i..=i], &[]),
            Self::Soft { lists, weights } => {
                (lists.segment(i), &weights[lists.starts[i] as usize..lists.starts[i + 1] as usize])
            }
        };
        let weight = move |place: usize| weights.get(place).copied().unwrap_or(T::ONE);
        items.iter().enumerate().map(move |(place, &item)| (item as usize, weight(place)))
    }

    fn check(&self, rows: usize) {
        match self {
            Self::One(targets) => assert_eq!(targets.len(), rows, "one target per row"),
            Self::Soft { lists, weights } => {
                assert_eq!((lists.segments(), lists.items.len()), (rows, weights.len()), "target lists");
            }
        }
    }
}

/// Targets and the weights of rows.
#[derive(Clone, Copy, Debug)]
pub struct Goal<'a, T> {
    /// The targets of the rows.
    pub targets: Targets<'a, T>,
    /// `[b]`; without it, every row counts 1.
    pub row_weights: Option<&'a [T]>,
}

impl<'a, T: Real> Goal<'a, T> {
    /// One target per row, rows of equal weight.
    pub fn plain(targets: &'a [u32]) -> Self {
        Self { targets: Targets::One(targets), row_weights: None }
    }

    fn share(&self, row: usize) -> f64 {
        self.row_weights.map_or(1.0, |w| w[row].to_f64())
    }

    fn total(&self, rows: usize) -> f64 {
        crate::batch_norm::total_weight(rows, self.row_weights)
    }

    /// Loss of one row, times its weight.
    fn row_loss(&self, row: usize, log_sum: T, logits: &[T]) -> f64 {
        let terms = self.targets.row(row).map(|(j, t)| t.to_f64() * (log_sum - logits[j]).to_f64());
        self.share(row) * terms.sum::<f64>()
    }
}

impl<'a, T: Real> Head<'a, T> {
    fn dense(&self) -> Dense<'a, T> {
        Dense { x: self.queries, weight: self.entities, bias: self.bias, d: self.d, tanh: false }
    }

    /// Rows of the batch.
    pub fn rows(&self) -> usize {
        self.queries.len() / self.d
    }
}

/// The loss, and per row the logarithm of the sum of exponentials `[b]` that [`backward`] needs.
pub fn loss<T: Real>(head: &Head<T>, goal: &Goal<T>, log_sums: &mut [T]) -> T {
    let b = head.rows();
    goal.targets.check(b);
    assert_eq!(log_sums.len(), b, "one logarithm per row");
    let mut losses = vec![0.0; b];
    strips(&head.dense(), |rows, strip, n| {
        let own = log_sums[rows.clone()].iter_mut().zip(&mut losses[rows.clone()]).collect();
        multiply_rows(
            strip,
            n,
            own,
            #[inline(always)]
            |i, logits, (log_sum, loss)| {
                *log_sum = log_sum_exp(logits);
                *loss = goal.row_loss(rows.start + i, *log_sum, logits);
            },
        );
    });
    T::from_f64(losses.iter().sum::<f64>() / goal.total(b))
}

/// Adds the gradients of `upstream` times the loss, from the logarithms that [`loss`] left. The logits are
/// computed again.
pub fn backward<T: Real>(
    head: &Head<T>,
    goal: &Goal<T>,
    log_sums: &[T],
    upstream: T,
    gradients: &mut Gradients<T>,
) {
    let b = head.rows();
    goal.targets.check(b);
    let factor = upstream.to_f64() / goal.total(b);
    let dense = head.dense();
    let mut out = DenseGradients {
        x: &mut *gradients.queries,
        weight: &mut *gradients.entities,
        bias: gradients.bias.as_deref_mut(),
    };
    strips(&dense, |rows, strip, n| {
        multiply_rows(
            strip,
            n,
            log_sums[rows.clone()].to_vec(),
            #[inline(always)]
            |i, logits, log_sum| {
                let row = rows.start + i;
                let share = T::from_f64(factor * goal.share(row));
                let whole: T = goal.targets.row(row).map(|(_, t)| t).sum();
                for x in logits.iter_mut() {
                    *x = (*x - log_sum).exp() * (share * whole);
                }
                goal.targets.row(row).for_each(|(j, t)| logits[j] -= share * t);
            },
        );
        out.add(&dense, rows, strip);
    });
}

/// The loss, and its gradients in the same pass: a third less arithmetic than [`loss`] and [`backward`],
/// because the logits are computed once.
pub fn loss_and_gradients<T: Real>(head: &Head<T>, goal: &Goal<T>, gradients: &mut Gradients<T>) -> T {
    let b = head.rows();
    goal.targets.check(b);
    let total = goal.total(b);
    let dense = head.dense();
    let mut out = DenseGradients {
        x: &mut *gradients.queries,
        weight: &mut *gradients.entities,
        bias: gradients.bias.as_deref_mut(),
    };
    let mut losses = vec![0.0; b];
    strips(&dense, |rows, strip, n| {
        multiply_rows(
            strip,
            n,
            losses[rows.clone()].iter_mut().collect(),
            #[inline(always)]
            |i, logits, loss| {
                let row = rows.start + i;
                let golds: f64 = goal.targets.row(row).map(|(j, t)| (t * logits[j]).to_f64()).sum();
                let whole: T = goal.targets.row(row).map(|(_, t)| t).sum();
                let (log_sum, sum) = to_exponentials(logits);
                *loss = goal.share(row) * (whole.to_f64() * log_sum.to_f64() - golds);
                let share = T::from_f64(goal.share(row) / total);
                let scale = share * whole / sum;
                logits.iter_mut().for_each(|x| *x *= scale);
                goal.targets.row(row).for_each(|(j, t)| logits[j] -= share * t);
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
