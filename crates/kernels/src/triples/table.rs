//! Tables of rows, the lengths of their unit segments, and sums over whole lines.

use rayon::prelude::*;

use super::energy::{Energy, RowView};
use crate::Real;

/// Numbers per line: segments are padded to whole lines, so that loops over them have no remainder. A line of `f32` is a cache
/// line and the widest vector.
pub const LINE: usize = 16;
/// Bytes of a cache line.
pub(super) const CACHE_LINE: usize = 64;
/// Lower bound of lengths that are divided by.
const SHORTEST: f64 = 1e-12;

/// The width with its padding.
pub const fn padded(width: usize) -> usize {
    width.next_multiple_of(LINE)
}

/// A part of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its name in saved files.
    pub name: &'static str,
    /// Numbers, without padding.
    pub width: usize,
    /// Whether energies read it divided by its length.
    pub unit: bool,
}

/// The segments of a row, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout(pub Vec<Segment>);

impl Layout {
    /// Numbers of a row, padding included.
    pub fn stride(&self) -> usize {
        self.0.iter().map(|segment| padded(segment.width)).sum()
    }

    /// Numbers of a row, padding not counted.
    pub fn width(&self) -> usize {
        self.0.iter().map(|segment| segment.width).sum()
    }

    /// The shape of its rows.
    pub fn shape(&self) -> RowShape {
        RowShape { stride: self.stride(), units: self.0.iter().filter(|segment| segment.unit).count() }
    }

    /// Segments and where they start.
    pub fn places(&self) -> impl Iterator<Item = (usize, Segment)> {
        self.0.iter().scan(0, |next, &segment| {
            let place = *next;
            *next += padded(segment.width);
            Some((place, segment))
        })
    }

    /// Place and padded width of the unit segments.
    pub(super) fn units(&self) -> Vec<(usize, usize)> {
        self.places().filter(|(_, s)| s.unit).map(|(place, s)| (place, padded(s.width))).collect()
    }
}

/// Rows of one layout, and the lengths of their unit segments.
#[derive(Clone, Debug)]
pub struct Table<T> {
    layout: Layout,
    units: Vec<(usize, usize)>,
    stride: usize,
    rows: usize,
    /// One line more than needed, for the alignment.
    numbers: Vec<T>,
    /// Where the rows start: at a cache line.
    start: usize,
    /// 1 / length of the unit segments, row after row.
    scales: Vec<T>,
}

/// A mutable table: its numbers, the scales of its rows, and the places of its unit segments.
pub(super) struct TableMut<'a, T> {
    pub values: &'a mut [T],
    pub scales: &'a mut [T],
    pub units: &'a [(usize, usize)],
    pub stride: usize,
}

impl<T: Real> Table<T> {
    /// Rows of zeros.
    pub fn new(layout: Layout, rows: usize) -> Self {
        let (stride, units) = (layout.stride(), layout.units());
        let numbers = vec![T::ZERO; rows * stride + CACHE_LINE];
        let start = numbers.as_ptr().align_offset(CACHE_LINE).min(CACHE_LINE);
        let scales = vec![T::ZERO; rows * units.len()];
        Self { layout, units, stride, rows, numbers, start, scales }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Numbers of a row, padding included.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// The segments of a row.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// All rows, padding included.
    pub fn values(&self) -> &[T] {
        &self.numbers[self.start..][..self.rows * self.stride]
    }

    /// All rows, for reading.
    pub fn view(&self) -> TableView<'_, T> {
        TableView::new(self.layout.shape(), self.rows, self.values(), &self.scales)
    }

