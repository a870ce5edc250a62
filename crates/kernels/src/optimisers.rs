//! Optimisers: gradient descent, Adagrad and Adam, and clipping by the global norm.
//!
//! [`Optimiser`] is one of the three, for embedding tables: [`Optimiser::apply`] moves one row, [`Optimiser::update`] a whole
//! table on all threads. [`Adam`] has more settings (coupled L2, `AMSGrad`, a factor for clipped gradients), for networks.

use rayon::prelude::*;

use crate::Real;
use crate::parallel::{add_scaled, ranges, vectorised};

/// Decay of the means of gradients and of squared gradients in Adam.
pub const BETAS: [f64; 2] = [0.9, 0.999];
/// Added to the root of the squares in Adam.
pub const ADAM_EPSILON: f64 = 1e-8;
const ADAGRAD_EPSILON: f64 = 1e-10;
/// Numbers per task.
const BLOCK: usize = 1 << 14;

/// An optimiser. Gradient descent and Adagrad do not move rows without a gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Optimiser {
    /// x −= rate·g
    Sgd {
        /// Learning rate.
        rate: f64,
    },
    /// a += g², x −= rate·g / (√a + 1e−10)
    Adagrad {
        /// Learning rate.
        rate: f64,
    },
    /// Adam with β = 0.9 and 0.999, ε = 1e−8 and the usual corrections for the number of steps.
    Adam {
        /// Learning rate.
        rate: f64,
        /// For sparse updates: whether rows without a gradient keep their values and moments. If not, moments decay and rows
        /// move in every step, as in the definition, and a step is a pass over all rows.
        lazy: bool,
    },
}

impl Optimiser {
    /// Whether it keeps a mean of gradients, and whether it keeps squares of gradients.
    pub fn moments(self) -> [bool; 2] {
        match self {
            Self::Sgd { .. } => [false, false],
            Self::Adagrad { .. } => [false, true],
            Self::Adam { .. } => [true, true],
        }
    }

    /// Moves numbers against their gradient. `step` counts from 1; `mean` and `square` are empty where nothing is kept.
    #[inline(always)]
    pub fn apply<T: Real>(self, step: u64, x: &mut [T], g: &[T], mean: &mut [T], square: &mut [T]) {
        match self {
            Self::Sgd { rate } => add_scaled(x, T::from_f64(-rate), g),
            Self::Adagrad { rate } => {
                let (rate, epsilon) = (T::from_f64(rate), T::from_f64(ADAGRAD_EPSILON));
                for ((x, &g), a) in x.iter_mut().zip(g).zip(square) {
                    *a += g * g;
                    *x -= rate * g / (a.sqrt() + epsilon);
                }
            }
            Self::Adam { rate, .. } => {
                let own = AdamStep::new(step, rate);
                for (((x, &g), m), v) in x.iter_mut().zip(g).zip(mean).zip(square) {
                    own.update_moments(g, m, v);
                    *x -= own.move_by(*m, *v);
                }
            }
        }
    }

    /// As [`apply`](Self::apply), for long slices and on all threads.
    pub fn update<T: Real>(
        self,
        step: u64,
        parameters: &mut [T],
        gradient: &[T],
        mean: &mut [T],
        square: &mut [T],
    ) {
        let len = parameters.len();
        let kept = self.moments().map(|kept| if kept { len } else { 0 });
        assert_eq!(
            (gradient.len(), [mean.len(), square.len()]),
            (len, kept),
            "lengths of an optimiser's slices"
        );
        let mut mean = mean.chunks_mut(BLOCK);
        let mut square = square.chunks_mut(BLOCK);
        let blocks = parameters.chunks_mut(BLOCK).zip(gradient.chunks(BLOCK));
        let blocks: Vec<_> = blocks
            .map(|(x, g)| (x, g, mean.next().unwrap_or_default(), square.next().unwrap_or_default()))
            .collect();
        blocks.into_par_iter().for_each(|(x, g, mean, square)| {
            vectorised(
                #[inline(always)]
                || self.apply(step, x, g, mean, square),
            );
        });
    }
}

/// Settings of Adam.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// Learning rate.
    pub rate: f64,
    /// Coupled L2: this times the parameter is added to the gradient.
    pub decay: f64,
}

/// State of one parameter slice, of the same length; initially 0.
#[derive(Debug)]
pub struct State<'a, T> {
    /// Mean of gradients.
    pub mean: &'a mut [T],
    /// Mean of squared gradients.
    pub square: &'a mut [T],
    /// Largest mean of squares so far: given for `AMSGrad`.
    pub largest: Option<&'a mut [T]>,
}

