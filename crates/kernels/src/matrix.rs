//! Products of row-major matrices.

use rayon::prelude::*;

use crate::Real;
pub use crate::gemm_tile::FEWEST_ROWS;
use crate::gemm_tile::{View, grid};
use crate::memory::{Buffer, take};
use crate::parallel::{add, ranges, vectorised};

/// Which factor of a product is stored transposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// C = A·B with A`[m, k]`, B`[k, n]`.
    Plain,
    /// C = A·Bᵀ with A`[m, k]`, B`[n, k]`.
    RightTransposed,
    /// C = Aᵀ·B with A`[k, m]`, B`[k, n]`.
    LeftTransposed,
}

/// Sizes of a product: C is `[m, n]`, the inner dimension is `k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Rows of C.
    pub m: usize,
    /// Columns of C.
    pub n: usize,
    /// Inner dimension.
    pub k: usize,
}

/// Output tile of one task.
const TILE: (usize, usize) = (256, 256);
/// An inner dimension of at least twice this length is cut into pieces of this length if C has few tiles:
/// weight gradients, where the inner dimension is the number of rows of a batch or of entities.
const INNER: usize = 512;
/// Tiles of C from which on cutting the inner dimension is not worth its extra buffers.
const FEW_TILES: usize = 8;

/// `C = op(A)·op(B)` for C`[m, n]`, which is not read.
pub fn multiply<T: Real>(form: Form, size: Size, a: &[T], b: &[T], c: &mut [T]) {
    product(form, size, a, b, false, c);
}

/// `C += op(A)·op(B)` for C`[m, n]`.
pub fn multiply_add<T: Real>(form: Form, size: Size, a: &[T], b: &[T], c: &mut [T]) {
    product(form, size, a, b, true, c);
}

fn product<T: Real>(form: Form, size: Size, a: &[T], b: &[T], adds: bool, c: &mut [T]) {
    let Size { m, n, k } = size;
    assert_eq!((a.len(), b.len(), c.len()), (m * k, k * n, m * n), "lengths of a product {size:?}");
    let (a, b) = match form {
        Form::Plain => (View::new(a, m, k), View::new(b, k, n)),
        Form::RightTransposed => (View::new(a, m, k), View::new(b, n, k).transposed()),
        Form::LeftTransposed => (View::new(a, k, m).transposed(), View::new(b, k, n)),
    };
    let tiles = m.div_ceil(TILE.0) * n.div_ceil(TILE.1);
    if k < 2 * INNER || tiles >= FEW_TILES {
        grid(a, b, adds, c, n, TILE);
        return;
    }
    let parts: Vec<Buffer<T>> = ranges(k, INNER)
        .map(|inner| {
            let mut part = take::<T>(m * n);
            let a = View { data: &a.data[inner.start * a.column_step..], columns: inner.len(), ..a };
            let b = View { data: &b.data[inner.start * b.row_step..], rows: inner.len(), ..b };
            grid(a, b, false, &mut part, n, (m, n));
            part
        })
        .collect();
    c.par_chunks_mut(1 << 14).enumerate().for_each(|(i, c)| {
        vectorised(
            #[inline(always)]
            || {
                if !adds {
                    c.fill(T::ZERO);
                }
                for part in &parts {
                    add(c, &part[i << 14..][..c.len()]);
                }
            },
        );
    });
}
