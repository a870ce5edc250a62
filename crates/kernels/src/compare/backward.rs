//! Gradients of one side of a comparison, from the factors of slopes.

use std::marker::PhantomData;
use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::Gradients;
use super::forward::{Rows, Sides};
use super::measure::{Measure, OfCandidate, OfQuery, Slope};
use crate::Real;
use crate::simd::Pack;

/// Rows per task; they share the loads of the other side.
const OWN: usize = 32;
/// Rows of the other side at once: enough to make reading and writing an own row cheap, and few enough for the copied
/// parts of them to stay in the first-level cache.
const OTHERS: usize = 64;
/// A task copies parts of the other side if its rows together use each of them this often.
const USES: usize = 4;

/// The side whose gradient is computed, and the other one.
#[derive(Clone, Copy)]
struct Phase<'a, T, const A: usize, const B: usize> {
    own: Rows<'a, T, A>,
    own_weights: Option<Rows<'a, T, 1>>,
    others: Rows<'a, T, B>,
    other_weights: Option<Rows<'a, T, 1>>,
    factors: Factors<'a, T>,
}

#[derive(Clone, Copy)]
enum Factors<'a, T> {
    /// Own row i and other row j have `data[i·steps.0 + j·steps.1]`, for `count` other rows.
    All { data: &'a [T], steps: (usize, usize), count: usize },
    /// Own row i and other row i have `data[i]`, all others none.
    Pairs { data: &'a [T] },
}

/// Rows of the other side, counted from the first of its block, and their factors: those that are not 0.
#[derive(Clone, Copy)]
struct List<T> {
    rows: [u16; OTHERS],
    factors: [T; OTHERS],
    len: usize,
}

impl<T: Real> List<T> {
    #[inline(always)]
    fn new() -> Self {
        Self { rows: [0; OTHERS], factors: [T::ZERO; OTHERS], len: 0 }
    }

    /// From factors that are `step` apart.
    #[inline(always)]
    fn fill(&mut self, factors: &[T], step: usize, count: usize) {
        let mut len = 0;
        for row in 0..count {
            let factor = factors[row * step];
            // Without a branch, which would be mispredicted: unwanted values are overwritten.
            (self.rows[len], self.factors[len]) = (row as u16, factor);
            len += usize::from(factor != T::ZERO);
        }
        self.len = len;
    }
}

/// Vectors of a block of the other side, and of its weights, one after the other: rows of a length that is a power of two
/// would get in each other's way in the first-level cache.
type Copied<V, T, const B: usize, const K: usize> =
    ([[[Pack<V, T>; B]; K]; OTHERS], [[[Pack<V, T>; 1]; K]; OTHERS]);

/// Adds to the rows of `out`, from `first` on.
struct Task<'t, 'a, T, P, const A: usize, const B: usize> {
    phase: &'t Phase<'a, T, A, B>,
    slope: PhantomData<P>,
    first: usize,
    out: &'t mut [T],
}

impl<T: Real, const A: usize, const B: usize> Phase<'_, T, A, B> {
    /// Adds Σ factor·slope to every row of `out`.
    fn run<P: Slope<A, B>>(&self, out: &mut [T]) {
        let width = A * self.own.h;
        out.par_chunks_mut((OWN * width).max(1)).enumerate().for_each(|(i, out)| {
            Arch::new().dispatch(Task { phase: self, slope: PhantomData::<P>, first: i * OWN, out });
        });
    }
}

impl<T: Real, P: Slope<A, B>, const A: usize, const B: usize> WithSimd for Task<'_, '_, T, P, A, B> {
    type Output = ();

    #[inline(always)]
    fn with_simd<V: Simd>(self, simd: V) {
        let weighted = self.phase.other_weights.is_some();
        // Four vectors hide the latency of additions, if there is one sum per vector.
        match (A == 1, weighted) {
            (true, true) => self.run::<V, true, 4>(simd),
            (true, false) => self.run::<V, false, 4>(simd),
            (false, true) => self.run::<V, true, 1>(simd),
            (false, false) => self.run::<V, false, 1>(simd),
        }
    }
}

