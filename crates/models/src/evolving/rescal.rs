//! RESCAL: a matrix per relation between heads and tails.
//!
//! **Idea.** Every pair of a number of the head and a number of the tail contributes to the score, with a weight of the relation.
//!
//! **Paper.** Nickel, Tresp, Kriegel: A three-way model for collective learning on multi-relational data. ICML 2011.
//!
//! **Score.** hᵀ·M·t with the matrix M of the relation.
//!
//! **Training.** Margin loss, Adagrad. Defaults: those of `OpenKE` for FB15k-237.
//!
//! **Differs from the paper.** The paper factorises the whole graph by least squares. In `OpenKE` the sign is flipped once in
//! training and twice in prediction; here there is one energy.
//!
//! **Cost.** A product with a matrix per triple, and an outer product in the gradient.

use quadcast_core::Direction;
use quadcast_kernels::triples::{Ends, Energy, Layout, Slopes, dot, padded};
use quadcast_kernels::{Real, add_scaled};

use super::settings::{Config, OptimiserName, Sampling};
use super::space::{Row, Space, undivided};
use crate::registry::{Build, Entry};
use crate::settings::Settings;

/// The entry of the registry.
pub const ENTRY: Entry = Entry {
    name: "rescal",
    about: "A matrix per relation between heads and tails.",
    paper: "A three-way model for collective learning on multi-relational data",
    source: "Nickel, Tresp, Kriegel, ICML 2011",
    defaults: || config().table(),
    build: Build::Evolving(|table| super::build::<Matrices>("rescal", &config(), table)),
    base: Some("transe"),
    ..super::transe::ENTRY
};

fn config() -> Config {
    Config {
        dimension: 50,
        margin: 1.0,
        optimiser: OptimiserName::Adagrad,
        negatives: 25,
        sampling: Sampling::Bern,
        filtered: true,
        ..Config::default()
    }
}

/// The space.
#[derive(Clone, Debug)]
pub(crate) struct Matrices {
    dimension: usize,
}

impl Matrices {
    /// Rows of the matrix of a relation.
    #[inline(always)]
    fn rows<'a, T>(&self, relation: &'a [T]) -> impl Iterator<Item = &'a [T]> {
        relation.chunks_exact(self.dimension).take(self.dimension)
    }

    /// `out = hᵀ·M`
    #[inline(always)]
    fn row_of_head<T: Real>(&self, head: &[T], relation: &[T], out: &mut [T]) {
        out.fill(T::ZERO);
        for (&x, row) in head.iter().zip(self.rows(relation)) {
            add_scaled(&mut out[..self.dimension], x, row);
        }
    }
}

impl<T: Real> Energy<T> for Matrices {
    fn entity(&self) -> Layout {
        undivided(&[("entities", self.dimension)])
    }

    fn relation(&self) -> Layout {
        undivided(&[("matrices", self.dimension * self.dimension)])
    }

    fn scratch(&self) -> usize {
        padded(self.dimension)
    }

    #[inline(always)]
    fn energy(&self, ends: &Ends<'_, T>, scratch: &mut [T]) -> T {
        self.row_of_head(ends.head.values, ends.relation.values, scratch);
        -dot(scratch, ends.tail.values)
    }

    #[inline(always)]
    fn slopes(&self, ends: &Ends<'_, T>, scratch: &mut [T], factor: T, slopes: &mut Slopes<'_, T>) {
        let (h, t) = (ends.head.values, &ends.tail.values[..self.dimension]);
        add_scaled(slopes.tail, -factor, scratch);
        let rows = self.rows(ends.relation.values).zip(slopes.relation.chunks_exact_mut(self.dimension));
        for ((&x, dx), (row, row_slope)) in h.iter().zip(&mut *slopes.head).zip(rows) {
            *dx -= factor * quadcast_kernels::dot(row, t);
            add_scaled(row_slope, -(factor * x), t);
        }
    }
}

impl Space for Matrices {
    fn new(config: &Config) -> Self {
        Self { dimension: config.dimension }
    }

    fn query(&self, known: Row<'_>, relation: Row<'_>, direction: Direction, out: &mut [f32]) {
        let tail = &known.values[..self.dimension];
        match direction {
            Direction::Object => self.row_of_head(known.values, relation.values, out),
            Direction::Subject => {
                let rows = self.rows(relation.values);
                out.iter_mut().zip(rows).for_each(|(out, row)| *out = quadcast_kernels::dot(row, tail));
            }
        }
    }
}
