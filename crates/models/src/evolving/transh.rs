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

use quadcast_kernels::triples::{Layout, RowView, Segment, SoftConstraint, dot};
use quadcast_kernels::{Real, add_scaled};

use super::projected::{Projected, Projection};
use super::settings::{Config, Sampling};
use super::space::undivided;
use crate::registry::{Build, Entry};
use crate::settings::Settings;

/// The entry of the registry.
pub const ENTRY: Entry = Entry {
    name: "transh",
    about: "A relation moves heads to tails within its own plane.",
    paper: "Knowledge graph embedding by translating on hyperplanes",
    source: "Wang et al., AAAI 2014",
    defaults: || config().table(),
    build: Build::Evolving(|table| super::build::<Projected<Hyperplane>>("transh", &config(), table)),
    base: Some("transe"),
    ..super::transe::ENTRY
};

fn config() -> Config {
    Config { dimension: 50, margin: 2.0, sampling: Sampling::Bern, validate_every: 50, ..Config::default() }
}

/// Projects on the plane of a relation; the mapping is its normal, with its scale.
#[derive(Clone, Debug)]
pub(crate) struct Hyperplane {
    dimension: usize,
    /// Weight and tolerance of the soft constraints.
    constraint: (f64, f64),
}

impl Projection for Hyperplane {
    const READS: &'static [&'static str] = &["norm", "normalise", "constraint", "tolerance"];

    fn new(config: &Config) -> Self {
        Self { dimension: config.dimension, constraint: (config.constraint, config.tolerance) }
    }

    fn width(&self) -> usize {
        self.dimension
    }

    fn entity(&self) -> Layout {
        undivided(&[("entities", self.dimension)])
    }

    fn mapping(&self) -> Segment {
        Segment { name: "normals", width: self.dimension, unit: true }
    }

    fn constraints(&self) -> [Vec<SoftConstraint>; 2] {
        let (weight, tolerance) = self.constraint;
        if weight == 0.0 {
            return [Vec::new(), Vec::new()];
        }
        let short = SoftConstraint::UnitBall { segment: 0, weight };
        [vec![short], vec![SoftConstraint::Orthogonal { segments: [0, 1], weight, tolerance }]]
    }

    #[inline(always)]
    fn project<T: Real>(&self, entity: &[T], normal: RowView<'_, T>, out: &mut [T]) {
        let scale = normal.scales[0];
        let across = dot(entity, normal.values) * scale * scale;
        let pairs = entity.iter().zip(normal.values);
        out.iter_mut().zip(pairs).for_each(|(out, (&e, &w))| *out = e - across * w);
    }

    #[inline(always)]
    fn back<T: Real>(
        &self,
        (entity, normal): (&[T], RowView<'_, T>),
        slope: &[T],
        entity_slope: &mut [T],
        normal_slope: &mut [T],
    ) {
        // e⊥ = e − (ŵ·e)·ŵ, and ŵ = scale·w.
        let scale = normal.scales[0];
        let (g, e) = (dot(slope, normal.values) * scale, dot(entity, normal.values) * scale);
        add_scaled(entity_slope, T::ONE, slope);
        add_scaled(entity_slope, -(g * scale), normal.values);
        add_scaled(normal_slope, -g, entity);
        add_scaled(normal_slope, -e, slope);
    }
}
