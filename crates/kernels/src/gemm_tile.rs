//! Calls of `gemm` on tiles of one output matrix; the unsafe code is confined to this file.

#![allow(unsafe_code)]

use gemm::Parallelism;
use rayon::prelude::*;

use crate::Real;

/// A matrix inside a slice: element (i, j) is at `i·row_step + j·column_step`.
#[derive(Clone, Copy)]
pub(crate) struct View<'a, T> {
    pub data: &'a [T],
    pub rows: usize,
    pub columns: usize,
    pub row_step: usize,
    pub column_step: usize,
}

impl<'a, T> View<'a, T> {
    /// `data[rows, columns]`, row-major without gaps.
    pub fn new(data: &'a [T], rows: usize, columns: usize) -> Self {
        Self { data, rows, columns, row_step: columns, column_step: 1 }
    }

    pub fn transposed(self) -> Self {
        Self {
            data: self.data,
            rows: self.columns,
            columns: self.rows,
            row_step: self.column_step,
            column_step: self.row_step,
        }
    }

    /// The elements row by row.
    fn copied(self) -> Vec<T>
    where
        T: Copy,
    {
        let row =
            |i: usize| (0..self.columns).map(move |j| self.data[i * self.row_step + j * self.column_step]);
        (0..self.rows).flat_map(row).collect()
    }

    fn is_inside(&self) -> bool {
        self.rows == 0
            || self.columns == 0
            || (self.rows - 1) * self.row_step + (self.columns - 1) * self.column_step < self.data.len()
    }
}

/// Pointer to the output, shared by tasks that write disjoint tiles of it.
#[derive(Clone, Copy)]
struct Output<T>(*mut T);
// SAFETY: every task writes only the elements of its own tile, and the tiles of a grid are disjoint.
unsafe impl<T: Send> Send for Output<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Output<T> {}

impl<T> Output<T> {
    fn pointer(self) -> *mut T {
        self.0
    }
}

/// The smallest number of rows for which a product adds in the same order for any number of rows: fewer are left to another
/// micro-kernel.
pub const FEWEST_ROWS: usize = 16;

/// Numbers of a result up to which `gemm` may take a path that adds in another order.
const FEW: usize = 16 * 16;

/// Number of parts of `size` rows each, of which the last one may be larger by fewer than [`FEWEST_ROWS`]: it must not be that small
/// alone, or the result of a row would depend on how many others there are.
pub(crate) fn parts(rows: usize, size: usize) -> usize {
    let rest = rows % size;
    rows / size + usize::from(rows < size || rest >= FEWEST_ROWS.min(size))
}

/// `c[a.rows, b.columns] = a·b`, or `c += a·b` if it `adds`, where the rows of `c` are `stride` apart, in tiles of `tile`
/// (rows, columns); one task per tile.
pub(crate) fn grid<T: Real>(
    a: View<T>,
    b: View<T>,
    adds: bool,
    c: &mut [T],
    stride: usize,
    tile: (usize, usize),
) {
    let (m, n, k) = (a.rows, b.columns, a.columns);
    assert_eq!(k, b.rows, "inner dimensions of a product");
    if m == 0 || n == 0 {
        return;
    }
    assert!(a.is_inside() && b.is_inside(), "a factor is larger than its slice");
    assert!(n <= stride && (m - 1) * stride + n <= c.len(), "a product is larger than its slice");
    if k == 0 {
        if !adds {
            c.chunks_mut(stride).take(m).for_each(|row| row[..n].fill(T::ZERO));
        }
        return;
    }
    let (tile_rows, tile_columns) = tile;
    let across = n.div_ceil(tile_columns);
    let down = parts(m, tile_rows);
    let tiles = down * across;
    let output = Output(c.as_mut_ptr());
    let run = |index: usize| {
        let (row, column) = (index / across * tile_rows, index % across * tile_columns);
        let rows = if index / across + 1 == down { m - row } else { tile_rows };
        let columns = tile_columns.min(n - column);
        let b = View { data: &b.data[column * b.column_step..], columns, ..b };
        // For small results with both factors contiguous along the inner dimension, `gemm` takes a path that adds in another
        // order. Parts with fewer rows than FEWEST_ROWS keep that path: they are not compared with larger ones.
        let is_other = rows >= FEWEST_ROWS && rows * columns <= FEW && a.column_step == 1 && b.row_step == 1;
        let copy = is_other.then(|| b.copied());
        let b = copy.as_deref().map_or(b, |copy| View::new(copy, k, columns));
        // SAFETY: the assertions above keep all three matrices inside of their slices (a copy is as large as it says),
        // `row + rows <= m` and `column + columns <= n` keep this tile inside of them, `c` is borrowed mutably for the whole
        // call, and no two indexes give overlapping tiles. T is f32 or f64, the types `gemm` is made for.
        unsafe {
            gemm::gemm(
                rows,
                columns,
                k,
                output.pointer().add(row * stride + column),
                1,
                stride as isize,
                adds,
                a.data.as_ptr().add(row * a.row_step),
                a.column_step as isize,
                a.row_step as isize,
                b.data.as_ptr(),
                b.column_step as isize,
                b.row_step as isize,
                if adds { T::ONE } else { T::ZERO },
                T::ONE,
                false,
                false,
                false,
                Parallelism::None,
            );
        }
    };
    if tiles == 1 {
        run(0);
    } else {
        (0..tiles).into_par_iter().with_max_len(1).for_each(run);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_part_is_small_unless_all_rows_are_few() {
        assert_eq!(
            [1, 15, 256, 257, 271, 272, 512, 520].map(|rows| parts(rows, 256)),
            [1, 1, 1, 1, 1, 2, 2, 2]
        );
    }

    #[test]
    fn the_product_of_a_row_does_not_depend_on_the_others() {
        let number = |i: usize| ((i * 7919 % 1000) as f32 - 500.0) / 300.0;
        for (k, n) in [(49, 20), (16, 16), (16, 48), (64, 40), (200, 200), (200, 600), (601, 7128)] {
            let b: Vec<f32> = (0..n * k).map(number).collect();
            let a: Vec<f32> = (0..600 * k).map(|i| number(i + 13)).collect();
            let product = |rows: usize| {
                let mut c = vec![0.0; rows * n];
                let (a, b) = (View::new(&a[..rows * k], rows, k), View::new(&b, n, k).transposed());
                grid(a, b, false, &mut c, n, (256, 256));
                c
            };
            let whole = product(600);
            for rows in [16, 17, 100, 255, 256, 257, 260, 272, 513] {
                assert!(product(rows) == whole[..rows * n], "{rows} rows of {k} numbers, {n} columns");
            }
        }
    }
}
