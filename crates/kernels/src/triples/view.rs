//! Rows to be read, wherever they lie.

use super::energy::Row;
use super::table::{Layout, Table, Tables};
use crate::Real;

/// What of a layout must be known to find a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowShape {
    /// Numbers of a row, padding included.
    pub stride: usize,
    /// Unit segments of a row, each of which has a scale.
    pub units: usize,
}

impl Layout {
    /// The shape of its rows.
    pub fn shape(&self) -> RowShape {
        RowShape { stride: self.stride(), units: self.0.iter().filter(|segment| segment.unit).count() }
    }
}

/// Rows that belong to somebody else: to a table, or to a file in memory.
#[derive(Clone, Copy, Debug)]
pub struct TableView<'a, T> {
    shape: RowShape,
    rows: usize,
    values: &'a [T],
    scales: &'a [T],
}

impl<'a, T: Real> TableView<'a, T> {
    /// `values[rows, stride]` with padding, and `scales[rows, units]` as a table measured them.
    pub fn new(shape: RowShape, rows: usize, values: &'a [T], scales: &'a [T]) -> Self {
        assert_eq!(values.len(), rows * shape.stride, "numbers of a table");
        assert_eq!(scales.len(), rows * shape.units, "scales of a table");
        Self { shape, rows, values, scales }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// All rows, padding included.
    pub fn values(&self) -> &'a [T] {
        self.values
    }

    /// 1 / length of the unit segments, row after row.
    pub fn scales(&self) -> &'a [T] {
        self.scales
    }

    /// One row.
    #[inline(always)]
    pub fn row(&self, row: u32) -> Row<'a, T> {
        let (row, RowShape { stride, units }) = (row as usize, self.shape);
        Row { values: &self.values[row * stride..][..stride], scales: &self.scales[row * units..][..units] }
    }
}

/// The rows of all entities and all relations.
#[derive(Clone, Copy, Debug)]
pub struct TablesView<'a, T> {
    /// One row per entity.
    pub entities: TableView<'a, T>,
    /// One row per relation.
    pub relations: TableView<'a, T>,
}

impl<T: Real> Table<T> {
    /// Its rows.
    pub fn view(&self) -> TableView<'_, T> {
        TableView::new(self.layout().shape(), self.rows(), self.values(), self.scales())
    }
}

impl<T: Real> Tables<T> {
    /// Their rows.
    pub fn view(&self) -> TablesView<'_, T> {
        TablesView { entities: self.entities.view(), relations: self.relations.view() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::table::Segment;
    use super::*;

    #[test]
    fn a_view_has_the_rows_of_its_table() {
        let segment = |width, unit| Segment { name: "", width, unit };
        let mut table = Table::<f32>::new(Layout(vec![segment(3, true), segment(2, false)]), 2);
        table.set(1, 0, &[0.0, 3.0, 4.0]);
        table.set(1, 1, &[5.0, 6.0]);
        let view = table.view();
        assert_eq!(view.rows(), 2);
        assert_eq!(view.row(1).scales, [0.2]);
        assert_eq!(
            (&view.row(1).values[..3], &view.row(1).values[16..18]),
            (&[0.0, 3.0, 4.0][..], &[5.0, 6.0][..])
        );
        for row in 0..2 {
            assert_eq!(view.row(row).values, table.row(row).values);
            assert_eq!(view.row(row).scales, table.row(row).scales);
        }
    }

    #[test]
    #[should_panic(expected = "scales of a table")]
    fn a_view_without_its_scales_is_refused() {
        TableView::<f32>::new(RowShape { stride: 16, units: 1 }, 1, &[0.0; 16], &[]);
    }
}
