//! Operations without parameters: linear maps, unit rows, tanh, distance, and means over lists of rows.

use std::sync::Arc;

use burn::tensor::{IndexingUpdateOp, Tensor};
use quadcast_kernels::linear::{self, Gradients, Weights};
use quadcast_kernels::memory::{Buffer, take};
use quadcast_kernels::segment::{Csr, max, mean, mean_backward};
use quadcast_kernels::{activations, rows};

use super::{AnyTensor, Fused, Input, Output, Returned, floats, fused, integers};

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
    type ForwardState = ();

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
    type ForwardState = ();

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
    type ForwardState = Buffer<f32>;

    const SETS: [bool; 1] = [true];

    fn forward(&self, [x]: [Input; 1], _tape: bool) -> (Output, Self::ForwardState) {
        let (mut out, mut lengths) = (take(x.values.len()).into_vec(), take(x.shape[0]));
        rows::normalise(x.values, x.shape[1], &mut out, &mut lengths);
        (Output::new(out, x.shape), lengths)
    }

    fn backward(self, [x]: [Input; 1], lengths: Buffer<f32>, returned: Returned, [dx]: &mut [Vec<f32>; 1]) {
        rows::normalise_backward(returned.values, &lengths, returned.gradient, x.shape[1], dx);
    }

    fn composed(&self, [x]: [AnyTensor; 1]) -> AnyTensor {
        let x = x.tensor::<2>();
        // The square root has no gradient at 0: a lower limit inside it, large enough for f32, avoids that.
        let lengths = x.clone().powi_scalar(2).sum_dim(1).clamp_min(1e-24).sqrt();
        (x / lengths).into()
    }
}

struct Tanh;

impl Fused<1> for Tanh {
    type ForwardState = ();

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

/// `‖x − from‖₂` over all numbers; at distance 0 the gradient is 0.
pub fn distance(x: AnyTensor, from: Arc<[f32]>) -> Tensor<1> {
    fused(Distance { from }, [x])
}

struct Distance {
    from: Arc<[f32]>,
}

impl Fused<1> for Distance {
    type ForwardState = ();

    fn forward(&self, [x]: [Input; 1], _: bool) -> (Output, ()) {
        assert_eq!(x.values.len(), self.from.len(), "distance between arrays of one size");
        let square = |(a, b): (&f32, &f32)| f64::from(a - b).powi(2);
        let sum: f64 = x.values.iter().zip(&*self.from).map(square).sum();
        (Output::new(vec![sum.sqrt() as f32], &[1]), ())
    }

    fn backward(self, [x]: [Input; 1], (): (), returned: Returned, [dx]: &mut [Vec<f32>; 1]) {
        if returned.values[0] == 0.0 {
            return;
        }
        let scale = returned.gradient[0] / returned.values[0];
        for ((dx, x), from) in dx.iter_mut().zip(x.values).zip(&*self.from) {
            *dx += scale * (x - from);
        }
    }

    fn composed(&self, [x]: [AnyTensor; 1]) -> AnyTensor {
        let x = x.flat();
        let from = floats(self.from.to_vec(), [self.from.len()], &x);
        // The smallest number avoids the infinite slope of the root at 0.
        ((x - from).powi_scalar(2).sum() + f32::MIN_POSITIVE).sqrt().into()
    }
}

/// Lists of rows of a matrix, for both passes.
#[derive(Clone, Debug)]
pub struct Segments {
    lists: Csr,
    transposed: Csr,
}

impl Segments {
    /// Lists of rows of a matrix with `rows` rows.
    pub fn new(lists: Csr, rows: usize) -> Self {
        Self { transposed: lists.transpose(rows), lists }
    }
}

/// `[segments, d]`: the mean of the rows of `x[n, d]` in each list, 0 for an empty one.
pub fn segment_mean(x: Tensor<2>, segments: Arc<Segments>) -> Tensor<2> {
    fused(SegmentMean { segments }, [x.into()])
}

struct SegmentMean {
    segments: Arc<Segments>,
}

impl Fused<1> for SegmentMean {
    type ForwardState = ();

    fn forward(&self, [x]: [Input; 1], _tape: bool) -> (Output, ()) {
        let (lists, d) = (&self.segments.lists, x.shape[1]);
        let mut out = take(lists.segments() * d).into_vec();
        mean(lists, x.values, d, &mut out);
        (Output::new(out, &[lists.segments(), d]), ())
    }

