//! DE: a part of each row is fixed, the rest swings with year, month and day, every row in its own way.
//!
//! `x(τ) = [x ; Σ over c ∈ {year, month, day} of a_c ⊙ sin(ω_c·c + b_c)]`. The parts of the date are used as they are
//! written; `year_offset` is subtracted from the year (0 in the published code).
//!
//! Parameters: rows·(⌊γd⌉ + 9·⌊(1−γ)d⌉).

use std::sync::Arc;

use quadcast_kernels::{Real, memory, rows};

use super::{Encoder, Places, columns};
use crate::completion::composed::tables::{Gradients, TableId, Tables};
use crate::completion::composed::times::Times;

pub(crate) struct Diachronic {
    pub fixed: TableId,
    pub fixed_width: usize,
    /// Of year, month, day: amplitude, frequency and phase.
    pub swings: [[TableId; 3]; 3],
    pub swing_width: usize,
    pub times: Arc<Times>,
    pub year_offset: f64,
}

impl Diachronic {
    /// The part of a date that a swing follows.
    #[inline(always)]
    fn part(&self, time: u32, which: usize) -> f64 {
        let part = f64::from(self.times.dates[time as usize][which]);
        if which == 0 { part - self.year_offset } else { part }
    }
}

impl<T: Real> Encoder<T> for Diachronic {
    fn width(&self) -> usize {
        self.fixed_width + self.swing_width
    }

    fn encode(&self, tables: &Tables<T>, places: Places<'_>, out: &mut [T]) {
        rows::for_each_row(
            out,
            self.fixed_width + self.swing_width,
            #[inline(always)]
            |i, out| {
                let (id, time) = (places.ids[i], places.times[i]);
                let (fixed, swinging) = out.split_at_mut(self.fixed_width);
                fixed.copy_from_slice(tables.row(self.fixed, id));
                swinging.fill(T::ZERO);
                for (which, swing) in self.swings.into_iter().enumerate() {
                    let part = T::from_f64(self.part(time, which));
                    let [a, w, b] = swing.map(|table| tables.row(table, id));
                    for (((out, &a), &w), &b) in swinging.iter_mut().zip(a).zip(w).zip(b) {
                        *out += a * (w * part + b).sin_cos().0;
                    }
                }
            },
        );
    }

    fn backward(&self, tables: &Tables<T>, places: Places<'_>, gradient: &[T], into: &mut Gradients<T>) {
        let (n, fw, sw) = (places.len(), self.fixed_width, self.swing_width);
        into.add_at(self.fixed, places.ids, &columns(gradient, fw + sw, 0..fw));
        // Sine and cosine are taken once; the three gradients follow from them.
        let mut waves = memory::take(n * 2 * sw);
        let mut part_gradient = memory::take(n * sw);
        for (which, swing) in self.swings.into_iter().enumerate() {
            rows::for_each_row(
                &mut waves,
                2 * sw,
                #[inline(always)]
                |i, row| {
                    let id = places.ids[i];
                    let part = T::from_f64(self.part(places.times[i], which));
                    let [a, w, b] = swing.map(|table| tables.row(table, id));
                    let g = &gradient[i * (fw + sw) + fw..][..sw];
                    let (sines, cosines) = row.split_at_mut(sw);
                    for j in 0..sw {
                        let (sine, cosine) = (w[j] * part + b[j]).sin_cos();
                        sines[j] = g[j] * sine;
                        cosines[j] = g[j] * a[j] * cosine;
                    }
                },
            );
            let mut add = |table: TableId, half: usize, times_part: bool| {
                rows::for_each_row(
                    &mut part_gradient,
                    sw,
                    #[inline(always)]
                    |i, row| {
                        let part =
                            T::from_f64(if times_part { self.part(places.times[i], which) } else { 1.0 });
                        let from = &waves[(2 * i + half) * sw..][..sw];
                        row.iter_mut().zip(from).for_each(|(to, &x)| *to = x * part);
                    },
                );
                into.add_at(table, places.ids, &part_gradient);
            };
            let [amplitude, frequency, phase] = swing;
            add(amplitude, 0, false);
            add(frequency, 1, true);
            add(phase, 1, false);
        }
    }
}
