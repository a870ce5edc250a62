//! `DistMult`: `φ = Σ h·r·t`. With position-aware rows and the inverse half it is `SimplE`.

use quadcast_kernels::compare::Likeness;
use quadcast_kernels::{Real, rows};

use super::super::scorer::{Known, KnownGradients, Scorer, Side};
use super::super::tables::{Gradients, Tables};

pub(crate) struct Diagonal {
    pub d: usize,
}

/// `out = a ⊙ b`
pub(super) fn multiply<T: Real>(a: &[T], b: &[T], d: usize, out: &mut [T]) {
    rows::for_each_row(
        out,
        d,
        #[inline(always)]
        |i, out| {
            let (a, b) = (&a[i * d..][..d], &b[i * d..][..d]);
            out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (&a, &b))| *out = a * b);
        },
    );
}

impl<T: Real> Scorer<T> for Diagonal {
    fn likeness(&self) -> Likeness {
        Likeness::Dot
    }

    fn width(&self) -> usize {
        self.d
    }

    fn query(&self, _: &Tables<T>, _: Side, known: Known<'_, T>, out: &mut [T]) {
        multiply(known.entity, known.relation, self.d, out);
    }

    fn backward(
        &self,
        _: &Tables<T>,
        _: Side,
        known: Known<'_, T>,
        gradient: &[T],
        out: KnownGradients<'_, T>,
        _: &mut Gradients<T>,
    ) {
        multiply(gradient, known.relation, self.d, out.entity);
        multiply(gradient, known.entity, self.d, out.relation);
    }
}
