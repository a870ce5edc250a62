//! Sums over rows of whole lines.

use super::table::LINE;
use crate::Real;

/// The sum of partial sums, in a fixed order.
#[inline(always)]
pub(super) fn fold<T: Real>(lanes: [T; LINE]) -> T {
    // Seen through, the last additions make the compiler build the loop before them of vectors as narrow as they are.
    let mut lanes = std::hint::black_box(lanes);
    let mut half = LINE / 2;
    while half > 0 {
        for l in 0..half {
            lanes[l] += lanes[l + half];
        }
        half /= 2;
    }
    lanes[0]
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
