//! Relational graph layer of RE-GCN and CEN:
//!
//! `x'_v = mask∘φ( mean over in-edges (u, r) of (x_u + p_r)·Wₙ + x_v·W_own )`, where `W_own` is the weight for
//! nodes with in-edges or the one for isolated nodes, and φ is leaky.
//!
//! The mean is taken before the product, which is linear: one product with as many rows as there are nodes
//! with in-edges, not as many as there are edges.

use crate::Real;
use crate::dropout::Mask;
use crate::matrix::{Form, Size, multiply, multiply_add};
use crate::memory::{Buffer, take};
use crate::parallel::{add, add_scaled, for_rows};
use crate::rows::for_each_row;
use crate::segment::{Csr, add_sums, gather, scatter_add};

/// The edges of a snapshot, arranged for both directions of the layer.
#[derive(Clone, Debug)]
pub struct SnapshotGraph {
    nodes: usize,
    relations: usize,
    /// Nodes with in-edges, ascending; below, "place" is a position in this list.
    active: Vec<u32>,
    /// Nodes without in-edges, ascending.
    isolated: Vec<u32>,
    /// Sources of the in-edges per place.
    sources: Csr,
    /// Relations of the same edges, in the same order.
    edge_relations: Vec<u32>,
    /// Places per source node: edges (u, r, v) by u.
    by_source: Csr,
    /// Places per relation: edges (u, r, v) by r.
    by_relation: Csr,
}

impl SnapshotGraph {
    /// Arranges edges (source, relation, destination); duplicates count as parallel edges.
    pub fn new(nodes: usize, relations: usize, edges: &[(u32, u32, u32)]) -> Self {
        let numbers = 0..edges.len() as u32;
        let edge = |i: u32| edges[i as usize];
        let by_node = Csr::from_pairs(nodes, numbers.map(|i| (edge(i).2, i)));
        let (active, isolated): (Vec<u32>, Vec<u32>) =
            (0..nodes as u32).partition(|&v| !by_node.segment(v as usize).is_empty());
        let order = &by_node.items;
        let mut starts = vec![0];
        starts.extend(active.iter().map(|&v| by_node.starts[v as usize + 1]));
        let places: Vec<u32> = (0..active.len())
            .flat_map(|place| std::iter::repeat_n(place as u32, (starts[place + 1] - starts[place]) as usize))
            .collect();
        let pairs = order.iter().zip(&places);
        Self {
            nodes,
            relations,
            sources: Csr { starts, items: order.iter().map(|&i| edge(i).0).collect() },
            edge_relations: order.iter().map(|&i| edge(i).1).collect(),
            by_source: Csr::from_pairs(nodes, pairs.clone().map(|(&i, &place)| (edge(i).0, place))),
            by_relation: Csr::from_pairs(relations, pairs.map(|(&i, &place)| (edge(i).1, place))),
            active,
            isolated,
        }
    }

    /// In-degree of the node at a place.
    fn degree(&self, place: usize) -> usize {
        self.sources.segment(place).len()
    }
}

/// Parameters of a layer; all `[d, d]`, applied from the right: x·W.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a, T> {
    /// Wₙ, of the mean over neighbours.
    pub neighbour: &'a [T],
    /// `W_loop`, of the node itself if it has in-edges.
    pub own: &'a [T],
    /// `W_iso`, of the node itself if it has none.
    pub isolated: &'a [T],
    /// Slope of φ for negative numbers; RE-GCN and CEN: [`RRELU_SLOPE`](crate::activations::RRELU_SLOPE).
    pub slope: f64,
}

/// Gradients of a layer; that of x is set, the others are added to.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// Of x`[nodes, d]`.
    pub x: &'a mut [T],
    /// Of p`[relations, d]`.
    pub p: &'a mut [T],
    /// Of Wₙ.
    pub neighbour: &'a mut [T],
    /// Of `W_loop`.
    pub own: &'a mut [T],
    /// Of `W_iso`.
    pub isolated: &'a mut [T],
}

