//! Reductions over lists of rows: sum, mean, softmax.
//!
//! A backward pass is a gather over the transposed lists, so that no two tasks write the same row and the order of
//! additions is fixed.

use crate::Real;
use crate::parallel::{add, add_scaled, largest, vectorised};
use crate::rows::for_each_row;
use rayon::prelude::*;

/// Lists of items, one list per segment: segment `i` holds `items[starts[i]..starts[i + 1]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr {
    /// Start of every list, and finally the number of items: one more than there are segments.
    pub starts: Vec<u32>,
    /// The lists, one after the other. An item may occur several times.
    pub items: Vec<u32>,
}

impl Csr {
    /// Lists with the items of each segment in the order of `pairs` of (segment, item).
    pub fn from_pairs(segments: usize, pairs: impl Iterator<Item = (u32, u32)> + Clone) -> Self {
        let mut starts = vec![0_u32; segments + 1];
        for (segment, _) in pairs.clone() {
            starts[segment as usize + 1] += 1;
        }
        for i in 0..segments {
            starts[i + 1] += starts[i];
        }
        let mut next = starts.clone();
        let mut items = vec![0; starts[segments] as usize];
        for (segment, item) in pairs {
            let place = &mut next[segment as usize];
            items[*place as usize] = item;
            *place += 1;
        }
        Self { starts, items }
    }

    /// Number of segments.
    pub fn segments(&self) -> usize {
        self.starts.len() - 1
    }

