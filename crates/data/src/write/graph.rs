//! The training graph of each step as a list, and ids of its own for a snapshot.

use quadcast_core::{EvolvingStep, SplitTriples, Triple, TripleOperation};
use rustc_hash::FxHashSet;

/// An id that a snapshot does not use.
const ABSENT: u32 = u32::MAX;

/// The graph after operations of which none is void and no two are on the same triple, as a compiled update has them:
/// what was there and is not deleted, then what is inserted.
pub(super) fn after(mut graph: Vec<Triple>, operations: &[TripleOperation]) -> Vec<Triple> {
    let deleted: FxHashSet<Triple> = operations.iter().filter(|o| !o.insert).map(|o| o.triple).collect();
    if !deleted.is_empty() {
        graph.retain(|triple| !deleted.contains(triple));
    }
    graph.extend(operations.iter().filter(|o| o.insert).map(|o| o.triple));
    graph
}

/// The full evaluation sets of a step.
pub(super) fn full(step: &EvolvingStep) -> &SplitTriples {
    step.evaluation_all.as_ref().unwrap_or(&step.evaluation)
}

/// Ids of one kind within a snapshot, in order of appearance.
pub(super) struct Local {
    /// Local id by global id.
    ids: Vec<u32>,
    /// Global id by local id.
    pub global: Vec<u32>,
}

impl Local {
    fn new(size: usize) -> Self {
        Self { ids: vec![ABSENT; size], global: Vec::new() }
    }

    fn add(&mut self, id: u32) {
        let slot = &mut self.ids[id as usize];
        if *slot == ABSENT {
            *slot = self.global.len() as u32;
            self.global.push(id);
        }
    }
}

/// Ids of a snapshot.
pub(super) struct LocalIds {
    pub entities: Local,
    pub relations: Local,
}

impl LocalIds {
    /// Numbers what occurs in the triples, head before tail, then what is only listed. The sizes are those of the global
    /// id spaces.
    pub(super) fn new<'a>(
        [entities, relations]: [usize; 2],
        triples: impl IntoIterator<Item = &'a Triple>,
        step: &EvolvingStep,
    ) -> Self {
        let mut ids = Self { entities: Local::new(entities), relations: Local::new(relations) };
        for triple in triples {
            ids.entities.add(triple.subject.0);
            ids.entities.add(triple.object.0);
            ids.relations.add(triple.relation.0);
        }
        step.entities.iter().flatten().for_each(|entity| ids.entities.add(entity.0));
        step.relations.iter().flatten().for_each(|relation| ids.relations.add(relation.0));
        ids
    }

    /// A triple of the snapshot in its ids.
    pub(super) fn local(&self, triple: Triple) -> Triple {
        Triple::new(
            self.entities.ids[triple.subject.index()],
            self.relations.ids[triple.relation.index()],
            self.entities.ids[triple.object.index()],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_grow_at_the_end() {
        let t = |id| Triple::new(id, 0, 9);
        let operation = |id, insert| TripleOperation { triple: t(id), insert };
        let graph =
            after(vec![t(3), t(1), t(5)], &[operation(3, false), operation(4, true), operation(0, true)]);
        assert_eq!(graph, [t(1), t(5), t(4), t(0)]);
        assert_eq!(after(graph.clone(), &[]), graph);
    }

    #[test]
    fn ids_follow_appearance_and_then_the_list() {
        let step = EvolvingStep {
            entities: Some([0, 4, 9].map(quadcast_core::EntityId).to_vec()),
            ..EvolvingStep::default()
        };
        let ids = LocalIds::new([10, 3], &[Triple::new(9, 2, 4), Triple::new(4, 2, 5)], &step);
        assert_eq!(
            (ids.entities.global.as_slice(), ids.relations.global.as_slice()),
            (&[9, 4, 5, 0][..], &[2][..])
        );
        assert_eq!(ids.local(Triple::new(4, 2, 5)), Triple::new(1, 0, 2));
    }
}
