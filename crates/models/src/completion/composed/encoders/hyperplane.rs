//! `HyTE`: every time has a hyperplane with normal ω, and rows are projected on it.
//!
//! `x(τ) = x − (ω·x)·ω` with unit normals, which are scaled to length 1 after every step; or as the published study
//! computed it, `x(τ) = x − (x·ω)/(x·x)·ω` with free normals. Entities and relations share the normals.
//!
//! Parameters: those of the rows, and times·width.

use quadcast_kernels::{Real, dot, memory, rows};

use super::{Encoder, Places, Plain};
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

    fn depends_on_time(&self) -> bool {
        true
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
        let (mut dx, mut dw) = (memory::take(places.len() * d), memory::take(places.len() * d));
        let at = |i: usize| {
            let x = tables.row(self.base.table, places.ids[i]);
            let w = tables.row(self.normals, places.times[i]);
            (x, w, &gradient[i * d..][..d])
        };
        rows::for_each_row(
            &mut dx,
            d,
            #[inline(always)]
            |i, dx| {
                let (x, w, g) = at(i);
                let divisor = self.divisor(x);
                let c = dot(x, w) / divisor;
                let along = dot(g, w) / divisor;
                let twice = if self.projection == Projection::Row { c + c } else { T::ZERO };
                for j in 0..d {
                    dx[j] = g[j] - along * (w[j] - twice * x[j]);
                }
            },
        );
        rows::for_each_row(
            &mut dw,
            d,
            #[inline(always)]
            |i, dw| {
                let (x, w, g) = at(i);
                let divisor = self.divisor(x);
                let c = dot(x, w) / divisor;
                let along = dot(g, w) / divisor;
                for j in 0..d {
                    dw[j] = -(c * g[j]) - along * x[j];
                }
            },
        );
        into.add_at(self.base.table, places.ids, &dx);
        into.add_at(self.normals, places.times, &dw);
    }

    fn factors(&self) -> Vec<&dyn Encoder<T>> {
        vec![self]
    }
}
