//! `ComplEx`: `φ = Re Σ h·r·t̄` with complex rows, stored as halves (real, imaginary).
//!
//! Against tails the query is `h·r`, against heads `t·r̄`.

use quadcast_kernels::compare::Likeness;
use quadcast_kernels::{Real, rows};

use super::super::encoders::fused::{complex_product, conjugate_product};
use super::super::scorer::{Known, KnownGradients, Scorer, Side};
use super::super::tables::{Gradients, Tables};

pub(crate) struct Complex {
    /// Numbers of a row: twice the complex coordinates.
    pub d: usize,
}

/// `out = a·b`, or `a·b̄`, row by row.
pub(super) fn multiply<T: Real>(conjugated: bool, a: &[T], b: &[T], d: usize, out: &mut [T]) {
    rows::for_each_row(
        out,
        d,
        #[inline(always)]
        |i, out| {
            let (a, b) = (&a[i * d..][..d], &b[i * d..][..d]);
            if conjugated {
                conjugate_product(a, b, out);
            } else {
                complex_product(a, b, out);
            }
        },
    );
}

impl<T: Real> Scorer<T> for Complex {
    fn likeness(&self) -> Likeness {
        Likeness::Dot
    }

    fn width(&self) -> usize {
        self.d
    }

    fn query(&self, _: &Tables<T>, side: Side, known: Known<'_, T>, out: &mut [T]) {
        multiply(side == Side::Heads, known.entity, known.relation, self.d, out);
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
        match side {
            // q = h·r
            Side::Tails => {
                multiply(true, gradient, known.relation, self.d, out.entity);
                multiply(true, gradient, known.entity, self.d, out.relation);
            }
            // q = t·r̄
            Side::Heads => {
                multiply(false, gradient, known.relation, self.d, out.entity);
                multiply(true, known.entity, gradient, self.d, out.relation);
            }
        }
    }
}
