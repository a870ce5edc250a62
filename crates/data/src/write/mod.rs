//! Datasets as files in layouts that the readers load back, in folders that are whole or not there at all.

mod evolving;
mod folder;
mod graph;
mod lkge;
mod openke;
mod rows;
mod snapshots;
mod temporal;
mod unique;

pub(crate) use evolving::{category_file, write_evolving};
pub(crate) use folder::{failed, fill_folder, write_file};
pub(crate) use lkge::write_lkge;
pub(crate) use openke::write_openke;
pub(crate) use rows::{push_number, write_rows};
pub(crate) use snapshots::write_snapshots;
pub(crate) use temporal::{Labels, fits_labelled, write_temporal};
