//! Sums of messages along the edges of a graph whose edges have relations.
//!
//! A [`Message`] is computed from the row of the source and the row of the relation. Sums and gradients are computed row by row from
//! lists of edges: no two tasks write the same row, and the order of additions is fixed.

use std::marker::PhantomData;

use crate::Real;
use crate::parallel::add_scaled;
use crate::rows::for_each_row;
use crate::segment::Csr;

/// An edge: its message goes from a row of the sources to a row of the sums.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// Row of the source.
    pub source: u32,
    /// Row of the relation.
    pub relation: u32,
    /// Row of the sum.
    pub destination: u32,
    /// Factor of the message.
    pub weight: f32,
}

/// Edges with their lists by destination, by source, and by relation.
#[derive(Clone, Debug)]
pub struct Edges {
    list: Vec<Edge>,
    by_destination: Csr,
    by_source: Csr,
    by_relation: Csr,
}

impl Edges {
    /// Edges from `sources` rows to `destinations` rows; parallel edges count as often as they occur.
    pub fn new(edges: Vec<Edge>, sources: usize, relations: usize, destinations: usize) -> Self {
        let lists = |segments: usize, of: fn(&Edge) -> u32| {
            Csr::from_pairs(segments, edges.iter().enumerate().map(|(i, edge)| (of(edge), i as u32)))
        };
        Self {
            by_destination: lists(destinations, |edge| edge.destination),
            by_source: lists(sources, |edge| edge.source),
            by_relation: lists(relations, |edge| edge.relation),
            list: edges,
        }
    }

    /// The edges, in the order in which they were given.
    pub fn edges(&self) -> &[Edge] {
        &self.list
    }

    /// Number of rows that are summed into.
    pub fn destinations(&self) -> usize {
        self.by_destination.segments()
    }
}

/// How a message is computed. All functions add to their first argument.
pub trait Message: Send + Sync + 'static {
    /// Numbers per relation, for sources of `d` numbers.
    fn relation_size(d: usize) -> usize;

    /// The message: `sum += w·m(x, p)`.
    fn add<T: Real>(sum: &mut [T], w: T, x: &[T], p: &[T]);

    /// The gradient of the source for the gradient `g` of the sum.
    fn add_to_source<T: Real>(dx: &mut [T], w: T, p: &[T], g: &[T]);

    /// The gradient of the relation for the gradient `g` of the sum.
    fn add_to_relation<T: Real>(dp: &mut [T], w: T, x: &[T], g: &[T]);
}

/// `m = x∘p`.
#[derive(Clone, Copy, Debug)]
pub struct Product;

impl Message for Product {
    fn relation_size(d: usize) -> usize {
        d
    }

    #[inline(always)]
    fn add<T: Real>(sum: &mut [T], w: T, x: &[T], p: &[T]) {
        for ((sum, &x), &p) in sum.iter_mut().zip(x).zip(p) {
            *sum += w * x * p;
        }
    }

    #[inline(always)]
    fn add_to_source<T: Real>(dx: &mut [T], w: T, p: &[T], g: &[T]) {
        Self::add(dx, w, p, g);
    }

    #[inline(always)]
    fn add_to_relation<T: Real>(dp: &mut [T], w: T, x: &[T], g: &[T]) {
        Self::add(dp, w, x, g);
    }
}

/// `m = x·B` with a matrix B of 2×2 blocks on its diagonal; a relation holds the blocks one after the other, row by row. The number
/// of columns must be even.
#[derive(Clone, Copy, Debug)]
pub struct Blocks;

impl Message for Blocks {
    fn relation_size(d: usize) -> usize {
        2 * d
    }

    #[inline(always)]
    fn add<T: Real>(sum: &mut [T], w: T, x: &[T], p: &[T]) {
        let (sums, sources, blocks) =
            (sum.as_chunks_mut::<2>().0, x.as_chunks::<2>().0, p.as_chunks::<4>().0);
        for ((sum, x), b) in sums.iter_mut().zip(sources).zip(blocks) {
            sum[0] += w * (x[0] * b[0] + x[1] * b[2]);
            sum[1] += w * (x[0] * b[1] + x[1] * b[3]);
        }
    }

