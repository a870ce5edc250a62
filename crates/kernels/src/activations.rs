//! Element-wise functions and their gradients.

use crate::Real;
use crate::parallel::{for_rows, zip_rows};

/// Slope of RE-GCN's "rrelu" for negative numbers, (1/8 + 1/3) / 2: fixed in training and in use.
pub const RRELU_SLOPE: f64 = 11.0 / 48.0;

/// ln(1 + eˣ)
#[inline(always)]
pub fn softplus<T: Real>(x: T) -> T {
    let positive = x.larger(T::ZERO);
    positive + (x - positive - positive).exp().ln_1p()
}

/// `out = tanh(x)`, any shape.
pub fn tanh<T: Real>(x: &[T], out: &mut [T]) {
    assert_eq!(x.len(), out.len(), "tanh");
    for_rows(
        out,
        1,
        #[inline(always)]
        |first, out| {
            for (out, &x) in out.iter_mut().zip(&x[first..]) {
                *out = x.tanh();
            }
        },
    );
}

/// `dx = dout·(1 − out²)` for `out = tanh(x)`.
pub fn tanh_backward<T: Real>(out: &[T], dout: &[T], dx: &mut [T]) {
    zip_rows(
        dx,
        out,
        dout,
        #[inline(always)]
        |dx, out, dout| *dx = dout * (T::ONE - out * out),
    );
}
