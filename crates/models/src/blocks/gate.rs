//! Time gate: how much of the new state replaces the old one.

use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;
use quadcast_kernels::gate::{self, Gradients, Inputs};
use quadcast_kernels::memory::{Buffer, take};

use super::{AnyTensor, Fused, Initial, Input, Output, Parameter, Parameters, Returned, fused};

/// `u∘candidate + (1 − u)∘old` with `u = σ(old·W + b)`.
#[derive(Clone, Copy, Debug)]
pub struct TimeGate {
    weight: Parameter,
    bias: Parameter,
}

impl TimeGate {
    /// Adds the weight (Xavier uniform with the gain of ReLU) and the bias (0) of a gate for vectors of length `d` to the
    /// store under this name.
    pub fn new(name: &str, d: usize, parameters: &mut Parameters) -> Self {
        let weight = parameters.add(format!("{name}.weight"), &[d, d], Initial::xavier_uniform_relu(d, d));
        Self { weight, bias: parameters.add(format!("{name}.bias"), &[d], Initial::ZERO) }
    }

    /// `[n, d]` for an old state and a candidate of this shape.
    pub fn forward(&self, parameters: &Parameters, old: Tensor<2>, candidate: Tensor<2>) -> Tensor<2> {
        let [weight, bias] = [self.weight, self.bias].map(|p| parameters.any(p));
        fused(Gate, [old.into(), candidate.into(), weight, bias])
    }
}

struct Gate;

fn inputs([old, candidate, weight, bias]: [Input<'_>; 4]) -> Inputs<'_, f32> {
    Inputs { old: old.values, candidate: candidate.values, weight: weight.values, bias: bias.values }
}

impl Fused<4> for Gate {
    /// u
    type ForwardState = Buffer<f32>;

    const SETS: [bool; 4] = [true, true, false, false];

    fn forward(&self, slices: [Input; 4], _tape: bool) -> (Output, Self::ForwardState) {
        let len = slices[0].values.len();
        let (mut out, mut gate) = (take(len).into_vec(), take(len));
        gate::forward(&inputs(slices), &mut gate, &mut out);
        (Output::new(out, slices[0].shape), gate)
    }

    fn backward(
        self,
        slices: [Input; 4],
        gate: Buffer<f32>,
        returned: Returned,
        [old, candidate, weight, bias]: &mut [Vec<f32>; 4],
    ) {
        let mut gradients = Gradients { old, candidate, weight, bias };
        gate::backward(&inputs(slices), &gate, returned.gradient, &mut gradients);
    }

    fn composed(&self, [old, candidate, weight, bias]: [AnyTensor; 4]) -> AnyTensor {
        let [old, candidate, weight] = [old, candidate, weight].map(AnyTensor::tensor::<2>);
        let u = sigmoid(old.clone().matmul(weight) + bias.tensor::<1>().unsqueeze());
        (u.clone() * candidate + (-u + 1.0) * old).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{check, random};

    #[test]
    fn gate_and_its_gradients() {
        let [old, candidate] = ["old", "candidate"].map(|name| random(name, &[5, 4]));
        check(|| Gate, &[old, candidate, random("weight", &[4, 4]), random("bias", &[4])]);
    }
}
