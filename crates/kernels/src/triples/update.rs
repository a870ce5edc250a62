//! One step of the optimiser on the rows that a batch touched.

use rayon::prelude::*;

use super::exact::{Slots, TouchedRows};
use super::sample::{Penalties, Penalty};
use super::table::{Table, TableMut, dot, measure};
use crate::Real;
use crate::optimisers::Optimiser;
use crate::parallel::{add, add_scaled, vectorised};
use crate::rows::add_cubes;

/// The moments that an optimiser keeps of a table: means of gradients and of their squares, or empty.
#[derive(Clone, Debug)]
pub(super) struct Moments<T> {
    pub mean: Vec<T>,
    pub square: Vec<T>,
}

impl<T: Real> Moments<T> {
    pub fn new(table: &Table<T>, optimiser: Optimiser) -> Self {
        let [mean, square] =
            optimiser.moments().map(|kept| vec![T::ZERO; if kept { table.values().len() } else { 0 }]);
        Self { mean, square }
    }
}

/// The settings of one step on a table.
#[derive(Clone, Copy)]
pub(super) struct Rule<'a> {
    pub optimiser: Optimiser,
    /// Number of the step, from 1.
    pub step: u64,
    pub penalties: &'a Penalties,
}

/// A range of rows, their scales and moments.
struct Shard<'a, T> {
    index: usize,
    first: usize,
    values: &'a mut [T],
    scales: &'a mut [T],
    mean: &'a mut [T],
    square: &'a mut [T],
}

/// Moves the rows of a table; returns the penalty of the rows before the step.
pub(super) fn update<T: Real>(
    table: &mut Table<T>,
    moments: &mut Moments<T>,
    parts: (&[&TouchedRows<T>], &Slots),
    rule: Rule<'_>,
) -> f64 {
    let TableMut { values, scales, units, stride } = table.parts_mut();
    let rows = parts.0[0].rows_per_range();
    let mut scales = scales.chunks_mut(rows * units.len().max(1));
    let mut mean = moments.mean.chunks_mut(rows * stride);
    let mut square = moments.square.chunks_mut(rows * stride);
    let shards: Vec<Shard<'_, T>> = values
        .chunks_mut(rows * stride)
        .enumerate()
        .map(|(index, values)| Shard {
            index,
            first: index * rows,
            values,
            scales: scales.next().unwrap_or_default(),
            mean: mean.next().unwrap_or_default(),
            square: square.next().unwrap_or_default(),
        })
        .collect();
    let penalties: Vec<f64> = shards
        .into_par_iter()
        .map(|shard| {
            vectorised(
                #[inline(always)]
                || shard.update(parts, units, stride, rule),
            )
        })
        .collect();
    penalties.into_iter().sum()
}

impl<T: Real> Shard<'_, T> {
    #[inline(always)]
    fn update(
        mut self,
        (parts, slots): (&[&TouchedRows<T>], &Slots),
        units: &[(usize, usize)],
        stride: usize,
        rule: Rule<'_>,
    ) -> f64 {
        let mut gradient = vec![T::ZERO; stride];
        let mut penalty = 0.0;
        let of_all_rows = |penalty: &Penalty| matches!(penalty, Penalty::Cube { .. });
        if matches!(rule.optimiser, Optimiser::Adam { lazy: false, .. })
            || rule.penalties.iter().any(of_all_rows)
        {
            for row in 0..self.values.len() / stride {
                let slots = slots.of((self.first + row) as u32);
                let uses = gather(parts, &slots, &mut gradient);
                penalty += self.step(row, uses, &mut gradient, units, rule);
            }
            return penalty;
        }
        for (part, part_rows) in parts.iter().enumerate() {
            for &row in &part_rows.touched[self.index] {
                let slots = slots.of(row);
                // The first part that touches a row moves it for all parts.
                if slots[..part].iter().any(Option::is_some) {
                    continue;
                }
                let uses = gather(parts, &slots, &mut gradient);
                penalty += self.step(row as usize - self.first, uses, &mut gradient, units, rule);
            }
        }
        penalty
    }

    /// Moves one row.
    #[inline(always)]
    fn step(
        &mut self,
        row: usize,
        uses: u32,
        gradient: &mut [T],
        units: &[(usize, usize)],
        rule: Rule<'_>,
    ) -> f64 {
        let stride = gradient.len();
        let values = &mut self.values[row * stride..][..stride];
        let scales = &mut self.scales[row * units.len()..][..units.len()];
        project(values, scales, units, gradient);
        let penalty = penalise(rule.penalties, uses, values, gradient);
        let own =
            |moments: &'_ mut [T]| if moments.is_empty() { 0..0 } else { row * stride..(row + 1) * stride };
        let (mean, square) = (own(self.mean), own(self.square));
        rule.optimiser.apply(rule.step, values, gradient, &mut self.mean[mean], &mut self.square[square]);
        measure(values, units, scales);
        penalty
    }
}

