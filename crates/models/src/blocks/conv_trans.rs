//! `ConvTransE` and `ConvTransR`: pairs of vectors, convolved into one that is compared with all candidates.
//!
//! [`pair_rows`] makes the pairs, [`ConvTrans`] is the trunk, [`cross_entropy`](super::cross_entropy) and
//! [`score_strips`](super::score_strips) compare. `ConvTransE` pairs rows of tanh(entities) with rows of the relations
//! and compares with tanh(entities); `ConvTransR` pairs rows of tanh(entities) and compares with the relations.

use std::sync::{Arc, MutexGuard, PoisonError};

use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use burn::tensor::module::conv1d;
use burn::tensor::ops::ConvOptions;
use quadcast_kernels::batch_norm::{self, EPSILON, Running, Statistics};
use quadcast_kernels::conv_trans::{self, Gradients, Masks, Mode, Weights};
use quadcast_kernels::dropout::Mask;
use quadcast_kernels::memory::take;
use quadcast_kernels::segment::{gather, scatter_add};

use super::dropout::{Training, mask};
use super::embedding::integers;
use super::{
    AnyTensor, Buffer, Fused, Initial, Input, Output, Parameter, Parameters, Returned, SharedBuffer, floats,
    fused, select_rows,
};

/// Sizes of the trunk.
#[derive(Clone, Copy, Debug)]
pub struct ConvTransConfig {
    /// Length of a vector.
    pub d: usize,
    /// Channels of the convolution. References: 50.
    pub channels: usize,
    /// Probability to drop a number in training, at all three places.
    pub dropout: f64,
}

impl ConvTransConfig {
    /// Adds the trunk to the store under this name, with the default initial values of its layers.
    pub fn init(&self, name: &str, parameters: &mut Parameters) -> ConvTrans {
        let linear = self.init_linear(name, parameters);
        self.init_sharing(name, linear, parameters)
    }

    /// Adds the linear map alone, for several trunks that share it.
    pub fn init_linear(&self, name: &str, parameters: &mut Parameters) -> [Parameter; 2] {
        let (d, inputs) = (self.d, self.channels * self.d);
        let initial = Initial::by_inputs(inputs);
        let weight = parameters.add(format!("{name}.linear.weight"), &[d, inputs], initial);
        [weight, parameters.add(format!("{name}.linear.bias"), &[d], initial)]
    }

    /// Adds a trunk with a linear map (weight and bias) that is there already.
    pub fn init_sharing(&self, name: &str, linear: [Parameter; 2], parameters: &mut Parameters) -> ConvTrans {
        let (d, k) = (self.d, self.channels);
        let conv = Initial::by_inputs(2 * 3);
        let mut weights = vec![
            parameters.add(format!("{name}.conv.weight"), &[k, 2, 3], conv),
            parameters.add(format!("{name}.conv.bias"), &[k], conv),
        ];
        weights.extend(linear);
        let norms = [("input", 2), ("middle", k), ("output", d)].map(|(place, channels)| {
            let name = format!("{name}.norm.{place}");
            weights.push(parameters.add(format!("{name}.scale"), &[channels], Initial::Constant(1.0)));
            weights.push(parameters.add(format!("{name}.shift"), &[channels], Initial::ZERO));
            let mean = parameters.add_constant_buffer(format!("{name}.mean"), channels, 0.0);
            (mean, parameters.add_constant_buffer(format!("{name}.variance"), channels, 1.0))
        });
        let weights = std::array::from_fn(|i| weights[i]);
        ConvTrans { weights, norms, channels: k, dropout: self.dropout }
    }
}

/// Normalise 2 channels, dropout, convolution of width 3, normalise, `ReLU`, dropout, linear map, dropout,
/// normalise (unless it trains on one row), `ReLU`. The means and variances are those of the batch in training and
/// running estimates otherwise.
#[derive(Clone, Copy, Debug)]
pub struct ConvTrans {
    /// Weight and bias of convolution and linear map, then scale and shift of the three normalisations.
    weights: [Parameter; 10],
    norms: [(Buffer, Buffer); 3],
    channels: usize,
    dropout: f64,
}