impl Adam {
    /// One step on one slice. `step` counts from 1; the gradient is multiplied by `scale` first (1, or the
    /// result of [`clip_scale`]).
    pub fn update<T: Real>(
        &self,
        step: u64,
        parameters: &mut [T],
        gradient: &[T],
        scale: f64,
        state: State<T>,
    ) {
        let State { mean, square, largest } = state;
        let len = parameters.len();
        assert_eq!((gradient.len(), mean.len(), square.len()), (len, len, len), "lengths of Adam's slices");
        let own = AdamStep::new(step, self.rate);
        let (scale, decay) = (T::from_f64(scale), T::from_f64(self.decay));
        // Every task copies the constants: the compiler must assume that a loop overwrites what it reads through a reference,
        // and then does not vectorise it.
        let blocks = parameters
            .par_chunks_mut(BLOCK)
            .zip(gradient.par_chunks(BLOCK))
            .zip(mean.par_chunks_mut(BLOCK).zip(square.par_chunks_mut(BLOCK)));
        if let Some(largest) = largest {
            assert_eq!(largest.len(), len, "lengths of Adam's slices");
            blocks.zip(largest.par_chunks_mut(BLOCK)).for_each(|(((x, g), (m, v)), w)| {
                vectorised(
                    #[inline(always)]
                    || {
                        let (own, scale, decay) = (own, scale, decay);
                        for ((((x, &g), m), v), w) in x.iter_mut().zip(g).zip(m).zip(v).zip(w) {
                            own.update_moments(g * scale + decay * *x, m, v);
                            *w = w.larger(*v);
                            *x -= own.move_by(*m, *w);
                        }
                    },
                );
            });
        } else {
            blocks.for_each(|((x, g), (m, v))| {
                vectorised(
                    #[inline(always)]
                    || {
                        let (own, scale, decay) = (own, scale, decay);
                        for (((x, &g), m), v) in x.iter_mut().zip(g).zip(m).zip(v) {
                            own.update_moments(g * scale + decay * *x, m, v);
                            *x -= own.move_by(*m, *v);
                        }
                    },
                );
            });
        }
    }
}

/// The constants of one step of Adam.
#[derive(Clone, Copy)]
struct AdamStep<T> {
    keep: [T; 2],
    new: [T; 2],
    epsilon: T,
    /// Rate over the correction of the mean.
    size: T,
    /// 1 over the root of the correction of the squares.
    root: T,
}

impl<T: Real> AdamStep<T> {
    #[inline(always)]
    fn new(step: u64, rate: f64) -> Self {
        let exponent = i32::try_from(step).unwrap_or(i32::MAX);
        let [first, second] = BETAS.map(|beta| 1.0 - beta.powi(exponent));
        Self {
            keep: BETAS.map(T::from_f64),
            new: BETAS.map(|beta| T::from_f64(1.0 - beta)),
            epsilon: T::from_f64(ADAM_EPSILON),
            size: T::from_f64(rate / first),
            root: T::from_f64(1.0 / second.sqrt()),
        }
    }

    #[inline(always)]
    fn update_moments(self, g: T, mean: &mut T, square: &mut T) {
        *mean = self.keep[0] * *mean + self.new[0] * g;
        *square = self.keep[1] * *square + self.new[1] * g * g;
    }

    #[inline(always)]
    fn move_by(self, mean: T, square: T) -> T {
        self.size * mean / (square.sqrt() * self.root + self.epsilon)
    }
}

/// Σ x², added in a fixed order.
pub fn squared_norm<T: Real>(x: &[T]) -> f64 {
    let parts: Vec<f64> = ranges(x.len(), BLOCK)
        .map(|part| {
            vectorised(
                #[inline(always)]
                || {
                    let mut lanes = [0.0_f64; 8];
                    for chunk in x[part].chunks(8) {
                        for (lane, &x) in lanes.iter_mut().zip(chunk) {
                            *lane += x.to_f64() * x.to_f64();
                        }
                    }
                    lanes.iter().sum()
                },
            )
        })
        .collect();
    parts.into_iter().sum()
}

/// The factor that limits gradients of this squared global norm to `limit`: `min(1, limit / (norm + 1e-6))`, as in `PyTorch`.
pub fn clip_scale(squared_norm: f64, limit: f64) -> f64 {
    (limit / (squared_norm.sqrt() + 1e-6)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_steps_of_adagrad_by_hand() {
        let adagrad = Optimiser::Adagrad { rate: 0.1 };
        let (mut x, mut squares) = ([1.0_f64, 2.0], [0.0; 2]);
        adagrad.update(1, &mut x, &[3.0, -4.0], &mut [], &mut squares);
        // The first step has the size of the rate, whatever the gradient.
        assert!((x[0] - 0.9).abs() < 1e-11 && (x[1] - 2.1).abs() < 1e-11, "{x:?}");
        assert_eq!(squares, [9.0, 16.0]);
        adagrad.update(2, &mut x, &[4.0, 0.0], &mut [], &mut squares);
        assert_eq!(squares, [25.0, 16.0]);
        assert!((x[0] - (0.9 - 0.1 * 4.0 / 5.0)).abs() < 1e-11 && (x[1] - 2.1).abs() < 1e-11, "{x:?}");
        let mut x = [0.5, 2.0];
        Optimiser::Sgd { rate: 0.5 }.update(1, &mut x, &[1.0, 2.0], &mut [], &mut []);
        assert_eq!(x, [0.0, 1.0]);
    }
}
