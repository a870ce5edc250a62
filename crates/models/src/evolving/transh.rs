//! `TransH`: a relation moves heads to tails within its own plane.
//!
//! **Idea.** With one point per entity, all tails of a head and a relation would have to be the same point. Projected on a
//! plane per relation, they may differ in the direction of the normal.
//!
//! **Paper.** Wang, Zhang, Feng, Chen: Knowledge graph embedding by translating on hyperplanes. AAAI 2014.
//!
//! **Score.** −‖n(h⊥) + r̂ − n(t⊥)‖ with e⊥ = e − (ŵ·e)·ŵ, ŵ the normal of the plane of the relation, n(x) = x̂ = x/‖x‖.
//!
//! **Training.** As `TransE`, with the end replaced that is less likely to give a true triple (`bern`). Defaults: those of
//! the study of evolving graphs for `FB15k`.
//!
//! **Differs from the paper.** As in `OpenKE`: projections are divided by their lengths, and the soft constraints, ‖e‖ ≤ 1 and
//! cos(r, w) ≤ `tolerance`, are absent unless `constraint` gives them a weight.
//!
//! **Cost.** That of `TransE` and twice as much for projections. All candidates are projected once per relation.

use quadcast_core::Direction;
use quadcast_kernels::compare::Likeness;
use quadcast_kernels::triples::{
    Ends, Energy, Layout, RowView, Segment, Slopes, SoftConstraint, dot, padded,
};
use quadcast_kernels::{Real, add_scaled};

use super::settings::{Config, Sampling};
use super::space::{Depends, Named, ProjectedDistance, Space};
use super::transe::{likeness, translate};
use crate::registry::Entry;

pub(super) struct TransH;

impl Named for TransH {
    type Space = Hyperplanes;
    const NAME: &'static str = "transh";
    const ABOUT: &'static str = "A relation moves heads to tails within its own plane.";
    const PAPER: &'static str = "Knowledge graph embedding by translating on hyperplanes";
    const SOURCE: &'static str = "Wang et al., AAAI 2014";

    fn config() -> Config {
        Config {
            dimension: 50,
            margin: 2.0,
            sampling: Sampling::Bern,
            validate_every: 50,
            ..Config::default()
        }
    }
}

/// The entry of the registry.
pub const ENTRY: Entry = super::entry::<TransH>();

/// The space.
#[derive(Clone, Debug)]
pub(crate) struct Hyperplanes {
    dimension: usize,
    projected: ProjectedDistance,
    unit: bool,
    /// Weight and tolerance of the soft constraints.
    constraint: (f64, f64),
}

/// The vector of a relation and the normal of its plane, with their scales.
struct Plane<'a, T> {
    vector: &'a [T],
    vector_scale: T,
    normal: &'a [T],
    scale: T,
}

impl Hyperplanes {
    #[inline(always)]
    fn plane<'a, T: Real>(&self, relation: RowView<'a, T>) -> Plane<'a, T> {
        let (vector, normal) = relation.values.split_at(padded(self.dimension));
        match *relation.scales {
            [vector_scale, scale] => Plane { vector, vector_scale, normal, scale },
            _ => Plane { vector, vector_scale: T::ONE, normal, scale: relation.scales[0] },
        }
    }
}

impl<T: Real> Plane<'_, T> {
    #[inline(always)]
    fn project(&self, entity: &[T], out: &mut [T]) {
        let across = dot(entity, self.normal) * self.scale * self.scale;
        out.iter_mut().zip(entity.iter().zip(self.normal)).for_each(|(out, (&e, &w))| *out = e - across * w);
    }

    /// Slopes along the projection become those along the entity and the divided normal.
    #[inline(always)]
    fn back(&self, entity: &[T], slope: &[T], entity_slope: &mut [T], normal_slope: &mut [T]) {
        // e⊥ = e − (ŵ·e)·ŵ, and ŵ = scale·w.
        let (g, e) = (dot(slope, self.normal) * self.scale, dot(entity, self.normal) * self.scale);
        add_scaled(entity_slope, T::ONE, slope);
        add_scaled(entity_slope, -(g * self.scale), self.normal);
        add_scaled(normal_slope, -g, entity);
        add_scaled(normal_slope, -e, slope);
    }
}

impl<T: Real> Energy<T> for Hyperplanes {
    fn entity(&self) -> Layout {
        Layout(vec![Segment { name: "entities", width: self.dimension, unit: false }])
    }

    fn relation(&self) -> Layout {
        let width = self.dimension;
        Layout(vec![
            Segment { name: "relations", width, unit: self.unit },
            Segment { name: "normals", width, unit: true },
        ])
    }

    fn constraints(&self) -> [Vec<SoftConstraint>; 2] {
        let (weight, tolerance) = self.constraint;
        if weight == 0.0 {
            return [Vec::new(), Vec::new()];
        }
        let short = SoftConstraint::UnitBall { segment: 0, weight };
        [vec![short], vec![SoftConstraint::Orthogonal { segments: [0, 1], weight, tolerance }]]
    }

    fn scratch(&self) -> usize {
        self.projected.scratch()
    }

    #[inline(always)]
    fn energy(&self, ends: &Ends<'_, T>, scratch: &mut [T]) -> T {
        let (plane, mut own) = (self.plane(ends.relation), self.projected.projections(scratch));
        plane.project(ends.head.values, own.head);
        plane.project(ends.tail.values, own.tail);
        self.projected.energy(&mut own, plane.vector, plane.vector_scale)
    }

    #[inline(always)]
    fn slopes(&self, ends: &Ends<'_, T>, scratch: &mut [T], factor: T, slopes: &mut Slopes<'_, T>) {
        let (plane, mut own) = (self.plane(ends.relation), self.projected.projections(scratch));
        let (vector, normal) = slopes.relation.split_at_mut(padded(self.dimension));
        self.projected.slopes(&mut own, (plane.vector, plane.vector_scale), factor, vector);
        plane.back(ends.head.values, own.head_slope, slopes.head, normal);
        plane.back(ends.tail.values, own.tail_slope, slopes.tail, normal);
    }
}

/// Divides a vector by its length.
pub(super) fn divide(x: &mut [f32]) {
    let length = x.iter().map(|x| x * x).sum::<f32>().sqrt().max(f32::MIN_POSITIVE);
    x.iter_mut().for_each(|x| *x /= length);
}

impl Space for Hyperplanes {
    const READS: &'static [&'static str] = &["norm", "normalise", "constraint", "tolerance"];

    fn new(config: &Config) -> Self {
        let (width, unit) = (config.dimension, config.normalise);
        let projected = ProjectedDistance { norm: config.distance(), unit, width };
        Self { dimension: width, projected, unit, constraint: (config.constraint, config.tolerance) }
    }

    fn likeness(&self) -> Likeness {
        likeness(self.projected.norm)
    }

    fn width(&self) -> usize {
        self.dimension
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
        self.plane(relation).project(entity.values, out);
        if self.unit {
            divide(out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::Hyperplanes;

    #[test]
    fn gradients_are_those_of_the_energy() {
        testing::check_gradients::<Hyperplanes>(testing::TRANSLATIONS);
        testing::check_gradients::<Hyperplanes>(&["constraint=0.4"]);
    }

    #[test]
    fn scores_are_energies() {
        testing::check_scores::<Hyperplanes>(testing::TRANSLATIONS);
    }
}