impl ConvTrans {
    /// `[b, d]` for pairs `x[b, 2, d]`. In training, moves the running estimates of the store; a row that stands
    /// for several equal ones counts `row_weights[b]` in the statistics of the batch.
    pub fn forward(
        &self,
        parameters: &Parameters,
        x: Tensor<3>,
        mut training: Training,
        row_weights: Option<Arc<[f32]>>,
    ) -> Tensor<2> {
        let [b, _, d] = x.dims();
        let train = training.is_some();
        let mut mask = |len| mask(training.as_deref_mut(), self.dropout, len);
        let trunk = Trunk {
            masks: [mask(b * 2 * d), mask(b * self.channels * d), mask(b * d)],
            running: self.norms.map(|(mean, variance)| [mean, variance].map(|id| parameters.buffer(id))),
            train,
            row_weights,
        };
        let mut weights = self.weights.into_iter().map(|p| parameters.any(p));
        let first = AnyTensor::from(x);
        let inputs = std::array::from_fn(|i| match i {
            0 => first.clone(),
            _ => weights.next().expect("ten weights after the input"),
        });
        fused(trunk, inputs)
    }
}

struct Trunk {
    /// `[b, 2, d]`, `[b, k, d]`, `[b, d]`
    masks: [Option<Mask>; 3],
    /// Mean and variance of 2, k and d channels.
    running: [[SharedBuffer; 2]; 3],
    train: bool,
    row_weights: Option<Arc<[f32]>>,
}

impl Trunk {
    fn masks(&self) -> Masks<'_> {
        let [input, middle, output] = self.masks.each_ref().map(Option::as_ref);
        Masks { input, middle, output }
    }

    fn lock(&self) -> [[MutexGuard<'_, Vec<f32>>; 2]; 3] {
        self.running
            .each_ref()
            .map(|pair| pair.each_ref().map(|buffer| buffer.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// A dropout in burn's operations.
    fn dropped(&self, x: Tensor<3>, place: usize) -> Tensor<3> {
        match &self.masks[place] {
            Some(mask) => x.clone() * floats(mask.values(), x.dims(), &x),
            None => x,
        }
    }

    /// A normalisation of `x[rows, channels, length]` in burn's operations.
    fn normalised(&self, x: Tensor<3>, place: usize, scale: AnyTensor, shift: AnyTensor) -> Tensor<3> {
        let [rows, channels, length] = x.dims();
        let (mean, variance) = if self.train {
            let weights = self.row_weights.as_ref().map_or_else(|| vec![1.0; rows], |w| w.to_vec());
            let count = weights.iter().sum::<f32>() * length as f32;
            let weights = floats(weights, [rows, 1, 1], &x);
            let mean_of = |x: Tensor<3>| (x * weights.clone()).sum_dim(0).sum_dim(2) / count;
            let mean = mean_of(x.clone());
            let variance = mean_of((x.clone() - mean.clone()).powi_scalar(2));
            self.follow(place, &mean, &variance, f64::from(count));
            (mean, variance)
        } else {
            let guards = self.lock();
            let estimate = |i: usize| floats(guards[place][i].clone(), [1, channels, 1], &x);
            (estimate(0), estimate(1))
        };
        let [scale, shift] = [scale, shift].map(|x| x.tensor::<1>().reshape([1, channels, 1]));
        (x - mean) / (variance + EPSILON).sqrt() * scale + shift
    }

    /// Moves the running estimates.
    fn follow(&self, place: usize, mean: &Tensor<3>, variance: &Tensor<3>, count: f64) {
        let wide = |x: &Tensor<3>| -> Vec<f64> {
            AnyTensor::from(x.clone()).into_values().into_iter().map(f64::from).collect()
        };
        let statistics = Statistics { mean: wide(mean), variance: wide(variance), count: Some(count) };
        let mut guards = self.lock();
        let [mean, variance] = &mut guards[place];
        statistics.update(&mut Running { mean: &mut mean[..], variance: &mut variance[..] });
    }
}

fn weights<'a>(inputs: &[Input<'a>; 11]) -> Weights<'a, f32> {
    let [_, conv, conv_bias, linear, linear_bias, ..] = inputs.map(|input| input.values);
    let norm = |i: usize| batch_norm::Weights { scale: inputs[i].values, shift: inputs[i + 1].values };
    Weights { conv, conv_bias, linear, linear_bias, norms: Some([norm(5), norm(7), norm(9)]) }
}

impl Fused<11> for Trunk {
    type ForwardState = conv_trans::ForwardState<f32>;

    fn forward(&self, inputs: [Input; 11], _tape: bool) -> (Output, Self::ForwardState) {
        let [b, _, d] = [0, 1, 2].map(|i| inputs[0].shape[i]);
        let mut out = take(b * d).into_vec();
        let mut guards = self.lock();
        let mut running = guards
            .each_mut()
            .map(|[mean, variance]| Running { mean: &mut mean[..], variance: &mut variance[..] });
        let mode = if self.train {
            Mode::Train { row_weights: self.row_weights.as_deref(), running: &mut running }
        } else {
            Mode::Test { running: &running }
        };
        let kept = conv_trans::forward(&weights(&inputs), inputs[0].values, &self.masks(), mode, &mut out);
        (Output::new(out, &[b, d]), kept)
    }

