//! `SimplE`: two products, of a triple and of its reverse.
//!
//! **Idea.** An entity has one vector as a head and another as a tail. So that each learns from both roles, a triple is
//! scored together with its reverse under an inverse relation.
//!
//! **Paper.** Kazemi, Poole: `SimplE` embedding for link prediction in knowledge graphs. `NeurIPS` 2018.
//!
//! **Score.** ½·Σ h₁·r·t₂ + ½·Σ t₁·r′·h₂, with vectors 1 and 2 of an entity as head and as tail.
//!
//! **Training.** As `DistMult`.
//!
//! **Differs from the paper.** Batches, draws and the penalty are those of `OpenKE`, which has one vector per entity, so that
//! a triple and its reverse have the same score, and predicts with the first product only; here both are as in the paper.
//!
//! **Cost.** That of `DistMult` with rows twice as long.

use quadcast_core::Direction;
use quadcast_kernels::Real;
use quadcast_kernels::triples::{Ends, Energy, Layout, Slopes, padded};

use super::distmult::{add_product, softplus, triple_product};
use super::settings::Config;
use super::space::{Row, Space, undivided};
use crate::registry::{Build, Entry};
use crate::settings::Settings;

/// The entry of the registry.
pub const ENTRY: Entry = Entry {
    name: "simple",
    about: "Products of a triple and of its reverse.",
    paper: "SimplE embedding for link prediction in knowledge graphs",
    source: "Kazemi, Poole, NeurIPS 2018",
    defaults: || softplus().table(),
    build: Build::Evolving(|table| super::build::<BothWays>("simple", &softplus(), table)),
    base: Some("transe"),
    ..super::transe::ENTRY
};

/// The space.
#[derive(Clone, Debug)]
pub(crate) struct BothWays {
    dimension: usize,
}

impl BothWays {
    /// Both vectors of a row.
    #[inline(always)]
    fn halves<'a, T>(&self, row: &'a [T]) -> (&'a [T], &'a [T]) {
        row.split_at(padded(self.dimension))
    }
}

impl<T: Real> Energy<T> for BothWays {
    fn entity(&self) -> Layout {
        undivided(&[("entities_as_heads", self.dimension), ("entities_as_tails", self.dimension)])
    }

    fn relation(&self) -> Layout {
        undivided(&[("relations", self.dimension), ("inverse_relations", self.dimension)])
    }

    fn scratch(&self) -> usize {
        padded(self.dimension)
    }

    #[inline(always)]
    fn energy(&self, ends: &Ends<'_, T>, scratch: &mut [T]) -> T {
        let [h, r, t] = [ends.head, ends.relation, ends.tail].map(|row| self.halves(row.values));
        let sum = triple_product(h.0, r.0, t.1, scratch) + triple_product(t.0, r.1, h.1, scratch);
        -(T::from_f64(0.5) * sum)
    }

    #[inline(always)]
    fn slopes(&self, ends: &Ends<'_, T>, _: &mut [T], factor: T, slopes: &mut Slopes<'_, T>) {
        let [h, r, t] = [ends.head, ends.relation, ends.tail].map(|row| self.halves(row.values));
        let [dh, dr, dt] = [&mut *slopes.head, &mut *slopes.relation, &mut *slopes.tail]
            .map(|row| row.split_at_mut(padded(self.dimension)));
        let factor = -(T::from_f64(0.5) * factor);
        add_product(dh.0, factor, r.0, t.1);
        add_product(dr.0, factor, h.0, t.1);
        add_product(dt.1, factor, h.0, r.0);
        add_product(dt.0, factor, r.1, h.1);
        add_product(dr.1, factor, t.0, h.1);
        add_product(dh.1, factor, t.0, r.1);
    }
}

impl Space for BothWays {
    fn new(config: &Config) -> Self {
        Self { dimension: config.dimension }
    }

    /// A candidate is `[as head ; as tail]` for both sides: the first half of a query is compared with its vector as a head.
    fn query(&self, known: Row<'_>, relation: Row<'_>, direction: Direction, out: &mut [f32]) {
        let (x, r) = (self.halves(known.values), self.halves(relation.values));
        let r = if direction == Direction::Object { (r.1, r.0) } else { r };
        let (first, second) = out.split_at_mut(self.dimension);
        for (out, x, r) in [(first, x.1, r.0), (second, x.0, r.1)] {
            out.iter_mut().zip(x.iter().zip(r)).for_each(|(out, (x, r))| *out = 0.5 * x * r);
        }
    }

    fn candidate(&self, entity: Row<'_>, _: Row<'_>, out: &mut [f32]) {
        let (as_head, as_tail) = self.halves(entity.values);
        let (first, second) = out.split_at_mut(self.dimension);
        first.copy_from_slice(&as_head[..self.dimension]);
        second.copy_from_slice(&as_tail[..self.dimension]);
    }
}
