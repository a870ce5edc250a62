//! Linear map of rows: `x·Wᵀ + b`.

use crate::Real;
use crate::matrix::{Form, Size, multiply, multiply_add};
use crate::parallel::{add, add_column_sums};
use crate::rows::for_each_row;

/// Parameters of a map from `k` to `n` numbers.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a, T> {
    /// `[n, k]`
    pub weight: &'a [T],
    /// `[n]`
    pub bias: Option<&'a [T]>,
}

/// Gradients of a map; that of x is set, the others are added to.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// Of x`[b, k]`.
    pub x: &'a mut [T],
    /// Of W`[n, k]`.
    pub weight: &'a mut [T],
    /// Of b`[n]`; needed exactly if the bias is given.
    pub bias: Option<&'a mut [T]>,
}

/// `out[b, n]` for x`[b, k]`.
pub fn forward<T: Real>(weights: &Weights<T>, x: &[T], n: usize, out: &mut [T]) {
    let (b, k) = (out.len() / n, weights.weight.len() / n);
    multiply(Form::RightTransposed, Size { m: b, n, k }, x, weights.weight, out);
    if let Some(bias) = weights.bias {
        for_each_row(
            out,
            n,
            #[inline(always)]
            |_, row| add(row, bias),
        );
    }
}

/// The gradients of [`forward`] for `dout[b, n]`.
pub fn backward<T: Real>(weights: &Weights<T>, x: &[T], n: usize, dout: &[T], gradients: &mut Gradients<T>) {
    let (b, k) = (dout.len() / n, weights.weight.len() / n);
    multiply(Form::Plain, Size { m: b, n: k, k: n }, dout, weights.weight, gradients.x);
    multiply_add(Form::LeftTransposed, Size { m: n, n: k, k: b }, dout, x, gradients.weight);
    if let Some(bias) = gradients.bias.as_deref_mut() {
        add_column_sums(dout, n, bias);
    }
}
