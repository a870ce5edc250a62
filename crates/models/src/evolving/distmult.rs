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
use quadcast_kernels::compare::Likeness;
use quadcast_kernels::triples::{Ends, Energy, Layout, RowView, Segment, Slopes, dot};

use super::settings::{Config, LossName, OptimiserName, Sampling};
use super::space::{Named, Space};
use crate::registry::Entry;

pub(super) struct DistMult;

impl Named for DistMult {
    type Space = Diagonal;
    const NAME: &'static str = "distmult";
    const ABOUT: &'static str = "Product of head, relation and tail, number by number.";
    const PAPER: &'static str =
        "Embedding entities and relations for learning and inference in knowledge bases";
    const SOURCE: &'static str = "Yang et al., ICLR 2015";

    fn config() -> Config {
        softplus()
    }
}

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

/// The entry of the registry.
pub const ENTRY: Entry = super::entry::<DistMult>();

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
        Layout(vec![Segment { name: "entities", width: self.dimension, unit: false }])
    }

    fn relation(&self) -> Layout {
        Layout(vec![Segment { name: "relations", width: self.dimension, unit: false }])
    }

    fn scratch(&self) -> usize {
        self.dimension.next_multiple_of(quadcast_kernels::triples::LINE)
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

    fn likeness(&self) -> Likeness {
        Likeness::Dot
    }

    fn width(&self) -> usize {
        self.dimension
    }

    fn query(&self, known: RowView<'_, f32>, relation: RowView<'_, f32>, _: Direction, out: &mut [f32]) {
        let pairs = known.values.iter().zip(relation.values);
        out.iter_mut().zip(pairs).for_each(|(out, (x, r))| *out = x * r);
    }

    fn candidate(&self, entity: RowView<'_, f32>, _: RowView<'_, f32>, out: &mut [f32]) {
        out.copy_from_slice(&entity.values[..out.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::Diagonal;

    #[test]
    fn gradients_are_those_of_the_energy() {
        testing::check_gradients::<Diagonal>(testing::PRODUCTS);
    }

    #[test]
    fn scores_are_energies() {
        testing::check_scores::<Diagonal>(testing::PRODUCTS);
    }
}
