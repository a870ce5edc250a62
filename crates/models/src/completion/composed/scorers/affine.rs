//! Scores of a map of the subject that also moves it: `φ = (h ⊙ x + y)·t`, products real or complex. The relation's row
//! holds both, `[x ; y]`. TLT-KGE scores this way.
//!
//! Only tails can be candidates: subjects are asked for through reciprocal relations.

use quadcast_kernels::compare::Likeness;
use quadcast_kernels::{Real, rows};

use super::super::encoders::fused::{complex_product, conjugate_product};
use super::super::scorer::{Known, KnownGradients, Scorer, Side};
use super::super::tables::{Gradients, Tables};

pub(crate) struct Affine {
    pub d: usize,
    pub complex: bool,
}

impl<T: Real> Scorer<T> for Affine {
    fn likeness(&self) -> Likeness {
        Likeness::Dot
    }

    fn width(&self) -> usize {
        self.d
    }

    fn query(&self, _: &Tables<T>, side: Side, known: Known<'_, T>, out: &mut [T]) {
        assert_eq!(side, Side::Tails, "checked with the configuration");
        let d = self.d;
        rows::for_each_row(
            out,
            d,
            #[inline(always)]
            |i, out| {
                let h = &known.entity[i * d..][..d];
                let (x, y) = known.relation[i * 2 * d..][..2 * d].split_at(d);
                if self.complex {
                    complex_product(h, x, out);
                } else {
                    (0..d).for_each(|j| out[j] = h[j] * x[j]);
                }
                out.iter_mut().zip(y).for_each(|(out, &y)| *out += y);
            },
        );
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
        let d = self.d;
        let (g, h) = (|i: usize| &gradient[i * d..][..d], |i: usize| &known.entity[i * d..][..d]);
        rows::for_each_row(
            out.entity,
            d,
            #[inline(always)]
            |i, out| {
                let x = &known.relation[i * 2 * d..][..d];
                if self.complex {
                    conjugate_product(g(i), x, out);
                } else {
                    (0..d).for_each(|j| out[j] = g(i)[j] * x[j]);
                }
            },
        );
        rows::for_each_row(
            out.relation,
            2 * d,
            #[inline(always)]
            |i, out| {
                let (x, y) = out.split_at_mut(d);
                if self.complex {
                    conjugate_product(g(i), h(i), x);
                } else {
                    (0..d).for_each(|j| x[j] = g(i)[j] * h(i)[j]);
                }
                y.copy_from_slice(g(i));
            },
        );
    }
}
