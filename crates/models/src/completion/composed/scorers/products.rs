//! Scores that are products, compared by a dot product: `DistMult`, `ComplEx`, RESCAL, `TuckER` and the affine map of TLT-KGE.

use quadcast_kernels::matrix::{self, Form, Size};
use quadcast_kernels::{Real, dot, memory, rows};

use super::{Known, KnownGradients, Scorer, Side};
use crate::completion::composed::encoders::fused::Product;
use crate::completion::composed::tables::TableId;

/// `DistMult`: `φ = Σ h·r·t`, and `ComplEx`: `φ = Re Σ h·r·t̄` with complex rows. With position-aware rows and the inverse half,
/// `DistMult` is `SimplE`.
///
/// Against tails the query is `h·r`, against heads `t·r̄`.
pub(crate) struct Diagonal {
    /// Numbers of a row: twice the complex coordinates.
    pub d: usize,
    pub product: Product,
}

impl Diagonal {
    /// `out = a·b`, or `a·b̄`, row by row.
    fn multiply<T: Real>(&self, conjugated: bool, a: &[T], b: &[T], out: &mut [T]) {
        let d = self.d;
        rows::for_each_row(
            out,
            d,
            #[inline(always)]
            |i, out| {
                let (a, b) = (&a[i * d..][..d], &b[i * d..][..d]);
                if conjugated {
                    self.product.multiply_conjugate(a, b, out);
                } else {
                    self.product.multiply(a, b, out);
                }
            },
        );
    }
}

impl<T: Real> Scorer<T> for Diagonal {
    fn query(&self, known: Known<'_, T>, out: &mut [T]) {
        self.multiply(known.side == Side::Heads, known.entity, known.relation, out);
    }

    fn backward(&self, known: Known<'_, T>, gradient: &[T], out: KnownGradients<'_, T>) {
        match known.side {
            // q = h·r
            Side::Tails => {
                self.multiply(true, gradient, known.relation, out.entity);
                self.multiply(true, gradient, known.entity, out.relation);
            }
            // q = t·r̄
            Side::Heads => {
                self.multiply(false, gradient, known.relation, out.entity);
                self.multiply(true, known.entity, gradient, out.relation);
            }
        }
    }
}

/// RESCAL: `φ = hᵀ·M_r·t`, a full matrix per relation, stored row after row.
pub(crate) struct Bilinear {
    pub d: usize,
}

/// `out = Mᵀ·x` (or `M·x`) for a matrix per row.
fn apply_matrices<T: Real>(transposed: bool, matrices: &[T], x: &[T], d: usize, out: &mut [T]) {
    rows::for_each_row(
        out,
        d,
        #[inline(always)]
        |i, out| {
            let (x, matrix) = (&x[i * d..][..d], &matrices[i * d * d..][..d * d]);
            if transposed {
                out.fill(T::ZERO);
                for (&x, row) in x.iter().zip(matrix.chunks_exact(d)) {
                    out.iter_mut().zip(row).for_each(|(out, &m)| *out += x * m);
                }
            } else {
                out.iter_mut().zip(matrix.chunks_exact(d)).for_each(|(out, row)| *out = dot(row, x));
            }
        },
    );
}

impl<T: Real> Scorer<T> for Bilinear {
    fn query(&self, known: Known<'_, T>, out: &mut [T]) {
        apply_matrices(known.side == Side::Tails, known.relation, known.entity, self.d, out);
    }

    fn backward(&self, known: Known<'_, T>, gradient: &[T], out: KnownGradients<'_, T>) {
        let d = self.d;
        apply_matrices(known.side == Side::Heads, known.relation, gradient, d, out.entity);
        rows::for_each_row(
            out.relation,
            d * d,
            #[inline(always)]
            |i, matrix| {
                let (x, g) = (&known.entity[i * d..][..d], &gradient[i * d..][..d]);
                // The left factor of the form is the head: the known entity, or the candidate.
                let (left, right) = if known.side == Side::Tails { (x, g) } else { (g, x) };
                for (&left, row) in left.iter().zip(matrix.chunks_exact_mut(d)) {
                    row.iter_mut().zip(right).for_each(|(to, &right)| *to = left * right);
                }
            },
        );
    }
}