/// Results of the forward pass that the backward pass needs.
#[derive(Debug)]
pub struct ForwardState<T: Real> {
    /// Means over in-edges `[active, d]`.
    aggregate: Buffer<T>,
}

/// `out[nodes, d]` for x`[nodes, d]`, p`[relations, d]` and a dropout mask `[nodes, d]`.
pub fn forward<T: Real>(
    graph: &SnapshotGraph,
    weights: &Weights<T>,
    x: &[T],
    p: &[T],
    mask: Option<&Mask>,
    out: &mut [T],
) -> ForwardState<T> {
    let (n, d) = (graph.nodes, p.len() / graph.relations);
    assert_eq!((x.len(), p.len(), out.len()), (n * d, graph.relations * d, n * d), "graph layer");
    let places = graph.active.len();
    let bulk = Bulk::new(graph);
    let (bulk_weight, few_weight) = bulk.pair(weights.own, weights.isolated);
    multiply(Form::Plain, Size { m: n, n: d, k: d }, x, bulk_weight, out);

    let mut small = take::<T>(bulk.few.len() * d);
    gather(bulk.few, x, d, &mut small);
    let mut result = take::<T>(bulk.few.len().max(places) * d);
    multiply(
        Form::Plain,
        Size { m: bulk.few.len(), n: d, k: d },
        &small,
        few_weight,
        &mut result[..bulk.few.len() * d],
    );
    for (&v, row) in bulk.few.iter().zip(result.chunks_exact(d)) {
        out[v as usize * d..][..d].copy_from_slice(row);
    }

    let aggregate = aggregate(graph, x, p, d);
    let result = &mut result[..places * d];
    multiply(Form::Plain, Size { m: places, n: d, k: d }, &aggregate, weights.neighbour, result);
    scatter_add(&graph.active, result, d, out);

    let slope = T::from_f64(weights.slope);
    for_rows(
        out,
        1,
        #[inline(always)]
        |first, out| {
            // As in the backward pass: a copy lets the loop be vectorised.
            let below = slope;
            out.iter_mut().for_each(|x| *x *= if *x > T::ZERO { T::ONE } else { below });
            if let Some(mask) = mask {
                mask.apply(first, out);
            }
        },
    );
    ForwardState { aggregate }
}

/// Means of `x + p` over the in-edges of the active nodes, `[active, d]`.
fn aggregate<T: Real>(graph: &SnapshotGraph, x: &[T], p: &[T], d: usize) -> Buffer<T> {
    let mut aggregate = take::<T>(graph.active.len() * d);
    for_each_row(
        &mut aggregate,
        d,
        #[inline(always)]
        |place, row| {
            row.fill(T::ZERO);
            let relations = &graph.edge_relations[graph.sources.starts[place] as usize..];
            for (&u, &r) in graph.sources.segment(place).iter().zip(relations) {
                add(row, &x[u as usize * d..][..d]);
                add(row, &p[r as usize * d..][..d]);
            }
            let share = T::from_f64(1.0 / graph.degree(place) as f64);
            row.iter_mut().for_each(|x| *x *= share);
        },
    );
    aggregate
}

/// Result of a forward pass and its gradient.
#[derive(Clone, Copy, Debug)]
pub struct Output<'a, T> {
    /// As the forward pass left it, `[nodes, d]`.
    pub out: &'a [T],
    /// The mask given to the forward pass.
    pub mask: Option<&'a Mask>,
    /// Gradient of the loss for `out`.
    pub dout: &'a [T],
}

