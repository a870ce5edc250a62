//! Facts looked up by their two ends: what patterns and leakage are counted with.

mod evolving;
mod facts;
mod intervals;

pub(crate) use evolving::{Graph, at_once, graphs};
pub(crate) use facts::FactIndex;
pub(crate) use intervals::NumberedIntervals;