impl<T: Real, P: Slope<A, B>, const A: usize, const B: usize> Task<'_, '_, T, P, A, B> {
    #[inline(always)]
    fn run<V: Simd, const W: bool, const K: usize>(self, simd: V) {
        let Self { phase, first, out, .. } = self;
        let width = A * phase.own.h;
        let mut lists = [List::new(); OWN];
        match phase.factors {
            Factors::All { data, steps, count } => {
                let zero = Pack::splat(simd, T::ZERO);
                let mut copied = ([[[zero; B]; K]; OTHERS], [[[zero; 1]; K]; OTHERS]);
                for other in (0..count).step_by(OTHERS) {
                    let block = other..(other + OTHERS).min(count);
                    let mut uses = 0;
                    for (row, list) in (first..).zip(&mut lists).take(out.len() / width) {
                        list.fill(&data[row * steps.0 + other * steps.1..], steps.1, block.len());
                        uses += list.len;
                    }
                    if uses >= USES * block.len() {
                        phase.add_copied::<V, P, W, K>(simd, first, block, &lists, &mut copied, out);
                    } else {
                        for ((row, list), out) in (first..).zip(&lists).zip(out.chunks_mut(width)) {
                            phase.add::<V, P, W, K>(simd, row, other, list, out);
                        }
                    }
                }
            }
            Factors::Pairs { data } => {
                for (row, out) in (first..).zip(out.chunks_mut(width)) {
                    lists[0].fill(&data[row..], 1, 1);
                    phase.add::<V, P, W, K>(simd, row, row, &lists[0], out);
                }
            }
        }
    }
}

impl<T: Real, const A: usize, const B: usize> Phase<'_, T, A, B> {
    /// Parts of the components: K vectors each, then single ones, of which the last may not be filled.
    #[inline(always)]
    fn next<V: Simd, const K: usize>(&self, at: usize) -> (bool, Range<usize>) {
        let lanes = size_of::<T::Vector<V>>() / size_of::<T>();
        let whole = at + K * lanes <= self.own.h;
        (whole, at..(at + if whole { K * lanes } else { lanes }).min(self.own.h))
    }

    /// Adds the sum over a list to a row.
    #[inline(always)]
    fn add<V: Simd, P: Slope<A, B>, const W: bool, const K: usize>(
        &self,
        simd: V,
        row: usize,
        first: usize,
        list: &List<T>,
        out: &mut [T],
    ) {
        let mut at = 0;
        while at < self.own.h && list.len > 0 {
            let (whole, part) = self.next::<V, K>(at);
            at = part.end;
            if whole {
                self.add_sums::<V, P, W, K, K>(simd, row, (first, list), &part, None, out);
            } else {
                self.add_sums::<V, P, W, 1, K>(simd, row, (first, list), &part, None, out);
            }
        }
    }

    /// Adds the sums over the lists of all rows of a task, from copies of the other side.
    #[inline(always)]
    fn add_copied<V: Simd, P: Slope<A, B>, const W: bool, const K: usize>(
        &self,
        simd: V,
        first: usize,
        block: Range<usize>,
        lists: &[List<T>; OWN],
        copied: &mut Copied<V, T, B, K>,
        out: &mut [T],
    ) {
        let mut at = 0;
        while at < self.own.h {
            let (whole, part) = self.next::<V, K>(at);
            at = part.end;
            for (i, other) in block.clone().enumerate() {
                load::<V, T, B, K>(simd, self.others.row(other), &part, whole, &mut copied.0[i]);
                if let Some(weights) = &self.other_weights {
                    load::<V, T, 1, K>(simd, weights.row(other), &part, whole, &mut copied.1[i]);
                }
            }
            for ((row, list), out) in (first..).zip(lists).zip(out.chunks_mut(A * self.own.h)) {
                let list = (block.start, list);
                if whole {
                    self.add_sums::<V, P, W, K, K>(simd, row, list, &part, Some(copied), out);
                } else {
                    self.add_sums::<V, P, W, 1, K>(simd, row, list, &part, Some(copied), out);
                }
            }
        }
    }

    /// Adds the sums over a list for some components, times own weights, to a row: from the other side or from copies of it. `N`
    /// vectors, of the `K` that copies have.
    #[inline(always)]
    fn add_sums<V: Simd, P: Slope<A, B>, const W: bool, const N: usize, const K: usize>(
        &self,
        simd: V,
        row: usize,
        (first, list): (usize, &List<T>),
        part: &Range<usize>,
        copied: Option<&Copied<V, T, B, K>>,
        out: &mut [T],
    ) {
        let zero = Pack::splat(simd, T::ZERO);
        let mut own = [[zero; A]; N];
        load::<V, T, A, N>(simd, self.own.row(row), part, N > 1, &mut own);
        let mut sums = [[zero; A]; N];
        for (&other, &factor) in list.rows[..list.len].iter().zip(&list.factors) {
            let other = usize::from(other);
            let (mut others, mut weights) = ([[zero; B]; N], [[zero; 1]; N]);
            if let Some((all, all_weights)) = copied {
                for k in 0..N {
                    (others[k], weights[k]) = (all[other][k], all_weights[other][k]);
                }
            } else {
                load::<V, T, B, N>(simd, self.others.row(first + other), part, N > 1, &mut others);
                if let Some(all) = &self.other_weights {
                    load::<V, T, 1, N>(simd, all.row(first + other), part, N > 1, &mut weights);
                }
            }
            let factor = Pack::splat(simd, factor);
            for k in 0..N {
                let factor = if W { factor * weights[k][0] } else { factor };
                sums[k] = P::add(sums[k], factor, own[k], others[k]);
            }
        }
        let mut weights = [[Pack::splat(simd, T::ONE)]; N];
        if let Some(all) = &self.own_weights {
            load::<V, T, 1, N>(simd, all.row(row), part, N > 1, &mut weights);
        }
        let lanes = part.len() / N;
        for k in 0..N {
            for p in 0..A {
                let out = &mut out[p * self.own.h + part.start + k * lanes..][..lanes];
                (Pack::load(simd, out) + weights[k][0] * sums[k][p]).store(out);
            }
        }
    }
}

