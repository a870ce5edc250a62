//! Splitting of element-wise work and reductions: by fixed sizes, never by the number of threads.

use std::ops::Range;

use rayon::prelude::*;

use crate::Real;

/// Numbers per task of element-wise work: enough to pay for a task, small enough for the first-level cache to
/// hold two of them.
const TASK: usize = 8192;
/// Independent partial sums of a row, which the compiler turns into vector registers.
const LANES: usize = 16;

/// Runs `f` compiled for the widest vectors of this processor.
#[inline(always)]
pub(crate) fn vectorised<R>(f: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(f)
}

/// Rows of length `d` per task.
pub(crate) fn rows_per_task(d: usize) -> usize {
    (TASK / d.max(1)).max(1)
}

/// Fixed ranges of `0..n` with at most `step` members.
pub(crate) fn ranges(n: usize, step: usize) -> impl IndexedParallelIterator<Item = Range<usize>> {
    (0..n.div_ceil(step)).into_par_iter().with_max_len(1).map(move |i| i * step..((i + 1) * step).min(n))
}

/// `f(first row, rows)` over the rows of `out[_, d]`, some rows at a time.
pub(crate) fn for_rows<T: Real>(out: &mut [T], d: usize, f: impl Fn(usize, &mut [T]) + Sync) {
    let rows = rows_per_task(d);
    out.par_chunks_mut((rows * d).max(1)).enumerate().for_each(|(i, chunk)| {
        vectorised(
            #[inline(always)]
            || f(i * rows, chunk),
        );
    });
}

/// Σ aᵢ·bᵢ with a fixed order.
#[inline(always)]
pub fn dot<T: Real>(a: &[T], b: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let (heads, tail_a, tail_b) = (a.len() / LANES * LANES, a.len() % LANES, b.len() % LANES);
    debug_assert_eq!(tail_a, tail_b);
    for (x, y) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for l in 0..LANES {
            lanes[l] += x[l] * y[l];
        }
    }
    let mut tail = T::ZERO;
    for (&x, &y) in a[heads..].iter().zip(&b[heads..]) {
        tail += x * y;
    }
    fold(lanes) + tail
}

/// Σ xᵢ with a fixed order.
#[inline(always)]
pub(crate) fn sum<T: Real>(x: &[T]) -> T {
    let mut lanes = [T::ZERO; LANES];
    let heads = x.len() / LANES * LANES;
    for x in x.chunks_exact(LANES) {
        for l in 0..LANES {
            lanes[l] += x[l];
        }
    }
    let mut tail = T::ZERO;
    for &x in &x[heads..] {
        tail += x;
    }
    fold(lanes) + tail
}

#[inline(always)]
fn fold<T: Real>(mut lanes: [T; LANES]) -> T {
    let mut half = LANES / 2;
    while half > 0 {
        for l in 0..half {
            lanes[l] += lanes[l + half];
        }
        half /= 2;
    }
    lanes[0]
}

/// Largest element; −∞ for none.
#[inline(always)]
pub(crate) fn largest<T: Real>(x: &[T]) -> T {
    largest_of(
        x,
        #[inline(always)]
        |x| x,
    )
}

/// Largest absolute value; −∞ for none.
#[inline(always)]
pub(crate) fn largest_size<T: Real>(x: &[T]) -> T {
    largest_of(x, T::abs)
}

#[inline(always)]
fn largest_of<T: Real>(x: &[T], f: impl Fn(T) -> T) -> T {
    let mut lanes = [T::NEG_INFINITY; LANES];
    let heads = x.len() / LANES * LANES;
    for x in x.chunks_exact(LANES) {
        for l in 0..LANES {
            lanes[l] = lanes[l].larger(f(x[l]));
        }
    }
    let best = x[heads..].iter().fold(T::NEG_INFINITY, |best, &x| best.larger(f(x)));
    lanes.into_iter().fold(best, T::larger)
}

/// y += x
#[inline(always)]
pub(crate) fn add<T: Real>(y: &mut [T], x: &[T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += x;
    }
}

/// y += a·x
#[inline(always)]
pub fn add_scaled<T: Real>(y: &mut [T], a: T, x: &[T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// `out[d] +=` the sum of the rows of `x[n, d]`.
pub(crate) fn add_column_sums<T: Real>(x: &[T], d: usize, out: &mut [T]) {
    if d == 0 {
        return;
    }
    assert_eq!(out.len(), d, "column sums");
    let step = rows_per_task(d);
    let parts: Vec<Vec<T>> = x
        .par_chunks(step * d)
        .map(|rows| {
            vectorised(
                #[inline(always)]
                || {
                    let mut part = vec![T::ZERO; d];
                    for row in rows.chunks_exact(d) {
                        add(&mut part, row);
                    }
                    part
                },
            )
        })
        .collect();
    for part in parts {
        add(out, &part);
    }
}

/// `f(y, a, b)` for the elements of three slices of one length.
pub(crate) fn zip_rows<T: Real>(y: &mut [T], a: &[T], b: &[T], f: impl Fn(&mut T, T, T) + Sync) {
    assert_eq!((y.len(), y.len()), (a.len(), b.len()), "lengths of element-wise operands");
    for_rows(
        y,
        1,
        #[inline(always)]
        |first, y| {
            for ((y, &a), &b) in y.iter_mut().zip(&a[first..]).zip(&b[first..]) {
                f(y, a, b);
            }
        },
    );
}
