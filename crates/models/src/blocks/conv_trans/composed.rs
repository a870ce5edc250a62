//! The trunk in burn's operations.

use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use burn::tensor::module::conv1d;
use burn::tensor::ops::ConvOptions;
use quadcast_kernels::batch_norm::{EPSILON, Running, Statistics};

use super::Trunk;
use crate::blocks::{AnyTensor, floats};

pub(super) fn trunk(trunk: &Trunk, inputs: [AnyTensor; 11]) -> AnyTensor {
    let [x, conv, conv_bias, linear, linear_bias, scale0, shift0, scale1, shift1, scale2, shift2] = inputs;
    let x = x.tensor::<3>();
    let [b, _, d] = x.dims();
    let x = trunk.dropped(trunk.normalised(x, 0, scale0, shift0), 0);
    let options = ConvOptions::new([1], [1], [1], 1);
    let x = conv1d(x, conv.tensor(), Some(conv_bias.tensor()), options);
    let x = trunk.dropped(relu(trunk.normalised(x, 1, scale1, shift1)), 1);
    let [_, k, _] = x.dims();
    let x = x.reshape([b, k * d]).matmul(linear.tensor::<2>().transpose())
        + linear_bias.tensor::<1>().unsqueeze();
    let x = trunk.dropped(x.reshape([b, d, 1]), 2);
    let x = if b == 1 && trunk.train { x } else { trunk.normalised(x, 2, scale2, shift2) };
    relu(x.reshape([b, d])).into()
}

impl Trunk {
    fn dropped(&self, x: Tensor<3>, place: usize) -> Tensor<3> {
        match &self.masks[place] {
            Some(mask) => x.clone() * floats(mask.values(), x.dims(), &x),
            None => x,
        }
    }

    /// Of `x[rows, channels, length]`.
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
