//! Evolving graphs as folders `snapshot1`, `snapshot2`, … in `OpenKE`'s layout: the layout of DKGE.
//!
//! A snapshot holds the whole graph, so deletions are what the next one lacks. Names align the snapshots, because each has
//! ids of its own.

use std::path::Path;

use quadcast_core::{EvolvingStep, Triple, Vocabulary};

use super::StepWriter;
use super::folder::{make_folder, write_file};
use super::graph::{LocalIds, after, full, unique_names};
use super::rows::write_triples;
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
        make_folder(&inner)?;
        let (train, all, Vocabulary { entities, relations }) = (&self.train, full(step), self.vocabulary);
        let ids = LocalIds::of_step([entities.len(), relations.len()], train, step);
        for (kind, local, names) in
            [("entity", &ids.entities, entities), ("relation", &ids.relations, relations)]
        {
            write_file(&inner.join(format!("{kind}2id.txt")), |out| {
                writeln!(out, "{}", local.global.len())?;
                local.write(out, names, 1)
            })?;
        }
        for (split, triples) in [("train", train), ("valid", &all.valid), ("test", &all.test)] {
            write_file(&inner.join(format!("{split}2id.txt")), |out| {
                writeln!(out, "{}", triples.len())?;
                write_triples(out, triples.iter().map(|&triple| ids.local(triple)))
            })?;
        }
        Ok(())
    }
}
