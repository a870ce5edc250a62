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
    let tiles = m.div_ceil(tile_rows) * across;
    let output = Output(c.as_mut_ptr());
    let run = |index: usize| {
        let (row, column) = (index / across * tile_rows, index % across * tile_columns);
        let (rows, columns) = (tile_rows.min(m - row), tile_columns.min(n - column));
        // SAFETY: the assertions above keep all three matrices inside of their slices, `row + rows <= m` and
        // `column + columns <= n` keep this tile inside of them, `c` is borrowed mutably for the whole call, and
        // no two indexes give overlapping tiles. T is f32 or f64, the types `gemm` is made for.
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
                b.data.as_ptr().add(column * b.column_step),
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
