//! One step of the optimiser on the rows that a batch touched.

use rayon::prelude::*;

use super::lines::dot;
use super::memory::Memory;
use super::part::{Heap, Slots};
use super::sample::{Penalties, Penalty};
use super::table::{TableMut, measure};
use crate::Real;
use crate::parallel::{add, vectorised};

/// An optimiser. Gradient descent and Adagrad leave rows without a gradient alone by themselves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Optimiser {
    /// x −= rate·g
    Sgd {
        /// Learning rate.
        rate: f64,
    },
    /// a += g², x −= rate·g / (√a + 1e−10)
    Adagrad {
        /// Learning rate.
        rate: f64,
    },
    /// Adam with β = 0.9 and 0.999, ε = 1e−8 and the usual corrections for the number of steps.
    Adam {
        /// Learning rate.
        rate: f64,
        /// Whether rows without a gradient stay where they are and keep their means, as in sparse implementations. If not,
        /// means decay and rows move in every step, as in the definition, and a step costs a pass over all rows.
        lazy: bool,
    },
}

const BETAS: [f64; 2] = [0.9, 0.999];
const ADAM_EPSILON: f64 = 1e-8;
const ADAGRAD_EPSILON: f64 = 1e-10;

/// What one step does to the rows of a table.
#[derive(Clone, Copy)]
pub(super) struct Rule<'a> {
    pub optimiser: Optimiser,
    /// Steps, this one included.
    pub step: u64,
    pub penalties: &'a Penalties,
}

/// A range of rows and what belongs to it.
struct Shard<'a, T> {
    index: usize,
    first: usize,
    values: &'a mut [T],
    scales: &'a mut [T],
    mean: &'a mut [T],
    square: &'a mut [T],
}

/// Moves the rows of a table; returns the penalty of the rows as they were.
pub(super) fn update<T: Real>(
    table: TableMut<'_, T>,
    memory: &mut Memory<T>,
    parts: (&[&Heap<T>], &Slots),
    rule: Rule<'_>,
) -> f64 {
    let TableMut { values, scales, units, stride } = table;
    let rows = parts.0[0].rows_per_range();
    let mut scales = scales.chunks_mut(rows * units.len().max(1));
    let mut mean = memory.mean.chunks_mut(rows * stride);
    let mut square = memory.square.chunks_mut(rows * stride);
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
        (heaps, slots): (&[&Heap<T>], &Slots),
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
                let uses = gather(heaps, &slots, &mut gradient);
                penalty += self.step(row, uses, &mut gradient, units, rule);
            }
            return penalty;
        }
        for (part, heap) in heaps.iter().enumerate() {
            for &row in heap.touched(self.index) {
                let slots = slots.of(row);
                // The first part that touches a row moves it, for all of them.
                if slots[..part].iter().any(Option::is_some) {
                    continue;
                }
                let uses = gather(heaps, &slots, &mut gradient);
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
            |memory: &'_ mut [T]| if memory.is_empty() { 0..0 } else { row * stride..(row + 1) * stride };
        let (mean, square) = (own(self.mean), own(self.square));
        rule.optimiser.apply(rule.step, values, gradient, &mut self.mean[mean], &mut self.square[square]);
        measure(values, units, scales);
        penalty
    }
}

