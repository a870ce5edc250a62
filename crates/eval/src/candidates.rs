//! The entities among which an answer of an evolving graph is ranked.

use quadcast_core::{Candidates, EntityId, GraphSizes, Procedure, Protocol};

use crate::evolving::StepGraph;

/// What an answer is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListKind {
    /// Every candidate once.
    Whole,
    /// Every other candidate, and entity 0 in the place of the rest: see [`crate::published_list`].
    Published,
}

impl ListKind {
    /// The list for test triples. Only the published procedures that continue from step to step filled it wrongly.
    pub fn of_test(protocol: &Protocol) -> Self {
        if protocol.compat && protocol.procedure != Procedure::Static { Self::Published } else { Self::Whole }
    }
}

/// Candidates in order, and the position of each.
pub(crate) struct CandidateList {
    pub kind: ListKind,
    /// Entities whose scores a model is asked for, ascending.
    pub asked: Vec<EntityId>,
    /// 1 if entity 0 is asked for without being a candidate, because the published list holds it; else 0.
    first: usize,
    /// Column of the scores by entity; `ABSENT` for others.
    columns: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl CandidateList {
    pub fn of(graph: &StepGraph, who: Candidates, kind: ListKind) -> Self {
        let ids = match who {
            Candidates::Now => graph.present.clone(),
            Candidates::Seen => graph.seen.clone(),
            Candidates::All => (0..graph.sizes.entities as u32).map(EntityId).collect(),
        };
        Self::new(ids, kind, graph.sizes)
    }

    pub fn new(ids: Vec<EntityId>, kind: ListKind, sizes: GraphSizes) -> Self {
        let mut asked = ids;
        let without_zero = asked.first().is_some_and(|id| id.0 > 0);
        let first = usize::from(kind == ListKind::Published && without_zero);
        if first == 1 {
            asked.insert(0, EntityId(0));
        }
        let mut columns = vec![ABSENT; sizes.entities];
        for (column, id) in asked.iter().enumerate() {
            columns[id.index()] = column as u32;
        }
        Self { kind, asked, first, columns }
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
    fn the_published_list_asks_for_entity_0_also_where_it_is_no_candidate() {
        let sizes = GraphSizes { entities: 6, relations: 1 };
        let ids = || vec![EntityId(2), EntityId(5)];
        let whole = CandidateList::new(ids(), ListKind::Whole, sizes);
        assert_eq!((whole.asked.len(), whole.place(EntityId(5))), (2, Some(EntityId(1))));
        let published = CandidateList::new(ids(), ListKind::Published, sizes);
        assert_eq!(published.asked, [EntityId(0), EntityId(2), EntityId(5)]);
        assert_eq!(published.ids(), [EntityId(2), EntityId(5)]);
        assert_eq!(
            (published.column(EntityId(5)), published.place(EntityId(5))),
            (Some(2), Some(EntityId(1)))
        );
        assert_eq!((published.column(EntityId(0)), published.place(EntityId(0))), (Some(0), None));
        let with_zero = CandidateList::new(vec![EntityId(0), EntityId(5)], ListKind::Published, sizes);
        assert_eq!((with_zero.asked.len(), with_zero.place(EntityId(0))), (2, Some(EntityId(0))));
        assert!(CandidateList::new(Vec::new(), ListKind::Published, sizes).asked.is_empty());
    }
}