    /// Items of one segment.
    #[inline]
    pub fn segment(&self, i: usize) -> &[u32] {
        &self.items[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// For each of the items `0..items` the segments that hold it, ascending, as often as they hold it.
    #[must_use]
    pub fn transpose(&self, items: usize) -> Self {
        let pairs =
            (0..self.segments()).flat_map(|s| self.segment(s).iter().map(move |&item| (item, s as u32)));
        Self::from_pairs(items, pairs)
    }
}

#[inline(always)]
fn row<T>(x: &[T], i: u32, d: usize) -> &[T] {
    &x[i as usize * d..][..d]
}

fn check<T>(lists: &Csr, out: &[T], d: usize) {
    assert_eq!(out.len(), lists.segments() * d, "one output row per segment");
}

/// `out[segments, d] +=` the sum of the rows of `x` listed per segment.
pub fn add_sums<T: Real>(lists: &Csr, x: &[T], d: usize, out: &mut [T]) {
    check(lists, out, d);
    for_each_row(
        out,
        d,
        #[inline(always)]
        |i, out| {
            for &item in lists.segment(i) {
                add(out, row(x, item, d));
            }
        },
    );
}

/// `out[segments, d]` = mean of the rows of `x[items, d]` listed per segment; 0 for an empty one.
pub fn mean<T: Real>(lists: &Csr, x: &[T], d: usize, out: &mut [T]) {
    check(lists, out, d);
    for_each_row(
        out,
        d,
        #[inline(always)]
        |i, out| {
            out.fill(T::ZERO);
            let members = lists.segment(i);
            for &item in members {
                add(out, row(x, item, d));
            }
            if members.len() > 1 {
                let share = T::from_f64(1.0 / members.len() as f64);
                out.iter_mut().for_each(|x| *x *= share);
            }
        },
    );
}

/// `dx[items, d] +=` gradient of [`mean`] for `dout[segments, d]`; `transposed` is `lists.transpose(items)`.
pub fn mean_backward<T: Real>(lists: &Csr, transposed: &Csr, dout: &[T], d: usize, dx: &mut [T]) {
    check(transposed, dx, d);
    check(lists, dout, d);
    for_each_row(
        dx,
        d,
        #[inline(always)]
        |i, dx| {
            for &segment in transposed.segment(i) {
                let share = 1.0 / lists.segment(segment as usize).len() as f64;
                add_scaled(dx, T::from_f64(share), row(dout, segment, d));
            }
        },
    );
}

/// `out[segments, d]` = the largest number of each column among the rows of `x` listed per segment, and `from` the first row that has
/// it; −∞ and 0 for an empty list.
pub fn max<T: Real>(lists: &Csr, x: &[T], d: usize, out: &mut [T], from: &mut [u32]) {
    check(lists, out, d);
    assert_eq!(from.len(), out.len(), "a row for each number");
    out.par_chunks_mut(d).zip(from.par_chunks_mut(d)).enumerate().for_each(|(i, (out, from))| {
        vectorised(
            #[inline(always)]
            || {
                out.fill(T::NEG_INFINITY);
                from.fill(0);
                for &item in lists.segment(i) {
                    for ((out, from), &x) in out.iter_mut().zip(from.iter_mut()).zip(row(x, item, d)) {
                        if x > *out {
                            (*out, *from) = (x, item);
                        }
                    }
                }
            },
        );
    });
}

/// `out` = softmax of `values` inside of each segment; both hold one number per list place (`items.len()`).
pub fn softmax<T: Real>(lists: &Csr, values: &[T], out: &mut [T]) {
    assert_eq!((values.len(), out.len()), (lists.items.len(), lists.items.len()), "one value per place");
    by_places(
        lists,
        out,
        #[inline(always)]
        |_, places, out| {
            let values = &values[places];
            let peak = largest(values);
            let mut total = T::ZERO;
            for (out, &x) in out.iter_mut().zip(values) {
                *out = (x - peak).exp();
                total += *out;
            }
            let share = T::ONE / total;
            out.iter_mut().for_each(|x| *x *= share);
        },
    );
}

/// `f(segment, places, out of these places)` for all non-empty segments, some segments per task.
pub(crate) fn by_places<T: Real>(
    lists: &Csr,
    out: &mut [T],
    f: impl Fn(usize, std::ops::Range<usize>, &mut [T]) + Sync,
) {
    let mut tasks = Vec::new();
    let mut rest = out;
    for first in (0..lists.segments()).step_by(SEGMENTS) {
        let last = (first + SEGMENTS).min(lists.segments());
        let (part, others) = rest.split_at_mut((lists.starts[last] - lists.starts[first]) as usize);
        rest = others;
        tasks.push((first..last, part));
    }
    tasks.into_par_iter().for_each(|(segments, mut part)| {
        vectorised(
            #[inline(always)]
            || {
                for segment in segments {
                    let places = lists.starts[segment] as usize..lists.starts[segment + 1] as usize;
                    let (own, others) = part.split_at_mut(places.len());
                    part = others;
                    if !places.is_empty() {
                        f(segment, places, own);
                    }
                }
            },
        );
    });
}

/// Segments per task of a softmax: most lists are short.
const SEGMENTS: usize = 256;

/// `out[rows, d]` = the listed rows of `x`.
pub fn gather<T: Real>(rows: &[u32], x: &[T], d: usize, out: &mut [T]) {
    assert_eq!(out.len(), rows.len() * d, "one output row per listed row");
    for_each_row(
        out,
        d,
        #[inline(always)]
        |i, out| out.copy_from_slice(row(x, rows[i], d)),
    );
}

/// `out[n, d]` = the sums of one row of each `x`, those listed at the same place.
pub fn sum_of_rows<T: Real>(rows: &[&[u32]], x: &[&[T]], d: usize, out: &mut [T]) {
    assert!(rows.iter().all(|rows| rows.len() * d == out.len()), "one row of each per output row");
    for_each_row(
        out,
        d,
        #[inline(always)]
        |i, out| {
            out.fill(T::ZERO);
            for (rows, x) in rows.iter().zip(x) {
                add(out, row(x, rows[i], d));
            }
        },
    );
}

/// `x[rows[i]] += from[i]`, in the order of `rows`; rows may repeat.
pub fn scatter_add<T: Real>(rows: &[u32], from: &[T], d: usize, x: &mut [T]) {
    assert_eq!(from.len(), rows.len() * d, "one row per listed row");
    vectorised(
        #[inline(always)]
        || {
            for (from, &i) in from.chunks_exact(d).zip(rows) {
                add(&mut x[i as usize * d..][..d], from);
            }
        },
    );
}
