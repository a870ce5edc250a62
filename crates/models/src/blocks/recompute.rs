//! Gradients of long computations in parts, of which only the values between the parts are kept: each part is computed again, with a
//! tape, when its gradient is due.

use burn::tensor::Tensor;

use super::{AnyTensor, Gradients, Parameters};

/// The same numbers as the start of a new tape.
pub fn leaf(x: Tensor<2>) -> Tensor<2> {
    AnyTensor::from(x).into_leaf().tensor()
}

/// The gradients of `Σ output·upstream`: of the parameters, and of the leaf from which the output was computed. `upstream` is the
/// gradient of the loss for the output.
pub fn pull_back(
    parameters: &Parameters,
    input: &Tensor<2>,
    output: Tensor<2>,
    upstream: Tensor<2>,
) -> (Gradients, Tensor<2>) {
    let upstream = AnyTensor::from(upstream).without_tape().tensor::<2>();
    parameters.backward_to(&(output * upstream).sum(), input)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{close, random};
    use crate::blocks::{Initial, linear_without_bias, tanh};
    use burn::tensor::Device;

    #[test]
    fn parts_give_the_gradients_of_the_whole() {
        let mut parameters = Parameters::new(1, &Device::flex());
        let weight = parameters.add("weight", &[4, 4], Initial::Normal(1.0));
        let (values, shape) = random("x", &[3, 4]);
        let start: Tensor<2> = AnyTensor::new(values, &shape, parameters.device()).into_leaf().tensor();
        let part =
            |parameters: &Parameters, x: Tensor<2>| tanh(linear_without_bias(x, parameters.any(weight)));
        let whole = (0..3).fold(start.clone(), |x, _| part(&parameters, x));
        let (expected, expected_start) = parameters.backward_to(&whole.powi_scalar(2).sum(), &start);

        let frozen = parameters.frozen();
        let mut between = vec![AnyTensor::from(start).without_tape().tensor::<2>()];
        for _ in 0..2 {
            between.push(part(&frozen, between[between.len() - 1].clone()));
        }
        let last = leaf(between[2].clone());
        let loss = part(&parameters, last.clone()).powi_scalar(2).sum();
        let (mut gradients, mut upstream) = parameters.backward_to(&loss, &last);
        for start in between.into_iter().take(2).rev() {
            let start = leaf(start);
            let output = part(&parameters, start.clone());
            let (own, before) = pull_back(&parameters, &start, output, upstream);
            gradients.add(own);
            upstream = before;
        }
        close("weight", &gradients.values(weight).unwrap(), &expected.values(weight).unwrap());
        let values = |x: Tensor<2>| AnyTensor::from(x).into_values();
        close("start", &values(upstream), &values(expected_start));
    }
}
