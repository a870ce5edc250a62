//! A time vector joined to a row: T (a learned vector per time) and UTEE (one function of time for all).
//!
//! The vector `t_τ` is a row of a table, or `a ⊙ sin(τ/f + b)` with three learned vectors. It is added to the row,
//! multiplied with it, multiplied as complex numbers (halves are real and imaginary parts), or appended to it.
//!
//! Parameters: those of the rows, and times·width for T or 3·width for UTEE.

use std::sync::Arc;

use quadcast_kernels::memory::{self, Buffer};
use quadcast_kernels::{Real, rows, segment};

use super::{Encoder, Places, Plain, distinct};
use crate::completion::composed::tables::{Gradients, TableId, Tables};
use crate::completion::composed::times::Times;

choices! {
    /// How a vector of the time is joined to a row.
    pub enum Fusion {
        /// x + t
        Add = "add",
        /// x ⊙ t
        Multiply = "multiply",
        /// x·t as complex numbers
        Complex = "complex",
        /// [x ; t]
        Concatenate = "concatenate",
    }
}

/// The source of the vector of a time.
#[derive(Clone)]
pub(crate) enum TimeVector {
    /// A learned row per time.
    Table(TableId),
    /// `a ⊙ sin(τ/f + b)`, τ being the ordinal of the time: the tables of a, f and b.
    Wave([TableId; 3], Arc<Times>),
}

impl TimeVector {
    /// `out[times, width]` = the vectors of some times.
    pub fn vectors<T: Real>(&self, tables: &Tables<T>, times: &[u32], width: usize, out: &mut [T]) {
        match self {
            Self::Table(table) => {
                segment::gather(times, tables.values(*table), width, out);
            }
            Self::Wave(ids, all) => {
                let [a, f, b] = ids.map(|id| tables.values(id));
                rows::for_each_row(
                    out,
                    width,
                    #[inline(always)]
                    |i, row| {
                        let time = T::from_f64(f64::from(all.ordinals[times[i] as usize]));
                        for (j, out) in row.iter_mut().enumerate() {
                            *out = a[j] * (time / f[j] + b[j]).sin_cos().0;
                        }
                    },
                );
            }
        }
    }

    /// Adds the gradients for `gradient[times, width]`.
    pub fn backward<T: Real>(
        &self,
        tables: &Tables<T>,
        times: &[u32],
        gradient: &[T],
        width: usize,
        into: &mut Gradients<T>,
    ) {
        match self {
            Self::Table(table) => into.add_at(*table, times, gradient),
            Self::Wave(ids, all) => {
                let [a, f, b] = ids.map(|id| tables.values(id));
                let mut sums = [vec![T::ZERO; width], vec![T::ZERO; width], vec![T::ZERO; width]];
                for (row, &time) in gradient.chunks_exact(width).zip(times) {
                    let time = T::from_f64(f64::from(all.ordinals[time as usize]));
                    for (j, &g) in row.iter().enumerate() {
                        let (sine, cosine) = (time / f[j] + b[j]).sin_cos();
                        sums[0][j] += g * sine;
                        sums[1][j] -= g * a[j] * cosine * time / (f[j] * f[j]);
                        sums[2][j] += g * a[j] * cosine;
                    }
                }
                for (&id, sum) in ids.iter().zip(&sums) {
                    into.add_at(id, &[0], sum);
                }
            }
        }
    }
}

pub(crate) struct Fused {
    pub base: Plain,
    pub time: TimeVector,
    /// Width of the time's vector.
    pub time_width: usize,
    pub fusion: Fusion,
}

impl Fused {
    /// The different times of a list, which of them each place has, and their vectors.
    fn vectors<T: Real>(&self, tables: &Tables<T>, times: &[u32]) -> (Vec<u32>, Vec<u32>, Buffer<T>) {
        let (times, which) = distinct(times);
        let mut vectors = memory::take(times.len() * self.time_width);
        self.time.vectors(tables, &times, self.time_width, &mut vectors);
        (times, which, vectors)
    }
}

/// `x·t` of complex rows, which are halves (real, imaginary).
#[inline(always)]
pub(crate) fn complex_product<T: Real>(x: &[T], t: &[T], out: &mut [T]) {
    let k = x.len() / 2;
    for j in 0..k {
        out[j] = x[j] * t[j] - x[j + k] * t[j + k];
        out[j + k] = x[j + k] * t[j] + x[j] * t[j + k];
    }
}

/// `g·t̄` of complex rows: for the gradient g of a product, that of a factor whose other factor is t.
#[inline(always)]
pub(crate) fn conjugate_product<T: Real>(g: &[T], t: &[T], out: &mut [T]) {
    let k = g.len() / 2;
    for j in 0..k {
        out[j] = g[j] * t[j] + g[j + k] * t[j + k];
        out[j + k] = g[j + k] * t[j] - g[j] * t[j + k];
    }
}

/// How the numbers of two rows are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Product {
    Real,
    /// As complex numbers, stored as halves.
    Complex,
}

