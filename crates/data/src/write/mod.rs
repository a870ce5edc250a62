//! Datasets as files in layouts that the readers load back, in folders that are whole or not there at all.

mod compressed;
mod evolving;
mod folder;
mod graph;
mod lkge;
mod openke;
mod rows;
mod snapshots;
mod temporal;
mod unique;

use quadcast_core::EvolvingStep;

use crate::DataError;

pub(crate) use compressed::compressed;
pub(crate) use evolving::{EvolvingWriter, category_file, write_evolving};
pub(crate) use folder::{failed, fill_folder, write_file};
pub(crate) use lkge::LkgeWriter;
pub(crate) use openke::write_openke;
pub(crate) use rows::{push_number, write_rows};
pub(crate) use snapshots::SnapshotsWriter;
pub(crate) use temporal::{Labels, fits_labelled, write_temporal};

/// Takes a changing graph step by step, so that no more than one of them needs to be in memory.
pub(crate) trait StepWriter {
    /// Writes the next step.
    fn step(&mut self, step: &EvolvingStep) -> Result<(), DataError>;
}