/// The gradients of [`forward`].
pub fn backward<T: Real>(
    graph: &SnapshotGraph,
    weights: &Weights<T>,
    x: &[T],
    kept: &ForwardState<T>,
    output: &Output<T>,
    gradients: &mut Gradients<T>,
) {
    let n = graph.nodes;
    let d = gradients.p.len() / graph.relations;
    let places = graph.active.len();
    let mut before = before_activation(weights, output);
    let (mut rows, mut others) = (take::<T>(places * d), take::<T>(places * d));
    gather(&graph.active, &before, d, &mut rows);
    let size = Size { m: d, n: d, k: places };
    multiply_add(Form::LeftTransposed, size, &kept.aggregate, &rows, gradients.neighbour);
    multiply(Form::RightTransposed, Size { m: places, n: d, k: d }, &rows, weights.neighbour, &mut others);
    for_each_row(
        &mut rows,
        d,
        #[inline(always)]
        |place, row| {
            row.fill(T::ZERO);
            let share = T::from_f64(1.0 / graph.degree(place) as f64);
            add_scaled(row, share, &others[place * d..][..d]);
        },
    );
    add_sums(&graph.by_relation, &rows, d, gradients.p);

    let bulk = Bulk::new(graph);
    let (bulk_weight, few_weight) = bulk.pair(weights.own, weights.isolated);
    let (dbulk, dfew) = bulk.pair(&mut *gradients.own, &mut *gradients.isolated);
    let few = bulk.few.len();
    let mut few_rows = take::<T>(0);
    if few > 0 {
        let (mut few_x, mut few_before) = (take::<T>(few * d), take::<T>(few * d));
        gather(bulk.few, x, d, &mut few_x);
        gather(bulk.few, &before, d, &mut few_before);
        multiply_add(Form::LeftTransposed, Size { m: d, n: d, k: few }, &few_x, &few_before, dfew);
        multiply(Form::RightTransposed, Size { m: few, n: d, k: d }, &few_before, few_weight, &mut few_x);
        for &v in bulk.few {
            before[v as usize * d..][..d].fill(T::ZERO);
        }
        few_rows = few_x;
    }
    multiply(Form::RightTransposed, Size { m: n, n: d, k: d }, &before, bulk_weight, gradients.x);
    multiply_add(Form::LeftTransposed, Size { m: d, n: d, k: n }, x, &before, dbulk);
    scatter_add(bulk.few, &few_rows, d, gradients.x);
    add_sums(&graph.by_source, &rows, d, gradients.x);
}

/// The gradient before mask and activation, `[nodes, d]`.
fn before_activation<T: Real>(weights: &Weights<T>, output: &Output<T>) -> Buffer<T> {
    let slope = T::from_f64(weights.slope);
    let mut before = take::<T>(output.out.len());
    for_rows(
        &mut before,
        1,
        #[inline(always)]
        |first, before| {
            // A copy: the compiler must assume that the loop overwrites what it reads through the captured reference, and
            // would emit a branch, taken at random, instead of vector code.
            let below = slope;
            for ((before, &out), &g) in before.iter_mut().zip(&output.out[first..]).zip(&output.dout[first..])
            {
                // Where the mask is 0, the sign is lost, and the gradient is 0 anyway.
                *before = g * if out > T::ZERO { T::ONE } else { below };
            }
            if let Some(mask) = output.mask {
                mask.apply(first, before);
            }
        },
    );
    before
}

/// Active and isolated nodes have different weights. One product with all rows and the weight of the more
/// frequent kind, and a small one with gathered rows of the other kind, move the least memory.
struct Bulk<'a> {
    /// Nodes of the less frequent kind.
    few: &'a [u32],
    few_are_active: bool,
}

impl<'a> Bulk<'a> {
    fn new(graph: &'a SnapshotGraph) -> Self {
        let few_are_active = graph.active.len() < graph.isolated.len();
        Self { few: if few_are_active { &graph.active } else { &graph.isolated }, few_are_active }
    }

    /// (of the frequent kind, of the other kind)
    fn pair<W>(&self, active: W, isolated: W) -> (W, W) {
        if self.few_are_active { (isolated, active) } else { (active, isolated) }
    }
}
