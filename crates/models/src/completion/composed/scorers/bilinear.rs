//! RESCAL: `φ = hᵀ·M_r·t`, a full matrix per relation, stored row after row.

use quadcast_kernels::compare::Likeness;
use quadcast_kernels::{Real, dot, rows};

use super::super::scorer::{Known, KnownGradients, Scorer, Side};
use super::super::tables::{Gradients, Tables};

pub(crate) struct Bilinear {
    pub d: usize,
}

/// `out = Mᵀ·x` (or `M·x`) for a matrix per row.
fn apply<T: Real>(transposed: bool, matrices: &[T], x: &[T], d: usize, out: &mut [T]) {
    rows::for_each_row(
        out,
        d,
        #[inline(always)]
        |i, out| {
            let (x, matrix) = (&x[i * d..][..d], &matrices[i * d * d..][..d * d]);
            if transposed {
                out.fill(T::ZERO);
                for (&x, row) in x.iter().zip(matrix.chunks_exact(d)) {
                    out.iter_mut().zip(row).for_each(|(out, &m)| *out += x * m);
                }
            } else {
                out.iter_mut().zip(matrix.chunks_exact(d)).for_each(|(out, row)| *out = dot(row, x));
            }
        },
    );
}

impl<T: Real> Scorer<T> for Bilinear {
    fn likeness(&self) -> Likeness {
        Likeness::Dot
    }

    fn width(&self) -> usize {
        self.d
    }

    fn query(&self, _: &Tables<T>, side: Side, known: Known<'_, T>, out: &mut [T]) {
        apply(side == Side::Tails, known.relation, known.entity, self.d, out);
    }

    fn backward(
        &self,
        _: &Tables<T>,
        side: Side,
        known: Known<'_, T>,
        gradient: &[T],
        out: KnownGradients<'_, T>,
        _: &mut Gradients<T>,
    ) {
        let d = self.d;
        apply(side == Side::Heads, known.relation, gradient, d, out.entity);
        rows::for_each_row(
            out.relation,
            d * d,
            #[inline(always)]
            |i, matrix| {
                let (x, g) = (&known.entity[i * d..][..d], &gradient[i * d..][..d]);
                // The left factor of the form is the head: what is known, or what is asked for.
                let (left, right) = if side == Side::Tails { (x, g) } else { (g, x) };
                for (&left, row) in left.iter().zip(matrix.chunks_exact_mut(d)) {
                    row.iter_mut().zip(right).for_each(|(to, &right)| *to = left * right);
                }
            },
        );
    }
}
