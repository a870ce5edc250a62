//! Rows scaled to length 1: `x / max(‖x‖, 1e-12)`.

use rayon::prelude::*;

use crate::Real;
use crate::parallel::{dot, rows_per_task, vectorised};

/// Lengths below this one count as this one.
const SMALLEST: f64 = 1e-12;

/// `out[n, d]` = the rows of `x[n, d]` scaled to length 1; `lengths[n]` = the divisors.
pub fn forward<T: Real>(x: &[T], d: usize, out: &mut [T], lengths: &mut [T]) {
    assert_eq!((x.len(), out.len()), (lengths.len() * d, x.len()), "normalise");
    let rows = rows_per_task(d);
    out.par_chunks_mut(rows * d).zip(lengths.par_chunks_mut(rows)).zip(x.par_chunks(rows * d)).for_each(
        |((out, lengths), x)| {
            vectorised(
                #[inline(always)]
                || {
                    let rows = out.chunks_exact_mut(d).zip(lengths).zip(x.chunks_exact(d));
                    for ((out, length), x) in rows {
                        *length = dot(x, x).sqrt().larger(T::from_f64(SMALLEST));
                        let scale = T::ONE / *length;
                        for (out, &x) in out.iter_mut().zip(x) {
                            *out = x * scale;
                        }
                    }
                },
            );
        },
    );
}

/// Sets `dx[n, d]` to the gradient of [`forward`] with results `out` and `lengths`, for `dout[n, d]`.
pub fn backward<T: Real>(out: &[T], lengths: &[T], dout: &[T], d: usize, dx: &mut [T]) {
    assert_eq!((out.len(), dout.len(), dx.len()), (lengths.len() * d, out.len(), out.len()), "normalise");
    crate::parallel::for_rows(
        dx,
        d,
        #[inline(always)]
        |first, dx| {
            for (i, dx) in dx.chunks_exact_mut(d).enumerate() {
                let row = first + i;
                let (out, dout) = (&out[row * d..][..d], &dout[row * d..][..d]);
                let scale = T::ONE / lengths[row];
                // Below the smallest length the divisor is a constant.
                let along = if lengths[row] > T::from_f64(SMALLEST) { dot(out, dout) } else { T::ZERO };
                for ((dx, &out), &dout) in dx.iter_mut().zip(out).zip(dout) {
                    *dx = (dout - out * along) * scale;
                }
            }
        },
    );
}
