//! Among whom answers are looked for.

use quadcast_core::{EntityId, GraphSizes};
use serde::{Deserialize, Serialize};

use super::{LinkProtocol, Procedure, StepGraph};

/// Among whom an answer is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Present {
    /// Entities that are present at the step. Ranks of steps of different size cannot be compared.
    #[default]
    Now,
    /// Entities that were present at the step or an earlier one.
    Seen,
    /// All entities, also those to come.
    All,
}

impl Present {
    /// The word used on the command line and in records.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Now => "now",
            Self::Seen => "seen",
            Self::All => "all",
        }
    }
}

/// What an answer is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    /// Every candidate once.
    Whole,
    /// Every other candidate, and entity 0 in the place of the rest: see [`super::published`].
    Published,
}

impl List {
    /// The list for test triples. Only the published procedures that went on from step to step filled it wrongly.
    pub fn of_test(protocol: LinkProtocol, procedure: Procedure) -> Self {
        if protocol.compat && procedure != Procedure::Static { Self::Published } else { Self::Whole }
    }
}

/// Candidates in order, and where each stands.
pub(super) struct Candidates {
    pub list: List,
    /// Whose scores a model is asked for, ascending.
    pub asked: Vec<EntityId>,
    /// 1 if entity 0 is asked for without being a candidate, because the published list holds it; else 0.
    first: usize,
    /// Column of the scores by entity; `ABSENT` for others.
    columns: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl Candidates {
    pub fn of(graph: &StepGraph, who: Present, list: List) -> Self {
        let ids = match who {
            Present::Now => graph.present.clone(),
            Present::Seen => graph.seen.clone(),
            Present::All => (0..graph.sizes.entities as u32).map(EntityId).collect(),
        };
        Self::new(ids, list, graph.sizes)
    }

    pub fn new(ids: Vec<EntityId>, list: List, sizes: GraphSizes) -> Self {
        let mut asked = ids;
        let without_zero = asked.first().is_some_and(|id| id.0 > 0);
        let first = usize::from(list == List::Published && without_zero);
        if first == 1 {
            asked.insert(0, EntityId(0));
        }
        let mut columns = vec![ABSENT; sizes.entities];
        for (column, id) in asked.iter().enumerate() {
            columns[id.index()] = column as u32;
        }
        Self { list, asked, first, columns }
    }

    /// The candidates, ascending.
    pub fn ids(&self) -> &[EntityId] {
        &self.asked[self.first..]
    }

    /// Where the score of an entity stands in a row.
    pub fn column(&self, entity: EntityId) -> Option<usize> {
        self.columns.get(entity.index()).copied().filter(|&column| column != ABSENT).map(|c| c as usize)
    }

    /// Where a candidate stands among the candidates.
    pub fn place(&self, entity: EntityId) -> Option<EntityId> {
        let place = self.column(entity)?.checked_sub(self.first)?;
        Some(EntityId(place as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_records() {
        for who in [Present::Now, Present::Seen, Present::All] {
            assert_eq!(serde_json::to_value(who).unwrap(), who.word());
        }
    }

    #[test]
    fn the_published_list_asks_for_entity_0_also_where_it_is_no_candidate() {
        let sizes = GraphSizes { entities: 6, relations: 1 };
        let ids = || vec![EntityId(2), EntityId(5)];
        let whole = Candidates::new(ids(), List::Whole, sizes);
        assert_eq!((whole.asked.len(), whole.place(EntityId(5))), (2, Some(EntityId(1))));
        let published = Candidates::new(ids(), List::Published, sizes);
        assert_eq!(published.asked, [EntityId(0), EntityId(2), EntityId(5)]);
        assert_eq!(published.ids(), [EntityId(2), EntityId(5)]);
        assert_eq!(
            (published.column(EntityId(5)), published.place(EntityId(5))),
            (Some(2), Some(EntityId(1)))
        );
        assert_eq!((published.column(EntityId(0)), published.place(EntityId(0))), (Some(0), None));
        let with_zero = Candidates::new(vec![EntityId(0), EntityId(5)], List::Published, sizes);
        assert_eq!((with_zero.asked.len(), with_zero.place(EntityId(0))), (2, Some(EntityId(0))));
        assert!(Candidates::new(Vec::new(), List::Published, sizes).asked.is_empty());
    }
}
