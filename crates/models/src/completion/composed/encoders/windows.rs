//! TLT-KGE: a relation and a time become the two factors of an affine map of the subject.
//!
//! With tables A, B, C per time and A₀, B₀ per window of times: `a = A_τ + A₀`, `b = B_τ + B₀`.
//!
//! Complex form: `r' = r + r ⊙ C_τ`, the row is `[r' + b ; a ⊙ (r' − b)]`.
//! Quaternion form: `r' = r + C_τ·r̄` (as complex numbers), the row is `[r' + b ; a·(r' − b)‾]`, products complex.
//! The score then is `(h ⊙ first + second)·o`. Terms of the published score that are the same for all candidates are left
//! out: they change neither a softmax over candidates nor a rank.
//!
//! Parameters: relations·w + (3·times + 2·windows)·w.

use quadcast_kernels::{Real, memory, rows};

use super::fused::Product;
use super::{Encoder, Places, Plain, columns};
use crate::completion::composed::tables::{Gradients, TableId, Tables};

pub(crate) struct Windows {
    pub base: Plain,
    /// A, B, C.
    pub times: [TableId; 3],
    /// A₀, B₀.
    pub shared: [TableId; 2],
    /// Times per window.
    pub window: u32,
    /// Complex in the quaternion form.
    pub product: Product,
}

/// The parts of a row.
struct Parts<T> {
    relation: Vec<T>,
    a: Vec<T>,
    b: Vec<T>,
    c: Vec<T>,
}

impl Windows {
    /// `r'`, a, b and C of one place.
    fn parts<T: Real>(&self, tables: &Tables<T>, id: u32, time: u32) -> Parts<T> {
        let window = time / self.window;
        let sum = |table: TableId, shared: TableId| -> Vec<T> {
            tables.row(table, time).iter().zip(tables.row(shared, window)).map(|(&x, &y)| x + y).collect()
        };
        let r = tables.row(self.base.table, id);
        let c = tables.row(self.times[2], time).to_vec();
        let mut relation = vec![T::ZERO; r.len()];
        self.product.multiply_conjugate(&c, r, &mut relation);
        relation.iter_mut().zip(r).for_each(|(out, &r)| *out += r);
        Parts { relation, a: sum(self.times[0], self.shared[0]), b: sum(self.times[1], self.shared[1]), c }
    }
}

impl<T: Real> Encoder<T> for Windows {
    fn width(&self) -> usize {
        2 * self.base.width
    }

    fn encode(&self, tables: &Tables<T>, places: Places<'_>, out: &mut [T]) {
        let w = self.base.width;
        rows::for_each_row(out, 2 * w, |i, out| {
            let Parts { relation, a, b, .. } = self.parts(tables, places.ids[i], places.times[i]);
            let difference: Vec<T> = relation.iter().zip(&b).map(|(&r, &b)| r - b).collect();
            let (first, second) = out.split_at_mut(w);
            (0..w).for_each(|j| first[j] = relation[j] + b[j]);
            self.product.multiply_conjugate(&a, &difference, second);
        });
    }

    fn backward(&self, tables: &Tables<T>, places: Places<'_>, gradient: &[T], into: &mut Gradients<T>) {
        let w = self.base.width;
        // Gradients of r, a, b, C side by side.
        let mut all = memory::take(places.len() * 4 * w);
        rows::for_each_row(&mut all, 4 * w, |i, out| {
            let Parts { relation, a, b, c } = self.parts(tables, places.ids[i], places.times[i]);
            let r = tables.row(self.base.table, places.ids[i]);
            let u: Vec<T> = relation.iter().zip(&b).map(|(&r, &b)| r - b).collect();
            let (first, second) = gradient[i * 2 * w..][..2 * w].split_at(w);
            let (dr, rest) = out.split_at_mut(w);
            let (da, rest) = rest.split_at_mut(w);
            let (db, dc) = rest.split_at_mut(w);
            let mut du = vec![T::ZERO; w];
            // second = a·ū: da = g·u; dū = g·ā, so du = conjugate of that = a·ḡ.
            self.product.multiply(second, &u, da);
            self.product.multiply_conjugate(&a, second, &mut du);
            (0..w).for_each(|j| db[j] = first[j] - du[j]);
            let whole: Vec<T> = (0..w).map(|j| first[j] + du[j]).collect();
            // r' = r + C·r̄: dC = g·r, dr = g + C·ḡ.
            self.product.multiply(&whole, r, dc);
            self.product.multiply_conjugate(&c, &whole, dr);
            (0..w).for_each(|j| dr[j] += whole[j]);
        });
        let windows: Vec<u32> = places.times.iter().map(|time| time / self.window).collect();
        let mut add = |which: usize, table: TableId, ids: &[u32]| {
            into.add_at(table, ids, &columns(&all, 4 * w, which * w..(which + 1) * w));
        };
        add(0, self.base.table, places.ids);
        for which in 0..2 {
            add(1 + which, self.times[which], places.times);
            add(1 + which, self.shared[which], &windows);
        }
        add(3, self.times[2], places.times);
    }
}
