//! What a model defines for training: the energy of a triple and its slopes.

use super::table::{Layout, TablesView};
use crate::Real;
use crate::parallel::vectorised;

/// The row of an entity or a relation.
#[derive(Clone, Copy, Debug)]
pub struct RowView<'a, T> {
    /// All segments, each padded with zeros to whole lines.
    pub values: &'a [T],
    /// 1 / length of each unit segment, in order.
    pub scales: &'a [T],
}

/// The rows of a triple.
#[derive(Clone, Copy, Debug)]
pub struct Ends<'a, T> {
    /// Of the head.
    pub head: RowView<'a, T>,
    /// Of the relation.
    pub relation: RowView<'a, T>,
    /// Of the tail.
    pub tail: RowView<'a, T>,
}

/// Slopes of an energy along the rows of a triple; all are added to. Along unit segments they are those of the *divided*
/// numbers: the slopes of the division are applied later, once per row.
#[derive(Debug)]
pub struct Slopes<'a, T> {
    /// Along the head.
    pub head: &'a mut [T],
    /// Along the relation.
    pub relation: &'a mut [T],
    /// Along the tail.
    pub tail: &'a mut [T],
}

/// A soft constraint on rows: its violation is added to the loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SoftConstraint {
    /// A segment is no longer than 1: weight·max(0, ‖v‖² − 1)
    UnitBall {
        /// Which segment.
        segment: usize,
        /// Its weight.
        weight: f64,
    },
    /// Two segments of the same width are at right angles, or nearly: weight·max(0, cos²(v, w) − tolerance²)
    Orthogonal {
        /// Which segments.
        segments: [usize; 2],
        /// Its weight.
        weight: f64,
        /// The cosine that is not penalised.
        tolerance: f64,
    },
}

/// Which entity completes a triple?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The entity that is given.
    pub known: u32,
    /// The relation.
    pub relation: u32,
    /// Whether the tail is missing; if not, the head is.
    pub tails: bool,
}

/// How a triple becomes an energy: lower is more plausible.
///
/// Methods should be `#[inline(always)]`: they are compiled into loops for the widest vectors of the processor.
pub trait Energy<T: Real>: Sync {
    /// Segments of the row of an entity.
    fn entity(&self) -> Layout;

    /// Segments of the row of a relation.
    fn relation(&self) -> Layout;

    /// Soft constraints on the rows of entities and of relations. Each counts as often as a batch uses a row, divided by the triples
    /// of the batch, false ones included.
    fn constraints(&self) -> [Vec<SoftConstraint>; 2] {
        [Vec::new(), Vec::new()]
    }

    /// How many numbers `energy` may store for `slopes`.
    fn scratch(&self) -> usize {
        0
    }

    /// The energy of a triple.
    fn energy(&self, ends: &Ends<'_, T>, scratch: &mut [T]) -> T;

    /// `f(entity, energy)` for all entities as answers to a question. To be overridden by energies that can share work between
    /// answers; the results are the same.
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

/// `f(entity, energy)` for all entities of the tables as answers, on this thread and compiled for the widest vectors of this
/// processor, if `f` can be inlined.
pub fn for_each_answer<T: Real, E: Energy<T>>(
    energy: &E,
    tables: &TablesView<'_, T>,
    question: Question,
    scratch: &mut [T],
    f: impl FnMut(u32, T),
) {
    vectorised(
        #[inline(always)]
        || energy.answers(tables, question, scratch, f),
    );
}
