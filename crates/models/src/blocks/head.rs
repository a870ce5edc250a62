//! The head that scores all entities and computes a cross entropy, without ever holding all scores.

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::Tensor;
use burn::tensor::activation::log_softmax;
use quadcast_kernels::head::{self, Goal, Gradients, Head, loss, loss_and_gradients};
use quadcast_kernels::memory::{give, take_zeroed};
use quadcast_kernels::segment::Csr;
use rayon::prelude::*;

use super::{AnyTensor, Fused, Input, Output, Returned, floats, fused};

/// The targets of the rows of a batch.
#[derive(Clone, Debug)]
pub struct Targets {
    /// The target entities of each row.
    pub lists: Arc<Csr>,
    /// One weight for each place of the lists.
    pub weights: Arc<[f32]>,
}

/// Mean over rows of `Σ_j t_j·(log Σ exp(logits) − logit_j)` with `logits = queries·entitiesᵀ`, for
/// `queries[b, d]` and `entities[n, d]`. With `row_weights[b]`, the mean is weighted.
pub fn cross_entropy(
    queries: Tensor<2>,
    entities: Tensor<2>,
    targets: Targets,
    row_weights: Option<Arc<[f32]>>,
) -> Tensor<1> {
    fused(CrossEntropy { targets, row_weights }, [queries.into(), entities.into()])
}

/// Calls `f(rows, scores[rows, n])` with `queries·entitiesᵀ` for one strip of rows after the other; memory holds one strip.
pub fn score_strips(queries: Tensor<2>, entities: Tensor<2>, f: impl FnMut(Range<usize>, &mut [f32])) {
    let d = queries.dims()[1];
    let [queries, entities] = [queries, entities].map(|x| AnyTensor::from(x).values());
    head::score_strips(&Head { queries: &queries, entities: &entities, d }, f);
}

struct CrossEntropy {
    targets: Targets,
    row_weights: Option<Arc<[f32]>>,
}

impl CrossEntropy {
    fn goal(&self) -> Goal<'_, f32> {
        let Targets { lists, weights } = &self.targets;
        Goal { lists, weights, row_weights: self.row_weights.as_deref() }
    }

    /// Weight of every entity in every row `[b, n]`.
    fn dense(&self, rows: usize, entities: usize) -> Vec<f32> {
        let Targets { lists, weights } = &self.targets;
        let mut dense = vec![0.0; rows * entities];
        for row in 0..rows {
            let share = self.row_weights.as_ref().map_or(1.0, |w| w[row]);
            let weights = &weights[lists.starts[row] as usize..];
            for (&item, weight) in lists.segment(row).iter().zip(weights) {
                dense[row * entities + item as usize] += share * weight;
            }
        }
        dense
    }
}

impl Fused<2> for CrossEntropy {
    /// Gradients for an upstream gradient of 1: with the loss, they cost a third less than later.
    type ForwardState = Option<[Vec<f32>; 2]>;

    fn forward(&self, inputs: [Input; 2], tape: bool) -> (Output, Self::ForwardState) {
        let [queries, entities] = inputs;
        let d = queries.shape[1];
        let head = Head { queries: queries.values, entities: entities.values, d };
        if !tape {
            return (Output::new(vec![loss(&head, &self.goal())], &[1]), None);
        }
        let mut kept = inputs.map(|input| take_zeroed(input.values.len()).into_vec());
        let [queries, entities] = &mut kept;
        let loss = loss_and_gradients(&head, &self.goal(), &mut Gradients { queries, entities });
        (Output::new(vec![loss], &[1]), Some(kept))
    }

    fn backward(
        self,
        _: [Input; 2],
        kept: Self::ForwardState,
        returned: Returned,
        gradients: &mut [Vec<f32>; 2],
    ) {
        let kept = kept.expect("the forward pass was told of the tape");
        scale_into(kept, returned.gradient[0], gradients);
    }

    fn composed(&self, [queries, entities]: [AnyTensor; 2]) -> AnyTensor {
        let queries = queries.tensor::<2>();
        let [rows, _] = queries.dims();
        let logits = queries.matmul(entities.tensor::<2>().transpose());
        let entities = logits.dims()[1];
        let weights = floats(self.dense(rows, entities), [rows, entities], &logits);
        let total: f32 = self.row_weights.as_ref().map_or(rows as f32, |w| w.iter().sum());
        ((log_softmax(logits, 1) * weights).sum() / -total).into()
    }
}

/// Scales gradients for an upstream gradient of 1 to the actual one.
pub(super) fn scale_into<const N: usize>(kept: [Vec<f32>; N], upstream: f32, gradients: &mut [Vec<f32>; N]) {
    for (mut kept, gradient) in kept.into_iter().zip(gradients) {
        if upstream != 1.0 {
            kept.par_chunks_mut(1 << 14).for_each(|part| part.iter_mut().for_each(|x| *x *= upstream));
        }
        give(std::mem::replace(gradient, kept));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{check, random};

    #[test]
    fn losses_and_their_gradients() {
        let inputs = [random("queries", &[4, 6]), random("entities", &[9, 6])];
        let one = [(0, 3), (1, 3), (2, 0), (3, 8)];
        let soft = [(0, 1), (0, 4), (2, 0), (3, 5), (3, 6)];
        let row_weights: Arc<[f32]> = Arc::from([1.0, 2.0, 0.5, 1.0]);
        for (pairs, weights, row_weights) in [
            (&one[..], &[1.0; 4][..], None),
            (&one, &[1.0; 4], Some(row_weights)),
            (&soft, &[0.5, 0.5, 1.0, 0.9, 0.1], None),
        ] {
            let lists = Arc::new(Csr::from_pairs(4, pairs.iter().copied()));
            let targets = Targets { lists, weights: weights.into() };
            check(|| CrossEntropy { targets: targets.clone(), row_weights: row_weights.clone() }, &inputs);
        }
    }
}
