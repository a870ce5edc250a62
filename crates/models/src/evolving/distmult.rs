//! `DistMult`: the product of head, relation and tail, number by number.
//!
//! **Idea.** A relation weighs the agreement of head and tail in each number.
//!
//! **Paper.** Yang, Yih, He, Gao, Deng: Embedding entities and relations for learning and inference in knowledge bases. ICLR
//! 2015.
//!
//! **Score.** Σ h·r·t, the same for a triple and its reverse.
//!
//! **Training.** Softplus loss with a penalty on the rows in use, Adagrad. Defaults: those of `OpenKE` for WN18RR.
//!
//! **Differs from the paper.** The paper ranks with a margin and divides rows by their lengths; here as in `OpenKE`.
//!
//! **Cost.** That of `TransE` per triple; the defaults draw 25 false triples.

use quadcast_core::Direction;
use quadcast_kernels::Real;
use quadcast_kernels::triples::{Ends, Energy, Layout, Slopes, dot, padded};

use super::settings::{Config, LossName, OptimiserName, Sampling};
use super::space::{Row, Space, undivided};
use crate::registry::{Build, Entry};
use crate::settings::Settings;

/// The entry of the registry.
pub const ENTRY: Entry = Entry {
    name: "distmult",
    about: "Product of head, relation and tail, number by number.",
    paper: "Embedding entities and relations for learning and inference in knowledge bases",
    source: "Yang et al., ICLR 2015",
    defaults: || softplus().table(),
    build: Build::Evolving(|table| super::build::<Diagonal>("distmult", &softplus(), table)),
    base: Some("transe"),
    ..super::transe::ENTRY
};

/// The settings that the models of products share.
pub(super) fn softplus() -> Config {
    Config {
        dimension: 200,
        loss: LossName::Softplus,
        margin: 0.0,
        penalty: 1.0,
        optimiser: OptimiserName::Adagrad,
        learning_rate: 0.5,
        negatives: 25,
        sampling: Sampling::Bern,
        filtered: true,
        epochs: 2000,
        ..Config::default()
    }
}

/// The space.
#[derive(Clone, Debug)]
pub(crate) struct Diagonal {
    dimension: usize,
}

/// y += a·x·z, number by number.
#[inline(always)]
pub(super) fn add_product<T: Real>(y: &mut [T], a: T, x: &[T], z: &[T]) {
    y.iter_mut().zip(x.iter().zip(z)).for_each(|(y, (&x, &z))| *y += a * x * z);
}

/// Σ x·y·z over whole lines.
#[inline(always)]
pub(super) fn triple_product<T: Real>(x: &[T], y: &[T], z: &[T], product: &mut [T]) -> T {
    product.iter_mut().zip(x.iter().zip(y)).for_each(|(product, (&x, &y))| *product = x * y);
    dot(product, z)
}

impl<T: Real> Energy<T> for Diagonal {
    fn entity(&self) -> Layout {
        undivided(&[("entities", self.dimension)])
    }

    fn relation(&self) -> Layout {
        undivided(&[("relations", self.dimension)])
    }

    fn scratch(&self) -> usize {
        padded(self.dimension)
    }

    #[inline(always)]
    fn energy(&self, ends: &Ends<'_, T>, scratch: &mut [T]) -> T {
        -triple_product(ends.head.values, ends.relation.values, ends.tail.values, scratch)
    }

    #[inline(always)]
    fn slopes(&self, ends: &Ends<'_, T>, _: &mut [T], factor: T, slopes: &mut Slopes<'_, T>) {
        let (h, r, t) = (ends.head.values, ends.relation.values, ends.tail.values);
        add_product(slopes.head, -factor, r, t);
        add_product(slopes.relation, -factor, h, t);
        add_product(slopes.tail, -factor, h, r);
    }
}

impl Space for Diagonal {
    fn new(config: &Config) -> Self {
        Self { dimension: config.dimension }
    }

    fn query(&self, known: Row<'_>, relation: Row<'_>, _: Direction, out: &mut [f32]) {
        let pairs = known.values.iter().zip(relation.values);
        out.iter_mut().zip(pairs).for_each(|(out, (x, r))| *out = x * r);
    }
}
