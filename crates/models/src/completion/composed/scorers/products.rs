//! Scores that are products, compared by a dot product: `DistMult`, `ComplEx`, RESCAL, `TuckER` and the affine map of TLT-KGE.

use quadcast_kernels::compare::Likeness;
use quadcast_kernels::matrix::{self, Form, Size};
use quadcast_kernels::{Real, dot, memory, rows};

use super::{Known, KnownGradients, Scorer, Side};
use crate::completion::composed::encoders::fused::{complex_product, conjugate_product};
use crate::completion::composed::tables::{Gradients, TableId, Tables};

/// `DistMult`: `φ = Σ h·r·t`. With position-aware rows and the inverse half it is `SimplE`.
pub(crate) struct Diagonal {
    pub d: usize,
}

/// `out = a ⊙ b`
fn multiply<T: Real>(a: &[T], b: &[T], d: usize, out: &mut [T]) {
    rows::for_each_row(
        out,
        d,
        #[inline(always)]
        |i, out| {
            let (a, b) = (&a[i * d..][..d], &b[i * d..][..d]);
            out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (&a, &b))| *out = a * b);
        },
    );
}

impl<T: Real> Scorer<T> for Diagonal {
    fn likeness(&self) -> Likeness {
        Likeness::Dot
    }

    fn width(&self) -> usize {
        self.d
    }

    fn query(&self, _: &Tables<T>, _: Side, known: Known<'_, T>, out: &mut [T]) {
        multiply(known.entity, known.relation, self.d, out);
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
        multiply(gradient, known.relation, self.d, out.entity);
        multiply(gradient, known.entity, self.d, out.relation);
    }
}

/// `ComplEx`: `φ = Re Σ h·r·t̄` with complex rows, stored as halves (real, imaginary).
///
/// Against tails the query is `h·r`, against heads `t·r̄`.
pub(crate) struct Complex {
    /// Numbers of a row: twice the complex coordinates.
    pub d: usize,
}

/// `out = a·b`, or `a·b̄`, row by row.
fn multiply_complex<T: Real>(conjugated: bool, a: &[T], b: &[T], d: usize, out: &mut [T]) {
    rows::for_each_row(
        out,
        d,
        #[inline(always)]
        |i, out| {
            let (a, b) = (&a[i * d..][..d], &b[i * d..][..d]);
            if conjugated {
                conjugate_product(a, b, out);
            } else {
                complex_product(a, b, out);
            }
        },
    );
}

impl<T: Real> Scorer<T> for Complex {
    fn likeness(&self) -> Likeness {
        Likeness::Dot
    }

    fn width(&self) -> usize {
        self.d
    }

    fn query(&self, _: &Tables<T>, side: Side, known: Known<'_, T>, out: &mut [T]) {
        multiply_complex(side == Side::Heads, known.entity, known.relation, self.d, out);
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
        match side {
            // q = h·r
            Side::Tails => {
                multiply_complex(true, gradient, known.relation, self.d, out.entity);
                multiply_complex(true, gradient, known.entity, self.d, out.relation);
            }
            // q = t·r̄
            Side::Heads => {
                multiply_complex(false, gradient, known.relation, self.d, out.entity);
                multiply_complex(true, known.entity, gradient, self.d, out.relation);
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
    fn likeness(&self) -> Likeness {
        Likeness::Dot
    }

    fn width(&self) -> usize {
        self.d
    }

    fn query(&self, _: &Tables<T>, side: Side, known: Known<'_, T>, out: &mut [T]) {
        apply_matrices(side == Side::Tails, known.relation, known.entity, self.d, out);
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
        let d = self.d;
        apply_matrices(side == Side::Heads, known.relation, gradient, d, out.entity);
        rows::for_each_row(
            out.relation,
            d * d,
            #[inline(always)]
            |i, matrix| {
                let (x, g) = (&known.entity[i * d..][..d], &gradient[i * d..][..d]);
                // The left factor of the form is the head: the known entity, or the candidate.
                let (left, right) = if side == Side::Tails { (x, g) } else { (g, x) };
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
    fn matrices<T: Real>(&self, tables: &Tables<T>, relation: &[T]) -> memory::Buffer<T> {
        let (b, square) = (relation.len() / self.relation_width, self.d * self.d);
        let mut matrices = memory::take(b * square);
        let size = Size { m: b, n: square, k: self.relation_width };
        matrix::multiply(Form::Plain, size, relation, tables.values(self.table), &mut matrices);
        matrices
    }
}

impl<T: Real> Scorer<T> for Core {
    fn likeness(&self) -> Likeness {
        Likeness::Dot
    }

    fn width(&self) -> usize {
        self.d
    }

    fn query(&self, tables: &Tables<T>, side: Side, known: Known<'_, T>, out: &mut [T]) {
        let matrices = self.matrices(tables, known.relation);
        let known = Known { entity: known.entity, relation: &matrices };
        Bilinear { d: self.d }.query(tables, side, known, out);
    }

    fn backward(
        &self,
        tables: &Tables<T>,
        side: Side,
        known: Known<'_, T>,
        gradient: &[T],
        out: KnownGradients<'_, T>,
        into: &mut Gradients<T>,
    ) {
        let matrices = self.matrices(tables, known.relation);
        let mut d_matrices = memory::take(matrices.len());
        let inner = Known { entity: known.entity, relation: &matrices };
        let inner_out = KnownGradients { entity: out.entity, relation: &mut d_matrices };
        Bilinear { d: self.d }.backward(tables, side, inner, gradient, inner_out, into);
        let (b, square) = (known.relation.len() / self.relation_width, self.d * self.d);
        let size = Size { m: self.relation_width, n: square, k: b };
        matrix::multiply_add(
            Form::LeftTransposed,
            size,
            known.relation,
            &d_matrices,
            into.of_mut(self.table),
        );
        let size = Size { m: b, n: self.relation_width, k: square };
        matrix::multiply(Form::RightTransposed, size, &d_matrices, tables.values(self.table), out.relation);
    }
}

/// Scores of a map of the subject that also moves it: `φ = (h ⊙ x + y)·t`, products real or complex. The relation's row
/// holds both, `[x ; y]`. TLT-KGE scores this way.
///
/// Only tails can be candidates: subject queries use reciprocal relations.
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
