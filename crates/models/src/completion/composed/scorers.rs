//! Score functions: a subject, a relation and an object become a query and candidates that are compared.
//!
//! `φ(h, r, t) = likeness(query(tails; h, r), t) = likeness(query(heads; t, r), h)`. In this form one kernel scores all candidates
//! of a query, in training and in evaluation.

use quadcast_kernels::Real;
use quadcast_kernels::compare::Likeness;

use super::tables::{Gradients, Tables};

mod distances;
mod products;

pub(crate) use distances::{Gaussian, Phases, Translation};
pub(crate) use products::{Affine, Bilinear, Complex, Core, Diagonal};

/// Which end of a fact the candidates are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Side {
    Tails,
    Heads,
}

/// The rows of the known parts of questions.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a, T> {
    /// The entity at the other end, `[b, entity width]`.
    pub entity: &'a [T],
    /// `[b, relation width]`
    pub relation: &'a [T],
}

/// Their gradients; overwritten.
pub(crate) struct KnownGradients<'a, T> {
    pub entity: &'a mut [T],
    pub relation: &'a mut [T],
}

/// A score function.
///
/// To add one: implement this trait in `products` or `distances`, and list it in `assemble`.
pub(crate) trait Scorer<T: Real>: Send + Sync {
    /// How queries and candidates are compared.
    fn likeness(&self) -> Likeness;

    /// Width of the comparison (`d` of the kernel).
    fn width(&self) -> usize;

    /// `out[b, query width]` = the queries.
    fn query(&self, tables: &Tables<T>, side: Side, known: Known<'_, T>, out: &mut [T]);

    /// Gradients of the known parts, and of the tables of the scorer.
    fn backward(
        &self,
        tables: &Tables<T>,
        side: Side,
        known: Known<'_, T>,
        gradient: &[T],
        out: KnownGradients<'_, T>,
        into: &mut Gradients<T>,
    );

    /// Turns rows of entities into candidates, in place. The map must be linear and its own transpose: it is applied to gradients
    /// as well.
    fn turn(&self, _side: Side, _rows: &mut [T]) {}

    /// Whether `turn` changes anything.
    fn turns(&self, _side: Side) -> bool {
        false
    }
}
