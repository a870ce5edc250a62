//! `TransR`: every relation has its own space, and a matrix maps entities into it.
//!
//! **Idea.** Relations concern different aspects of entities: a matrix per relation selects them, and the distance is measured
//! in the space of the relation.
//!
//! **Paper.** Lin, Liu, Sun, Liu, Zhu: Learning entity and relation embeddings for knowledge graph completion. AAAI 2015.
//!
//! **Score.** −‖n(h·M) + r̂ − n(t·M)‖ with the matrix M of the relation and n(x) = x̂ = x/‖x‖.
//!
//! **Training.** As `TransE`, starting from the rows of a `TransE` after one epoch and from identity matrices. Defaults:
//! those of `OpenKE` for FB15k-237.
//!
//! **Differs from the paper.** As in `OpenKE`, projections are divided by their lengths. The penalty is not squared once more.
//!
//! **Cost.** Two products with a matrix per triple, and its outer products in the gradient: width times that of `TransE`.
//! The matrices are most of the memory. All candidates are projected once per relation.

use quadcast_kernels::triples::{Layout, RowView, Segment};
use quadcast_kernels::{Real, add_scaled, dot};

use super::projected::{Projected, Projection};
use super::settings::{Config, Sampling};
use super::space::{InitialRows, undivided};
use crate::registry::{Build, Entry};
use crate::settings::Settings;

/// The entry of the registry.
pub const ENTRY: Entry = Entry {
    name: "transr",
    about: "A matrix takes entities into the space of a relation.",
    paper: "Learning entity and relation embeddings for knowledge graph completion",
    source: "Lin et al., AAAI 2015",
    defaults: || config().table(),
    build: Build::Evolving(|table| super::build::<Projected<Matrix>>("transr", &config(), table)),
    base: Some("transe"),
    ..super::transe::ENTRY
};

fn config() -> Config {
    Config {
        dimension: 200,
        margin: 4.0,
        learning_rate: 1.0,
        negatives: 25,
        sampling: Sampling::Bern,
        filtered: true,
        warm_epochs: 1,
        ..Config::default()
    }
}

/// Projects by the matrix of a relation, `[entity width, relation width]`.
#[derive(Clone, Debug)]
pub(crate) struct Matrix {
    dimension: usize,
    width: usize,
}

impl Matrix {
    /// Rows of the matrix, without padding.
    #[inline(always)]
    fn rows<'a, T>(&self, mapping: &RowView<'a, T>) -> impl Iterator<Item = &'a [T]> {
        mapping.values[..self.dimension * self.width].chunks_exact(self.width)
    }
}

impl Projection for Matrix {
    const READS: &'static [&'static str] = &["relation_dimension", "norm", "normalise"];

    fn new(config: &Config) -> Self {
        Self { dimension: config.dimension, width: config.relation_width() }
    }

    fn width(&self) -> usize {
        self.width
    }

    fn entity(&self) -> Layout {
        undivided(&[("entities", self.dimension)])
    }

    fn mapping(&self) -> Segment {
        Segment { name: "matrices", width: self.dimension * self.width, unit: false }
    }

    fn initial(&self, segment: &Segment) -> Option<InitialRows> {
        (*segment == self.mapping()).then_some(InitialRows::Diagonal(self.width))
    }

    /// Padding is not written.
    #[inline(always)]
    fn project<T: Real>(&self, entity: &[T], mapping: RowView<'_, T>, out: &mut [T]) {
        let out = &mut out[..self.width];
        out.fill(T::ZERO);
        for (&x, row) in entity.iter().zip(self.rows(&mapping)) {
            add_scaled(out, x, row);
        }
    }

    #[inline(always)]
    fn back<T: Real>(
        &self,
        (entity, mapping): (&[T], RowView<'_, T>),
        slope: &[T],
        entity_slope: &mut [T],
        matrix_slope: &mut [T],
    ) {
        let slope = &slope[..self.width];
        let rows = self.rows(&mapping).zip(matrix_slope.chunks_exact_mut(self.width));
        for ((&x, dx), (row, row_slope)) in entity.iter().zip(entity_slope).zip(rows) {
            *dx += dot(row, slope);
            add_scaled(row_slope, x, slope);
        }
    }
}
