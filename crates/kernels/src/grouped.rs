//! Products of groups of rows with a matrix per group.

use rayon::prelude::*;

use crate::Real;
use crate::matrix::{Form, Size, multiply, multiply_add};

/// Rows of x that belong to one matrix: the rows `starts[g]..starts[g + 1]` to matrix `g`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Start of every group, and finally the number of rows.
    pub starts: Vec<usize>,
}

impl Groups {
    /// Number of groups.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are no groups.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of rows in a group.
    pub fn rows(&self, group: usize) -> usize {
        self.starts[group + 1] - self.starts[group]
    }

    /// Cuts rows of length `width` into groups.
    fn split<'a, T>(&self, width: usize, mut rows: &'a mut [T]) -> Vec<&'a mut [T]> {
        (0..self.len())
            .map(|group| {
                let (own, rest) = std::mem::take(&mut rows).split_at_mut(self.rows(group) * width);
                rows = rest;
                own
            })
            .collect()
    }
}

/// `out[rows, n] = x[rows, k]·m[g]` with the matrix `m[groups, k·n]` of the row's group.
pub fn forward<T: Real>(groups: &Groups, (k, n): (usize, usize), x: &[T], m: &[T], out: &mut [T]) {
    groups.split(n, out).into_par_iter().enumerate().for_each(|(group, out)| {
        let rows = groups.rows(group);
        let x = &x[groups.starts[group] * k..][..rows * k];
        multiply(Form::Plain, Size { m: rows, n, k }, x, &m[group * k * n..][..k * n], out);
    });
}

/// The gradients of [`forward`] for `dout[rows, n]`: that of x is set, that of m is added to.
pub fn backward<T: Real>(
    groups: &Groups,
    (k, n): (usize, usize),
    (x, m): (&[T], &[T]),
    dout: &[T],
    dx: &mut [T],
    dm: &mut [T],
) {
    let work = groups.split(k, dx).into_par_iter().zip(dm.par_chunks_exact_mut((k * n).max(1)));
    work.enumerate().for_each(|(group, (dx, dm))| {
        let rows = groups.rows(group);
        let dout = &dout[groups.starts[group] * n..][..rows * n];
        let x = &x[groups.starts[group] * k..][..rows * k];
        let own = &m[group * k * n..][..k * n];
        multiply(Form::RightTransposed, Size { m: rows, n: k, k: n }, dout, own, dx);
        multiply_add(Form::LeftTransposed, Size { m: k, n, k: rows }, x, dout, dm);
    });
}