    #[inline(always)]
    fn add_to_source<T: Real>(dx: &mut [T], w: T, p: &[T], g: &[T]) {
        let (sources, blocks, sums) = (dx.as_chunks_mut::<2>().0, p.as_chunks::<4>().0, g.as_chunks::<2>().0);
        for ((dx, b), g) in sources.iter_mut().zip(blocks).zip(sums) {
            dx[0] += w * (g[0] * b[0] + g[1] * b[1]);
            dx[1] += w * (g[0] * b[2] + g[1] * b[3]);
        }
    }

    #[inline(always)]
    fn add_to_relation<T: Real>(dp: &mut [T], w: T, x: &[T], g: &[T]) {
        let (blocks, sources, sums) = (dp.as_chunks_mut::<4>().0, x.as_chunks::<2>().0, g.as_chunks::<2>().0);
        for ((db, x), g) in blocks.iter_mut().zip(sources).zip(sums) {
            db[0] += w * x[0] * g[0];
            db[1] += w * x[0] * g[1];
            db[2] += w * x[1] * g[0];
            db[3] += w * x[1] * g[1];
        }
    }
}

/// Sources `[sources, d]` and relations `[relations, M::relation_size(d)]`.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a, T, M> {
    /// The rows of the sources.
    pub x: &'a [T],
    /// The rows of the relations.
    pub p: &'a [T],
    /// Columns of the sources and of the sums.
    pub d: usize,
    /// How a message is computed.
    pub message: PhantomData<M>,
}

impl<'a, T, M: Message> Inputs<'a, T, M> {
    /// Rows of sources with `d` columns, and rows of relations.
    pub fn new(x: &'a [T], p: &'a [T], d: usize) -> Self {
        Self { x, p, d, message: PhantomData }
    }

    #[inline(always)]
    fn source(&self, edge: Edge) -> &'a [T] {
        &self.x[edge.source as usize * self.d..][..self.d]
    }

    #[inline(always)]
    fn relation(&self, edge: Edge) -> &'a [T] {
        let size = M::relation_size(self.d);
        &self.p[edge.relation as usize * size..][..size]
    }
}

/// `out[destinations, d]` = the sums of the messages.
pub fn forward<T: Real, M: Message>(edges: &Edges, inputs: &Inputs<T, M>, out: &mut [T]) {
    let d = inputs.d;
    assert_eq!(out.len(), edges.destinations() * d, "one row per destination");
    for_each_row(
        out,
        d,
        #[inline(always)]
        |i, out| {
            out.fill(T::ZERO);
            for &place in edges.by_destination.segment(i) {
                let edge = edges.list[place as usize];
                M::add(out, T::from_f64(f64::from(edge.weight)), inputs.source(edge), inputs.relation(edge));
            }
        },
    );
}

/// `dx +=` and `dp +=` the gradients of [`forward`] for `dout[destinations, d]`.
pub fn backward<T: Real, M: Message>(
    edges: &Edges,
    inputs: &Inputs<T, M>,
    dout: &[T],
    dx: &mut [T],
    dp: &mut [T],
) {
    let d = inputs.d;
    let gradient = |edge: Edge| &dout[edge.destination as usize * d..][..d];
    for_each_row(
        dx,
        d,
        #[inline(always)]
        |i, dx| {
            for &place in edges.by_source.segment(i) {
                let edge = edges.list[place as usize];
                let weight = T::from_f64(f64::from(edge.weight));
                M::add_to_source(dx, weight, inputs.relation(edge), gradient(edge));
            }
        },
    );
    let size = M::relation_size(d);
    // Some relations have most of the edges: their lists are cut, and the parts added in order.
    let parts: Vec<(usize, &[u32])> = (0..edges.by_relation.segments())
        .flat_map(|relation| {
            edges.by_relation.segment(relation).chunks(PART).map(move |part| (relation, part))
        })
        .collect();
    let mut sums = crate::memory::take_zeroed::<T>(parts.len() * size);
    for_each_row(
        &mut sums,
        size,
        #[inline(always)]
        |i, sum| {
            for &place in parts[i].1 {
                let edge = edges.list[place as usize];
                let weight = T::from_f64(f64::from(edge.weight));
                M::add_to_relation(sum, weight, inputs.source(edge), gradient(edge));
            }
        },
    );
    for ((relation, _), sum) in parts.iter().zip(sums.chunks_exact(size.max(1))) {
        add_scaled(&mut dp[relation * size..][..size], T::ONE, sum);
    }
}

/// Edges of a relation that are summed by one task.
const PART: usize = 256;
