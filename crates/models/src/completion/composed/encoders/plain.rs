//! One row per id, whatever the time: `x(τ) = x`.
//!
//! Parameters: rows·width.

use quadcast_kernels::{Real, segment};

use super::super::encoder::{Encoder, Places};
use super::super::tables::{Gradients, TableId, Tables};

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

    fn factors(&self) -> Vec<&dyn Encoder<T>> {
        vec![self]
    }
}
