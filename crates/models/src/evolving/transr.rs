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

use quadcast_core::Direction;
use quadcast_kernels::compare::Likeness;
use quadcast_kernels::triples::{Ends, Energy, Layout, RowView, Segment, Slopes, padded};
use quadcast_kernels::{Real, add_scaled};

use super::settings::{Config, Sampling};
use super::space::{Depends, InitialRows, Named, ProjectedDistance, Space};
use super::transe::{likeness, translate};
use super::transh::divide;
use crate::registry::Entry;

pub(super) struct TransR;

impl Named for TransR {
    type Space = RelationSpaces;
    const NAME: &'static str = "transr";
    const ABOUT: &'static str = "A matrix takes entities into the space of a relation.";
    const PAPER: &'static str = "Learning entity and relation embeddings for knowledge graph completion";
    const SOURCE: &'static str = "Lin et al., AAAI 2015";

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
}

/// The entry of the registry.
pub const ENTRY: Entry = super::entry::<TransR>();

/// One space per relation.
#[derive(Clone, Debug)]
pub(crate) struct RelationSpaces {
    dimension: usize,
    projected: ProjectedDistance,
    unit: bool,
}

const MATRICES: &str = "matrices";

impl RelationSpaces {
    /// The vector of a relation and its matrix, `[entity width, relation width]`.
    #[inline(always)]
    fn relation<'a, T>(&self, row: &'a [T]) -> (&'a [T], &'a [T]) {
        let (vector, matrix) = row.split_at(padded(self.projected.width));
        (vector, &matrix[..self.dimension * self.projected.width])
    }

    /// `out` may be without padding, which is not written.
    #[inline(always)]
    fn project<T: Real>(&self, entity: &[T], matrix: &[T], out: &mut [T]) {
        let out = &mut out[..self.projected.width];
        out.fill(T::ZERO);
        for (&x, row) in entity.iter().zip(matrix.chunks_exact(self.projected.width)) {
            add_scaled(out, x, row);
        }
    }

    #[inline(always)]
    fn back<T: Real>(
        &self,
        (entity, matrix): (&[T], &[T]),
        slope: &[T],
        entity_slope: &mut [T],
        matrix_slope: &mut [T],
    ) {
        let slope = &slope[..self.projected.width];
        let rows = matrix.chunks_exact(slope.len()).zip(matrix_slope.chunks_exact_mut(slope.len()));
        for ((&x, dx), (row, row_slope)) in entity.iter().zip(entity_slope).zip(rows) {
            *dx += quadcast_kernels::dot(row, slope);
            add_scaled(row_slope, x, slope);
        }
    }
}

impl<T: Real> Energy<T> for RelationSpaces {
    fn entity(&self) -> Layout {
        Layout(vec![Segment { name: "entities", width: self.dimension, unit: false }])
    }

    fn relation(&self) -> Layout {
        let width = self.projected.width;
        Layout(vec![
            Segment { name: "relations", width, unit: self.unit },
            Segment { name: MATRICES, width: self.dimension * width, unit: false },
        ])
    }

    fn scratch(&self) -> usize {
        self.projected.scratch()
    }

    #[inline(always)]
    fn energy(&self, ends: &Ends<'_, T>, scratch: &mut [T]) -> T {
        let (vector, matrix) = self.relation(ends.relation.values);
        let mut own = self.projected.projections(scratch);
        self.project(ends.head.values, matrix, own.head);
        self.project(ends.tail.values, matrix, own.tail);
        let scale = ends.relation.scales.first().copied().unwrap_or(T::ONE);
        self.projected.energy(&mut own, vector, scale)
    }

    #[inline(always)]
    fn slopes(&self, ends: &Ends<'_, T>, scratch: &mut [T], factor: T, slopes: &mut Slopes<'_, T>) {
        let (vector, matrix) = self.relation(ends.relation.values);
        let mut own = self.projected.projections(scratch);
        let (vector_slope, matrix_slope) = slopes.relation.split_at_mut(padded(self.projected.width));
        let scale = ends.relation.scales.first().copied().unwrap_or(T::ONE);
        self.projected.slopes(&mut own, (vector, scale), factor, vector_slope);
        self.back((ends.head.values, matrix), own.head_slope, slopes.head, matrix_slope);
        self.back((ends.tail.values, matrix), own.tail_slope, slopes.tail, matrix_slope);
    }
}

impl Space for RelationSpaces {
    const READS: &'static [&'static str] = &["relation_dimension", "norm", "normalise"];

    fn new(config: &Config) -> Self {
        let (unit, width) = (config.normalise, config.relation_width());
        Self {
            dimension: config.dimension,
            projected: ProjectedDistance { norm: config.distance(), unit, width },
            unit,
        }
    }

    fn likeness(&self) -> Likeness {
        likeness(self.projected.norm)
    }

    fn width(&self) -> usize {
        self.projected.width
    }

    fn depends(&self) -> Depends {
        Depends::Relation
    }

    fn query(
        &self,
        known: RowView<'_, f32>,
        relation: RowView<'_, f32>,
        direction: Direction,
        out: &mut [f32],
    ) {
        self.candidate(known, relation, out);
        translate(relation, self.unit, direction, out);
    }

    fn candidate(&self, entity: RowView<'_, f32>, relation: RowView<'_, f32>, out: &mut [f32]) {
        self.project(entity.values, self.relation(relation.values).1, out);
        if self.unit {
            divide(out);
        }
    }

    fn initial(&self, segment: &Segment) -> Option<InitialRows> {
        (segment.name == MATRICES).then_some(InitialRows::Diagonal(self.projected.width))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::RelationSpaces;

    #[test]
    fn gradients_are_those_of_the_energy() {
        testing::check_gradients::<RelationSpaces>(testing::TRANSLATIONS);
        testing::check_gradients::<RelationSpaces>(&["relation_dimension=3", "relation_dimension=20"]);
    }

    #[test]
    fn scores_are_energies() {
        testing::check_scores::<RelationSpaces>(testing::TRANSLATIONS);
        testing::check_scores::<RelationSpaces>(&["relation_dimension=3", "relation_dimension=20"]);
    }
}