    /// One row.
    #[inline(always)]
    pub fn row(&self, row: u32) -> RowView<'_, T> {
        let (row, units) = (row as usize, self.units.len());
        RowView {
            values: &self.numbers[self.start + row * self.stride..][..self.stride],
            scales: &self.scales[row * units..][..units],
        }
    }

    pub(super) fn parts_mut(&mut self) -> TableMut<'_, T> {
        TableMut {
            values: &mut self.numbers[self.start..][..self.rows * self.stride],
            scales: &mut self.scales,
            units: &self.units,
            stride: self.stride,
        }
    }

    /// Changes the numbers of one segment of one row.
    pub fn set(&mut self, row: u32, segment: usize, numbers: &[T]) {
        let Some((place, found)) = self.layout.places().nth(segment) else { return };
        assert_eq!(numbers.len(), found.width, "the width of a segment");
        let from = self.start + row as usize * self.stride + place;
        self.numbers[from..from + found.width].copy_from_slice(numbers);
        let (row, units) = (row as usize, self.units.len());
        let values = &self.numbers[self.start + row * self.stride..][..self.stride];
        measure(values, &self.units, &mut self.scales[row * units..][..units]);
    }

    /// Replaces all numbers, padding included.
    pub fn replace(&mut self, values: impl ExactSizeIterator<Item = T>) {
        let own = self.parts_mut().values;
        assert_eq!(own.len(), values.len(), "numbers of a table");
        own.iter_mut().zip(values).for_each(|(own, value)| *own = value);
        self.measure_all();
    }

    /// Replaces one segment of all rows, without padding.
    pub fn replace_segment(&mut self, segment: usize, numbers: &[T]) {
        let Some((place, found)) = self.layout.places().nth(segment) else { return };
        assert_eq!(numbers.len(), self.rows * found.width, "numbers of a segment");
        let stride = self.stride;
        let rows = self.parts_mut().values.chunks_exact_mut(stride);
        for (row, from) in rows.zip(numbers.chunks_exact(found.width)) {
            row[place..place + found.width].copy_from_slice(from);
        }
        self.measure_all();
    }

    /// The numbers of one segment of all rows, without padding.
    pub fn segment(&self, segment: usize) -> Vec<T> {
        let Some((place, found)) = self.layout.places().nth(segment) else { return Vec::new() };
        let rows = self.values().chunks_exact(self.stride.max(1));
        rows.flat_map(|row| &row[place..place + found.width]).copied().collect()
    }

    /// Updates the lengths of all rows.
    fn measure_all(&mut self) {
        let TableMut { values, scales, units, stride } = self.parts_mut();
        if units.is_empty() {
            return;
        }
        let rows = values.par_chunks_exact(stride).zip(scales.par_chunks_exact_mut(units.len()));
        rows.with_min_len(64).for_each(|(row, scales)| measure(row, units, scales));
    }
}

/// 1 / length of each unit segment.
#[inline(always)]
pub(super) fn measure<T: Real>(row: &[T], units: &[(usize, usize)], scales: &mut [T]) {
    for (scale, &(place, width)) in scales.iter_mut().zip(units) {
        let part = &row[place..place + width];
        *scale = T::ONE / dot(part, part).sqrt().larger(T::from_f64(SHORTEST));
    }
}

/// The rows of all entities and all relations.
#[derive(Clone, Debug)]
pub struct Tables<T> {
    /// One row per entity.
    pub entities: Table<T>,
    /// One row per relation.
    pub relations: Table<T>,
}

impl<T: Real> Tables<T> {
    /// Rows of zeros in the layout of an energy.
    pub fn new(energy: &impl Energy<T>, entities: usize, relations: usize) -> Self {
        Self {
            entities: Table::new(energy.entity(), entities),
            relations: Table::new(energy.relation(), relations),
        }
    }

    /// Number of parameters.
    pub fn count(&self) -> usize {
        let of = |table: &Table<T>| table.rows * table.layout.width();
        of(&self.entities) + of(&self.relations)
    }

    /// All rows, for reading.
    pub fn view(&self) -> TablesView<'_, T> {
        TablesView { entities: self.entities.view(), relations: self.relations.view() }
    }
}

/// The part of a layout that is needed to find a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowShape {
    /// Numbers of a row, padding included.
    pub stride: usize,
    /// Unit segments of a row, each of which has a scale.
    pub units: usize,
}

/// Borrowed rows: of a table, or of a file in memory.
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
    pub fn row(&self, row: u32) -> RowView<'a, T> {
        let (row, RowShape { stride, units }) = (row as usize, self.shape);
        RowView {
            values: &self.values[row * stride..][..stride],
            scales: &self.scales[row * units..][..units],
        }
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

/// The sum of partial sums, in a fixed order.
#[inline(always)]
pub(super) fn fold<T: Real>(lanes: [T; LINE]) -> T {
    // The black box keeps the compiler from narrowing the vectors of the preceding loop to those of the last additions.
    let lanes = std::hint::black_box(lanes);
    let [sum] = halved(halved::<T, 4, 2>(halved::<T, 8, 4>(halved::<T, LINE, 8>(lanes))));
    sum
}

/// The sums of both halves, in fixed sizes: each becomes an addition of vectors.
#[inline(always)]
fn halved<T: Real, const N: usize, const H: usize>(x: [T; N]) -> [T; H] {
    let mut sums = [T::ZERO; H];
    for l in 0..H {
        sums[l] = x[l] + x[l + H];
    }
    sums
}

/// Σ x·y
#[inline(always)]
pub fn dot<T: Real>(x: &[T], y: &[T]) -> T {
    let mut lanes = [T::ZERO; LINE];
    for (x, y) in x.as_chunks::<LINE>().0.iter().zip(y.as_chunks::<LINE>().0) {
        for l in 0..LINE {
            lanes[l] += x[l] * y[l];
        }
    }
    fold(lanes)
}

#[cfg(test)]
mod tests {
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