/// Sums the gradients of a row over the parts, in order; returns the uses of the row.
#[inline(always)]
fn gather<T: Real>(parts: &[&TouchedRows<T>], slots: &[Option<usize>], gradient: &mut [T]) -> u32 {
    let (mut found, mut uses) = (false, 0);
    for (part_rows, slot) in
        parts.iter().zip(slots).filter_map(|(part_rows, slot)| Some((part_rows, (*slot)?)))
    {
        let (part, times) = part_rows.get(slot);
        if found {
            add(gradient, part);
        } else {
            gradient.copy_from_slice(part);
            found = true;
        }
        uses += times;
    }
    if !found {
        gradient.fill(T::ZERO);
    }
    uses
}

/// Turns slopes along a unit segment v̂ = v/‖v‖ into those along v: (g − (g·v̂)·v̂)/‖v‖.
#[inline(always)]
pub(super) fn project<T: Real>(values: &[T], scales: &[T], units: &[(usize, usize)], gradient: &mut [T]) {
    for (&scale, &(place, width)) in scales.iter().zip(units) {
        unit_slopes(&values[place..place + width], scale, &mut gradient[place..place + width]);
    }
}

/// Turns slopes along v̂ = v/‖v‖ into those along v; `scale` is 1/‖v‖.
#[inline(always)]
pub fn unit_slopes<T: Real>(v: &[T], scale: T, slopes: &mut [T]) {
    let along = dot(slopes, v) * scale * scale;
    slopes.iter_mut().zip(v).for_each(|(g, &v)| *g = (*g - along * v) * scale);
}

/// Adds the slopes of the penalty; returns its value.
#[inline(always)]
pub(super) fn penalise<T: Real>(penalties: &Penalties, uses: u32, values: &[T], gradient: &mut [T]) -> f64 {
    let uses = f64::from(uses);
    penalties.iter().map(|penalty| penalty.apply(uses, values, gradient)).sum()
}

impl Penalty {
    #[inline(always)]
    fn apply<T: Real>(&self, uses: f64, values: &[T], gradient: &mut [T]) -> f64 {
        match *self {
            Self::Cube { weight } => weight * add_cubes(values, T::from_f64(3.0 * weight), gradient).to_f64(),
            Self::Square { place, width, weight } => {
                let (weight, v) = (weight * uses, &values[place..place + width]);
                add_scaled(&mut gradient[place..place + width], T::from_f64(2.0 * weight), v);
                weight * dot(v, v).to_f64()
            }
            Self::Long { place, width, weight } => {
                let (weight, v) = (weight * uses, &values[place..place + width]);
                let over = dot(v, v).to_f64() - 1.0;
                if over <= 0.0 {
                    return 0.0;
                }
                add_scaled(&mut gradient[place..place + width], T::from_f64(2.0 * weight), v);
                weight * over
            }
            Self::Along { places: [first, second], width, weight, tolerated } => {
                let weight = weight * uses;
                let [v, w] = [first, second].map(|place| &values[place..place + width]);
                let [vv, ww, vw] = [dot(v, v), dot(w, w), dot(v, w)].map(Real::to_f64);
                // A vector of length 0 has no direction.
                let squares = vv * ww;
                if squares == 0.0 || vw * vw / squares <= tolerated {
                    return 0.0;
                }
                // d cos²/dv = 2·(v·w)/(‖v‖²‖w‖²)·(w − (v·w)/‖v‖²·v), and the same for w.
                let slope = 2.0 * weight * vw / squares;
                for (place, own, other, square) in [(first, v, w, vv), (second, w, v, ww)] {
                    let gradient = &mut gradient[place..place + width];
                    add_scaled(gradient, T::from_f64(slope), other);
                    add_scaled(gradient, T::from_f64(-slope * vw / square), own);
                }
                weight * (vw * vw / squares - tolerated)
            }
        }
    }
}
