//! Sums of terms: tiles of scores, and scores of pairs.

use std::marker::PhantomData;
use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::Comparison;
use super::measure::Measure;
use crate::Real;
use crate::parallel::rows_per_task;
use crate::simd::{Lanes, MOST_LANES, Pack, Vectors};

/// Queries and candidates that share loads: 8 sums hide the latency of additions and leave registers for the rows.
const BLOCK: (usize, usize) = (4, 2);
/// The same where there are 32 registers and a component is one number: fewer loads per sum.
const LARGE_BLOCK: (usize, usize) = (4, 4);
/// With weights a query is two rows. Rows of a length that is a power of two share places in the first-level cache, which
/// has eight lines per place on most processors: no more than eight rows at a time.
const WEIGHTED_BLOCK: (usize, usize) = (2, 4);
/// Queries and candidates per task: together they fit the second-level cache at d = 1024, and a block of queries fits the
/// first.
const TILE: (usize, usize) = (32, 128);

/// Rows of one side, P numbers per component: row i has P planes of length `h` and starts at `i·step`.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, T, const P: usize> {
    pub data: &'a [T],
    pub step: usize,
    pub h: usize,
}

impl<'a, T, const P: usize> Rows<'a, T, P> {
    /// The planes of a row.
    #[inline(always)]
    pub fn row(&self, i: usize) -> [&'a [T]; P] {
        let row = &self.data[i * self.step..][..P * self.h];
        let mut planes = [&row[..0]; P];
        for p in 0..P {
            planes[p] = &row[p * self.h..][..self.h];
        }
        planes
    }

    /// Some of the rows.
    pub fn part(&self, range: &Range<usize>) -> Self {
        Self { data: &self.data[range.start * self.step..range.end * self.step], ..*self }
    }

    /// R rows from `first` on.
    #[inline(always)]
    fn rows<const R: usize>(&self, first: usize) -> [[&'a [T]; P]; R] {
        let mut rows = [[&self.data[..0]; P]; R];
        for r in 0..R {
            rows[r] = self.row(first + r);
        }
        rows
    }
}

/// A comparison as its kernels see it.
#[derive(Clone, Copy)]
pub(super) struct Sides<'a, T, const Q: usize, const C: usize> {
    pub queries: Rows<'a, T, Q>,
    pub candidates: Rows<'a, T, C>,
    pub own: Option<Rows<'a, T, C>>,
    pub weights: Option<Rows<'a, T, 1>>,
    /// Numbers of queries and candidates.
    pub b: usize,
    pub n: usize,
}

impl<'a, T: Real, const Q: usize, const C: usize> Sides<'a, T, Q, C> {
    pub fn new(comparison: &Comparison<'a, T>) -> Self {
        let (b, n) = comparison.sizes();
        let h = comparison.likeness.components(comparison.d);
        Self {
            queries: Rows { data: comparison.queries, step: Q * h, h },
            candidates: Rows { data: comparison.candidates, step: C * h, h },
            own: comparison.own.map(|data| Rows { data, step: C * h, h }),
            weights: comparison.weights.map(|data| Rows { data, step: comparison.d, h }),
            b,
            n,
        }
    }

    /// Scores of R queries and S candidates from the given ones on. `parts` are the sums of their rows, which only
    /// measures that split use.
    #[inline(always)]
    fn block<V: Simd, M: Measure<Q, C>, const R: usize, const S: usize>(
        &self,
        simd: V,
        query: usize,
        candidates: &Rows<T, C>,
        candidate: usize,
        parts: ([T; R], [T; S]),
    ) -> [[T; S]; R] {
        let (queries, candidates) = (self.queries.rows(query), candidates.rows(candidate));
        let mut scores = match &self.weights {
            Some(weights) => {
                sums::<V, T, M, Q, C, R, S, true>(simd, queries, candidates, weights.rows(query))
            }
            None => sums::<V, T, M, Q, C, R, S, false>(simd, queries, candidates, [[&[]]; R]),
        };
        for r in 0..R {
            for s in 0..S {
                let sum = scores[r][s];
                let split = M::SPLITS && self.weights.is_none();
                scores[r][s] = M::score(if split { sum - (parts.0[r] + parts.1[s]) } else { sum });
            }
        }
        scores
    }

    /// The sum of a row if the measure needs it.
    #[inline(always)]
    fn part<V: Simd, M: Measure<Q, C>, const P: usize>(&self, simd: V, row: [&[T]; P]) -> T {
        let mut total = T::ZERO;
        if M::SPLITS && self.weights.is_none() {
            for plane in row {
                let (whole, tail) = T::split_all::<V>(plane);
                let mut sum = Pack::load(simd, tail);
                for &x in whole {
                    sum = sum + Pack::new(simd, x);
                }
                total += sum.sum();
            }
        }
        total
    }
}

/// Sums of terms for R queries and S candidates; `weights` are used if `W`. A sum is added up in the same order for any R
/// and S.
#[inline(always)]
fn sums<
    V: Simd,
    T: Real,
    M: Measure<Q, C>,
    const Q: usize,
    const C: usize,
    const R: usize,
    const S: usize,
    const W: bool,