/// N vectors of all planes if they are `whole`, otherwise one that may not be filled.
#[inline(always)]
fn load<V: Simd, T: Real, const P: usize, const N: usize>(
    simd: V,
    planes: [&[T]; P],
    part: &Range<usize>,
    whole: bool,
    to: &mut [[Pack<V, T>; P]; N],
) {
    for p in 0..P {
        let plane = &planes[p][part.start..part.end];
        if whole {
            let (vectors, _) = T::split_all::<V>(plane);
            let vectors = &vectors[..N];
            for k in 0..N {
                to[k][p] = Pack::new(simd, vectors[k]);
            }
        } else {
            to[0][p] = Pack::load(simd, plane);
        }
    }
}

/// Adds the gradients of queries and shared candidates from the factors `[rows, n]` of a strip.
pub(super) fn add_shared<T: Real, M: Measure<Q, C>, const Q: usize, const C: usize>(
    sides: &Sides<T, Q, C>,
    rows: Range<usize>,
    factors: &[T],
    gradients: &mut Gradients<T>,
) {
    let n = sides.n;
    let queries = sides.queries.part(&rows);
    let weights = sides.weights.map(|weights| weights.part(&rows));
    Phase {
        own: queries,
        own_weights: weights,
        others: sides.candidates,
        other_weights: None,
        factors: Factors::All { data: factors, steps: (n, 1), count: n },
    }
    .run::<OfQuery<M>>(&mut gradients.queries[rows.start * queries.step..rows.end * queries.step]);
    Phase {
        own: sides.candidates,
        own_weights: None,
        others: queries,
        other_weights: weights,
        factors: Factors::All { data: factors, steps: (1, n), count: rows.len() },
    }
    .run::<OfCandidate<M>>(gradients.candidates);
}

/// Adds the gradients of queries and their own candidates.
pub(super) fn add_own<T: Real, M: Measure<Q, C>, const Q: usize, const C: usize>(
    sides: &Sides<T, Q, C>,
    factors: &[T],
    gradients: &mut Gradients<T>,
) {
    let Some(own) = sides.own else { return };
    let factors = Factors::Pairs { data: factors };
    Phase { own: sides.queries, own_weights: sides.weights, others: own, other_weights: None, factors }
        .run::<OfQuery<M>>(gradients.queries);
    if let Some(out) = gradients.own.as_deref_mut() {
        Phase { own, own_weights: None, others: sides.queries, other_weights: sides.weights, factors }
            .run::<OfCandidate<M>>(out);
    }
}
