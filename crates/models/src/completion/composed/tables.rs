//! Parameters: named tables of rows, their constraints, gradients and optimiser.

use quadcast_core::{ModelError, stream};
use quadcast_kernels::optimisers::Optimiser;
use quadcast_kernels::{Real, rows};

use crate::blocks::Initial;
use crate::blocks::store::{Checkpoint, checkpoint_bytes};

/// Index of a table in [`Tables`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TableId(usize);

/// What the rows of a table describe: penalties are set per kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Entity,
    Relation,
    Time,
    /// Shared by all: the weights of a recurrent cell, the core of a tensor.
    Common,
}

/// The constraint that is applied to a table after every step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Constraint {
    Free,
    /// Rows longer than 1 are scaled to length 1.
    ClipRows,
    /// All rows are scaled to length 1.
    UnitRows,
    /// Numbers are clamped to this range.
    Clamp(f64, f64),
}

/// Name and shape of a table.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub name: String,
    pub kind: Kind,
    pub rows: usize,
    pub width: usize,
    pub constraint: Constraint,
}

impl Table {
    pub fn new(name: impl Into<String>, kind: Kind, rows: usize, width: usize) -> Self {
        Self { name: name.into(), kind, rows, width, constraint: Constraint::Free }
    }

    pub fn constrained(self, constraint: Constraint) -> Self {
        Self { constraint, ..self }
    }
}

/// The tables of a model.
#[derive(Clone, Debug)]
pub(crate) struct Tables<T> {
    seed: u64,
    shapes: Vec<Table>,
    /// Initial values of each table: a distribution, and a shift.
    initials: Vec<(Initial, f64)>,
    /// Empty before [`Tables::draw`].
    values: Vec<Vec<T>>,
}

impl<T: Real> Tables<T> {
    pub fn new(seed: u64) -> Self {
        Self { seed, shapes: Vec::new(), initials: Vec::new(), values: Vec::new() }
    }

    /// Adds a table. It has no numbers before [`Tables::draw`].
    pub fn add(&mut self, table: Table, initial: Initial) -> TableId {
        self.add_between(table, initial, 0.0)
    }

    /// Adds a table whose initial values are moved by `shift`.
    pub fn add_between(&mut self, table: Table, initial: Initial, shift: f64) -> TableId {
        self.shapes.push(table);
        self.initials.push((initial, shift));
        TableId(self.shapes.len() - 1)
    }

    /// Draws the numbers of all tables, each from its own random stream. Returns false, and draws nothing, if that was done
    /// before.
    pub fn draw(&mut self) -> bool {
        if !self.values.is_empty() {
            return false;
        }
        for (table, &(initial, shift)) in self.shapes.iter().zip(&self.initials) {
            let mut stream = stream(self.seed, &format!("initial {}", table.name), 0);
            let draws = initial.draw(table.rows * table.width, &mut stream);
            let mut values: Vec<T> = draws.into_iter().map(|x| T::from_f64(f64::from(x) + shift)).collect();
            constrain(table, &mut values);
            self.values.push(values);
        }
        true
    }

    /// Takes the numbers of all tables instead of drawing them; on an error none.
    pub fn fill<E>(&mut self, numbers: impl FnMut(&Table) -> Result<Vec<T>, E>) -> Result<(), E> {
        self.values = self.shapes.iter().map(numbers).collect::<Result<_, E>>()?;
        Ok(())
    }

    /// Numbers of a table, row after row.
    pub fn values(&self, id: TableId) -> &[T] {
        &self.values[id.0]
    }

    /// One row of a table.
    #[inline(always)]
    pub fn row(&self, id: TableId, row: u32) -> &[T] {
        let width = self.shapes[id.0].width;
        &self.values[id.0][row as usize * width..][..width]
    }

    /// Tables and their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (&Table, &Vec<T>)> {
        self.shapes.iter().zip(&self.values)
    }

    /// Tables and their numbers, mutable.
    #[cfg(test)]
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&Table, &mut Vec<T>)> {
        self.shapes.iter().zip(&mut self.values)
    }

    /// How many numbers are learned; known before they are drawn.
    pub fn count(&self) -> usize {
        let numbers = |table: &Table| table.rows.saturating_mul(table.width);
        self.shapes.iter().map(numbers).fold(0, usize::saturating_add)
    }

    /// The same, also where there are too many for the machine.
    pub fn estimate(&self) -> f64 {
        self.shapes.iter().map(|table| table.rows as f64 * table.width as f64).sum()
    }

    /// Applies the constraints, after a step.
    pub fn constrain(&mut self) {
        for (table, values) in self.shapes.iter().zip(&mut self.values) {
            constrain(table, values);
        }
    }
}

/// Shorter rows are not scaled.
const SHORTEST: f64 = 1e-12;

