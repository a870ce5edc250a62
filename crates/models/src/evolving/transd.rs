//! `TransD`: every pair of an entity and a relation has its own projection, made of two vectors.
//!
//! **Idea.** The projection should depend on relation and entity, without a matrix for every pair: the outer product of
//! a vector of each.
//!
//! **Paper.** Ji, He, Xu, Liu, Zhao: Knowledge graph embedding via dynamic mapping matrix. ACL 2015.
//!
//! **Score.** −‖n(h⊥) + r̂ − n(t⊥)‖ with e⊥ = e + (e′·e)·r′, where e is cut or filled with zeros to the width of relations
//! and e′ and r′ are the second vectors of entity and relation; n(x) = x/‖x‖.
//!
//! **Training.** As `TransE`. Defaults: those of `OpenKE` for FB15k-237.
//!
//! **Differs from the paper.** As in `OpenKE`, projections are divided by their lengths instead of kept no longer than 1.
//!
//! **Cost.** That of `TransE` with rows twice as long. All candidates are projected once per relation.

use quadcast_core::Direction;
use quadcast_kernels::compare::Likeness;
use quadcast_kernels::triples::{Ends, Energy, Layout, RowView, Segment, Slopes, dot, padded};
use quadcast_kernels::{Real, add_scaled};

use super::settings::{Config, Sampling};
use super::space::{Depends, Named, ProjectedDistance, Space};
use super::transe::{likeness, translate};
use super::transh::divide;
use crate::registry::Entry;

pub(super) struct TransD;

impl Named for TransD {
    type Space = Dynamic;
    const NAME: &'static str = "transd";
    const ABOUT: &'static str = "A projection for every pair of entity and relation.";
    const PAPER: &'static str = "Knowledge graph embedding via dynamic mapping matrix";
    const SOURCE: &'static str = "Ji et al., ACL 2015";

    fn config() -> Config {
        Config {
            dimension: 200,
            margin: 4.0,
            learning_rate: 1.0,
            negatives: 25,
            sampling: Sampling::Bern,
            filtered: true,
            ..Config::default()
        }
    }
}

/// The entry of the registry.
pub const ENTRY: Entry = super::entry::<TransD>();

/// The space.
#[derive(Clone, Debug)]
pub(crate) struct Dynamic {
    dimension: usize,
    projected: ProjectedDistance,
    unit: bool,
}

impl Dynamic {
    /// Numbers that an entity and its projection have in common.
    #[inline(always)]
    fn common(&self) -> usize {
        self.dimension.min(self.projected.width)
    }

    /// Both vectors of an entity.
    #[inline(always)]
    fn entity<'a, T>(&self, row: &'a [T]) -> (&'a [T], &'a [T]) {
        row.split_at(padded(self.dimension))
    }

    /// Both vectors of a relation.
    #[inline(always)]
    fn relation<'a, T>(&self, row: &'a [T]) -> (&'a [T], &'a [T]) {
        row.split_at(padded(self.projected.width))
    }

    /// `out` may be without padding.
    #[inline(always)]
    fn project<T: Real>(&self, entity: &[T], mapping: &[T], out: &mut [T]) {
        let ((vector, own), common) = (self.entity(entity), self.common());
        out[..common].copy_from_slice(&vector[..common]);
        out[common..].fill(T::ZERO);
        add_scaled(out, dot(vector, own), mapping);
    }

    #[inline(always)]
    fn back<T: Real>(
        &self,
        (entity, mapping): (&[T], &[T]),
        slope: &[T],
        entity_slope: &mut [T],
        mapping_slope: &mut [T],
    ) {
        let ((vector, own), common) = (self.entity(entity), self.common());
        let (vector_slope, own_slope) = entity_slope.split_at_mut(padded(self.dimension));
        let along = dot(slope, mapping);
        add_scaled(&mut vector_slope[..common], T::ONE, slope);
        add_scaled(vector_slope, along, own);
        add_scaled(own_slope, along, vector);
        add_scaled(mapping_slope, dot(vector, own), slope);
    }
}

impl<T: Real> Energy<T> for Dynamic {
    fn entity(&self) -> Layout {
        let width = self.dimension;
        Layout(vec![
            Segment { name: "entities", width, unit: false },
            Segment { name: "entity_mappings", width, unit: false },
        ])
    }

    fn relation(&self) -> Layout {
        let width = self.projected.width;
        Layout(vec![
            Segment { name: "relations", width, unit: self.unit },
            Segment { name: "relation_mappings", width, unit: false },
        ])
    }

    fn scratch(&self) -> usize {
        self.projected.scratch()
    }

    #[inline(always)]
    fn energy(&self, ends: &Ends<'_, T>, scratch: &mut [T]) -> T {
        let (vector, mapping) = self.relation(ends.relation.values);
        let mut own = self.projected.projections(scratch);
        self.project(ends.head.values, mapping, own.head);
        self.project(ends.tail.values, mapping, own.tail);
        let scale = ends.relation.scales.first().copied().unwrap_or(T::ONE);
        self.projected.energy(&mut own, vector, scale)
    }

    #[inline(always)]
    fn slopes(&self, ends: &Ends<'_, T>, scratch: &mut [T], factor: T, slopes: &mut Slopes<'_, T>) {
        let (vector, mapping) = self.relation(ends.relation.values);
        let mut own = self.projected.projections(scratch);
        let (vector_slope, mapping_slope) = slopes.relation.split_at_mut(padded(self.projected.width));
        let scale = ends.relation.scales.first().copied().unwrap_or(T::ONE);
        self.projected.slopes(&mut own, (vector, scale), factor, vector_slope);
        self.back((ends.head.values, mapping), own.head_slope, slopes.head, mapping_slope);
        self.back((ends.tail.values, mapping), own.tail_slope, slopes.tail, mapping_slope);
    }
}

impl Space for Dynamic {
    const READS: &'static [&'static str] = &["relation_dimension", "norm", "normalise"];

    fn new(config: &Config) -> Self {
        // Projections are divided by their lengths in any case.
        let projected =
            ProjectedDistance { norm: config.distance(), unit: true, width: config.relation_width() };
        Self { dimension: config.dimension, projected, unit: config.normalise }
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
        divide(out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::Dynamic;

    #[test]
    fn gradients_are_those_of_the_energy() {
        testing::check_gradients::<Dynamic>(testing::TRANSLATIONS);
        testing::check_gradients::<Dynamic>(&["relation_dimension=3", "relation_dimension=20"]);
    }

    #[test]
    fn scores_are_energies() {
        testing::check_scores::<Dynamic>(testing::TRANSLATIONS);
        testing::check_scores::<Dynamic>(&["relation_dimension=3", "relation_dimension=20"]);
    }
}
