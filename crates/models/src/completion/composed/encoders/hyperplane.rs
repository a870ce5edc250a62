//! `HyTE`: every time has a hyperplane with normal ω, and rows are projected on it.
//!
//! `x(τ) = x − (ω·x)·ω` with unit normals, which are scaled to length 1 after every step; or as the published study
//! computed it, `x(τ) = x − (x·ω)/(x·x)·ω` with free normals. Entities and relations share the normals.
//!
//! Parameters: those of the rows, and times·width.

use quadcast_kernels::{Real, dot, memory, rows};

use super::{Encoder, Places, Plain, columns};
use crate::completion::composed::tables::{Gradients, TableId, Tables};

choices! {
    /// How a row is projected.
    pub enum Projection {
        /// On the plane of a unit normal.
        Unit = "unit",
        /// Divided by the squared length of the row, normals free: the published study.
        Row = "row",
    }
}

/// Squared lengths are not taken smaller.
const SHORTEST: f64 = 1e-12;

pub(crate) struct Hyperplane {
    pub base: Plain,
    pub normals: TableId,
    pub projection: Projection,
}

impl Hyperplane {
    /// The divisor of the product of row and normal.
    #[inline(always)]
    fn divisor<T: Real>(&self, x: &[T]) -> T {
        match self.projection {
            Projection::Unit => T::ONE,
            Projection::Row => dot(x, x).larger(T::from_f64(SHORTEST)),
        }
    }
}

impl<T: Real> Encoder<T> for Hyperplane {
    fn width(&self) -> usize {
        self.base.width
    }

    fn encode(&self, tables: &Tables<T>, places: Places<'_>, out: &mut [T]) {
        rows::for_each_row(
            out,
            self.base.width,
            #[inline(always)]
            |i, out| {
                let x = tables.row(self.base.table, places.ids[i]);
                let w = tables.row(self.normals, places.times[i]);
                let c = dot(x, w) / self.divisor(x);
                for ((out, &x), &w) in out.iter_mut().zip(x).zip(w) {
                    *out = x - c * w;
                }
            },
        );
    }

    fn backward(&self, tables: &Tables<T>, places: Places<'_>, gradient: &[T], into: &mut Gradients<T>) {
        let d = self.base.width;
        // The gradients of the row and, next to it, of the normal.
        let mut both = memory::take(places.len() * 2 * d);
        rows::for_each_row(
            &mut both,
            2 * d,
            #[inline(always)]
            |i, both| {
                let (dx, dw) = both.split_at_mut(d);
                let x = tables.row(self.base.table, places.ids[i]);
                let (w, g) = (tables.row(self.normals, places.times[i]), &gradient[i * d..][..d]);
                let divisor = self.divisor(x);
                let c = dot(x, w) / divisor;
                let along = dot(g, w) / divisor;
                let twice = if self.projection == Projection::Row { c + c } else { T::ZERO };
                for j in 0..d {
                    dx[j] = g[j] - along * (w[j] - twice * x[j]);
                    dw[j] = -(c * g[j]) - along * x[j];
                }
            },
        );
        into.add_at(self.base.table, places.ids, &columns(&both, 2 * d, 0..d));
        into.add_at(self.normals, places.times, &columns(&both, 2 * d, d..2 * d));
    }
}
