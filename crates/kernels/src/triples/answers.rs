//! Energies of all answers to a question.

use super::energy::Energy;
use super::view::TablesView;
use crate::Real;
use crate::parallel::vectorised;

/// A question to rows: who stands on the other side of `known`?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The entity that is given.
    pub known: u32,
    /// The relation.
    pub relation: u32,
    /// Whether tails are asked for; heads, if not.
    pub tails: bool,
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
