//! Batch normalisation of the columns of a matrix.

use std::sync::{Arc, PoisonError};

use burn::tensor::Tensor;
use quadcast_kernels::batch_norm::{self, EPSILON, Gradients, Running, Shape, Statistics, Weights};
use quadcast_kernels::memory::take;

use super::embedding::floats;
use super::{
    AnyTensor, Buffer, Fused, Initial, Input, Output, Parameter, Parameters, Returned, SharedBuffer, fused,
};

/// Scale and shift of the columns, and the running estimates of their mean and variance.
#[derive(Clone, Copy, Debug)]
pub struct BatchNorm {
    scale: Parameter,
    shift: Parameter,
    running: [Buffer; 2],
}

/// Which mean and variance are taken.
#[derive(Clone, Debug)]
pub enum Moments {
    /// The running estimates.
    Running,
    /// Those of the rows at hand, which move the running estimates. A row that stands for several equal ones counts so often.
    Batch(Option<Arc<[f32]>>),
}

impl BatchNorm {
    /// Adds scale, shift and running estimates of so many columns to the store under this name.
    pub fn new(name: &str, columns: usize, parameters: &mut Parameters) -> Self {
        let scale = parameters.add(format!("{name}.scale"), &[columns], Initial::Constant(1.0));
        let shift = parameters.add(format!("{name}.shift"), &[columns], Initial::ZERO);
        let mean = parameters.add_constant_buffer(format!("{name}.mean"), columns, 0.0);
        let variance = parameters.add_constant_buffer(format!("{name}.variance"), columns, 1.0);
        Self { scale, shift, running: [mean, variance] }
    }

    /// The normalised rows of `x[_, columns]`.
    pub fn forward(&self, parameters: &Parameters, x: Tensor<2>, moments: Moments) -> Tensor<2> {
        let op = Normalise { running: self.running.map(|buffer| parameters.buffer(buffer)), moments };
        fused(op, [x.into(), parameters.any(self.scale), parameters.any(self.shift)])
    }
}

struct Normalise {
    /// Mean and variance.
    running: [SharedBuffer; 2],
    moments: Moments,
}

impl Normalise {
    fn row_weights(&self) -> Option<&[f32]> {
        match &self.moments {
            Moments::Running => None,
            Moments::Batch(weights) => weights.as_deref(),
        }
    }

    /// The statistics to normalise with; those of a batch move the running estimates.
    fn statistics(&self, of_batch: impl FnOnce() -> Statistics) -> Statistics {
        let mut guards =
            self.running.each_ref().map(|buffer| buffer.lock().unwrap_or_else(PoisonError::into_inner));
        let [mean, variance] = &mut guards;
        match self.moments {
            Moments::Running => Statistics::of_running(mean, variance),
            Moments::Batch(_) => {
                let statistics = of_batch();
                statistics.update(&mut Running { mean: &mut mean[..], variance: &mut variance[..] });
                statistics
            }
        }
    }
}

fn shape(x: &Input) -> Shape {
    Shape { rows: x.shape[0], channels: x.shape[1], length: 1 }
}

impl Fused<3> for Normalise {
    type ForwardState = Statistics;

    fn forward(&self, [x, scale, shift]: [Input; 3], _tape: bool) -> (Output, Statistics) {
        let of_batch = || Statistics::of_batch(x.values, shape(&x), self.row_weights());
        let statistics = self.statistics(of_batch);
        let weights = Weights { scale: scale.values, shift: shift.values };
        let mut out = take(x.values.len()).into_vec();
        batch_norm::forward(x.values, shape(&x), &statistics, &weights, &mut out);
        (Output::new(out, x.shape), statistics)
    }

    fn backward(
        self,
        [x, scale, shift]: [Input; 3],
        statistics: Statistics,
        returned: Returned,
        [dx, dscale, dshift]: &mut [Vec<f32>; 3],
    ) {
        let weights = Weights { scale: scale.values, shift: shift.values };
        let mut gradients = Gradients { scale: dscale, shift: dshift };
        let learned = (&weights, self.row_weights());
        batch_norm::backward(
            (x.values, shape(&x)),
            &statistics,
            learned,
            returned.gradient,
            dx,
            &mut gradients,
        );
    }

    fn composed(&self, [x, scale, shift]: [AnyTensor; 3]) -> AnyTensor {
        let (x, scale, shift) = (x.tensor::<2>(), scale.tensor::<1>(), shift.tensor::<1>());
        let [rows, columns] = x.dims();
        let (mean, variance) = if let Moments::Batch(_) = self.moments {
            let weights = self.row_weights().map_or_else(|| vec![1.0; rows], <[f32]>::to_vec);
            let count = weights.iter().sum::<f32>();
            let weights = floats(weights, [rows, 1], &x);
            let mean_of = |x: Tensor<2>| (x * weights.clone()).sum_dim(0) / count;
            let mean = mean_of(x.clone());
            let variance = mean_of((x.clone() - mean.clone()).powi_scalar(2));
            let wide = |x: &Tensor<2>| -> Vec<f64> {
                AnyTensor::from(x.clone()).into_values().into_iter().map(f64::from).collect()
            };
            let (mean_now, variance_now) = (wide(&mean), wide(&variance));
            let count = Some(f64::from(count));
            self.statistics(|| Statistics { mean: mean_now, variance: variance_now, count });
            (mean, variance)
        } else {
            let statistics = self.statistics(|| unreachable!("running estimates"));
            let row = |numbers: &[f64]| floats(numbers.iter().map(|&x| x as f32).collect(), [1, columns], &x);
            (row(&statistics.mean), row(&statistics.variance))
        };
        ((x - mean) / (variance + EPSILON).sqrt() * scale.unsqueeze() + shift.unsqueeze()).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{check, random};
    use std::sync::Mutex;

    fn normalise(moments: Moments) -> Normalise {
        let running = [vec![0.1, -0.2, 0.3], vec![1.5, 0.5, 1.0]].map(|values| Arc::new(Mutex::new(values)));
        Normalise { running, moments }
    }

    #[test]
    fn rows_and_their_gradients() {
        let inputs = [random("x", &[5, 3]), random("scale", &[3]), random("shift", &[3])];
        let weights: Arc<[f32]> = Arc::from([1.0, 2.0, 1.0, 1.0, 9.0]);
        for moments in [Moments::Running, Moments::Batch(None), Moments::Batch(Some(weights))] {
            check(|| normalise(moments.clone()), &inputs);
        }
    }

    #[test]
    fn a_row_of_weight_three_counts_like_three_rows() {
        let (values, _) = random("x", &[2, 3]);
        let twice = [&values[..3], &values[..3], &values[..3], &values[3..]].concat();
        let ones = [vec![1.0; 3], vec![0.0; 3]];
        let run = |values: &[f32], moments: Moments| {
            let op = normalise(moments);
            let shape = [values.len() / 3, 3];
            let input = |values, shape| Input { values, shape };
            let (out, _) =
                op.forward([input(values, &shape), input(&ones[0], &[3]), input(&ones[1], &[3])], false);
            let running = op.running.map(|buffer| buffer.lock().unwrap().clone());
            (format!("{out:?}"), running)
        };
        let weighted = run(&values, Moments::Batch(Some(Arc::from([3.0, 1.0])))).1;
        let repeated = run(&twice, Moments::Batch(None)).1;
        for (a, b) in weighted.iter().flatten().zip(repeated.iter().flatten()) {
            assert!((a - b).abs() < 1e-6, "{a} {b}");
        }
    }
}