/// Adds up what the parts have for a row, in their order; returns its uses.
#[inline(always)]
fn gather<T: Real>(heaps: &[&Heap<T>], slots: &[Option<usize>], gradient: &mut [T]) -> u32 {
    let (mut found, mut uses) = (false, 0);
    for (heap, slot) in heaps.iter().zip(slots).filter_map(|(heap, slot)| Some((heap, (*slot)?))) {
        let (part, times) = heap.get(slot);
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
        let (v, g) = (&values[place..place + width], &mut gradient[place..place + width]);
        let along = dot(g, v) * scale * scale;
        for (g, &v) in g.iter_mut().zip(v) {
            *g = (*g - along * v) * scale;
        }
    }
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
            Self::Cube { weight } => {
                let slope = T::from_f64(3.0 * weight);
                let mut sum = T::ZERO;
                for (g, &x) in gradient.iter_mut().zip(values) {
                    let size = x.larger(-x);
                    sum += size * x * x;
                    *g += slope * size * x;
                }
                weight * sum.to_f64()
            }
            Self::Square { place, width, weight } => {
                let (weight, v) = (weight * uses, &values[place..place + width]);
                along(2.0 * weight, v, &mut gradient[place..place + width]);
                weight * dot(v, v).to_f64()
            }
            Self::Long { place, width, weight } => {
                let (weight, v) = (weight * uses, &values[place..place + width]);
                let over = dot(v, v).to_f64() - 1.0;
                if over <= 0.0 {
                    return 0.0;
                }
                along(2.0 * weight, v, &mut gradient[place..place + width]);
                weight * over
            }
            Self::Along { places: [first, second], width, weight, tolerated } => {
                let weight = weight * uses;
                let [v, w] = [first, second].map(|place| &values[place..place + width]);
                let [vv, ww, vw] = [dot(v, v), dot(w, w), dot(v, w)].map(Real::to_f64);
                // Something without a length has no direction.
                let squares = vv * ww;
                if squares == 0.0 || vw * vw / squares <= tolerated {
                    return 0.0;
                }
                // d cos²/dv = 2·(v·w)/(‖v‖²‖w‖²)·(w − (v·w)/‖v‖²·v), and the same for w.
                let slope = 2.0 * weight * vw / squares;
                for (place, own, other, square) in [(first, v, w, vv), (second, w, v, ww)] {
                    let gradient = &mut gradient[place..place + width];
                    along(slope, other, gradient);
                    along(-slope * vw / square, own, gradient);
                }
                weight * (vw * vw / squares - tolerated)
            }
        }
    }
}

/// Adds a multiple of a vector.
#[inline(always)]
fn along<T: Real>(factor: f64, v: &[T], out: &mut [T]) {
    let factor = T::from_f64(factor);
    out.iter_mut().zip(v).for_each(|(out, &v)| *out += factor * v);
}

impl Optimiser {
    /// Which of mean and square of gradients it remembers.
    pub(super) fn remembers(self) -> [bool; 2] {
        match self {
            Self::Sgd { .. } => [false, false],
            Self::Adagrad { .. } => [false, true],
            Self::Adam { .. } => [true, true],
        }
    }

    /// Moves numbers against their gradient.
    #[inline(always)]
    pub(super) fn apply<T: Real>(self, step: u64, x: &mut [T], g: &[T], mean: &mut [T], square: &mut [T]) {
        match self {
            Self::Sgd { rate } => {
                let rate = T::from_f64(rate);
                x.iter_mut().zip(g).for_each(|(x, &g)| *x -= rate * g);
            }
            Self::Adagrad { rate } => {
                let (rate, epsilon) = (T::from_f64(rate), T::from_f64(ADAGRAD_EPSILON));
                for ((x, &g), a) in x.iter_mut().zip(g).zip(square) {
                    *a += g * g;
                    *x -= rate * g / (a.sqrt() + epsilon);
                }
            }
            Self::Adam { rate, .. } => {
                let exponent = i32::try_from(step).unwrap_or(i32::MAX);
                let [first, second] = BETAS.map(|beta| 1.0 - beta.powi(exponent));
                let size = T::from_f64(rate / first);
                let root = T::from_f64(1.0 / second.sqrt());
                let epsilon = T::from_f64(ADAM_EPSILON);
                let keep = BETAS.map(T::from_f64);
                let new = BETAS.map(|beta| T::from_f64(1.0 - beta));
                for (((x, &g), m), v) in x.iter_mut().zip(g).zip(mean).zip(square) {
                    *m = keep[0] * *m + new[0] * g;
                    *v = keep[1] * *v + new[1] * g * g;
                    *x -= size * *m / (v.sqrt() * root + epsilon);
                }
            }
        }
    }
}
