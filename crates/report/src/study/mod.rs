//! Runs in the order in which they may be compared: datasets, then protocols, then runs.

mod checks;
mod group;
mod labels;
mod slices;

pub(crate) use checks::checks;
pub(crate) use group::{Group, Member, Section, Study};
pub(crate) use labels::options;
pub(crate) use slices::{Slice, frequencies, relations};
