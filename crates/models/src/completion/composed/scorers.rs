//! Score functions: a subject, a relation and an object become a query and candidates that are compared.
//!
//! `φ(h, r, t) = likeness(query(tails; h, r), t) = likeness(query(heads; t, r), h)`. In this form one kernel scores all candidates
//! of a query, in training and in evaluation.

use quadcast_kernels::Real;

use super::tables::{Gradients, Tables};

mod distances;
mod products;

pub(crate) use distances::{Gaussian, Phases, Translation};
pub(crate) use products::{Affine, Bilinear, Core, Diagonal};

/// Which end of a fact the candidates are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Side {
    Tails,
    Heads,
}

impl Side {
    pub fn other(self) -> Self {
        match self {
            Self::Tails => Self::Heads,
            Self::Heads => Self::Tails,
        }
    }

    /// 1 for tails, −1 for heads.
    fn sign<T: Real>(self) -> T {
        if self == Self::Tails { T::ONE } else { -T::ONE }
    }
}

/// The known parts of questions whose candidates are of one side.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a, T> {
    /// The tables of the model; most scorers have none.
    pub tables: &'a Tables<T>,
    pub side: Side,
    /// The entity at the other end, `[b, entity width]`.
    pub entity: &'a [T],
    /// `[b, relation width]`
    pub relation: &'a [T],
}

/// Their gradients; those of rows are overwritten, those of tables are added to.
pub(crate) struct KnownGradients<'a, T> {
    pub tables: &'a mut Gradients<T>,
    pub entity: &'a mut [T],
    pub relation: &'a mut [T],
}

/// A score function. Its queries and candidates have the width of an entity.
///
/// To add one: implement this trait in `products` or `distances`, and list it in `assemble`.
pub(crate) trait Scorer<T: Real>: Send + Sync {
    /// `out[b, query width]` = the queries.
    fn query(&self, known: Known<'_, T>, out: &mut [T]);

    /// Gradients of the known parts, and of the tables of the scorer.
    fn backward(&self, known: Known<'_, T>, gradient: &[T], out: KnownGradients<'_, T>);

    /// Turns rows of entities into candidates, in place. The map must be linear and its own transpose: it is applied to gradients
    /// as well.
    fn turn(&self, _side: Side, _rows: &mut [T]) {}

    /// Whether `turn` changes anything.
    fn turns(&self, _side: Side) -> bool {
        false
    }
}
