//! Scores that are negative distances: `TransE`, `RotatE` and the divergence of `ATiSE`.

use quadcast_kernels::{Real, rows};

use super::{Known, KnownGradients, Scorer, Side};

/// `TransE`: `φ = −‖h + r − t‖`, by the sum of absolute values or by the root of squares; `TeRo` and `RotateQVS` compare with the
/// conjugate of the object, `−‖h + r − t̄‖`.
///
/// Against tails the query is `h + r`, against heads `t − r` (or `t̄ − r`).
pub(crate) struct Translation {
    pub d: usize,
    /// Start of the components that change their sign in a conjugate: half of a complex row, a quarter of a quaternion's.
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
    fn query(&self, known: Known<'_, T>, out: &mut [T]) {
        let (d, side, sign) = (self.d, known.side, known.side.sign::<T>());
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

    fn backward(&self, known: Known<'_, T>, gradient: &[T], out: KnownGradients<'_, T>) {
        let (d, side, sign) = (self.d, known.side, known.side.sign::<T>());
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

/// `RotatE`: `φ = −Σ |h·e^{iθ} − t|` with complex entities and a phase per coordinate of a relation.
///
/// Against tails the query is `h·e^{iθ}`, against heads `t·e^{−iθ}`.
pub(crate) struct Phases {
    /// Complex coordinates.
    pub k: usize,
}

fn rotate<T: Real>(sign: T, x: &[T], phases: &[T], k: usize, out: &mut [T]) {
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

impl<T: Real> Scorer<T> for Phases {
    fn query(&self, known: Known<'_, T>, out: &mut [T]) {
        rotate(known.side.sign(), known.entity, known.relation, self.k, out);
    }

    fn backward(&self, known: Known<'_, T>, gradient: &[T], out: KnownGradients<'_, T>) {
        let (k, sign) = (self.k, known.side.sign::<T>());
        rotate(-sign, gradient, known.relation, k, out.entity);
        let back = &*out.entity;
        rows::for_each_row(
            out.relation,
            k,
            #[inline(always)]
            |i, row| {
                let (x, g) = (&known.entity[i * 2 * k..][..2 * k], &back[i * 2 * k..][..2 * k]);
                for j in 0..k {
                    row[j] = sign * (x[j] * g[j + k] - x[j + k] * g[j]);
                }
            },
        );
    }
}

/// The score of `ATiSE` itself: how well the difference of two Gaussians fits a third, by the mean of both Kullback–Leibler
/// divergences.
///
/// Rows are `[mean ; variance]`. With `u = μ_h − μ_t − μ_r` and `V = v_h + v_t`:
/// `φ = −¼·[Σ (V + u²)/v_r + Σ (v_r + u²)/V − 2d]`. The query is `[μ_h − μ_r ; v_h ; v_r]` against tails and
/// `[μ_t + μ_r ; v_t ; v_r]` against heads.
pub(crate) struct Gaussian {
    pub d: usize,
}

impl<T: Real> Scorer<T> for Gaussian {
    fn query(&self, known: Known<'_, T>, out: &mut [T]) {
        let (d, sign) = (self.d, -known.side.sign::<T>());
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

    fn backward(&self, known: Known<'_, T>, gradient: &[T], out: KnownGradients<'_, T>) {
        let (d, sign) = (self.d, -known.side.sign::<T>());
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
