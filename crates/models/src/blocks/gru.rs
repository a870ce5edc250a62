//! Gated recurrent cell, in the gate order (r, z, n) and the formula of `PyTorch`.

use std::sync::Arc;

use burn::tensor::Tensor;
use burn::tensor::activation::sigmoid;
use quadcast_kernels::gru::{self, Gradients, Weights};
use quadcast_kernels::memory::{Buffer, take, take_zeroed};

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

    /// The last states `[sequences, d]` of sequences of different lengths, which start at 0. `x[_, 3d]`, to which `W_i` and `b_i` are
    /// already applied, holds the first members of all sequences, then the second ones, and so on; `members[j]` is the number
    /// of sequences that have more than `j` members. The longest sequences come first; those without members stay 0.
    pub fn last_states(
        &self,
        parameters: &Parameters,
        x: Tensor<2>,
        sequences: usize,
        members: Arc<[usize]>,
    ) -> Tensor<2> {
        let [_, weight, _, bias] = self.weights.map(|p| parameters.any(p));
        fused(Sequences { sequences, members }, [x.into(), weight, bias])
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

/// See [`GruCell::last_states`].
struct Sequences {
    sequences: usize,
    members: Arc<[usize]>,
}

/// What a member of the sequences leaves for the backward pass: the states before it, and those of the cell.
type Member = (Buffer<f32>, gru::ForwardState<f32>);

impl Fused<3> for Sequences {
    type ForwardState = Vec<Member>;

    const SETS: [bool; 3] = [true, false, false];

    fn forward(&self, [x, hidden, bias]: [Input; 3], tape: bool) -> (Output, Self::ForwardState) {
        let d = hidden.shape[1];
        assert!(self.members.is_sorted_by(|a, b| a >= b), "the longest sequences come first");
        assert_eq!(self.members.iter().sum::<usize>(), x.shape[0], "a row per member");
        let weights = Weights { hidden: hidden.values, hidden_bias: bias.values };
        let mut states = take_zeroed(self.sequences * d).into_vec();
        let (mut kept, mut first) = (Vec::new(), 0);
        for &count in &*self.members {
            let mut before = take(count * d);
            before.copy_from_slice(&states[..count * d]);
            let x = &x.values[first * 3 * d..][..count * 3 * d];
            let cell = gru::forward(&weights, x, &before, &mut states[..count * d]);
            if tape {
                kept.push((before, cell));
            }
            first += count;
        }
        (Output::new(states, &[self.sequences, d]), kept)
    }

    fn backward(
        self,
        [_, hidden, bias]: [Input; 3],
        kept: Self::ForwardState,
        returned: Returned,
        [dx, dhidden, dbias]: &mut [Vec<f32>; 3],
    ) {
        let weights = Weights { hidden: hidden.values, hidden_bias: bias.values };
        let mut dstates = take(returned.gradient.len());
        dstates.copy_from_slice(returned.gradient);
        let mut end = dx.len();
        for (before, cell) in kept.into_iter().rev() {
            let (length, start) = (before.len(), end - 3 * before.len());
            let mut dbefore = take(length);
            let (x, h) = (&mut dx[start..end], &mut dbefore[..]);
            let mut gradients = Gradients { x, h, hidden: dhidden, hidden_bias: dbias };
            gru::backward(&weights, &before, &cell, &dstates[..length], &mut gradients);
            dstates[..length].copy_from_slice(&dbefore);
            end = start;
        }
    }

    fn composed(&self, [x, weight, bias]: [AnyTensor; 3]) -> AnyTensor {
        let (x, d) = (x.tensor::<2>(), weight.shape()[1]);
        let mut states = Tensor::<2>::zeros([self.sequences, d], (&x.device(), x.dtype()));
        let mut first = 0;
        for &count in self.members.iter().filter(|&&count| count > 0) {
            let own = [x.clone().narrow(0, first, count), states.clone().narrow(0, 0, count)];
            let [x, h] = own.map(AnyTensor::from);
            let next = Cell.composed([x, h, weight.clone(), bias.clone()]).tensor::<2>();
            let rest = self.sequences - count;
            states = match rest {
                0 => next,
                _ => Tensor::cat(vec![next, states.narrow(0, count, rest)], 0),
            };
            first += count;
        }
        states.into()
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

    #[test]
    fn sequences_and_their_gradients() {
        let inputs = [random("x", &[8, 12]), random("hidden weight", &[12, 4]), random("hidden bias", &[12])];
        let members: Arc<[usize]> = Arc::from([4, 3, 1]);
        check(|| Sequences { sequences: 5, members: members.clone() }, &inputs);
        let none: Arc<[usize]> = Arc::from([]);
        let inputs = [random("x", &[0, 12]), random("hidden weight", &[12, 4]), random("hidden bias", &[12])];
        let op = Sequences { sequences: 2, members: none };
        let shapes = [vec![0, 12], vec![12, 4], vec![12]];
        let inputs: [Input; 3] = std::array::from_fn(|i| Input { values: &inputs[i].0, shape: &shapes[i] });
        assert_eq!(
            format!("{:?}", op.forward(inputs, false).0),
            format!("{:?}", Output::new(vec![0.0; 8], &[2, 4]))
        );
    }
}
