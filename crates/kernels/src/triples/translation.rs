//! The distance between a head moved by a relation and a tail: the energy of `TransE`, and the end of that of its
//! descendants.

use super::energy::{Ends, Energy, Slopes};
use super::lines::fold;
use super::table::{LINE, Layout, Segment, padded};
use crate::Real;

/// How a distance is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// Σ |u|
    L1,
    /// √Σ u²
    L2,
}

/// ‖a·x + b·y − c·z‖ for rows x, y, z of whole lines and numbers a, b, c.
#[inline(always)]
pub fn distance<T: Real>(norm: Norm, [x, y, z]: [&[T]; 3], [a, b, c]: [T; 3]) -> T {
    // Apart, so that nobody waits for a root that is not taken.
    match norm {
        Norm::L1 => sum::<T, false>([x, y, z], [a, b, c]),
        Norm::L2 => sum::<T, true>([x, y, z], [a, b, c]).sqrt(),
    }
}

/// Σ |a·x + b·y − c·z|, or Σ (a·x + b·y − c·z)² if `SQUARES`.
#[inline(always)]
fn sum<T: Real, const SQUARES: bool>([x, y, z]: [&[T]; 3], [a, b, c]: [T; 3]) -> T {
    let mut lanes = [T::ZERO; LINE];
    let rows = x.as_chunks::<LINE>().0.iter().zip(y.as_chunks::<LINE>().0).zip(z.as_chunks::<LINE>().0);
    for ((x, y), z) in rows {
        for l in 0..LINE {
            let u = a * x[l] + b * y[l] - c * z[l];
            lanes[l] += if SQUARES { u * u } else { u.abs() };
        }
    }
    fold(lanes)
}

/// Adds `factor` times the slopes of [`distance`] along a·x, b·y and c·z. `distance` is its value.
#[inline(always)]
pub fn distance_slopes<T: Real>(
    (norm, distance): (Norm, T),
    [x, y, z]: [&[T]; 3],
    [a, b, c]: [T; 3],
    factor: T,
    [dx, dy, dz]: [&mut [T]; 3],
) {
    let scale = match norm {
        Norm::L1 => factor,
        Norm::L2 if distance > T::ZERO => factor / distance,
        Norm::L2 => T::ZERO,
    };
    let rows = x.as_chunks::<LINE>().0.iter().zip(y.as_chunks::<LINE>().0).zip(z.as_chunks::<LINE>().0);
    let slopes = dx.as_chunks_mut::<LINE>().0.iter_mut().zip(dy.as_chunks_mut::<LINE>().0);
    for (((x, y), z), ((dx, dy), dz)) in rows.zip(slopes.zip(dz.as_chunks_mut::<LINE>().0)) {
        for l in 0..LINE {
            let u = a * x[l] + b * y[l] - c * z[l];
            let above = if u > T::ZERO { scale } else { T::ZERO };
            let below = if u < T::ZERO { scale } else { T::ZERO };
            let g = if norm == Norm::L1 { above - below } else { scale * u };
            dx[l] += g;
            dy[l] += g;
            dz[l] -= g;
        }
    }
}

/// d = ‖ĥ + r̂ − t̂‖, of rows divided by their lengths, or of the rows as they are.
#[derive(Clone, Copy, Debug)]
pub struct Translation {
    /// Numbers of a row.
    pub dimension: usize,
    /// How the distance is measured.
    pub norm: Norm,
    /// Whether rows are divided by their lengths.
    pub unit: bool,
}

impl Translation {
    fn layout(&self, name: &'static str) -> Layout {
        Layout(vec![Segment { name, width: self.dimension, unit: self.unit }])
    }

    #[inline(always)]
    fn parts<'a, T: Real>(&self, ends: &Ends<'a, T>) -> ([&'a [T]; 3], [T; 3]) {
        let width = padded(self.dimension);
        let rows = [ends.head, ends.relation, ends.tail];
        let scales = rows.map(|row| if self.unit { row.scales[0] } else { T::ONE });
        (rows.map(|row| &row.values[..width]), scales)
    }
}

impl<T: Real> Energy<T> for Translation {
    fn entity(&self) -> Layout {
        self.layout("entities")
    }

    fn relation(&self) -> Layout {
        self.layout("relations")
    }

    fn scratch(&self) -> usize {
        1
    }

    #[inline(always)]
    fn energy(&self, ends: &Ends<'_, T>, scratch: &mut [T]) -> T {
        let (rows, scales) = self.parts(ends);
        scratch[0] = distance(self.norm, rows, scales);
        scratch[0]
    }

    #[inline(always)]
    fn slopes(&self, ends: &Ends<'_, T>, scratch: &mut [T], factor: T, slopes: &mut Slopes<'_, T>) {
        let (rows, scales) = self.parts(ends);
        let into = [&mut *slopes.head, &mut *slopes.relation, &mut *slopes.tail];
        distance_slopes((self.norm, scratch[0]), rows, scales, factor, into);
    }
}
