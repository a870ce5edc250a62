//! Penalties: on the rows that a batch uses, and on whole tables.

use quadcast_kernels::{Real, memory, rows};

use super::encoders::{Encoder, Places, columns};
use super::settings::PenaltyName;
use super::tables::{Gradients, Kind, Table, Tables};

/// Adds `weight·Σ|x|³` of a row to its gradient; returns Σ|x|³. Complex numbers are stored as two halves.
#[inline(always)]
fn cubes<T: Real>(complex: bool, row: &[T], weight: T, gradient: &mut [T]) -> f64 {
    let three = T::from_f64(3.0) * weight;
    if !complex {
        return rows::add_cubes(row, three, gradient).to_f64();
    }
    let (mut total, k) = (T::ZERO, row.len() / 2);
    for j in 0..k {
        let size = (row[j] * row[j] + row[j + k] * row[j + k]).sqrt();
        total += size * size * size;
        gradient[j] += three * size * row[j];
        gradient[j + k] += three * size * row[j + k];
    }
    total.to_f64()
}

/// As [`cubes`], with the fourth power.
#[inline(always)]
fn fourth_powers<T: Real>(complex: bool, row: &[T], weight: T, gradient: &mut [T]) -> f64 {
    let mut total = T::ZERO;
    let four = T::from_f64(4.0) * weight;
    let k = row.len() / 2;
    let square = |j: usize| {
        let other = if j < k { j + k } else { j - k };
        row[j] * row[j] + if complex { row[other] * row[other] } else { T::ZERO }
    };
    for j in 0..row.len() {
        let square = square(j);
        // A complex number has two parts, but its power counts once.
        total += if complex && j >= k { T::ZERO } else { square * square };
        gradient[j] += four * square * row[j];
    }
    total.to_f64()
}

/// `weight·Σ|x|³` of the rows of some places, for each summand of the encoder; gradients are added.
pub(crate) fn penalise_rows<T: Real>(
    encoder: &dyn Encoder<T>,
    tables: &Tables<T>,
    places: Places<'_>,
    complex: bool,
    weight: f64,
    into: &mut Gradients<T>,
) -> f64 {
    let mut total = 0.0;
    let summands = encoder.summands();
    for factor in if summands.is_empty() { vec![encoder] } else { summands } {
        let width = factor.width();
        let mut values = memory::take(places.len() * width);
        factor.encode(tables, places, &mut values);
        // One more number per row takes its sum, so that sums are added in the order of rows.
        let mut gradient = memory::take(places.len() * (width + 1));
        rows::for_each_row(
            &mut gradient,
            width + 1,
            #[inline(always)]
            |i, row| {
                row.fill(T::ZERO);
                let (gradient, sum) = row.split_at_mut(width);
                let cubes = cubes(complex, &values[i * width..][..width], T::from_f64(weight), gradient);
                sum[0] = T::from_f64(cubes);
            },
        );
        total += weight * gradient.chunks_exact(width + 1).map(|row| row[width].to_f64()).sum::<f64>();
        factor.backward(tables, places, &columns(&gradient, width + 1, 0..width), into);
    }
    total
}

/// A penalty on all tables of a kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TablePenalty {
    pub kind: Kind,
    pub name: PenaltyName,
    pub weight: f64,
    /// Whether rows are complex numbers.
    pub complex: bool,
}

impl TablePenalty {
    /// Adds the gradients; returns the value.
    pub fn apply<T: Real>(&self, tables: &Tables<T>, into: &mut Gradients<T>) -> f64 {
        if self.weight == 0.0 || self.name == PenaltyName::None {
            return 0.0;
        }
        let pairs = tables.iter().zip(into.iter_mut());
        // A share of 0 or of 1 leaves tables without numbers.
        let own = pairs.filter(|((table, values), _)| table.kind == self.kind && !values.is_empty());
        own.map(|((table, values), gradient)| self.table(table, values, gradient)).sum()
    }

    fn table<T: Real>(&self, table: &Table, values: &[T], gradient: &mut [T]) -> f64 {
        let width = table.width;
        // A column of phases or of single numbers has no halves.
        let complex = self.complex && width.is_multiple_of(2);
        if matches!(self.name, PenaltyName::Smooth3 | PenaltyName::Smooth4) {
            return self.smooth(table, values, gradient, complex);
        }
        let share = self.weight / table.rows as f64;
        let weight = T::from_f64(share);
        let mut total = 0.0;
        for (row, gradient) in values.chunks_exact(width).zip(gradient.chunks_exact_mut(width)) {
            let pairs = row.iter().zip(&mut *gradient);
            total += match self.name {
                PenaltyName::L1 => pairs.map(|(&x, to)| absolute(x, weight, to)).sum::<T>().to_f64(),
                PenaltyName::L2 => pairs.map(|(&x, to)| square(x, weight, to)).sum::<T>().to_f64(),
                // Published: of single numbers, also where rows are complex.
                _ => cubes(false, row, weight, gradient),
            };
        }
        share * total
    }

    fn smooth<T: Real>(&self, table: &Table, values: &[T], gradient: &mut [T], complex: bool) -> f64 {
        let width = table.width;
        let share = self.weight / table.rows.saturating_sub(1).max(1) as f64;
        let weight = T::from_f64(share);
        let (mut change, mut own) = (vec![T::ZERO; width], vec![T::ZERO; width]);
        let mut total = 0.0;
        for i in 1..table.rows {
            let (before, after) = (&values[(i - 1) * width..i * width], &values[i * width..][..width]);
            change.iter_mut().zip(after.iter().zip(before)).for_each(|(to, (&x, &y))| *to = x - y);
            own.fill(T::ZERO);
            total += match self.name {
                PenaltyName::Smooth4 => fourth_powers(complex, &change, weight, &mut own),
                _ => cubes(complex, &change, weight, &mut own),
            };
            let (before, after) = gradient[(i - 1) * width..][..2 * width].split_at_mut(width);
            before.iter_mut().zip(&own).for_each(|(to, &x)| *to -= x);
            after.iter_mut().zip(&own).for_each(|(to, &x)| *to += x);
        }
        share * total
    }
}

fn absolute<T: Real>(x: T, weight: T, gradient: &mut T) -> T {
    let sign = if x > T::ZERO { T::ONE } else { -T::ONE };
    *gradient += if x == T::ZERO { T::ZERO } else { weight * sign };
    x * sign
}

fn square<T: Real>(x: T, weight: T, gradient: &mut T) -> T {
    *gradient += weight * (x + x);
    x * x
}
