//! Work on the rows of matrices, row by row.

use rayon::prelude::*;

use crate::Real;
use crate::parallel::{dot, for_rows, rows_per_task, vectorised};
use crate::segment::{Csr, add_sums, scatter_add};

/// Rows from which on adding them in parallel pays for sorting them.
const MANY: usize = 64;
/// Lengths below this one count as this one in [`normalise`].
const SHORTEST: f64 = 1e-12;

/// `f(i, row i)` for the rows of `out[_, width]`, in parallel and compiled for the widest vectors of this processor, if
/// `f` can be inlined.
pub fn for_each_row<T: Real>(out: &mut [T], width: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    if width == 0 {
        return;
    }
    for_rows(
        out,
        width,
        #[inline(always)]
        |first, rows| {
            for (i, row) in rows.chunks_exact_mut(width).enumerate() {
                f(first + i, row);
            }
        },
    );
}

/// Adds `slope·|x|·x` to a gradient, the gradient of `slope/3·Σ|x|³`; returns Σ|x|³.
#[inline(always)]
pub fn add_cubes<T: Real>(x: &[T], slope: T, gradient: &mut [T]) -> T {
    let mut sum = T::ZERO;
    for (g, &x) in gradient.iter_mut().zip(x) {
        let size = x.larger(-x);
        sum += size * size * size;
        *g += slope * size * x;
    }
    sum
}

/// `x[ids[i]] += from[i]` for rows of length `width`; ids may repeat, and each row is added to in their order.
pub fn add_at<T: Real>(ids: &[u32], from: &[T], width: usize, x: &mut [T]) {
    if width == 0 {
        return;
    }
    if ids.len() < MANY {
        scatter_add(ids, from, width, x);
        return;
    }
    assert_eq!(from.len(), ids.len() * width, "one row per id");
    let places = ids.iter().enumerate().map(|(place, &id)| (id, place as u32));
    add_sums(&Csr::from_pairs(x.len() / width, places), from, width, x);
}

/// `out[n, d]` = the rows of `x[n, d]` scaled to length 1, `x / max(‖x‖, 1e-12)`; `lengths[n]` = the divisors.
pub fn normalise<T: Real>(x: &[T], d: usize, out: &mut [T], lengths: &mut [T]) {
    assert_eq!((x.len(), out.len()), (lengths.len() * d, x.len()), "normalise");
    let rows = rows_per_task(d);
    out.par_chunks_mut(rows * d).zip(lengths.par_chunks_mut(rows)).zip(x.par_chunks(rows * d)).for_each(
        |((out, lengths), x)| {
            vectorised(
                #[inline(always)]
                || {
                    let rows = out.chunks_exact_mut(d).zip(lengths).zip(x.chunks_exact(d));
                    for ((out, length), x) in rows {
                        *length = dot(x, x).sqrt().larger(T::from_f64(SHORTEST));
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

/// Sets `dx[n, d]` to the gradient of [`normalise`] with results `out` and `lengths`, for `dout[n, d]`.
pub fn normalise_backward<T: Real>(out: &[T], lengths: &[T], dout: &[T], d: usize, dx: &mut [T]) {
    assert_eq!((out.len(), dout.len(), dx.len()), (lengths.len() * d, out.len(), out.len()), "normalise");
    for_each_row(
        dx,
        d,
        #[inline(always)]
        |row, dx| {
            let (out, dout) = (&out[row * d..][..d], &dout[row * d..][..d]);
            let scale = T::ONE / lengths[row];
            // Below the shortest length the divisor is a constant.
            let along = if lengths[row] > T::from_f64(SHORTEST) { dot(out, dout) } else { T::ZERO };
            for ((dx, &out), &dout) in dx.iter_mut().zip(out).zip(dout) {
                *dx = (dout - out * along) * scale;
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::add_at;

    #[test]
    fn rows_are_added_where_they_belong() {
        for count in [3_usize, 200] {
            let ids: Vec<u32> = (0..count).map(|i| (i % 3) as u32).collect();
            let from: Vec<f64> = (0..2 * count).map(|i| i as f64).collect();
            let mut x = vec![0.5; 8];
            add_at(&ids, &from, 2, &mut x);
            let mut expected = vec![0.5; 8];
            for (i, &id) in ids.iter().enumerate() {
                expected[2 * id as usize] += from[2 * i];
                expected[2 * id as usize + 1] += from[2 * i + 1];
            }
            assert_eq!(x, expected);
        }
    }
}
