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

use quadcast_kernels::triples::{Layout, RowView, Segment, dot, padded};
use quadcast_kernels::{Real, add_scaled};

use super::projected::{Projected, Projection};
use super::settings::{Config, Sampling};
use super::space::undivided;
use crate::registry::{Build, Entry};
use crate::settings::Settings;

/// The entry of the registry.
pub const ENTRY: Entry = Entry {
    name: "transd",
    about: "A projection for every pair of entity and relation.",
    paper: "Knowledge graph embedding via dynamic mapping matrix",
    source: "Ji et al., ACL 2015",
    defaults: || config().table(),
    build: Build::Evolving(|table| super::build::<Projected<MappingVectors>>("transd", &config(), table)),
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
        ..Config::default()
    }
}

/// Projects along the second vector of a relation, as far as the second vector of the entity says.
#[derive(Clone, Debug)]
pub(crate) struct MappingVectors {
    dimension: usize,
    width: usize,
}

impl MappingVectors {
    /// Both vectors of an entity, and how many numbers the first has in common with its projection.
    #[inline(always)]
    fn entity_parts<'a, T>(&self, row: &'a [T]) -> (&'a [T], &'a [T], usize) {
        let (vector, own) = row.split_at(padded(self.dimension));
        (vector, own, self.dimension.min(self.width))
    }
}

impl Projection for MappingVectors {
    const READS: &'static [&'static str] = &["relation_dimension", "norm", "normalise"];
    const ALWAYS_DIVIDED: bool = true;

    fn new(config: &Config) -> Self {
        Self { dimension: config.dimension, width: config.relation_width() }
    }

    fn width(&self) -> usize {
        self.width
    }

    fn entity(&self) -> Layout {
        undivided(&[("entities", self.dimension), ("entity_mappings", self.dimension)])
    }

    fn mapping(&self) -> Segment {
        Segment { name: "relation_mappings", width: self.width, unit: false }
    }

    #[inline(always)]
    fn project<T: Real>(&self, entity: &[T], mapping: RowView<'_, T>, out: &mut [T]) {
        let (vector, own, common) = self.entity_parts(entity);
        out[..common].copy_from_slice(&vector[..common]);
        out[common..].fill(T::ZERO);
        add_scaled(out, dot(vector, own), mapping.values);
    }

    #[inline(always)]
    fn back<T: Real>(
        &self,
        (entity, mapping): (&[T], RowView<'_, T>),
        slope: &[T],
        entity_slope: &mut [T],
        mapping_slope: &mut [T],
    ) {
        let (vector, own, common) = self.entity_parts(entity);
        let (vector_slope, own_slope) = entity_slope.split_at_mut(padded(self.dimension));
        let along = dot(slope, mapping.values);
        add_scaled(&mut vector_slope[..common], T::ONE, slope);
        add_scaled(vector_slope, along, own);
        add_scaled(own_slope, along, vector);
        add_scaled(mapping_slope, dot(vector, own), slope);
    }
}