impl Product {
    /// `out = x·t`
    #[inline(always)]
    pub fn multiply<T: Real>(self, x: &[T], t: &[T], out: &mut [T]) {
        match self {
            Self::Real => out.iter_mut().zip(x.iter().zip(t)).for_each(|(out, (&x, &t))| *out = x * t),
            Self::Complex => complex_product(x, t, out),
        }
    }

    /// `out = x·t̄`; real numbers are their own conjugates.
    #[inline(always)]
    pub fn multiply_conjugate<T: Real>(self, x: &[T], t: &[T], out: &mut [T]) {
        match self {
            Self::Real => self.multiply(x, t, out),
            Self::Complex => conjugate_product(x, t, out),
        }
    }
}

impl<T: Real> Encoder<T> for Fused {
    fn width(&self) -> usize {
        self.base.width + if self.fusion == Fusion::Concatenate { self.time_width } else { 0 }
    }

    fn encode(&self, tables: &Tables<T>, places: Places<'_>, out: &mut [T]) {
        let (_, which, vectors) = self.vectors(tables, places.times);
        let (w, tw) = (self.base.width, self.time_width);
        rows::for_each_row(
            out,
            Encoder::<T>::width(self),
            #[inline(always)]
            |i, out| {
                let x = tables.row(self.base.table, places.ids[i]);
                let t = &vectors[which[i] as usize * tw..][..tw];
                match self.fusion {
                    Fusion::Add => (0..w).for_each(|j| out[j] = x[j] + t[j]),
                    Fusion::Multiply => (0..w).for_each(|j| out[j] = x[j] * t[j]),
                    Fusion::Complex => complex_product(x, t, out),
                    Fusion::Concatenate => {
                        out[..w].copy_from_slice(x);
                        out[w..].copy_from_slice(t);
                    }
                }
            },
        );
    }

    fn backward(&self, tables: &Tables<T>, places: Places<'_>, gradient: &[T], into: &mut Gradients<T>) {
        let (times, which, vectors) = self.vectors(tables, places.times);
        let (n, w, tw) = (places.len(), self.base.width, self.time_width);
        let (mut dx, mut dt) = (memory::take(n * w), memory::take(n * tw));
        let width = Encoder::<T>::width(self);
        rows::for_each_row(
            &mut dx,
            w,
            #[inline(always)]
            |i, dx| {
                let g = &gradient[i * width..][..width];
                let t = &vectors[which[i] as usize * tw..][..tw];
                match self.fusion {
                    Fusion::Add | Fusion::Concatenate => dx.copy_from_slice(&g[..w]),
                    Fusion::Multiply => (0..w).for_each(|j| dx[j] = g[j] * t[j]),
                    Fusion::Complex => conjugate_product(g, t, dx),
                }
            },
        );
        rows::for_each_row(
            &mut dt,
            tw,
            #[inline(always)]
            |i, dt| {
                let g = &gradient[i * width..][..width];
                let x = tables.row(self.base.table, places.ids[i]);
                match self.fusion {
                    Fusion::Add => dt.copy_from_slice(g),
                    Fusion::Concatenate => dt.copy_from_slice(&g[w..]),
                    Fusion::Multiply => (0..w).for_each(|j| dt[j] = g[j] * x[j]),
                    Fusion::Complex => conjugate_product(g, x, dt),
                }
            },
        );
        into.add_at(self.base.table, places.ids, &dx);
        let mut per_time = vec![T::ZERO; times.len() * tw];
        rows::add_at(&which, &dt, tw, &mut per_time);
        self.time.backward(tables, &times, &per_time, tw, into);
    }
}

/// TNT: a relation is the sum of a part that changes with time and one that does not, `r ⊙ t_τ + r₀`.
///
/// Parameters: those of both parts. A penalty on the rows in use treats the two parts separately, as in the paper.
pub(crate) struct FusedWithStatic {
    pub temporal: Fused,
    pub fixed: Plain,
}

impl<T: Real> Encoder<T> for FusedWithStatic {
    fn width(&self) -> usize {
        self.fixed.width
    }

    fn encode(&self, tables: &Tables<T>, places: Places<'_>, out: &mut [T]) {
        self.temporal.encode(tables, places, out);
        let mut fixed = memory::take(out.len());
        self.fixed.encode(tables, places, &mut fixed);
        let width = self.fixed.width;
        rows::for_each_row(
            out,
            width,
            #[inline(always)]
            |i, row| row.iter_mut().zip(&fixed[i * width..]).for_each(|(x, &y)| *x += y),
        );
    }

    fn backward(&self, tables: &Tables<T>, places: Places<'_>, gradient: &[T], into: &mut Gradients<T>) {
        self.temporal.backward(tables, places, gradient, into);
        self.fixed.backward(tables, places, gradient, into);
    }

    fn summands(&self) -> Vec<&dyn Encoder<T>> {
        vec![&self.temporal, &self.fixed]
    }
}
