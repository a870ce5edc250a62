//! `TuckER`: `φ = Σ G[a,b,c]·h_a·r_b·t_c` with a learned core G, shared by all relations: a relation mixes the matrices of
//! a RESCAL.
//!
//! The core is stored with the relation's index first, `[relation, head, tail]`.

use quadcast_kernels::compare::Likeness;
use quadcast_kernels::matrix::{Form, Size, multiply, multiply_add};
use quadcast_kernels::{Real, memory};

use super::super::scorer::{Known, KnownGradients, Scorer, Side};
use super::super::tables::{Gradients, TableId, Tables};
use super::bilinear::Bilinear;

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
        multiply(Form::Plain, size, relation, tables.values(self.table), &mut matrices);
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
        multiply_add(Form::LeftTransposed, size, known.relation, &d_matrices, into.of_mut(self.table));
        let size = Size { m: b, n: self.relation_width, k: square };
        multiply(Form::RightTransposed, size, &d_matrices, tables.values(self.table), out.relation);
    }
}
