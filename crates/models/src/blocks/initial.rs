//! Initial values of parameters, as the reference frameworks define them.

use rand::Rng;
use rand_chacha::ChaCha8Rng;

/// A distribution of initial values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Initial {
    /// A constant.
    Constant(f32),
    /// Uniform between −bound and bound.
    Uniform(f64),
    /// Normal with mean 0 and this standard deviation.
    Normal(f64),
}

impl Initial {
    /// All 0.
    pub const ZERO: Self = Self::Constant(0.0);

    /// Xavier uniform with the gain √2 of ReLU: `U(±√2·√(6 / (inputs + outputs)))`.
    pub fn xavier_uniform_relu(inputs: usize, outputs: usize) -> Self {
        Self::Uniform(2_f64.sqrt() * (6.0 / (inputs + outputs) as f64).sqrt())
    }

    /// Xavier normal: standard deviation `√(2 / (inputs + outputs))`.
    pub fn xavier_normal(inputs: usize, outputs: usize) -> Self {
        Self::Normal((2.0 / (inputs + outputs) as f64).sqrt())
    }

    /// Default of linear layers and convolutions (their number of inputs) and of recurrent cells (their hidden
    /// size), for weights and biases: `U(±1/√inputs)`.
    pub fn by_inputs(inputs: usize) -> Self {
        Self::Uniform(1.0 / (inputs as f64).sqrt())
    }

    /// `len` values from the stream.
    pub fn draw(self, len: usize, stream: &mut ChaCha8Rng) -> Vec<f32> {
        match self {
            Self::Constant(value) => vec![value; len],
            Self::Uniform(bound) => {
                (0..len).map(|_| ((2.0 * stream.random::<f64>() - 1.0) * bound) as f32).collect()
            }
            Self::Normal(deviation) => {
                let mut values = Vec::with_capacity(len + 1);
                while values.len() < len {
                    // Box and Muller; 1 − u is never 0.
                    let radius = (-2.0 * (1.0 - stream.random::<f64>()).ln()).sqrt() * deviation;
                    let (sine, cosine) = (std::f64::consts::TAU * stream.random::<f64>()).sin_cos();
                    values.extend([(radius * cosine) as f32, (radius * sine) as f32]);
                }
                values.truncate(len);
                values
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Initial;
    use quadcast_core::stream;

    fn moments(values: &[f32]) -> (f64, f64) {
        let n = values.len() as f64;
        let mean = values.iter().map(|&x| f64::from(x)).sum::<f64>() / n;
        let variance = values.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / n;
        (mean, variance.sqrt())
    }

    #[test]
    fn distributions_have_their_moments() {
        let (mean, deviation) = moments(&Initial::Normal(0.5).draw(40_001, &mut stream(1, "normal", 0)));
        assert!(mean.abs() < 0.01 && (deviation - 0.5).abs() < 0.01, "{mean} {deviation}");
        let values = Initial::xavier_uniform_relu(3, 9).draw(40_000, &mut stream(1, "uniform", 0));
        let (mean, deviation) = moments(&values);
        assert!(values.iter().all(|x| x.abs() <= 1.0), "the bound is √2·√(6/12) = 1");
        assert!(mean.abs() < 0.01 && (deviation - 1.0 / 3_f64.sqrt()).abs() < 0.01, "{mean} {deviation}");
    }

    #[test]
    fn bounds_are_those_of_the_reference_frameworks() {
        assert_eq!(Initial::xavier_normal(4, 4), Initial::Normal(0.5));
        assert_eq!(Initial::by_inputs(4), Initial::Uniform(0.5));
    }
}
