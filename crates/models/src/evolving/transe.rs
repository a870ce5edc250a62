//! `TransE`: a relation moves heads to tails.
//!
//! **Idea.** Entities are points, a relation is a vector, and a triple is plausible if head plus
//! relation is near the tail.
//!
//! **Paper.** Bordes, Usunier, García-Durán, Weston, Yakhnenko: Translating embeddings for modeling multi-relational data.
//! NIPS 2013.
//!
//! **Score.** −‖ĥ + r̂ − t̂‖ with L1 or L2 and x̂ = x/‖x‖.
//!
//! **Training.** Margin loss against drawn false triples, a mean over the batch; gradient descent. Defaults: those of
//! Lafraie's study of `WikidataEvolve` (2020; L1, margin 5, rate 0.1, 100 numbers), where the best state is the one with the
//! highest H@10 on validation. After a change, training continues from the current state on the given triples.
//!
//! **Differs from the paper.** As in the later `OpenKE`, relations are divided by their lengths too, entities in the energy
//! and not after each epoch, and the loss is a mean: the rate of the paper's sum is this one divided by the batch.
//!
//! **Cost.** Four rows read and moved per triple and false triple; memory is that of the tables, and of the gradients of the
//! rows that a batch touches.

use quadcast_core::Direction;
use quadcast_kernels::compare::Likeness;
use quadcast_kernels::triples::{Norm, Translation};

use super::settings::Config;
use super::space::{Row, Space};
use crate::config::defaults;
use crate::registry::{Build, Entry};
use crate::settings::Settings;

/// The entry of the registry.
pub const ENTRY: Entry = Entry {
    name: "transe",
    about: "A relation is a vector that moves heads to tails.",
    paper: "Translating embeddings for modeling multi-relational data",
    source: "Bordes et al., NIPS 2013",
    aliases: &[],
    capabilities: || super::CAPABILITIES,
    settings: Config::SETTINGS,
    base: None,
    quick: &["dimension=16", "epochs=20", "validate_every=10", "batches=10", "negatives=2"],
    defaults: defaults::<Config>,
    build: Build::Evolving(|table| super::build::<Translation>("transe", &Config::default(), table)),
};

/// The first numbers of a row, divided by their length if they are a unit segment.
fn divided(row: Row<'_>, unit: bool, width: usize) -> impl Iterator<Item = f32> {
    let scale = if unit { row.scales[0] } else { 1.0 };
    row.values[..width].iter().map(move |x| scale * x)
}

/// How distances of a norm are compared.
pub(super) fn likeness(norm: Norm) -> Likeness {
    match norm {
        Norm::L1 => Likeness::L1,
        Norm::L2 => Likeness::L2,
    }
}

/// Adds a relation to a head, or takes it away from a tail. The relation may be a unit segment.
pub(super) fn translate(relation: Row<'_>, unit: bool, direction: Direction, out: &mut [f32]) {
    let sign = if direction == Direction::Object { 1.0 } else { -1.0 };
    let width = out.len();
    out.iter_mut().zip(divided(relation, unit, width)).for_each(|(out, r)| *out += sign * r);
}

impl Space for Translation {
    const READS: &'static [&'static str] = &["norm", "normalise", "neighbour_start"];

    fn new(config: &Config) -> Self {
        Self { dimension: config.dimension, norm: config.distance(), unit: config.normalise }
    }

    fn likeness(&self) -> Likeness {
        likeness(self.norm)
    }

    fn query(&self, known: Row<'_>, relation: Row<'_>, direction: Direction, out: &mut [f32]) {
        self.candidate(known, relation, out);
        translate(relation, self.unit, direction, out);
    }

    fn candidate(&self, entity: Row<'_>, _: Row<'_>, out: &mut [f32]) {
        let width = out.len();
        out.iter_mut().zip(divided(entity, self.unit, width)).for_each(|(out, x)| *out = x);
    }

    fn guess(&self, known: Row<'_>, relation: Row<'_>, direction: Direction, out: &mut [f32]) -> bool {
        let width = out.len();
        out.iter_mut().zip(divided(known, self.unit, width)).for_each(|(out, x)| *out += x);
        translate(relation, self.unit, direction, out);
        true
    }
}