    fn backward(
        self,
        inputs: [Input; 11],
        kept: Self::ForwardState,
        returned: Returned,
        gradients: &mut [Vec<f32>; 11],
    ) {
        let [x, conv, conv_bias, linear, linear_bias, scale0, shift0, scale1, shift1, scale2, shift2] =
            gradients;
        let norms = [(scale0, shift0), (scale1, shift1), (scale2, shift2)]
            .map(|(scale, shift)| batch_norm::Gradients { scale, shift });
        let mut gradients = Gradients { x, conv, conv_bias, linear, linear_bias, norms: Some(norms) };
        let output = conv_trans::Output { out: returned.values, dout: returned.gradient };
        let x = inputs[0].values;
        conv_trans::backward(&weights(&inputs), x, &self.masks(), &kept, &output, &mut gradients);
    }

    fn composed(&self, inputs: [AnyTensor; 11]) -> AnyTensor {
        let [x, conv, conv_bias, linear, linear_bias, scale0, shift0, scale1, shift1, scale2, shift2] =
            inputs;
        let x = x.tensor::<3>();
        let [b, _, d] = x.dims();
        let x = self.dropped(self.normalised(x, 0, scale0, shift0), 0);
        let options = ConvOptions::new([1], [1], [1], 1);
        let x = conv1d(x, conv.tensor(), Some(conv_bias.tensor()), options);
        let x = self.dropped(relu(self.normalised(x, 1, scale1, shift1)), 1);
        let [_, k, _] = x.dims();
        let x = x.reshape([b, k * d]).matmul(linear.tensor::<2>().transpose())
            + linear_bias.tensor::<1>().unsqueeze();
        let x = self.dropped(x.reshape([b, d, 1]), 2);
        let x = if b == 1 && self.train { x } else { self.normalised(x, 2, scale2, shift2) };
        relu(x.reshape([b, d])).into()
    }
}

/// `[b, 2, d]`: row `first[i]` of one matrix next to row `second[i]` of another one.
pub fn pair_rows(
    a: Tensor<2>,
    first: impl Into<Arc<[u32]>>,
    b: Tensor<2>,
    second: impl Into<Arc<[u32]>>,
) -> Tensor<3> {
    fused(PairRows { first: first.into(), second: second.into() }, [a.into(), b.into()])
}

/// [`pair_rows`] of one matrix, which then gets one gradient.
pub fn pair_rows_within(matrix: Tensor<2>, first: &[u32], second: &[u32]) -> Tensor<3> {
    let (n, d) = (first.len(), matrix.dims()[1]);
    let ids: Vec<u32> = first.iter().zip(second).flat_map(|(&first, &second)| [first, second]).collect();
    select_rows(matrix, ids).reshape([n, 2, d])
}

struct PairRows {
    first: Arc<[u32]>,
    second: Arc<[u32]>,
}

impl Fused<2> for PairRows {
    type ForwardState = ();

    fn forward(&self, [a, b]: [Input; 2], _tape: bool) -> (Output, ()) {
        let (n, d) = (self.first.len(), a.shape[1]);
        assert_eq!((self.second.len(), b.shape[1]), (n, d), "pairs of rows of one length");
        let mut out = take(n * 2 * d).into_vec();
        for (i, pair) in out.chunks_exact_mut(2 * d).enumerate() {
            let (first, second) = pair.split_at_mut(d);
            gather(&self.first[i..=i], a.values, d, first);
            gather(&self.second[i..=i], b.values, d, second);
        }
        (Output::new(out, &[n, 2, d]), ())
    }

    fn backward(self, [a, _]: [Input; 2], (): (), returned: Returned, [da, db]: &mut [Vec<f32>; 2]) {
        let d = a.shape[1];
        for (i, pair) in returned.gradient.chunks_exact(2 * d).enumerate() {
            scatter_add(&self.first[i..=i], &pair[..d], d, da);
            scatter_add(&self.second[i..=i], &pair[d..], d, db);
        }
    }

    fn composed(&self, [a, b]: [AnyTensor; 2]) -> AnyTensor {
        let [a, b] = [a, b].map(AnyTensor::tensor::<2>);
        let (first, second) = (integers(&self.first, &a), integers(&self.second, &b));
        Tensor::stack::<3>(vec![a.select(0, first), b.select(0, second)], 1).into()
    }
}

#[cfg(test)]
mod tests;
