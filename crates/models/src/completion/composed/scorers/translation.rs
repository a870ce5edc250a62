//! `TransE`: `φ = −‖h + r − t‖`, by the sum of absolute values or by the root of squares; `TeRo` and `RotateQVS` compare with the
//! conjugate of the object, `−‖h + r − t̄‖`.
//!
//! Against tails the query is `h + r`, against heads `t − r` (or `t̄ − r`).

use quadcast_kernels::compare::Likeness;
use quadcast_kernels::{Real, rows};

use super::super::scorer::{Known, KnownGradients, Scorer, Side};
use super::super::tables::{Gradients, Tables};

pub(crate) struct Translation {
    pub d: usize,
    pub likeness: Likeness,
    /// Where the components begin that change their sign in a conjugate: half of a complex row, a quarter of a quaternion's.
    pub conjugate: Option<usize>,
}

impl Translation {
    fn conjugate<T: Real>(&self, row: &mut [T]) {
        if let Some(from) = self.conjugate {
            row[from..].iter_mut().for_each(|x| *x = -*x);
        }
    }
}

impl<T: Real> Scorer<T> for Translation {
    fn likeness(&self) -> Likeness {
        self.likeness
    }

    fn width(&self) -> usize {
        self.d
    }

    fn query(&self, _: &Tables<T>, side: Side, known: Known<'_, T>, out: &mut [T]) {
        let d = self.d;
        let sign = if side == Side::Tails { T::ONE } else { -T::ONE };
        rows::for_each_row(
            out,
            d,
            #[inline(always)]
            |i, out| {
                out.copy_from_slice(&known.entity[i * d..][..d]);
                if side == Side::Heads {
                    self.conjugate(out);
                }
                out.iter_mut().zip(&known.relation[i * d..]).for_each(|(out, &r)| *out += sign * r);
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
        let sign = if side == Side::Tails { T::ONE } else { -T::ONE };
        out.entity.copy_from_slice(gradient);
        if side == Side::Heads {
            rows::for_each_row(out.entity, d, |_, row| self.conjugate(row));
        }
        rows::for_each_row(
            out.relation,
            d,
            #[inline(always)]
            |i, row| row.iter_mut().zip(&gradient[i * d..]).for_each(|(to, &g)| *to = sign * g),
        );
    }

    fn turn(&self, side: Side, rows: &mut [T]) {
        if Scorer::<T>::turns(self, side) {
            rows::for_each_row(rows, self.d, |_, row| self.conjugate(row));
        }
    }

    fn turns(&self, side: Side) -> bool {
        side == Side::Tails && self.conjugate.is_some()
    }
}
