//! Evolving graphs as folders `snapshot1`, `snapshot2`, … in `OpenKE`'s layout: the layout of DKGE.
//!
//! A snapshot holds the whole graph, so deletions are what the next one lacks. Names align the snapshots, because each has
//! ids of its own.

use std::path::Path;

use quadcast_core::{EvolvingStep, Names, Triple, Vocabulary};

use super::StepWriter;
use super::folder::{failed, write_file};
use super::graph::{Local, LocalIds, after, full};
use super::rows::{push_number, write_rows, write_triples};
use super::unique::unique_names;
use crate::DataError;

/// Writes every snapshot with all of its evaluation triples, one after the other.
pub struct SnapshotsWriter<'a> {
    folder: &'a Path,
    vocabulary: &'a Vocabulary,
    /// The training graph of the last snapshot.
    train: Vec<Triple>,
    /// Snapshots that are written.
    steps: usize,
}

impl<'a> SnapshotsWriter<'a> {
    /// Refuses names that the layout cannot tell apart.
    pub fn new(folder: &'a Path, vocabulary: &'a Vocabulary) -> Result<Self, DataError> {
        unique_names(vocabulary)?;
        Ok(Self { folder, vocabulary, train: Vec::new(), steps: 0 })
    }
}

impl StepWriter for SnapshotsWriter<'_> {
    fn step(&mut self, step: &EvolvingStep) -> Result<(), DataError> {
        self.steps += 1;
        self.train = after(std::mem::take(&mut self.train), &step.training);
        let inner = self.folder.join(format!("snapshot{}", self.steps));
        std::fs::create_dir_all(&inner).map_err(|source| failed(&inner, source))?;
        write_snapshot(&inner, self.vocabulary, step, &self.train)
    }
}

fn write_snapshot(
    folder: &Path,
    vocabulary: &Vocabulary,
    step: &EvolvingStep,
    train: &[Triple],
) -> Result<(), DataError> {
    let sizes = [vocabulary.entities.len(), vocabulary.relations.len()];
    let all = full(step);
    let ids = LocalIds::new(sizes, train.iter().chain(&all.valid).chain(&all.test), step);
    write_names(&folder.join("entity2id.txt"), &ids.entities, &vocabulary.entities)?;
    write_names(&folder.join("relation2id.txt"), &ids.relations, &vocabulary.relations)?;
    for (split, triples) in [("train", train), ("valid", &all.valid), ("test", &all.test)] {
        write_file(&folder.join(format!("{split}2id.txt")), |out| {
            writeln!(out, "{}", triples.len())?;
            write_triples(out, triples.iter().map(|&triple| ids.local(triple)))
        })?;
    }
    Ok(())
}

/// Writes a count line, then `name⇥id`.
fn write_names(path: &Path, local: &Local, names: &Names) -> Result<(), DataError> {
    write_file(path, |out| {
        writeln!(out, "{}", local.global.len())?;
        write_rows(out, local.global.iter().enumerate(), |row, (id, &global)| {
            row.extend_from_slice(names.name(global).as_bytes());
            row.push(b'\t');
            push_number(row, id as u64);
        })
    })
}
