//! What an optimiser remembers of a table.

use super::table::Table;
use super::update::Optimiser;
use crate::Real;

/// Means of gradients and of their squares, a number per number of the table; empty where nothing is remembered.
#[derive(Clone, Debug)]
pub(super) struct Memory<T> {
    pub mean: Vec<T>,
    pub square: Vec<T>,
}

impl<T: Real> Memory<T> {
    pub fn new(table: &Table<T>, optimiser: Optimiser) -> Self {
        let [mean, square] = optimiser
            .remembers()
            .map(|remembers| vec![T::ZERO; if remembers { table.values().len() } else { 0 }]);
        Self { mean, square }
    }
}
