//! Gated recurrent cell, in the gate order (r, z, n) and the formula of `PyTorch`.

use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;
use quadcast_kernels::gru::{self, Gradients, Weights};
use quadcast_kernels::memory::take;

use super::{AnyTensor, Fused, Initial, Input, Output, Parameter, Parameters, Returned, fused};

/// Sizes of a cell.
#[derive(Clone, Copy, Debug)]
pub struct GruCellConfig {
    /// Length of an input.
    pub inputs: usize,
    /// Length of a state.
    pub d: usize,
}

impl GruCellConfig {
    /// Adds weights and biases to the store under this name, all uniform up to 1/√d.
    pub fn init(&self, name: &str, parameters: &mut Parameters) -> GruCell {
        let (rows, initial) = (3 * self.d, Initial::by_inputs(self.d));
        let mut add =
            |which: &str, shape: &[usize]| parameters.add(format!("{name}.{which}"), shape, initial);
        GruCell {
            weights: [
                add("input.weight", &[rows, self.inputs]),
                add("hidden.weight", &[rows, self.d]),
                add("input.bias", &[rows]),
                add("hidden.bias", &[rows]),
            ],
        }
    }
}

/// r = σ(`W_ir`·x + `b_ir` + `W_hr`·h + `b_hr`), z likewise, n = tanh(`W_in`·x + `b_in` + r∘(`W_hn`·h + `b_hn`)),
/// h' = (1 − z)∘n + z∘h.
#[derive(Clone, Copy, Debug)]
pub struct GruCell {
    /// Input and hidden weights, input and hidden biases.
    weights: [Parameter; 4],
}

impl GruCell {
    /// The next states `[b, d]` for inputs `x[b, inputs]` and states `h[b, d]`.
    pub fn forward(&self, parameters: &Parameters, x: Tensor<2>, h: Tensor<2>) -> Tensor<2> {
        let [wi, wh, bi, bh] = self.weights.map(|p| parameters.any(p));
        fused(Cell, [x.into(), h.into(), wi, wh, bi, bh])
    }
}

struct Cell;

fn weights([_, _, wi, wh, bi, bh]: [Input<'_>; 6]) -> Weights<'_, f32> {
    Weights { input: wi.values, hidden: wh.values, input_bias: bi.values, hidden_bias: bh.values }
}

impl Fused<6> for Cell {
    type Kept = gru::Kept<f32>;

    fn forward(&self, inputs: [Input; 6], _tape: bool) -> (Output, Self::Kept) {
        let [x, h, ..] = inputs;
        let mut out = take(h.values.len()).into_vec();
        let kept = gru::forward(&weights(inputs), x.values, h.values, &mut out);
        (Output::new(out, h.shape), kept)
    }

    fn backward(
        self,
        inputs: [Input; 6],
        kept: Self::Kept,
        returned: Returned,
        [x, h, input, hidden, input_bias, hidden_bias]: &mut [Vec<f32>; 6],
    ) {
        let mut gradients = Gradients { x, h, input, hidden, input_bias, hidden_bias };
        let (x, h) = (inputs[0].values, inputs[1].values);
        gru::backward(&weights(inputs), x, h, &kept, returned.gradient, &mut gradients);
    }

    #[allow(clippy::many_single_char_names, reason = "letters of the formula")]
    fn composed(&self, [x, h, wi, wh, bi, bh]: [AnyTensor; 6]) -> AnyTensor {
        let h = h.tensor::<2>();
        let linear = |x: Tensor<2>, w: AnyTensor, b: AnyTensor| {
            (x.matmul(w.tensor::<2>().transpose()) + b.tensor::<1>().unsqueeze()).chunk(3, 1)
        };
        let (input, hidden) = (linear(x.tensor(), wi, bi), linear(h.clone(), wh, bh));
        let gate = |i: usize| sigmoid(input[i].clone() + hidden[i].clone());
        let (r, z) = (gate(0), gate(1));
        let n = (input[2].clone() + r * hidden[2].clone()).tanh();
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
            random("x", &[5, 7]),
            random("h", &[5, 4]),
            random("input weight", &[12, 7]),
            random("hidden weight", &[12, 4]),
            random("input bias", &[12]),
            random("hidden bias", &[12]),
        ];
        check(|| Cell, &inputs);
    }
}
