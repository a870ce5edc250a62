//! Datasets as files in layouts that the readers load back, in folders that are whole or not there at all.

mod folder;
mod openke;
mod temporal;

pub(crate) use folder::{failed, fill_folder, write_file};
pub(crate) use openke::write_openke;
pub(crate) use temporal::{Labels, fits_labelled, write_temporal};
