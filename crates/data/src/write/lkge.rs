//! Evolving graphs as folders `0`, `1`, … that hold only new facts, with names: the layout of LKGE.
//!
//! The layout knows no deletions. A triple is written once, in the folder of its first insertion; what was deleted
//! later is still there for a reader of this layout.

use std::fs;
use std::path::Path;

use quadcast_core::{EvolvingStep, Names, Triple, Vocabulary};
use rustc_hash::FxHashSet;

use super::StepWriter;
use super::folder::{failed, write_file};
use super::graph::full;
use super::rows::{push_number, write_rows};
use super::unique::unique_names;
use crate::DataError;

/// Writes the facts that are new at each step, and the ids of everything seen so far.
pub struct LkgeWriter<'a> {
    folder: &'a Path,
    vocabulary: &'a Vocabulary,
    seen: FxHashSet<Triple>,
    /// Ids of entities and relations.
    ids: [Seen; 2],
    /// Steps that are written.
    steps: usize,
}

impl<'a> LkgeWriter<'a> {
    /// Refuses names that the layout cannot tell apart.
    pub fn new(folder: &'a Path, vocabulary: &'a Vocabulary) -> Result<Self, DataError> {
        unique_names(vocabulary)?;
        Ok(Self { folder, vocabulary, seen: FxHashSet::default(), ids: <[Seen; 2]>::default(), steps: 0 })
    }
}

impl StepWriter for LkgeWriter<'_> {
    fn step(&mut self, step: &EvolvingStep) -> Result<(), DataError> {
        let inner = self.folder.join(self.steps.to_string());
        self.steps += 1;
        fs::create_dir_all(&inner).map_err(|source| failed(&inner, source))?;
        let inserted = step.training.iter().filter(|operation| operation.insert);
        let splits = [
            ("train", inserted.map(|operation| operation.triple).collect::<Vec<_>>()),
            ("valid", full(step).valid.clone()),
            ("test", full(step).test.clone()),
        ];
        for (split, mut triples) in splits {
            triples.retain(|triple| self.seen.insert(*triple));
            for triple in &triples {
                self.ids[0].add(triple.subject.0);
                self.ids[0].add(triple.object.0);
                self.ids[1].add(triple.relation.0);
            }
            write_facts(&inner.join(format!("{split}.txt")), &triples, self.vocabulary)?;
        }
        self.ids[0].write(&inner.join("entity2id.txt"), &self.vocabulary.entities, 1)?;
        // Every second id is free for the inverse relation.
        self.ids[1].write(&inner.join("relation2id.txt"), &self.vocabulary.relations, 2)
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

/// Ids of one kind in order of first appearance.
#[derive(Default)]
struct Seen {
    order: Vec<u32>,
    known: FxHashSet<u32>,
}

impl Seen {
    fn add(&mut self, id: u32) {
        if self.known.insert(id) {
            self.order.push(id);
        }
    }

    /// Writes `name⇥id` with ids that far apart.
    fn write(&self, path: &Path, names: &Names, distance: u64) -> Result<(), DataError> {
        write_file(path, |out| {
            write_rows(out, self.order.iter().enumerate(), |row, (number, &id)| {
                row.extend_from_slice(names.name(id).as_bytes());
                row.push(b'\t');
                push_number(row, number as u64 * distance);
            })
        })
    }
}
