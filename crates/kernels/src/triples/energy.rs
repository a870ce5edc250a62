//! What a model tells the training: how rows become an energy, and the slopes of it.

use super::answers::Question;
use super::table::Layout;
use super::view::TablesView;
use crate::Real;

/// What is kept of an entity or a relation.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a, T> {
    /// All segments, each padded with zeros to whole lines.
    pub values: &'a [T],
    /// 1 / length of each unit segment, in order.
    pub scales: &'a [T],
}

/// The rows of a triple.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a, T> {
    /// Of the head.
    pub head: Row<'a, T>,
    /// Of the relation.
    pub relation: Row<'a, T>,
    /// Of the tail.
    pub tail: Row<'a, T>,
}

/// Slopes of an energy along the rows of a triple; all are added to. Along unit segments they are those of the *divided*
/// numbers: what the division does to them is done later, once per row.
#[derive(Debug)]
pub struct Slopes<'a, T> {
    /// Along the head.
    pub head: &'a mut [T],
    /// Along the relation.
    pub relation: &'a mut [T],
    /// Along the tail.
    pub tail: &'a mut [T],
}

/// A wish about rows: how far it is from being fulfilled is added to the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Wish {
    /// A segment is no longer than 1: weight·max(0, ‖v‖² − 1)
    Short {
        /// Which segment.
        segment: usize,
        /// How much it matters.
        weight: f64,
    },
    /// Two segments of the same width are at right angles, or nearly: weight·max(0, cos²(v, w) − tolerance²)
    Across {
        /// Which segments.
        segments: [usize; 2],
        /// How much it matters.
        weight: f64,
        /// The cosine that does not matter.
        tolerance: f64,
    },
}

/// How a triple becomes an energy: lower is more plausible.
///
/// Methods should be `#[inline(always)]`: they are compiled into loops for the widest vectors of the processor.
pub trait Energy<T: Real>: Sync {
    /// Segments of the row of an entity.
    fn entity(&self) -> Layout;

    /// Segments of the row of a relation.
    fn relation(&self) -> Layout;

    /// Wishes about the rows of entities and of relations. Each counts as often as a batch uses a row, divided by the triples
    /// of the batch, false ones included.
    fn wishes(&self) -> [Vec<Wish>; 2] {
        [Vec::new(), Vec::new()]
    }

    /// How many numbers `energy` may leave for `slopes`.
    fn scratch(&self) -> usize {
        0
    }

    /// The energy of a triple.
    fn energy(&self, ends: &Ends<'_, T>, scratch: &mut [T]) -> T;

    /// `f(entity, energy)` for all entities as answers to a question. For energies that can share work between answers; the
    /// numbers are the same.
    #[inline(always)]
    fn answers(
        &self,
        tables: &TablesView<'_, T>,
        question: Question,
        scratch: &mut [T],
        mut f: impl FnMut(u32, T),
    ) where
        Self: Sized,
    {
        let known = tables.entities.row(question.known);
        let relation = tables.relations.row(question.relation);
        for entity in 0..tables.entities.rows() as u32 {
            let answer = tables.entities.row(entity);
            let (head, tail) = if question.tails { (known, answer) } else { (answer, known) };
            f(entity, self.energy(&Ends { head, relation, tail }, scratch));
        }
    }

    /// Adds `factor` times the slopes of the energy. `scratch` is as `energy` left it for the same triple.
    fn slopes(&self, ends: &Ends<'_, T>, scratch: &mut [T], factor: T, slopes: &mut Slopes<'_, T>);
}