fn constrain<T: Real>(table: &Table, values: &mut [T]) {
    let scale_rows = |values: &mut [T], unit: bool| {
        rows::for_each_row(
            values,
            table.width,
            #[inline(always)]
            |_, row| {
                let length = quadcast_kernels::dot(row, row).sqrt();
                if length > T::from_f64(SHORTEST) && (unit || length > T::ONE) {
                    let scale = T::ONE / length;
                    row.iter_mut().for_each(|x| *x *= scale);
                }
            },
        );
    };
    match table.constraint {
        Constraint::Free => {}
        Constraint::ClipRows => scale_rows(values, false),
        Constraint::UnitRows => scale_rows(values, true),
        Constraint::Clamp(low, high) => {
            let (low, high) = (T::from_f64(low), T::from_f64(high));
            rows::for_each_row(
                values,
                table.width,
                #[inline(always)]
                |_, row| {
                    for x in row {
                        *x = if *x < low { low } else { *x };
                        *x = if *x > high { high } else { *x };
                    }
                },
            );
        }
    }
}

/// Gradients of tables, of the same shapes.
#[derive(Clone, Debug)]
pub(crate) struct Gradients<T> {
    widths: Vec<usize>,
    values: Vec<Vec<T>>,
}

impl<T: Real> Gradients<T> {
    /// Zero for every table.
    pub fn zero(tables: &Tables<T>) -> Self {
        Self {
            widths: tables.shapes.iter().map(|table| table.width).collect(),
            values: tables.values.iter().map(|values| vec![T::ZERO; values.len()]).collect(),
        }
    }

    /// Sets everything to zero.
    pub fn clear(&mut self) {
        for values in &mut self.values {
            rows::for_each_row(
                values,
                1 << 12,
                #[inline(always)]
                |_, row| row.fill(T::ZERO),
            );
            // The last piece of a table that is not a multiple of the piece.
            let rest = values.len() % (1 << 12);
            let from = values.len() - rest;
            values[from..].fill(T::ZERO);
        }
    }

    /// Adds `from[i]` to row `ids[i]` of a table.
    pub fn add_at(&mut self, id: TableId, ids: &[u32], from: &[T]) {
        rows::add_at(ids, from, self.widths[id.0], &mut self.values[id.0]);
    }

    pub fn of_mut(&mut self, id: TableId) -> &mut [T] {
        &mut self.values[id.0]
    }

    /// Per table, in the order of the tables.
    #[cfg(test)]
    pub fn iter(&self) -> impl Iterator<Item = &Vec<T>> {
        self.values.iter()
    }

    /// Per table, in the order of the tables.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Vec<T>> {
        self.values.iter_mut()
    }
}

/// The optimiser of all tables, and the moments that it keeps.
#[derive(Clone, Debug)]
pub(crate) struct TableOptimiser {
    optimiser: Optimiser,
    steps: u64,
    /// Means and squares of gradients per table; empty where none are kept.
    moments: Vec<[Vec<f32>; 2]>,
}

impl TableOptimiser {
    pub fn new(optimiser: Optimiser, tables: &Tables<f32>) -> Self {
        let zeros = |len: usize| optimiser.moments().map(|kept| vec![0.0; if kept { len } else { 0 }]);
        let moments = tables.values.iter().map(|values| zeros(values.len())).collect();
        Self { optimiser, steps: 0, moments }
    }

    /// Moves all tables against their gradients and applies the constraints.
    pub fn step(&mut self, tables: &mut Tables<f32>, gradients: &Gradients<f32>) {
        self.steps += 1;
        let all = tables.values.iter_mut().zip(&gradients.values).zip(&mut self.moments);
        for ((values, gradient), [mean, square]) in all {
            self.optimiser.update(self.steps, values, gradient, mean, square);
        }
        tables.constrain();
    }

    /// The tables and the optimiser, bit by bit.
    pub fn state(&self, tables: &Tables<f32>) -> Vec<u8> {
        let parts: Vec<&[f32]> =
            tables.values.iter().chain(self.moments.iter().flatten()).map(Vec::as_slice).collect();
        checkpoint_bytes(self.steps, &parts)
    }

    /// Restores [`state`](Self::state).
    pub fn restore(&mut self, tables: &mut Tables<f32>, state: &[u8]) -> Result<(), ModelError> {
        let parts = || tables.values.iter().chain(self.moments.iter().flatten());
        let mut checkpoint = Checkpoint::read(state, parts().map(Vec::len).sum())?;
        self.steps = checkpoint.steps;
        let parts = tables.values.iter_mut().chain(self.moments.iter_mut().flatten());
        parts.for_each(|numbers| checkpoint.fill(numbers));
        Ok(())
    }
}
