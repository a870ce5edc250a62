//! Time gate: `H' = u∘C + (1 − u)∘H` with `u = σ(H·W + b)`.

use rayon::prelude::*;

use crate::Real;
use crate::matrix::{Form, Size, multiply, multiply_add};
use crate::memory::take;
use crate::parallel::{add_column_sums, rows_per_task, vectorised};

/// A slice for each input of a gate.
#[derive(Clone, Copy, Debug)]
pub struct Slices<S> {
    /// Old state H`[n, d]`.
    pub old: S,
    /// Candidate C`[n, d]`.
    pub candidate: S,
    /// W`[d, d]`, applied from the right: H·W.
    pub weight: S,
    /// b`[d]`.
    pub bias: S,
}

/// The inputs of a gate.
pub type Inputs<'a, T> = Slices<&'a [T]>;

/// Gradients of a gate; those of the states are set, the others are added to.
pub type Gradients<'a, T> = Slices<&'a mut [T]>;

/// `out[n, d]` = H' and `gate[n, d]` = u, which the backward pass needs.
pub fn forward<T: Real>(inputs: &Inputs<T>, gate: &mut [T], out: &mut [T]) {
    let Inputs { old, candidate, weight, bias } = *inputs;
    let d = bias.len();
    let n = old.len() / d;
    assert_eq!((candidate.len(), gate.len(), out.len()), (n * d, n * d, n * d), "gate");
    multiply(Form::Plain, Size { m: n, n: d, k: d }, old, weight, gate);
    let step = rows_per_task(d) * d;
    out.par_chunks_mut(step).zip(gate.par_chunks_mut(step)).enumerate().for_each(|(i, (out, gate))| {
        let (old, candidate) = (&old[i * step..][..out.len()], &candidate[i * step..][..out.len()]);
        vectorised(
            #[inline(always)]
            || {
                for (row, gate) in gate.chunks_exact_mut(d).enumerate() {
                    for (u, &b) in gate.iter_mut().zip(bias) {
                        *u = (*u + b).sigmoid();
                    }
                    let places = row * d..(row + 1) * d;
                    let (out, old, candidate) =
                        (&mut out[places.clone()], &old[places.clone()], &candidate[places]);
                    for (((out, &u), &h), &c) in out.iter_mut().zip(&*gate).zip(old).zip(candidate) {
                        *out = u * c + (T::ONE - u) * h;
                    }
                }
            },
        );
    });
}

/// The gradients for `dout[n, d]`; `gate` as [`forward`] left it.
pub fn backward<T: Real>(inputs: &Inputs<T>, gate: &[T], dout: &[T], gradients: &mut Gradients<T>) {
    let Inputs { old, candidate, weight, bias } = *inputs;
    let d = bias.len();
    let n = old.len() / d;
    let mut before = take::<T>(n * d);
    let step = rows_per_task(d) * d;
    let own = before.par_chunks_mut(step).zip(gradients.old.par_chunks_mut(step));
    own.zip(gradients.candidate.par_chunks_mut(step)).enumerate().for_each(
        |(i, ((before, dold), dcandidate))| {
            let part = i * step..i * step + before.len();
            let (u, g) = (&gate[part.clone()], &dout[part.clone()]);
            let (h, c) = (&old[part.clone()], &candidate[part]);
            vectorised(
                #[inline(always)]
                || {
                    // Equal lengths that the compiler can see take the bounds checks out of the loop.
                    let len = before.len();
                    let (u, g, h, c) = (&u[..len], &g[..len], &h[..len], &c[..len]);
                    let (dold, dcandidate) = (&mut dold[..len], &mut dcandidate[..len]);
                    for j in 0..len {
                        dcandidate[j] = g[j] * u[j];
                        dold[j] = g[j] * (T::ONE - u[j]);
                        before[j] = g[j] * (c[j] - h[j]) * u[j] * (T::ONE - u[j]);
                    }
                },
            );
        },
    );
    multiply_add(Form::RightTransposed, Size { m: n, n: d, k: d }, &before, weight, gradients.old);
    multiply_add(Form::LeftTransposed, Size { m: d, n: d, k: n }, old, &before, gradients.weight);
    add_column_sums(&before, d, gradients.bias);
}
