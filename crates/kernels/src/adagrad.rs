//! Adagrad, and plain gradient descent.

use rayon::prelude::*;

use crate::Real;
use crate::parallel::{add_scaled, vectorised};

/// Settings of Adagrad. Defaults: `PyTorch`'s, but for the rate, which is what factorisation models use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adagrad {
    /// Learning rate.
    pub rate: f64,
    /// Added to the root of the squares.
    pub epsilon: f64,
}

impl Default for Adagrad {
    fn default() -> Self {
        Self { rate: 0.1, epsilon: 1e-10 }
    }
}

/// Numbers per task.
const BLOCK: usize = 1 << 14;

impl Adagrad {
    /// One step on one slice: `squares += g²`, `x −= rate·g / (√squares + ε)`.
    pub fn update<T: Real>(&self, parameters: &mut [T], gradient: &[T], squares: &mut [T]) {
        assert_eq!((gradient.len(), squares.len()), (parameters.len(), parameters.len()), "Adagrad's slices");
        let blocks = parameters.par_chunks_mut(BLOCK).zip(gradient.par_chunks(BLOCK));
        blocks.zip(squares.par_chunks_mut(BLOCK)).for_each(|((x, g), squares)| {
            vectorised(
                #[inline(always)]
                || {
                    let (rate, epsilon) = (T::from_f64(self.rate), T::from_f64(self.epsilon));
                    for ((x, &g), square) in x.iter_mut().zip(g).zip(squares) {
                        *square += g * g;
                        *x -= rate * g / (square.sqrt() + epsilon);
                    }
                },
            );
        });
    }
}

/// One step of gradient descent: `x −= rate·g`.
pub fn descend<T: Real>(rate: f64, parameters: &mut [T], gradient: &[T]) {
    assert_eq!(gradient.len(), parameters.len(), "a gradient per parameter");
    parameters.par_chunks_mut(BLOCK).zip(gradient.par_chunks(BLOCK)).for_each(|(x, g)| {
        vectorised(
            #[inline(always)]
            || add_scaled(x, T::from_f64(-rate), g),
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_steps_by_hand() {
        let adagrad = Adagrad { rate: 0.1, epsilon: 0.0 };
        let (mut x, mut squares) = ([1.0_f64, 2.0], [0.0; 2]);
        adagrad.update(&mut x, &[3.0, -4.0], &mut squares);
        // The first step has the size of the rate, whatever the gradient.
        assert_eq!((x, squares), ([0.9, 2.1], [9.0, 16.0]));
        adagrad.update(&mut x, &[4.0, 0.0], &mut squares);
        assert_eq!((x[1], squares), (2.1, [25.0, 16.0]));
        assert!((x[0] - (0.9 - 0.1 * 4.0 / 5.0)).abs() < 1e-15);
        descend(0.5, &mut x, &[1.0, 2.0]);
        assert_eq!(x[1], 1.1);
    }
}
