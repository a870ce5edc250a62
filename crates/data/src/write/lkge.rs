//! Evolving graphs as folders `0`, `1`, … that hold only new facts, with names: the layout of LKGE.
//!
//! The layout knows no deletions. A triple is written once, in the folder of its first insertion; what was deleted
//! later is still there for a reader of this layout.

use std::path::Path;

use quadcast_core::{EvolvingStep, Triple, Vocabulary};
use rustc_hash::FxHashSet;

use super::StepWriter;
use super::folder::{make_folder, write_file};
use super::graph::{LocalIds, full, unique_names};
use super::rows::write_rows;
use crate::DataError;

/// Writes the facts that are new at each step, and the ids of everything seen so far.
pub struct LkgeWriter<'a> {
    folder: &'a Path,
    vocabulary: &'a Vocabulary,
    seen: FxHashSet<Triple>,
    ids: LocalIds,
    /// Steps that are written.
    steps: usize,
}

impl<'a> LkgeWriter<'a> {
    /// Refuses names that the layout cannot tell apart.
    pub fn new(folder: &'a Path, vocabulary: &'a Vocabulary) -> Result<Self, DataError> {
        unique_names(vocabulary)?;
        let ids = LocalIds::new([vocabulary.entities.len(), vocabulary.relations.len()]);
        Ok(Self { folder, vocabulary, seen: FxHashSet::default(), ids, steps: 0 })
    }
}

impl StepWriter for LkgeWriter<'_> {
    fn step(&mut self, step: &EvolvingStep) -> Result<(), DataError> {
        let inner = self.folder.join(self.steps.to_string());
        self.steps += 1;
        make_folder(&inner)?;
        let inserted = step.training.iter().filter(|operation| operation.insert);
        let splits = [
            ("train", inserted.map(|operation| operation.triple).collect::<Vec<_>>()),
            ("valid", full(step).valid.clone()),
            ("test", full(step).test.clone()),
        ];
        for (split, mut triples) in splits {
            triples.retain(|triple| self.seen.insert(*triple));
            for triple in &triples {
                self.ids.add(*triple);
            }
            write_facts(&inner.join(format!("{split}.txt")), &triples, self.vocabulary)?;
        }
        let (ids, Vocabulary { entities, relations }) = (&self.ids, self.vocabulary);
        write_file(&inner.join("entity2id.txt"), |out| ids.entities.write(out, entities, 1))?;
        // Every second id is free for the inverse relation.
        write_file(&inner.join("relation2id.txt"), |out| ids.relations.write(out, relations, 2))
    }
}

/// Writes `head⇥relation⇥tail`.
fn write_facts(path: &Path, triples: &[Triple], vocabulary: &Vocabulary) -> Result<(), DataError> {
    let Vocabulary { entities, relations } = vocabulary;
    write_file(path, |out| {
        write_rows(out, triples, |row, triple| {
            row.extend_from_slice(entities.name(triple.subject.0).as_bytes());
            row.push(b'\t');
            row.extend_from_slice(relations.name(triple.relation.0).as_bytes());
            row.push(b'\t');
            row.extend_from_slice(entities.name(triple.object.0).as_bytes());
        })
    })
}