    fn backward(self, [x]: [Input; 1], (): (), returned: Returned, [dx]: &mut [Vec<f32>; 1]) {
        let Segments { lists, transposed } = &*self.segments;
        mean_backward(lists, transposed, returned.gradient, x.shape[1], dx);
    }

    fn composed(&self, [x]: [AnyTensor; 1]) -> AnyTensor {
        let x = x.tensor::<2>();
        let lists = &self.segments.lists;
        let (n, d) = (lists.segments(), x.dims()[1]);
        let of_place: Vec<u32> =
            (0..n).flat_map(|i| std::iter::repeat_n(i as u32, lists.segment(i).len())).collect();
        let shares = (0..n).map(|i| 1.0 / lists.segment(i).len().max(1) as f32).collect();
        let shares = floats(shares, [n, 1], &x);
        let (items, of_place) = (integers(&lists.items, &x), integers(&of_place, &x));
        let sums = Tensor::<2>::zeros([n, d], (&x.device(), x.dtype()));
        let sums = sums.select_assign(0, of_place, x.select(0, items), IndexingUpdateOp::Add);
        (sums * shares).into()
    }
}

/// `[segments, d]`: the largest number of each column among the rows of `x[n, d]` in each list, of which none is empty.
pub fn segment_max(x: Tensor<2>, lists: Arc<Csr>) -> Tensor<2> {
    fused(SegmentMax { lists }, [x.into()])
}

struct SegmentMax {
    lists: Arc<Csr>,
}

impl Fused<1> for SegmentMax {
    /// The row that each number came from.
    type ForwardState = Vec<u32>;

    fn forward(&self, [x]: [Input; 1], _tape: bool) -> (Output, Vec<u32>) {
        let (segments, d) = (self.lists.segments(), x.shape[1]);
        let (mut out, mut from) = (take(segments * d).into_vec(), vec![0; segments * d]);
        max(&self.lists, x.values, d, &mut out, &mut from);
        (Output::new(out, &[segments, d]), from)
    }

    fn backward(self, [x]: [Input; 1], from: Vec<u32>, returned: Returned, [dx]: &mut [Vec<f32>; 1]) {
        let d = x.shape[1];
        for (place, (&row, gradient)) in from.iter().zip(returned.gradient).enumerate() {
            dx[row as usize * d + place % d] += gradient;
        }
    }

    fn composed(&self, [x]: [AnyTensor; 1]) -> AnyTensor {
        let x = x.tensor::<2>();
        let row = |i| x.clone().select(0, integers(self.lists.segment(i), &x)).max_dim(0);
        Tensor::cat((0..self.lists.segments()).map(row).collect(), 0).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{check, random};
    use burn::tensor::Device;

    #[test]
    fn maps_and_their_gradients() {
        let [x, weight, bias] = [random("x", &[5, 4]), random("weight", &[3, 4]), random("bias", &[3])];
        check(|| Linear, &[x.clone(), weight.clone()]);
        check(|| Linear, &[x, weight, bias]);
    }

    #[test]
    fn rows_of_length_one() {
        check(|| NormaliseRows, &[random("x", &[5, 4])]);
        check(|| Tanh, &[random("x", &[5, 4])]);
    }

    #[test]
    fn distance_and_its_gradient() {
        let from: Arc<[f32]> = random("from", &[3, 4]).0.into();
        check(|| Distance { from: Arc::clone(&from) }, &[random("x", &[3, 4])]);
    }

    #[test]
    fn the_gradient_at_distance_zero_is_zero() {
        let x = AnyTensor::new(vec![1.0, 2.0], &[2], &Device::flex()).into_leaf();
        let gradients = distance(x.clone(), Arc::from([1.0, 2.0])).backward();
        let gradient = x.unranked().grad(&gradients).unwrap();
        assert_eq!(AnyTensor::from(gradient).into_values(), [0.0, 0.0]);
    }

    #[test]
    fn means_and_their_gradients() {
        let lists = Csr::from_pairs(4, [(0, 2), (0, 0), (2, 2), (3, 1), (3, 4), (3, 2)].into_iter());
        let segments = Arc::new(Segments::new(lists, 5));
        check(|| SegmentMean { segments: segments.clone() }, &[random("x", &[5, 3])]);
    }

    #[test]
    fn largest_numbers_and_their_gradients() {
        let lists = [(0, 2), (0, 0), (1, 2), (2, 1), (2, 4), (2, 2)];
        let lists = Arc::new(Csr::from_pairs(3, lists.into_iter()));
        check(|| SegmentMax { lists: lists.clone() }, &[random("x", &[5, 3])]);
    }
}
