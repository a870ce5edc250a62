//! Encoders: an entity or a relation at some time becomes a row of numbers.

use std::ops::Range;

use quadcast_kernels::memory::{Buffer, take};
use quadcast_kernels::{Real, rows, segment};

use super::tables::{Gradients, TableId, Tables};

pub(crate) mod date_lstm;
pub(crate) mod diachronic;
pub(crate) mod fused;
pub(crate) mod hyperplane;
pub(crate) mod rotation;
pub(crate) mod series;
pub(crate) mod windows;

/// The rows to encode: one id and one time per row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places<'a> {
    pub ids: &'a [u32],
    pub times: &'a [u32],
}

impl Places<'_> {
    pub fn len(&self) -> usize {
        self.ids.len()
    }
}

/// Makes rows from ids and times, and adds the gradients of such rows to the gradients of the tables.
///
/// To add one: implement this trait in a new file, and list it in `assemble`.
pub(crate) trait Encoder<T: Real>: Send + Sync {
    /// Length of a row.
    fn width(&self) -> usize;

    /// Whether the row of an id changes with time.
    fn depends_on_time(&self) -> bool {
        true
    }

    /// `out[places, width]` = the rows.
    fn encode(&self, tables: &Tables<T>, places: Places<'_>, out: &mut [T]);

    /// Adds the gradients of the tables for `gradient[places, width]`.
    fn backward(&self, tables: &Tables<T>, places: Places<'_>, gradient: &[T], into: &mut Gradients<T>);

    /// The table that holds the rows of this encoder unchanged, if there is one.
    fn table(&self) -> Option<TableId> {
        None
    }

    /// The parts of which a row is the sum, if it is one: a penalty on the rows in use sees them one by one.
    fn summands(&self) -> Vec<&dyn Encoder<T>> {
        Vec::new()
    }
}

/// A buffer of zeros.
pub(crate) fn zeros<T: Real>(len: usize) -> Buffer<T> {
    let mut buffer = take(len);
    buffer.fill(T::ZERO);
    buffer
}

/// Some columns of rows of length `stride`.
pub(crate) fn columns<T: Real>(from: &[T], stride: usize, which: Range<usize>) -> Buffer<T> {
    let width = which.len();
    let mut out = take(from.len() / stride * width);
    rows::for_each_row(
        &mut out,
        width,
        #[inline(always)]
        |i, row| row.copy_from_slice(&from[i * stride + which.start..][..width]),
    );
    out
}

/// The distinct values of a list, ascending, and the position of each member of the list among them.
pub(crate) fn distinct(list: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let mut values = list.to_vec();
    values.sort_unstable();
    values.dedup();
    let places = list.iter().map(|x| values.partition_point(|value| value < x) as u32).collect();
    (values, places)
}

/// One row per id, independent of time: `x(τ) = x`.
///
/// Parameters: rows·width.
pub(crate) struct Plain {
    pub table: TableId,
    pub width: usize,
}

impl<T: Real> Encoder<T> for Plain {
    fn width(&self) -> usize {
        self.width
    }

    fn depends_on_time(&self) -> bool {
        false
    }

    fn encode(&self, tables: &Tables<T>, places: Places<'_>, out: &mut [T]) {
        segment::gather(places.ids, tables.values(self.table), self.width, out);
    }

    fn backward(&self, _: &Tables<T>, places: Places<'_>, gradient: &[T], into: &mut Gradients<T>) {
        into.add_at(self.table, places.ids, gradient);
    }

    fn table(&self) -> Option<TableId> {
        Some(self.table)
    }
}
