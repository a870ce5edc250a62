//! Gated recurrent cell, in the gate order (r, z, n) and the formula of `PyTorch`.

use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;
use quadcast_kernels::gru::{self, Gradients, Weights};
use quadcast_kernels::memory::take;

use super::{AnyTensor, Fused, Initial, Input, Output, Parameter, Parameters, Returned, fused, linear};

/// r = σ(`W_ir`·x + `b_ir` + `W_hr`·h + `b_hr`), z likewise, n = tanh(`W_in`·x + `b_in` + r∘(`W_hn`·h + `b_hn`)),
/// h' = (1 − z)∘n + z∘h.
#[derive(Clone, Copy, Debug)]
pub struct GruCell {
    /// Input and hidden weights, input and hidden biases.
    weights: [Parameter; 4],
}

impl GruCell {
    /// Adds weights and biases for inputs and states of these lengths to the store under this name, all uniform up to 1/√d.
    pub fn new(name: &str, inputs: usize, d: usize, parameters: &mut Parameters) -> Self {
        let (rows, initial) = (3 * d, Initial::by_inputs(d));
        let mut add =
            |which: &str, shape: &[usize]| parameters.add(format!("{name}.{which}"), shape, initial);
        let (input, hidden) = (add("input.weight", &[rows, inputs]), add("hidden.weight", &[rows, d]));
        Self { weights: [input, hidden, add("input.bias", &[rows]), add("hidden.bias", &[rows])] }
    }

    /// The next states `[b, d]` for inputs `x[b, inputs]` and states `h[b, d]`.
    pub fn forward(&self, parameters: &Parameters, x: Tensor<2>, h: Tensor<2>) -> Tensor<2> {
        let [weight, _, bias, _] = self.weights.map(|p| parameters.any(p));
        self.forward_mapped(parameters, linear(x, weight, bias), h)
    }

    /// As [`GruCell::forward`], for `x[b, 3d]` to which `W_i` and `b_i` are already applied.
    pub fn forward_mapped(&self, parameters: &Parameters, x: Tensor<2>, h: Tensor<2>) -> Tensor<2> {
        let [_, weight, _, bias] = self.weights.map(|p| parameters.any(p));
        fused(Cell, [x.into(), h.into(), weight, bias])
    }

    /// `W_i`, `[3d, inputs]`, and `b_i`, `[3d]`.
    pub fn input_map(&self, parameters: &Parameters) -> (Tensor<2>, Tensor<1>) {
        let [weight, _, bias, _] = self.weights;
        (parameters.get(weight), parameters.get(bias))
    }
}

struct Cell;

fn weights([_, _, hidden, bias]: [Input<'_>; 4]) -> Weights<'_, f32> {
    Weights { hidden: hidden.values, hidden_bias: bias.values }
}

impl Fused<4> for Cell {
    type ForwardState = gru::ForwardState<f32>;

    const SETS: [bool; 4] = [true, true, false, false];

    fn forward(&self, inputs: [Input; 4], _tape: bool) -> (Output, Self::ForwardState) {
        let [x, h, ..] = inputs;
        let mut out = take(h.values.len()).into_vec();
        let kept = gru::forward(&weights(inputs), x.values, h.values, &mut out);
        (Output::new(out, h.shape), kept)
    }

    fn backward(
        self,
        inputs: [Input; 4],
        kept: Self::ForwardState,
        returned: Returned,
        [x, h, hidden, hidden_bias]: &mut [Vec<f32>; 4],
    ) {
        let mut gradients = Gradients { x, h, hidden, hidden_bias };
        gru::backward(&weights(inputs), inputs[1].values, &kept, returned.gradient, &mut gradients);
    }

    #[allow(clippy::many_single_char_names, reason = "letters of the formula")]
    fn composed(&self, [x, h, weight, bias]: [AnyTensor; 4]) -> AnyTensor {
        let (x, h) = (x.tensor::<2>().chunk(3, 1), h.tensor::<2>());
        let hidden = h.clone().matmul(weight.tensor::<2>().transpose()) + bias.tensor::<1>().unsqueeze();
        let hidden = hidden.chunk(3, 1);
        let gate = |i: usize| sigmoid(x[i].clone() + hidden[i].clone());
        let (r, z) = (gate(0), gate(1));
        let n = (x[2].clone() + r * hidden[2].clone()).tanh();
        ((-z.clone() + 1.0) * n + z * h).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{check, random};

    #[test]
    fn cell_and_its_gradients() {
        let inputs = [
            random("x", &[5, 12]),
            random("h", &[5, 4]),
            random("hidden weight", &[12, 4]),
            random("hidden bias", &[12]),
        ];
        check(|| Cell, &inputs);
    }
}
