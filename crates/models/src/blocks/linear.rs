//! Linear map of rows.

use burn::tensor::Tensor;
use quadcast_kernels::linear::{self, Gradients, Weights};
use quadcast_kernels::memory::take;

use super::{AnyTensor, Fused, Input, Output, Returned, fused};

/// `x·Wᵀ + b` for `x[rows, k]`, `W[n, k]` and `b[n]`.
pub fn linear(x: Tensor<2>, weight: impl Into<AnyTensor>, bias: impl Into<AnyTensor>) -> Tensor<2> {
    fused(Linear, [x.into(), weight.into(), bias.into()])
}

/// `x·Wᵀ` for `x[rows, k]` and `W[n, k]`.
pub fn linear_without_bias(x: Tensor<2>, weight: impl Into<AnyTensor>) -> Tensor<2> {
    fused(Linear, [x.into(), weight.into()])
}

struct Linear;

impl Linear {
    fn forward(x: Input, weight: Input, bias: Option<Input>) -> (Output, ()) {
        let (rows, n) = (x.shape[0], weight.shape[0]);
        let mut out = take(rows * n).into_vec();
        let weights = Weights { weight: weight.values, bias: bias.map(|bias| bias.values) };
        linear::forward(&weights, x.values, n, &mut out);
        (Output::new(out, &[rows, n]), ())
    }
}

impl Fused<3> for Linear {
    type Kept = ();

    const SETS: [bool; 3] = [true, false, false];

    fn forward(&self, [x, weight, bias]: [Input; 3], _tape: bool) -> (Output, ()) {
        Self::forward(x, weight, Some(bias))
    }

    fn backward(
        self,
        [x, weight, bias]: [Input; 3],
        (): (),
        returned: Returned,
        [dx, dweight, dbias]: &mut [Vec<f32>; 3],
    ) {
        let weights = Weights { weight: weight.values, bias: Some(bias.values) };
        let mut gradients = Gradients { x: dx, weight: dweight, bias: Some(dbias) };
        linear::backward(&weights, x.values, weight.shape[0], returned.gradient, &mut gradients);
    }

    fn composed(&self, [x, weight, bias]: [AnyTensor; 3]) -> AnyTensor {
        let product = x.tensor::<2>().matmul(weight.tensor::<2>().transpose());
        (product + bias.tensor::<1>().unsqueeze()).into()
    }
}

impl Fused<2> for Linear {
    type Kept = ();

    const SETS: [bool; 2] = [true, false];

    fn forward(&self, [x, weight]: [Input; 2], _tape: bool) -> (Output, ()) {
        Self::forward(x, weight, None)
    }

    fn backward(
        self,
        [x, weight]: [Input; 2],
        (): (),
        returned: Returned,
        [dx, dweight]: &mut [Vec<f32>; 2],
    ) {
        let weights = Weights { weight: weight.values, bias: None };
        let mut gradients = Gradients { x: dx, weight: dweight, bias: None };
        linear::backward(&weights, x.values, weight.shape[0], returned.gradient, &mut gradients);
    }

    fn composed(&self, [x, weight]: [AnyTensor; 2]) -> AnyTensor {
        x.tensor::<2>().matmul(weight.tensor::<2>().transpose()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{check, random};

    #[test]
    fn maps_and_their_gradients() {
        let [x, weight, bias] = [random("x", &[5, 4]), random("weight", &[3, 4]), random("bias", &[3])];
        check(|| Linear, &[x.clone(), weight.clone()]);
        check(|| Linear, &[x, weight, bias]);
    }
}
