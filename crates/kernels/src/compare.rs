//! Scores of queries against candidates, the losses of their rows and the gradients, for embedding models.
//!
//! As in [`head`](crate::head), the scores `[b, n]` are never held as a whole: a strip of some queries and all
//! candidates is computed, turned into its own gradient row by row, and used for both gradients. Products go
//! through matrix multiplication; distances have their own kernels, in which several queries and candidates
//! share loads.

use std::ops::Range;

use crate::Real;

mod backward;
mod forward;
mod measure;
mod strips;

use forward::Sides;
use measure::{Dot, Gaussian, L1, L2, Modulus};

/// The similarity of a query and a candidate; larger is more similar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Likeness {
    /// Σ q·c
    Dot,
    /// −Σ |q − c|
    L1,
    /// −√Σ (q − c)²
    L2,
    /// Rows are halves (real, imaginary) of width d/2: −Σⱼ |qⱼ − cⱼ|.
    Modulus,
    /// A query is `[m ; v ; w]`, a candidate `[μ ; v']`. With u = m − μ and V = v + v':
    /// −¼·\[Σ (V + u²)/w + Σ (w + u²)/V − 2d\], the mean of the Kullback-Leibler divergences, in both directions, of two
    /// normal distributions whose means differ by u and whose variances are V and w. All variances are above 0.
    Gaussian,
}

impl Likeness {
    /// Length of the row of a query.
    pub fn query_width(self, d: usize) -> usize {
        if self == Self::Gaussian { 3 * d } else { d }
    }

    /// Length of the row of a candidate.
    pub fn candidate_width(self, d: usize) -> usize {
        if self == Self::Gaussian { 2 * d } else { d }
    }

    /// Complex numbers count once, everything else per component.
    fn components(self, d: usize) -> usize {
        if self == Self::Modulus {
            assert!(d.is_multiple_of(2), "complex rows of odd length {d}");
            d / 2
        } else {
            d
        }
    }
}

/// Queries, and the candidates all of them are compared with.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'a, T> {
    /// How scores are computed.
    pub likeness: Likeness,
    /// `[b, query_width(d)]`
    pub queries: &'a [T],
    /// `[n, candidate_width(d)]`, the same for all queries.
    pub candidates: &'a [T],
    /// `[b, candidate_width(d)]`: one more candidate per query, its true answer if that is not among the shared ones.
    pub own: Option<&'a [T]>,
    /// `[b, d]`: weights of the components in every sum. The weight of a complex number is that of its real part; the second
    /// half is not read.
    pub weights: Option<&'a [T]>,
    /// Components of a query.
    pub d: usize,
}

/// Gradients of a comparison; all are added to.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// `[b, query_width(d)]`
    pub queries: &'a mut [T],
    /// `[n, candidate_width(d)]`
    pub candidates: &'a mut [T],
    /// `[b, candidate_width(d)]`; without it, that gradient is not computed.
    pub own: Option<&'a mut [T]>,
}

impl<T: Real> Comparison<'_, T> {
    /// Numbers of queries and candidates.
    fn sizes(&self) -> (usize, usize) {
        let (query, candidate) = (self.likeness.query_width(self.d), self.likeness.candidate_width(self.d));
        let (b, n) = (self.queries.len() / query, self.candidates.len() / candidate);
        assert_eq!(
            (self.queries.len(), self.candidates.len()),
            (b * query, n * candidate),
            "rows of length {}",
            self.d
        );
        assert!(self.own.is_none_or(|own| own.len() == b * candidate), "one own candidate per query");
        assert!(self.weights.is_none_or(|w| w.len() == b * self.d), "one weight per component of a query");
        (b, n)
    }
}

/// Calls `loss(row, own score, scores of the shared candidates)` for every row, in parallel. It returns the loss of the row
/// and replaces both by the gradient of the loss with respect to them, from which the gradients follow. The sum of the
/// losses, added in the order of the rows.
///
/// Without own candidates, the own score is 0 and its gradient is ignored. In distances, shared candidates with a
/// gradient below 1e-7 of the largest of their row count as 0: after some epochs, those are most of them.
pub fn train<T: Real>(
    comparison: &Comparison<T>,
    loss: impl Fn(usize, &mut T, &mut [T]) -> f64 + Sync,
    gradients: &mut Gradients<T>,
) -> f64 {
    comparison.sizes();
    let lengths = (comparison.queries.len(), comparison.candidates.len());
    assert_eq!((gradients.queries.len(), gradients.candidates.len()), lengths, "gradients of a comparison");
    if let (Some(own), Some(gradient)) = (comparison.own, &gradients.own) {
        assert_eq!(own.len(), gradient.len(), "gradients of own candidates");
    }
    match comparison.likeness {
        Likeness::Dot => strips::train_products(comparison, loss, gradients),
        Likeness::L1 => strips::train_distances::<T, L1, 1, 1>(comparison, loss, gradients),
        Likeness::L2 => strips::train_distances::<T, L2, 1, 1>(comparison, loss, gradients),
        Likeness::Modulus => strips::train_distances::<T, Modulus, 2, 2>(comparison, loss, gradients),
        Likeness::Gaussian => strips::train_distances::<T, Gaussian, 3, 2>(comparison, loss, gradients),
    }
}

/// Calls `f(rows, scores of the shared candidates [rows, n])` for one strip of rows after the other, so that memory does not
/// grow with the number of rows.
pub fn score_strips<T: Real>(comparison: &Comparison<T>, f: impl FnMut(Range<usize>, &mut [T])) {
    match comparison.likeness {
        Likeness::Dot => strips::score_products(comparison, f),
        Likeness::L1 => strips::score_distances::<T, L1, 1, 1>(comparison, f),
        Likeness::L2 => strips::score_distances::<T, L2, 1, 1>(comparison, f),
        Likeness::Modulus => strips::score_distances::<T, Modulus, 2, 2>(comparison, f),
        Likeness::Gaussian => strips::score_distances::<T, Gaussian, 3, 2>(comparison, f),
    }
}

/// Scores of pairs: `out[i]` is that of row i of the queries with row i of `others`, with row i of `weights[b, d]` as in a
/// [`Comparison`].
pub fn pairs<T: Real>(
    likeness: Likeness,
    d: usize,
    queries: &[T],
    others: &[T],
    weights: Option<&[T]>,
    out: &mut [T],
) {
    let comparison = Comparison { likeness, queries, candidates: &[], own: Some(others), weights, d };
    assert_eq!(comparison.sizes().0, out.len(), "one score per pair");
    match likeness {
        Likeness::Dot => forward::pairs::<T, Dot, 1, 1>(&Sides::new(&comparison), out),
        Likeness::L1 => forward::pairs::<T, L1, 1, 1>(&Sides::new(&comparison), out),
        Likeness::L2 => forward::pairs::<T, L2, 1, 1>(&Sides::new(&comparison), out),
        Likeness::Modulus => forward::pairs::<T, Modulus, 2, 2>(&Sides::new(&comparison), out),
        Likeness::Gaussian => forward::pairs::<T, Gaussian, 3, 2>(&Sides::new(&comparison), out),
    }
}