>(
    simd: V,
    queries: [[&[T]; Q]; R],
    candidates: [[&[T]; C]; S],
    weights: [[&[T]; 1]; R],
) -> [[T; S]; R] {
    let (whole, _) = T::split_all::<V>(queries[0][0]);
    let count = whole.len();
    let (q, q_tail) = split(simd, queries, count);
    let (c, c_tail) = split(simd, candidates, count);
    let (w, w_tail) = split(simd, weights, if W { count } else { 0 });
    let mut sums = [[Pack::splat(simd, T::ZERO); S]; R];
    for k in 0..count {
        for r in 0..R {
            for s in 0..S {
                let (q, c) = (numbers(simd, q[r], k), numbers(simd, c[s], k));
                sums[r][s] = if W {
                    sums[r][s].plus_product(numbers(simd, w[r], k)[0], M::term(q, c))
                } else {
                    M::add_shared(sums[r][s], q, c)
                };
            }
        }
    }
    if !q_tail[0][0].is_empty() {
        add_tail::<V, T, M, Q, C, R, S>(simd, q_tail, c_tail, W.then_some(w_tail), &mut sums);
    }
    let mut out = [[T::ZERO; S]; R];
    for r in 0..R {
        for s in 0..S {
            out[r][s] = sums[r][s].sum();
        }
    }
    out
}

/// Adds the terms of the components that do not fill a vector.
#[inline(always)]
fn add_tail<
    V: Simd,
    T: Real,
    M: Measure<Q, C>,
    const Q: usize,
    const C: usize,
    const R: usize,
    const S: usize,
>(
    simd: V,
    queries: [[&[T]; Q]; R],
    candidates: [[&[T]; C]; S],
    weights: Option<[[&[T]; 1]; R]>,
    sums: &mut [[Pack<V, T>; S]; R],
) {
    let (q, c) = (loads(simd, queries), loads(simd, candidates));
    let zero = Pack::splat(simd, T::ZERO);
    let inside = Pack::load(simd, &[T::ONE; MOST_LANES][..queries[0][0].len()]);
    let weighted = weights.is_some();
    let w = if let Some(weights) = weights { loads(simd, weights) } else { [[inside]; R] };
    for r in 0..R {
        for s in 0..S {
            let term = if weighted { w[r][0] * M::term(q[r], c[s]) } else { M::add_shared(zero, q[r], c[s]) };
            // Beyond the end a term may be 0/0.
            sums[r][s] = sums[r][s] + inside.if_above(zero, term, zero);
        }
    }
}

/// Vectors of R rows of P planes, and the numbers that remain.
type Split<'a, V, T, const P: usize, const R: usize> =
    ([[&'a [<T as Vectors>::Vector<V>]; P]; R], [[&'a [T]; P]; R]);

// Plain loops in the following: the closures of array functions are not always compiled into their callers, and then
// not for its vectors.

/// `count` vectors of all rows, and the rest.
#[inline(always)]
fn split<V: Simd, T: Real, const P: usize, const R: usize>(
    _: V,
    rows: [[&[T]; P]; R],
    count: usize,
) -> Split<'_, V, T, P, R> {
    let mut vectors: [[&[T::Vector<V>]; P]; R] = [[&[]; P]; R];
    let mut tails = rows;
    for r in 0..R {
        for p in 0..P {
            let (whole, tail) = T::split_all::<V>(rows[r][p]);
            (vectors[r][p], tails[r][p]) = (&whole[..count], tail);
        }
    }
    (vectors, tails)
}

/// Vector `k` of all planes.
#[inline(always)]
fn numbers<V: Simd, T: Real, const P: usize>(
    simd: V,
    planes: [&[T::Vector<V>]; P],
    k: usize,
) -> [Pack<V, T>; P] {
    let mut numbers = [Pack::splat(simd, T::ZERO); P];
    for p in 0..P {
        numbers[p] = Pack::new(simd, planes[p][k]);
    }
    numbers
}

/// At most a vector of all rows, and zeros.
#[inline(always)]
fn loads<V: Simd, T: Real, const P: usize, const R: usize>(
    simd: V,
    rows: [[&[T]; P]; R],
) -> [[Pack<V, T>; P]; R] {
    let mut numbers = [[Pack::splat(simd, T::ZERO); P]; R];
    for r in 0..R {
        for p in 0..P {
            numbers[r][p] = Pack::load(simd, rows[r][p]);
        }
    }
    numbers
}

/// The first R numbers; there are as many.
#[inline(always)]
fn first_of<T: Real, const R: usize>(x: &[T]) -> [T; R] {
    let mut first = [T::ZERO; R];
    first.copy_from_slice(&x[..R]);
    first
}

