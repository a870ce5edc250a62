//! CyGNet's head: a mixture of a softmax over the answers seen before and one over all entities.

use std::sync::Arc;

use burn::tensor::Tensor;
use burn::tensor::activation::softmax;
use quadcast_kernels::memory::take_zeroed;
use quadcast_kernels::mixture::{Gradients, Linear, Mixture, loss, loss_and_gradients};
use quadcast_kernels::segment::Csr;

use super::embedding::{floats, integers};
use super::{AnyTensor, Fused, Initial, Input, Output, Parameter, Parameters, Returned, fused};

/// Scores of all entities: log(α·softmax over the vocabulary + (1 − α)·softmax over all).
#[derive(Clone, Copy, Debug)]
pub struct MixtureHead {
    copy: (Parameter, Parameter),
    generate: (Parameter, Parameter),
    alpha: f64,
}

impl MixtureHead {
    /// Adds two linear layers from queries of length `inputs` onto all entities to the store under this name, with the
    /// default initial values of such layers. `alpha` is the share of the copy side, in (0, 1).
    pub fn new(name: &str, inputs: usize, entities: usize, alpha: f64, parameters: &mut Parameters) -> Self {
        let initial = Initial::by_inputs(inputs);
        let mut layer = |side: &str| {
            let weight = parameters.add(format!("{name}.{side}.weight"), &[entities, inputs], initial);
            (weight, parameters.add(format!("{name}.{side}.bias"), &[entities], initial))
        };
        Self { copy: layer("copy"), generate: layer("generate"), alpha }
    }

    /// Mean of −score(target) over the rows of `queries[b, inputs]`. `vocabulary` holds, for each row, the
    /// sorted ids that were an answer before.
    pub fn loss(
        &self,
        parameters: &Parameters,
        queries: Tensor<2>,
        targets: impl Into<Arc<[u32]>>,
        vocabulary: Arc<Csr>,
    ) -> Tensor<1> {
        let op = MixtureLoss { targets: targets.into(), vocabulary, alpha: self.alpha };
        let [copy, copy_bias] = [self.copy.0, self.copy.1].map(|p| parameters.any(p));
        let [generate, generate_bias] = [self.generate.0, self.generate.1].map(|p| parameters.any(p));
        fused(op, [queries.into(), copy, copy_bias, generate, generate_bias])
    }
}

struct MixtureLoss {
    targets: Arc<[u32]>,
    vocabulary: Arc<Csr>,
    alpha: f64,
}

impl MixtureLoss {
    fn mixture<'a>(&'a self, [x, cw, cb, gw, gb]: [Input<'a>; 5]) -> Mixture<'a, f32> {
        Mixture {
            queries: x.values,
            copy: Linear { weight: cw.values, bias: cb.values },
            generate: Linear { weight: gw.values, bias: gb.values },
            vocabulary: &self.vocabulary,
            alpha: self.alpha,
            d: x.shape[1],
        }
    }
}

impl Fused<5> for MixtureLoss {
    /// Gradients for an upstream gradient of 1: with the loss, they cost little.
    type ForwardState = Option<[Vec<f32>; 5]>;

    fn forward(&self, inputs: [Input; 5], tape: bool) -> (Output, Self::ForwardState) {
        let mixture = self.mixture(inputs);
        if !tape {
            return (Output::new(vec![loss(&mixture, &self.targets)], &[1]), None);
        }
        let mut kept = inputs.map(|input| take_zeroed(input.values.len()).into_vec());
        let [queries, copy_weight, copy_bias, generate_weight, generate_bias] = &mut kept;
        let mut gradients = Gradients { queries, copy_weight, copy_bias, generate_weight, generate_bias };
        let loss = loss_and_gradients(&mixture, &self.targets, &mut gradients);
        (Output::new(vec![loss], &[1]), Some(kept))
    }

    fn backward(
        self,
        _: [Input; 5],
        kept: Self::ForwardState,
        returned: Returned,
        gradients: &mut [Vec<f32>; 5],
    ) {
        let kept = kept.expect("the forward pass was told of the tape");
        super::head::scale_into(kept, returned.gradient[0], gradients);
    }

    fn composed(&self, [x, cw, cb, gw, gb]: [AnyTensor; 5]) -> AnyTensor {
        let x = x.tensor::<2>();
        let linear = |w: AnyTensor, b: AnyTensor| {
            x.clone().matmul(w.tensor::<2>().transpose()) + b.tensor::<1>().unsqueeze()
        };
        let [rows, _] = x.dims();
        let copy = linear(cw, cb).tanh();
        let entities = copy.dims()[1];
        let mut absent = vec![100.0_f32; rows * entities];
        for row in 0..rows {
            for &id in self.vocabulary.segment(row) {
                absent[row * entities + id as usize] = 0.0;
            }
        }
        let absent = floats(absent, [rows, entities], &x);
        let mix = softmax(copy - absent, 1) * self.alpha + softmax(linear(gw, gb), 1) * (1.0 - self.alpha);
        let targets = integers(&self.targets, &x).unsqueeze_dim(1);
        (-mix.gather(1, targets).log()).mean().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{check, random};

    #[test]
    fn loss_and_gradients_are_those_of_the_definition() {
        // Row 1 has no vocabulary, the target of row 3 is not in its own.
        let pairs = [(0, 1), (0, 4), (2, 0), (3, 5), (3, 6)];
        let vocabulary = Arc::new(Csr::from_pairs(4, pairs.into_iter()));
        let targets = Arc::from([4, 2, 0, 3]);
        let op = || MixtureLoss { targets: Arc::clone(&targets), vocabulary: vocabulary.clone(), alpha: 0.8 };
        let inputs = [
            random("queries", &[4, 6]),
            random("copy weight", &[9, 6]),
            random("copy bias", &[9]),
            random("generate weight", &[9, 6]),
            random("generate bias", &[9]),
        ];
        check(op, &inputs);
    }
}
