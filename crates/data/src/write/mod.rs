//! Datasets as files in layouts that the readers load back, in folders that are whole or not there at all.

mod evolving;
mod folder;
mod graph;
mod lkge;
mod openke;
mod rows;
mod snapshots;
mod temporal;

use quadcast_core::EvolvingStep;

use crate::DataError;

pub(crate) use evolving::category_file;
pub use evolving::{EvolvingWriter, write_evolving};
pub(crate) use folder::{NEW, beside, failed};
pub use folder::{compressed, fill_folder, free_folder, sweep, write_file};
pub use lkge::LkgeWriter;
pub use openke::write_openke;
pub(crate) use rows::{push_number, write_rows};
pub use snapshots::SnapshotsWriter;
pub use temporal::{Labels, fits_labelled, write_temporal};

/// Takes a changing graph step by step, so that no more than one of them needs to be in memory.
pub trait StepWriter {
    /// Writes the next step.
    fn step(&mut self, step: &EvolvingStep) -> Result<(), DataError>;
}
