//! `ATiSE`: a row is a trend and a season, `x(τ) = x + α·τ·w + β ⊙ sin(2πω·τ)`, every id with its own; as a Gaussian it
//! also has a variance that does not change.
//!
//! τ counts periods of `granularity` units. Parameters: rows·(5d + 1): the variances are there, as published, also
//! where a score does not look at them.

use std::f64::consts::TAU;
use std::sync::Arc;

use quadcast_kernels::{Real, dot, memory, rows};

use super::{Encoder, Places};
use crate::completion::composed::tables::{Gradients, TableId, Tables};
use crate::completion::composed::times::Times;

pub(crate) struct Series {
    pub base: TableId,
    pub trend: TableId,
    pub slope: TableId,
    pub amplitude: TableId,
    pub frequency: TableId,
    pub variance: TableId,
    pub d: usize,
    /// Whether rows end with their variances.
    pub gaussian: bool,
    pub granularity: u32,
    pub times: Arc<Times>,
}

impl Series {
    #[inline(always)]
    fn time<T: Real>(&self, time: u32) -> T {
        T::from_f64(f64::from(self.times.ordinals[time as usize] / self.granularity))
    }

    fn row_width(&self) -> usize {
        if self.gaussian { 2 * self.d } else { self.d }
    }
}

impl<T: Real> Encoder<T> for Series {
    fn width(&self) -> usize {
        self.row_width()
    }

    fn encode(&self, tables: &Tables<T>, places: Places<'_>, out: &mut [T]) {
        let d = self.d;
        rows::for_each_row(
            out,
            self.row_width(),
            #[inline(always)]
            |i, out| {
                let (id, time) = (places.ids[i], self.time::<T>(places.times[i]));
                let ids = [self.base, self.trend, self.amplitude, self.frequency];
                let [x, w, b, f] = ids.map(|table| tables.row(table, id));
                let trend = tables.row(self.slope, id)[0] * time;
                let turn = T::from_f64(TAU) * time;
                for j in 0..d {
                    out[j] = x[j] + trend * w[j] + b[j] * (f[j] * turn).sin_cos().0;
                }
                if self.gaussian {
                    out[d..].copy_from_slice(tables.row(self.variance, id));
                }
            },
        );
    }

    fn backward(&self, tables: &Tables<T>, places: Places<'_>, gradient: &[T], into: &mut Gradients<T>) {
        let (n, d, width) = (places.len(), self.d, self.row_width());
        let of = |i: usize| &gradient[i * width..][..d];
        let mut rows_gradient = memory::take(n * d);
        let mut add = |table: TableId, f: &(dyn Fn(usize, &mut [T]) + Sync)| {
            rows::for_each_row(
                &mut rows_gradient,
                d,
                #[inline(always)]
                |i, row| f(i, row),
            );
            into.add_at(table, places.ids, &rows_gradient);
        };
        add(self.base, &|i, row| row.copy_from_slice(of(i)));
        add(self.trend, &|i, row| {
            let trend = tables.row(self.slope, places.ids[i])[0] * self.time(places.times[i]);
            row.iter_mut().zip(of(i)).for_each(|(to, &g)| *to = trend * g);
        });
        add(self.amplitude, &|i, row| {
            let turn = T::from_f64(TAU) * self.time(places.times[i]);
            let f = tables.row(self.frequency, places.ids[i]);
            for ((to, &g), &f) in row.iter_mut().zip(of(i)).zip(f) {
                *to = g * (f * turn).sin_cos().0;
            }
        });
        add(self.frequency, &|i, row| {
            let turn = T::from_f64(TAU) * self.time(places.times[i]);
            let f = tables.row(self.frequency, places.ids[i]);
            let b = tables.row(self.amplitude, places.ids[i]);
            for (((to, &g), &f), &b) in row.iter_mut().zip(of(i)).zip(f).zip(b) {
                *to = turn * g * b * (f * turn).sin_cos().1;
            }
        });
        if self.gaussian {
            add(self.variance, &|i, row| row.copy_from_slice(&gradient[i * width + d..][..d]));
        }
        let mut slopes = memory::take(n);
        rows::for_each_row(
            &mut slopes,
            1,
            #[inline(always)]
            |i, row| {
                row[0] = self.time::<T>(places.times[i]) * dot(of(i), tables.row(self.trend, places.ids[i]));
            },
        );
        into.add_at(self.slope, places.ids, &slopes);
    }
}
