//! The score of `ATiSE` itself: how well the difference of two Gaussians fits a third, by the mean of both Kullback–Leibler
//! divergences.
//!
//! Rows are `[mean ; variance]`. With `u = μ_h − μ_t − μ_r` and `V = v_h + v_t`:
//! `φ = −¼·[Σ (V + u²)/v_r + Σ (v_r + u²)/V − 2d]`. The query is `[μ_h − μ_r ; v_h ; v_r]` against tails and
//! `[μ_t + μ_r ; v_t ; v_r]` against heads.

use quadcast_kernels::compare::Likeness;
use quadcast_kernels::{Real, rows};

use super::super::scorer::{Known, KnownGradients, Scorer, Side};
use super::super::tables::{Gradients, Tables};

pub(crate) struct Gaussian {
    pub d: usize,
}

impl<T: Real> Scorer<T> for Gaussian {
    fn likeness(&self) -> Likeness {
        Likeness::Gaussian
    }

    fn width(&self) -> usize {
        self.d
    }

    fn query(&self, _: &Tables<T>, side: Side, known: Known<'_, T>, out: &mut [T]) {
        let d = self.d;
        let sign = if side == Side::Tails { -T::ONE } else { T::ONE };
        rows::for_each_row(
            out,
            3 * d,
            #[inline(always)]
            |i, out| {
                let (e, r) = (&known.entity[i * 2 * d..][..2 * d], &known.relation[i * 2 * d..][..2 * d]);
                for j in 0..d {
                    out[j] = e[j] + sign * r[j];
                    out[d + j] = e[d + j];
                    out[2 * d + j] = r[d + j];
                }
            },
        );
    }

    fn backward(
        &self,
        _: &Tables<T>,
        side: Side,
        _: Known<'_, T>,
        gradient: &[T],
        out: KnownGradients<'_, T>,
        _: &mut Gradients<T>,
    ) {
        let d = self.d;
        let sign = if side == Side::Tails { -T::ONE } else { T::ONE };
        rows::for_each_row(
            out.entity,
            2 * d,
            #[inline(always)]
            |i, row| row.copy_from_slice(&gradient[i * 3 * d..][..2 * d]),
        );
        rows::for_each_row(
            out.relation,
            2 * d,
            #[inline(always)]
            |i, row| {
                let g = &gradient[i * 3 * d..][..3 * d];
                for j in 0..d {
                    row[j] = sign * g[j];
                    row[d + j] = g[2 * d + j];
                }
            },
        );
    }
}
