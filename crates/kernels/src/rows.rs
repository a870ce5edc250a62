//! Element-wise work on the rows of matrices.

use crate::Real;
use crate::parallel::for_rows;
use crate::segment::{Csr, scatter_add, sum_backward};

/// Rows from which on adding them in parallel pays for sorting them.
const MANY: usize = 64;

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
    sum_backward(&Csr::from_pairs(x.len() / width, places), from, width, x);
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
