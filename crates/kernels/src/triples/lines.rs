//! Sums over rows of whole lines.

use super::table::LINE;
use crate::Real;

/// The sum of partial sums, in a fixed order.
#[inline(always)]
pub(super) fn fold<T: Real>(lanes: [T; LINE]) -> T {
    // Seen through, the last additions make the compiler build the loop before them of vectors as narrow as they are.
    let lanes = std::hint::black_box(lanes);
    let [sum] = halved(halved::<T, 4, 2>(halved::<T, 8, 4>(halved::<T, LINE, 8>(lanes))));
    sum
}

/// The sums of both halves, in fixed sizes: the compiler makes each an addition of vectors.
#[inline(always)]
fn halved<T: Real, const N: usize, const H: usize>(x: [T; N]) -> [T; H] {
    let mut sums = [T::ZERO; H];
    for l in 0..H {
        sums[l] = x[l] + x[l + H];
    }
    sums
}

/// Σ x·y
#[inline(always)]
pub fn dot<T: Real>(x: &[T], y: &[T]) -> T {
    let mut lanes = [T::ZERO; LINE];
    for (x, y) in x.as_chunks::<LINE>().0.iter().zip(y.as_chunks::<LINE>().0) {
        for l in 0..LINE {
            lanes[l] += x[l] * y[l];
        }
    }
    fold(lanes)
}
