//! Adam with coupled L2 and optional `AMSGrad`, and clipping by the global norm.

use rayon::prelude::*;

use crate::Real;
use crate::parallel::{ordered_sum, vectorised};

/// Settings of Adam. Defaults: `PyTorch`'s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// Learning rate.
    pub rate: f64,
    /// Decay of the mean of gradients.
    pub beta1: f64,
    /// Decay of the mean of squared gradients.
    pub beta2: f64,
    /// Added to the root of the squares.
    pub epsilon: f64,
    /// Coupled L2: this times the parameter is added to the gradient.
    pub decay: f64,
}

impl Default for Adam {
    fn default() -> Self {
        Self { rate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, decay: 0.0 }
    }
}

/// State of one parameter slice; all of its length, 0 at the beginning.
#[derive(Debug)]
pub struct State<'a, T> {
    /// Mean of gradients.
    pub mean: &'a mut [T],
    /// Mean of squared gradients.
    pub square: &'a mut [T],
    /// Largest mean of squares so far: given for `AMSGrad`.
    pub largest: Option<&'a mut [T]>,
}

/// Numbers per task.
const BLOCK: usize = 1 << 14;

impl Adam {
    /// One step on one slice. `step` counts from 1; the gradient is multiplied by `scale` first (1, or what
    /// [`clip_scale`] says).
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
        let exponent = i32::try_from(step).unwrap_or(i32::MAX);
        let correction1 = 1.0 - self.beta1.powi(exponent);
        let correction2 = (1.0 - self.beta2.powi(exponent)).sqrt();
        let constants = Constants {
            scale: T::from_f64(scale),
            decay: T::from_f64(self.decay),
            keep: [self.beta1, self.beta2].map(T::from_f64),
            new: [1.0 - self.beta1, 1.0 - self.beta2].map(T::from_f64),
            epsilon: T::from_f64(self.epsilon),
            size: T::from_f64(self.rate / correction1),
            root: T::from_f64(1.0 / correction2),
        };
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
                        let own = constants;
                        for ((((x, &g), m), v), w) in x.iter_mut().zip(g).zip(m).zip(v).zip(w) {
                            own.moments(*x, g, m, v);
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
                        let own = constants;
                        for (((x, &g), m), v) in x.iter_mut().zip(g).zip(m).zip(v) {
                            own.moments(*x, g, m, v);
                            *x -= own.move_by(*m, *v);
                        }
                    },
                );
            });
        }
    }
}

/// The numbers of one step. Every task works on a copy: read through a reference, they could be overwritten by
/// what its loop writes, which keeps the compiler from vectorising it.
#[derive(Clone, Copy)]
struct Constants<T> {
    scale: T,
    decay: T,
    keep: [T; 2],
    new: [T; 2],
    epsilon: T,
    /// Rate over the correction of the mean.
    size: T,
    /// 1 over the root of the correction of the squares.
    root: T,
}

impl<T: Real> Constants<T> {
    #[inline(always)]
    fn moments(self, x: T, g: T, mean: &mut T, square: &mut T) {
        let g = g * self.scale + self.decay * x;
        *mean = self.keep[0] * *mean + self.new[0] * g;
        *square = self.keep[1] * *square + self.new[1] * g * g;
    }

    #[inline(always)]
    fn move_by(self, mean: T, square: T) -> T {
        self.size * mean / (square.sqrt() * self.root + self.epsilon)
    }
}

/// Σ x² over all slices, added in a fixed order.
pub fn squared_norm<T: Real>(slices: &[&[T]]) -> f64 {
    let one = |x: &[T]| {
        ordered_sum(
            x.len(),
            BLOCK,
            #[inline(always)]
            |part| {
                vectorised(
                    #[inline(always)]
                    || {
                        let mut lanes = [0.0_f64; 8];
                        let chunks = x[part].chunks(8);
                        for chunk in chunks {
                            for (lane, &x) in lanes.iter_mut().zip(chunk) {
                                *lane += x.to_f64() * x.to_f64();
                            }
                        }
                        lanes.iter().sum()
                    },
                )
            },
        )
    };
    slices.iter().map(|x| one(x)).sum()
}

/// What gradients with this squared global norm are to be multiplied by so that their norm is at most
/// `limit`: `min(1, limit / (norm + 1e-6))`, as `PyTorch` has it.
pub fn clip_scale(squared_norm: f64, limit: f64) -> f64 {
    (limit / (squared_norm.sqrt() + 1e-6)).min(1.0)
}
