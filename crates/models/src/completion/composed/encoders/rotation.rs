//! Rows that time turns: `TeRo` (complex numbers) and `RotateQVS` (quaternions).
//!
//! `TeRo`: `x(τ) = x·e^{iω_τ}` with a phase per period and coordinate; rows are halves (real, imaginary).
//! `RotateQVS`: `x(τ) = q_τ x q_τ⁻¹` with a unit quaternion per period and coordinate; rows are quarters (1, i, j, k), and the
//! stored quaternion is divided by its length.
//!
//! A period is `granularity` units of time, by default one. Parameters: those of the rows, and periods·k phases or
//! periods·4k.

use quadcast_kernels::{Real, memory, rows};

use super::{Encoder, Places, Plain, columns};
use crate::completion::composed::tables::{Gradients, TableId, Tables};

/// A table with a row per period.
pub(crate) struct Periods {
    pub table: TableId,
    /// Which row each time has.
    pub of_time: Vec<u32>,
}

impl Periods {
    /// The row of a time.
    #[inline(always)]
    fn row<'a, T: Real>(&self, tables: &'a Tables<T>, time: u32) -> &'a [T] {
        tables.row(self.table, self.of_time[time as usize])
    }

    /// Adds the gradients of the rows of some times.
    fn add_at<T: Real>(&self, times: &[u32], gradient: &[T], into: &mut Gradients<T>) {
        let periods: Vec<u32> = times.iter().map(|&time| self.of_time[time as usize]).collect();
        into.add_at(self.table, &periods, gradient);
    }
}

/// Complex rows turned by phases.
pub(crate) struct Turned {
    pub base: Plain,
    pub phases: Periods,
}

impl<T: Real> Encoder<T> for Turned {
    fn width(&self) -> usize {
        self.base.width
    }

    fn encode(&self, tables: &Tables<T>, places: Places<'_>, out: &mut [T]) {
        let k = self.base.width / 2;
        rows::for_each_row(
            out,
            2 * k,
            #[inline(always)]
            |i, out| {
                let x = tables.row(self.base.table, places.ids[i]);
                let phases = self.phases.row(tables, places.times[i]);
                for j in 0..k {
                    let (sine, cosine) = phases[j].sin_cos();
                    out[j] = x[j] * cosine - x[j + k] * sine;
                    out[j + k] = x[j] * sine + x[j + k] * cosine;
                }
            },
        );
    }

    fn backward(&self, tables: &Tables<T>, places: Places<'_>, gradient: &[T], into: &mut Gradients<T>) {
        let k = self.base.width / 2;
        // The gradient of the row is the inverse rotation; next to it the gradient of the phases.
        let mut back = memory::take(places.len() * 3 * k);
        rows::for_each_row(
            &mut back,
            3 * k,
            #[inline(always)]
            |i, out| {
                let x = tables.row(self.base.table, places.ids[i]);
                let phases = self.phases.row(tables, places.times[i]);
                let g = &gradient[i * 2 * k..][..2 * k];
                for j in 0..k {
                    let (sine, cosine) = phases[j].sin_cos();
                    out[j] = g[j] * cosine + g[j + k] * sine;
                    out[j + k] = g[j + k] * cosine - g[j] * sine;
                    // d(x e^{iω})/dω = i·x·e^{iω}, in the frame of the row.
                    out[j + 2 * k] = x[j] * out[j + k] - x[j + k] * out[j];
                }
            },
        );
        into.add_at(self.base.table, places.ids, &columns(&back, 3 * k, 0..2 * k));
        self.phases.add_at(places.times, &columns(&back, 3 * k, 2 * k..3 * k), into);
    }
}

/// Quaternion rows turned by quaternions.
pub(crate) struct Revolved {
    pub base: Plain,
    pub turns: Periods,
}

/// Squared lengths of quaternions are not taken smaller.
const SHORTEST: f64 = 1e-12;

type Quaternion<T> = [T; 4];

/// Coordinate `j` of a row of quarters.
#[inline(always)]
fn at<T: Real>(row: &[T], j: usize) -> Quaternion<T> {
    let k = row.len() / 4;
    [row[j], row[j + k], row[j + 2 * k], row[j + 3 * k]]
}

/// Hamilton's product.
#[inline(always)]
fn product<T: Real>(p: Quaternion<T>, q: Quaternion<T>) -> Quaternion<T> {
    [
        p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
        p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
        p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
        p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0],
    ]
}

#[inline(always)]
fn conjugate<T: Real>(q: Quaternion<T>) -> Quaternion<T> {
    [q[0], -q[1], -q[2], -q[3]]
}

#[inline(always)]
fn set<T: Real>(row: &mut [T], j: usize, q: Quaternion<T>) {
    let k = row.len() / 4;
    q.into_iter().enumerate().for_each(|(part, x)| row[j + part * k] = x);
}

/// The unit quaternion and 1 / length.
#[inline(always)]
fn unit<T: Real>(q: Quaternion<T>) -> (Quaternion<T>, T) {
    let square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    let scale = T::ONE / square.larger(T::from_f64(SHORTEST)).sqrt();
    (q.map(|x| x * scale), scale)
}

impl<T: Real> Encoder<T> for Revolved {
    fn width(&self) -> usize {
        self.base.width
    }

    fn encode(&self, tables: &Tables<T>, places: Places<'_>, out: &mut [T]) {
        let width = self.base.width;
        rows::for_each_row(
            out,
            width,
            #[inline(always)]
            |i, out| {
                let x = tables.row(self.base.table, places.ids[i]);
                let turns = self.turns.row(tables, places.times[i]);
                for j in 0..width / 4 {
                    let (q, _) = unit(at(turns, j));
                    set(out, j, product(product(q, at(x, j)), conjugate(q)));
                }
            },
        );
    }

    fn backward(&self, tables: &Tables<T>, places: Places<'_>, gradient: &[T], into: &mut Gradients<T>) {
        let width = self.base.width;
        // The gradients of the row and, next to it, of the stored quaternions.
        let mut both = memory::take(places.len() * 2 * width);
        rows::for_each_row(
            &mut both,
            2 * width,
            #[inline(always)]
            |i, out| {
                let (dx, dq) = out.split_at_mut(width);
                let x = tables.row(self.base.table, places.ids[i]);
                let turns = self.turns.row(tables, places.times[i]);
                let g = &gradient[i * width..][..width];
                for j in 0..width / 4 {
                    let (q, scale) = unit(at(turns, j));
                    let (x, g) = (at(x, j), at(g, j));
                    set(dx, j, product(product(conjugate(q), g), q));
                    // y = q x q̄: the left factor sees (x q̄), the right one, conjugated, (q x).
                    let left = product(g, conjugate(product(x, conjugate(q))));
                    let right = conjugate(product(conjugate(product(q, x)), g));
                    let whole: Quaternion<T> = std::array::from_fn(|p| left[p] + right[p]);
                    // The component along q does not change the unit quaternion.
                    let along = (0..4).map(|p| whole[p] * q[p]).sum::<T>();
                    set(dq, j, std::array::from_fn(|p| scale * (whole[p] - along * q[p])));
                }
            },
        );
        into.add_at(self.base.table, places.ids, &columns(&both, 2 * width, 0..width));
        self.turns.add_at(places.times, &columns(&both, 2 * width, width..2 * width), into);
    }
}