/// `TuckER`: `φ = Σ G[a,b,c]·h_a·r_b·t_c` with a learned core G, shared by all relations: a relation mixes the matrices of
/// a RESCAL.
///
/// The core is stored with the relation's index first, `[relation, head, tail]`.
pub(crate) struct Core {
    pub d: usize,
    pub relation_width: usize,
    pub table: TableId,
}

impl Core {
    /// The matrix of each row: `R·G`.
    fn matrices<T: Real>(&self, known: &Known<'_, T>) -> memory::Buffer<T> {
        let (b, square) = (known.relation.len() / self.relation_width, self.d * self.d);
        let mut matrices = memory::take(b * square);
        let size = Size { m: b, n: square, k: self.relation_width };
        matrix::multiply(Form::Plain, size, known.relation, known.tables.values(self.table), &mut matrices);
        matrices
    }
}

impl<T: Real> Scorer<T> for Core {
    fn query(&self, known: Known<'_, T>, out: &mut [T]) {
        Bilinear { d: self.d }.query(Known { relation: &self.matrices(&known), ..known }, out);
    }

    fn backward(&self, known: Known<'_, T>, gradient: &[T], out: KnownGradients<'_, T>) {
        let matrices = self.matrices(&known);
        let mut d_matrices = memory::take(matrices.len());
        let inner = Known { relation: &matrices, ..known };
        let KnownGradients { tables, entity, relation } = out;
        let inner_out = KnownGradients { tables, entity, relation: &mut d_matrices };
        Bilinear { d: self.d }.backward(inner, gradient, inner_out);
        let (b, square) = (known.relation.len() / self.relation_width, self.d * self.d);
        let size = Size { m: self.relation_width, n: square, k: b };
        let core = tables.of_mut(self.table);
        matrix::multiply_add(Form::LeftTransposed, size, known.relation, &d_matrices, core);
        let size = Size { m: b, n: self.relation_width, k: square };
        let core = known.tables.values(self.table);
        matrix::multiply(Form::RightTransposed, size, &d_matrices, core, relation);
    }
}

/// Scores of a map of the subject that also moves it: `φ = (h ⊙ x + y)·t`, products real or complex. The relation's row
/// holds both, `[x ; y]`. TLT-KGE scores this way.
///
/// Only tails can be candidates: subject queries use reciprocal relations.
pub(crate) struct Affine {
    pub d: usize,
    pub product: Product,
}

impl<T: Real> Scorer<T> for Affine {
    fn query(&self, known: Known<'_, T>, out: &mut [T]) {
        assert_eq!(known.side, Side::Tails, "checked with the configuration");
        let d = self.d;
        rows::for_each_row(
            out,
            d,
            #[inline(always)]
            |i, out| {
                let h = &known.entity[i * d..][..d];
                let (x, y) = known.relation[i * 2 * d..][..2 * d].split_at(d);
                self.product.multiply(h, x, out);
                out.iter_mut().zip(y).for_each(|(out, &y)| *out += y);
            },
        );
    }

    fn backward(&self, known: Known<'_, T>, gradient: &[T], out: KnownGradients<'_, T>) {
        let d = self.d;
        let (g, h) = (|i: usize| &gradient[i * d..][..d], |i: usize| &known.entity[i * d..][..d]);
        rows::for_each_row(
            out.entity,
            d,
            #[inline(always)]
            |i, out| {
                self.product.multiply_conjugate(g(i), &known.relation[i * 2 * d..][..d], out);
            },
        );
        rows::for_each_row(
            out.relation,
            2 * d,
            #[inline(always)]
            |i, out| {
                let (x, y) = out.split_at_mut(d);
                self.product.multiply_conjugate(g(i), h(i), x);
                y.copy_from_slice(g(i));
            },
        );
    }
}
