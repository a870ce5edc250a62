//! `RotatE`: `φ = −Σ |h·e^{iθ} − t|` with complex entities and a phase per coordinate of a relation.
//!
//! Against tails the query is `h·e^{iθ}`, against heads `t·e^{−iθ}`.

use quadcast_kernels::compare::Likeness;
use quadcast_kernels::{Real, rows};

use super::super::scorer::{Known, KnownGradients, Scorer, Side};
use super::super::tables::{Gradients, Tables};

pub(crate) struct Phases {
    /// Complex coordinates.
    pub k: usize,
}

fn turn<T: Real>(sign: T, x: &[T], phases: &[T], k: usize, out: &mut [T]) {
    rows::for_each_row(
        out,
        2 * k,
        #[inline(always)]
        |i, out| {
            let (x, phases) = (&x[i * 2 * k..][..2 * k], &phases[i * k..][..k]);
            for j in 0..k {
                let (sine, cosine) = phases[j].sin_cos();
                let sine = sign * sine;
                out[j] = x[j] * cosine - x[j + k] * sine;
                out[j + k] = x[j] * sine + x[j + k] * cosine;
            }
        },
    );
}

fn sign<T: Real>(side: Side) -> T {
    if side == Side::Tails { T::ONE } else { -T::ONE }
}

impl<T: Real> Scorer<T> for Phases {
    fn likeness(&self) -> Likeness {
        Likeness::Modulus
    }

    fn width(&self) -> usize {
        2 * self.k
    }

    fn query(&self, _: &Tables<T>, side: Side, known: Known<'_, T>, out: &mut [T]) {
        turn(sign(side), known.entity, known.relation, self.k, out);
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
        let k = self.k;
        turn(-sign::<T>(side), gradient, known.relation, k, out.entity);
        let back = &*out.entity;
        rows::for_each_row(
            out.relation,
            k,
            #[inline(always)]
            |i, row| {
                let (x, g) = (&known.entity[i * 2 * k..][..2 * k], &back[i * 2 * k..][..2 * k]);
                for j in 0..k {
                    row[j] = sign::<T>(side) * (x[j] * g[j + k] - x[j + k] * g[j]);
                }
            },
        );
    }
}
