//! Rows scaled to length 1, and tanh: maps without parameters.

use burn::tensor::Tensor;
use quadcast_kernels::memory::{Buffer, take};
use quadcast_kernels::{activations, normalise};

use super::{AnyTensor, Fused, Input, Output, Returned, fused};

/// `x / max(‖x‖, 1e-12)` for each row of `x[n, d]`.
pub fn normalise_rows(x: Tensor<2>) -> Tensor<2> {
    fused(NormaliseRows, [x.into()])
}

/// tanh of each number, with the vectorised kernel.
pub fn tanh(x: Tensor<2>) -> Tensor<2> {
    fused(Tanh, [x.into()])
}

struct NormaliseRows;

impl Fused<1> for NormaliseRows {
    /// Lengths of the rows.
    type Kept = Buffer<f32>;

    const SETS: [bool; 1] = [true];

    fn forward(&self, [x]: [Input; 1], _tape: bool) -> (Output, Self::Kept) {
        let (mut out, mut lengths) = (take(x.values.len()).into_vec(), take(x.shape[0]));
        normalise::forward(x.values, x.shape[1], &mut out, &mut lengths);
        (Output::new(out, x.shape), lengths)
    }

    fn backward(self, [x]: [Input; 1], lengths: Buffer<f32>, returned: Returned, [dx]: &mut [Vec<f32>; 1]) {
        normalise::backward(returned.values, &lengths, returned.gradient, x.shape[1], dx);
    }

    fn composed(&self, [x]: [AnyTensor; 1]) -> AnyTensor {
        let x = x.tensor::<2>();
        // The square root has no gradient at 0, hence the lower limit inside of it, of numbers that f32 has.
        let lengths = x.clone().powi_scalar(2).sum_dim(1).clamp_min(1e-24).sqrt();
        (x / lengths).into()
    }
}

struct Tanh;

impl Fused<1> for Tanh {
    type Kept = ();

    const SETS: [bool; 1] = [true];

    fn forward(&self, [x]: [Input; 1], _tape: bool) -> (Output, ()) {
        let mut out = take(x.values.len()).into_vec();
        activations::tanh(x.values, &mut out);
        (Output::new(out, x.shape), ())
    }

    fn backward(self, _: [Input; 1], (): (), returned: Returned, [dx]: &mut [Vec<f32>; 1]) {
        activations::tanh_backward(returned.values, returned.gradient, dx);
    }

    fn composed(&self, [x]: [AnyTensor; 1]) -> AnyTensor {
        x.tensor::<2>().tanh().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{check, random};

    #[test]
    fn rows_of_length_one() {
        check(|| NormaliseRows, &[random("x", &[5, 4])]);
        check(|| Tanh, &[random("x", &[5, 4])]);
    }
}
