//! The distance of `TransE` between projected ends, which its descendants share: they differ in how ends are projected.

use quadcast_kernels::Real;
use quadcast_kernels::triples::{LINE, Norm, distance, distance_slopes, dot, padded};

/// Shorter vectors have no direction.
const SHORTEST: f64 = 1e-12;

/// ‖n(h⊥) + r − n(t⊥)‖ with n(x) = x/‖x‖, or n(x) = x.
#[derive(Clone, Copy, Debug)]
pub(super) struct Projected {
    pub norm: Norm,
    /// Whether projections are divided by their lengths.
    pub unit: bool,
    /// Numbers of a projection.
    pub width: usize,
}

/// What is kept between energy and slopes: the projections, the slopes along them, their scales and the distance.
pub(super) struct Kept<'a, T> {
    pub head: &'a mut [T],
    pub tail: &'a mut [T],
    pub head_slope: &'a mut [T],
    pub tail_slope: &'a mut [T],
    numbers: &'a mut [T],
}

impl Projected {
    /// Numbers that are kept.
    pub fn scratch(&self) -> usize {
        4 * padded(self.width) + LINE
    }

    #[inline(always)]
    pub fn kept<'a, T: Real>(&self, scratch: &'a mut [T]) -> Kept<'a, T> {
        let width = padded(self.width);
        let (head, rest) = scratch.split_at_mut(width);
        let (tail, rest) = rest.split_at_mut(width);
        let (head_slope, rest) = rest.split_at_mut(width);
        let (tail_slope, numbers) = rest.split_at_mut(width);
        Kept { head, tail, head_slope, tail_slope, numbers }
    }

    #[inline(always)]
    fn scale<T: Real>(&self, x: &[T]) -> T {
        if self.unit { T::ONE / dot(x, x).sqrt().larger(T::from_f64(SHORTEST)) } else { T::ONE }
    }

    /// The energy of ends whose projections are kept.
    #[inline(always)]
    pub fn energy<T: Real>(&self, kept: &mut Kept<'_, T>, relation: &[T], scale: T) -> T {
        let (a, c) = (self.scale(kept.head), self.scale(kept.tail));
        let d = distance(self.norm, [kept.head, relation, kept.tail], [a, scale, c]);
        kept.numbers[..3].copy_from_slice(&[d, a, c]);
        d
    }

    /// Sets the slopes along the projections; those along the relation are added.
    #[inline(always)]
    pub fn slopes<T: Real>(
        &self,
        kept: &mut Kept<'_, T>,
        (relation, scale): (&[T], T),
        factor: T,
        relation_slope: &mut [T],
    ) {
        let [d, a, c] = [kept.numbers[0], kept.numbers[1], kept.numbers[2]];
        kept.head_slope.fill(T::ZERO);
        kept.tail_slope.fill(T::ZERO);
        let into = [&mut *kept.head_slope, relation_slope, &mut *kept.tail_slope];
        distance_slopes((self.norm, d), [&*kept.head, relation, &*kept.tail], [a, scale, c], factor, into);
        if self.unit {
            undivide(kept.head, a, kept.head_slope);
            undivide(kept.tail, c, kept.tail_slope);
        }
    }
}

/// Slopes along x/‖x‖ become those along x; `scale` is 1/‖x‖.
#[inline(always)]
fn undivide<T: Real>(x: &[T], scale: T, slope: &mut [T]) {
    let along = dot(slope, x) * scale * scale;
    slope.iter_mut().zip(x).for_each(|(g, &x)| *g = (*g - along * x) * scale);
}

/// y += a·x
#[inline(always)]
pub(super) fn add<T: Real>(y: &mut [T], a: T, x: &[T]) {
    y.iter_mut().zip(x).for_each(|(y, &x)| *y += a * x);
}
