//! CyGNet's head: a mixture of a softmax over the answers seen before and one over all entities.

use std::sync::Arc;

use burn::tensor::Tensor;
use burn::tensor::activation::softmax;
use quadcast_kernels::memory::take_zeroed;
use quadcast_kernels::mixture::{Gradients, Linear, Mixture, loss, loss_and_gradients, score_strips};
use quadcast_kernels::segment::Csr;

use super::embedding::{floats, integers};
use super::{AnyTensor, Fused, Initial, Input, Output, Parameter, Parameters, Returned, fused};

/// Sizes of the head.
#[derive(Clone, Copy, Debug)]
pub struct MixtureHeadConfig {
    /// Length of a query vector.
    pub inputs: usize,
    /// Number of entities.
    pub entities: usize,
    /// Share of the copy side, α, in (0, 1).
    pub alpha: f64,
}

impl MixtureHeadConfig {
    /// Adds two linear layers to the store under this name, with the default initial values of such layers.
    pub fn init(&self, name: &str, parameters: &mut Parameters) -> MixtureHead {
        let initial = Initial::by_inputs(self.inputs);
        let mut layer = |side: &str| {
            let weight =
                parameters.add(format!("{name}.{side}.weight"), &[self.entities, self.inputs], initial);
            let bias = parameters.add(format!("{name}.{side}.bias"), &[self.entities], initial);
            (weight, bias)
        };
        MixtureHead { copy: layer("copy"), generate: layer("generate"), alpha: self.alpha }
    }
}

/// Scores of all entities: log(α·softmax over the vocabulary + (1 − α)·softmax over all).
#[derive(Clone, Copy, Debug)]
pub struct MixtureHead {
    copy: (Parameter, Parameter),
    generate: (Parameter, Parameter),
    alpha: f64,
}

impl MixtureHead {
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
        let [cw, cb, gw, gb] = self.layers(parameters);
        fused(op, [queries.into(), cw, cb, gw, gb])
    }

    /// Calls `f(row, scores of all entities)` for each row; memory holds one strip of rows.
    pub fn scores(
        &self,
        parameters: &Parameters,
        queries: Tensor<2>,
        vocabulary: &Csr,
        mut f: impl FnMut(usize, &mut [f32]),
    ) {
        let d = queries.dims()[1];
        let queries = AnyTensor::from(queries).values();
        let [cw, cb, gw, gb] = self.layers(parameters).map(|x| x.values());
        let mixture = Mixture {
            queries: &queries,
            copy: Linear { weight: &cw, bias: &cb },
            generate: Linear { weight: &gw, bias: &gb },
            vocabulary,
            alpha: self.alpha,
            d,
        };
        score_strips(&mixture, |rows, strip| {
            rows.zip(strip.chunks_mut(gb.len().max(1))).for_each(|(row, scores)| f(row, scores));
        });
    }

    fn layers(&self, parameters: &Parameters) -> [AnyTensor; 4] {
        [self.copy.0, self.copy.1, self.generate.0, self.generate.1].map(|p| parameters.any(p))
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
        let loss = loss_and_gradients(&mixture, &self.targets, 1.0, &mut gradients);
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

    fn vocabulary() -> Arc<Csr> {
        // Row 1 has none, the target of row 3 is not in its vocabulary.
        let pairs = [(0, 1), (0, 4), (2, 0), (3, 5), (3, 6)];
        Arc::new(Csr::from_pairs(4, pairs.into_iter()))
    }

    #[test]
    fn loss_and_gradients_are_those_of_the_definition() {
        let (targets, vocabulary) = (Arc::from([4, 2, 0, 3]), vocabulary());
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

    #[test]
    fn the_loss_is_the_mean_of_the_scores() {
        let mut parameters = Parameters::new(1, &burn::tensor::Device::flex());
        let head = MixtureHeadConfig { inputs: 6, entities: 9, alpha: 0.3 }.init("head", &mut parameters);
        let (values, shape) = random("queries", &[4, 6]);
        let queries: Tensor<2> = AnyTensor::new(values, &shape, parameters.device()).tensor();
        let targets = [4, 2, 0, 3];
        let scores = std::sync::Mutex::new([0.0; 4]);
        head.scores(&parameters, queries.clone(), &vocabulary(), |row, all| {
            scores.lock().unwrap()[row] = all[targets[row] as usize];
        });
        let loss = head.loss(&parameters, queries, targets, vocabulary()).into_scalar::<f32>();
        let mean = scores.into_inner().unwrap().iter().sum::<f32>() / -4.0;
        assert!((loss - mean).abs() < 1e-5, "{loss} {mean}");
    }
}
