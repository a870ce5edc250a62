//! The training graph of each step as a list, and ids and names for layouts without common ids.

use std::io::{self, Write};

use quadcast_core::{EvolvingStep, Names, SplitTriples, Triple, TripleOperation, Vocabulary};
use rustc_hash::{FxHashMap, FxHashSet};

use super::rows::{push_number, write_rows};
use crate::DataError;
use crate::error::IdKind;
use crate::readers::excerpt;

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

/// Ids of one kind in order of appearance.
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

    /// Writes `name⇥id` with ids that far apart.
    pub(super) fn write(&self, out: &mut dyn Write, names: &Names, distance: u64) -> io::Result<()> {
        write_rows(out, self.global.iter().enumerate(), |row, (local, &global)| {
            row.extend_from_slice(names.name(global).as_bytes());
            row.push(b'\t');
            push_number(row, local as u64 * distance);
        })
    }
}

/// Ids of a snapshot.
pub(super) struct LocalIds {
    pub entities: Local,
    pub relations: Local,
}

impl LocalIds {
    /// No ids yet. The sizes are those of the global id spaces.
    pub(super) fn new([entities, relations]: [usize; 2]) -> Self {
        Self { entities: Local::new(entities), relations: Local::new(relations) }
    }

    /// Numbers what occurs in the triples of a step, head before tail, then what is only listed.
    pub(super) fn of_step(sizes: [usize; 2], train: &[Triple], step: &EvolvingStep) -> Self {
        let (mut ids, all) = (Self::new(sizes), full(step));
        train.iter().chain(&all.valid).chain(&all.test).for_each(|triple| ids.add(*triple));
        step.entities.iter().flatten().for_each(|entity| ids.entities.add(entity.0));
        step.relations.iter().flatten().for_each(|relation| ids.relations.add(relation.0));
        ids
    }

    /// Numbers what occurs in a triple.
    pub(super) fn add(&mut self, triple: Triple) {
        self.entities.add(triple.subject.0);
        self.entities.add(triple.object.0);
        self.relations.add(triple.relation.0);
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

/// Refuses names that would not come back: repeated ones, and those with a tab or a line end.
pub(super) fn unique_names(vocabulary: &Vocabulary) -> Result<(), DataError> {
    let check = |names: &Names, kind: IdKind| {
        let mut seen = FxHashMap::default();
        for id in 0..names.len() as u32 {
            let name = names.name(id).into_owned();
            let shown = excerpt(name.as_bytes());
            if name.is_empty() || name.contains(['\t', '\n', '\r']) {
                return Err(DataError::Unusable(format!(
                    "the {kind} name {shown} is empty or holds a tab or line end; the layout needs names, use --layout \
                     wikidata-evolve"
                )));
            }
            if let Some(first) = seen.insert(name, id) {
                return Err(DataError::Unusable(format!(
                    "the {kind} ids {first} and {id} share the name {shown}; the layout tells them apart by name, use \
                     --layout wikidata-evolve"
                )));
            }
        }
        Ok(())
    };
    check(&vocabulary.entities, IdKind::Entity)?;
    check(&vocabulary.relations, IdKind::Relation)
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
        let ids = LocalIds::of_step([10, 3], &[Triple::new(9, 2, 4), Triple::new(4, 2, 5)], &step);
        assert_eq!(
            (ids.entities.global.as_slice(), ids.relations.global.as_slice()),
            (&[9, 4, 5, 0][..], &[2][..])
        );
        assert_eq!(ids.local(Triple::new(4, 2, 5)), Triple::new(1, 0, 2));
    }
}