/// `strip[rows, n]` = scores of some queries and all candidates.
pub(super) fn scores<T: Real, M: Measure<Q, C>, const Q: usize, const C: usize>(
    sides: &Sides<T, Q, C>,
    rows: Range<usize>,
    strip: &mut [T],
) {
    let n = sides.n;
    let mut tiles: Vec<Vec<_>> = (0..n.div_ceil(TILE.1)).map(|_| Vec::new()).collect();
    for (i, band) in strip.chunks_mut((TILE.0 * n).max(1)).enumerate() {
        let row = rows.start + i * TILE.0;
        for (j, tiles) in tiles.iter_mut().enumerate() {
            let out = Vec::with_capacity(TILE.0);
            tiles.push(Tile { sides, measure: PhantomData::<M>, row, column: j * TILE.1, out });
        }
        for row in band.chunks_mut(n) {
            row.chunks_mut(TILE.1).zip(&mut tiles).for_each(|(part, tiles)| tiles[i].out.push(part));
        }
    }
    // All queries of the strip, one tile of candidates after the other: candidates, of which there are more, are
    // read from memory once.
    let tiles: Vec<_> = tiles.into_iter().flatten().collect();
    tiles.into_par_iter().with_max_len(1).for_each(|tile| Arch::new().dispatch(tile));
}

/// Scores of the queries from `row` and the candidates from `column` on.
struct Tile<'t, 'a, T, M, const Q: usize, const C: usize> {
    sides: &'t Sides<'a, T, Q, C>,
    measure: PhantomData<M>,
    row: usize,
    column: usize,
    out: Vec<&'t mut [T]>,
}

impl<T: Real, M: Measure<Q, C>, const Q: usize, const C: usize> WithSimd for Tile<'_, '_, T, M, Q, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        if self.sides.weights.is_some() {
            self.run::<V, { WEIGHTED_BLOCK.0 }, { WEIGHTED_BLOCK.1 }>(simd);
        } else if V::REGISTER_COUNT >= 32 && Q + C == 2 {
            self.run::<V, { LARGE_BLOCK.0 }, { LARGE_BLOCK.1 }>(simd);
        } else {
            self.run::<V, { BLOCK.0 }, { BLOCK.1 }>(simd);
        }
    }
}

impl<T: Real, M: Measure<Q, C>, const Q: usize, const C: usize> Tile<'_, '_, T, M, Q, C> {
    #[inline(always)]
    fn run<V: Simd, const R: usize, const S: usize>(self, simd: V) {
        let Self { sides, row, column, mut out, .. } = self;
        let columns = out.first().map_or(0, |row| row.len());
        let (mut query_parts, mut candidate_parts) = ([T::ZERO; TILE.0], [T::ZERO; TILE.1]);
        for i in 0..out.len() {
            query_parts[i] = sides.part::<V, M, Q>(simd, sides.queries.row(row + i));
        }
        for j in 0..columns {
            candidate_parts[j] = sides.part::<V, M, C>(simd, sides.candidates.row(column + j));
        }
        for (i, out) in out.chunks_mut(R).enumerate() {
            let query_parts = &query_parts[i * R..][..out.len()];
            let row = row + i * R;
            let whole = if out.len() == R { columns / S * S } else { 0 };
            for j in (0..whole).step_by(S) {
                let parts = (first_of(query_parts), first_of(&candidate_parts[j..]));
                let scores = sides.block::<V, M, R, S>(simd, row, &sides.candidates, column + j, parts);
                for r in 0..R {
                    out[r][j..][..S].copy_from_slice(&scores[r]);
                }
            }
            for j in whole..columns {
                for r in 0..out.len() {
                    let parts = ([query_parts[r]], [candidate_parts[j]]);
                    [[out[r][j]]] =
                        sides.block::<V, M, 1, 1>(simd, row + r, &sides.candidates, column + j, parts);
                }
            }
        }
    }
}

/// Scores of all queries and their own candidates; 0 without them.
pub(super) fn pairs<T: Real, M: Measure<Q, C>, const Q: usize, const C: usize>(
    sides: &Sides<T, Q, C>,
    out: &mut [T],
) {
    let Some(own) = &sides.own else {
        out.fill(T::ZERO);
        return;
    };
    let step = rows_per_task(sides.queries.step);
    out.par_chunks_mut(step).enumerate().for_each(|(i, out)| {
        Arch::new().dispatch(Pairs { sides, own, measure: PhantomData::<M>, row: i * step, out });
    });
}

struct Pairs<'t, 'a, T, M, const Q: usize, const C: usize> {
    sides: &'t Sides<'a, T, Q, C>,
    own: &'t Rows<'a, T, C>,
    measure: PhantomData<M>,
    row: usize,
    out: &'t mut [T],
}

impl<T: Real, M: Measure<Q, C>, const Q: usize, const C: usize> WithSimd for Pairs<'_, '_, T, M, Q, C> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        for (row, out) in (self.row..).zip(self.out) {
            let query = self.sides.part::<V, M, Q>(simd, self.sides.queries.row(row));
            let own = self.sides.part::<V, M, C>(simd, self.own.row(row));
            [[*out]] = self.sides.block::<V, M, 1, 1>(simd, row, self.own, row, ([query], [own]));
        }
    }
}
