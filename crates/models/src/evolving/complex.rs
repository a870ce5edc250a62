//! `ComplEx`: the product of head, relation and conjugated tail, in complex numbers.
//!
//! **Idea.** `DistMult` gives a triple and its reverse the same score; a product with a conjugated tail does not.
//!
//! **Paper.** Trouillon, Welbl, Riedel, Gaussier, Bouchard: Complex embeddings for simple link prediction. ICML 2016.
//!
//! **Score.** Re Σ h·r·t̄; rows are halves, real and imaginary.
//!
//! **Training.** As `DistMult`.
//!
//! **Differs from the paper.** Batches, draws and the penalty are those of `OpenKE`.
//!
//! **Cost.** That of `DistMult` with rows twice as long.

use quadcast_core::Direction;
use quadcast_kernels::triples::{Ends, Energy, Layout, Slopes, dot, padded};
use quadcast_kernels::{Real, add_scaled};

use super::distmult::softplus;
use super::settings::Config;
use super::space::{Row, Space, undivided};
use crate::completion::composed::{complex_product, conjugate_product};
use crate::registry::{Build, Entry};
use crate::settings::Settings;

/// The entry of the registry.
pub const ENTRY: Entry = Entry {
    name: "complex",
    about: "Product of head, relation and conjugated tail, complex.",
    paper: "Complex embeddings for simple link prediction",
    source: "Trouillon et al., ICML 2016",
    defaults: || softplus().table(),
    build: Build::Evolving(|table| super::build::<Complex>("complex", &softplus(), table)),
    base: Some("transe"),
    ..super::transe::ENTRY
};

/// The space.
#[derive(Clone, Debug)]
pub(crate) struct Complex {
    /// Numbers of a row: two per complex coordinate.
    width: usize,
}

impl<T: Real> Energy<T> for Complex {
    fn entity(&self) -> Layout {
        undivided(&[("entities", self.width)])
    }

    fn relation(&self) -> Layout {
        undivided(&[("relations", self.width)])
    }

    fn scratch(&self) -> usize {
        padded(self.width)
    }

    #[inline(always)]
    fn energy(&self, ends: &Ends<'_, T>, scratch: &mut [T]) -> T {
        let [h, r] = [ends.head, ends.relation].map(|row| &row.values[..self.width]);
        complex_product(h, r, &mut scratch[..self.width]);
        -dot(scratch, ends.tail.values)
    }

    #[inline(always)]
    fn slopes(&self, ends: &Ends<'_, T>, scratch: &mut [T], factor: T, slopes: &mut Slopes<'_, T>) {
        let [h, r, t] = [ends.head, ends.relation, ends.tail].map(|row| &row.values[..self.width]);
        // `energy` stored h·r, the slope along t̄.
        add_scaled(slopes.tail, -factor, scratch);
        conjugate_product(t, r, &mut scratch[..self.width]);
        add_scaled(slopes.head, -factor, scratch);
        conjugate_product(t, h, &mut scratch[..self.width]);
        add_scaled(slopes.relation, -factor, scratch);
    }
}

impl Space for Complex {
    fn new(config: &Config) -> Self {
        Self { width: 2 * config.dimension }
    }

    fn query(&self, known: Row<'_>, relation: Row<'_>, direction: Direction, out: &mut [f32]) {
        let [x, r] = [known, relation].map(|row| &row.values[..self.width]);
        match direction {
            Direction::Object => complex_product(x, r, out),
            Direction::Subject => conjugate_product(x, r, out),
        }
    }
}
