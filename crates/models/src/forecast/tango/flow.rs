//! How entities and relations move between two snapshots: the right-hand side of the differential equation, and its integration
//! over one interval.
//!
//! Only entities with facts in the snapshot exchange messages. All others move alike, up to dropout, so they are one row in the
//! computation: its normalisation counts that row as often as there are such entities.

use std::sync::Arc;

use burn::tensor::Tensor;
use burn::tensor::activation::relu;
use rustc_hash::FxHashMap;

use super::Config;
use crate::blocks::{
    BatchNorm, Edge, Edges, Initial, Moments, Parameter, Parameters, Training, add_rows, dropout, floats,
    linear_without_bias, product_messages, runge_kutta_step, select_rows,
};

/// A directed fact: known entity, directed relation, answer.
pub(super) type Link = (u32, u32, u32);

/// The entities that move by their facts between two snapshots, and along which edges.
pub(super) struct IntervalGraph {
    /// The entities with facts, ascending.
    active: Arc<[u32]>,
    edges: Arc<Edges>,
    /// The facts that appeared (weights above 0) or vanished since the snapshot before, if they are asked for.
    changes: Option<Arc<Edges>>,
    /// How many entities each row stands for: 1 each, and all others for the last one.
    counts: Arc<[f32]>,
}

impl IntervalGraph {
    /// The graph of distinct facts and, with their signs, of changes, among so many entities and directed relations.
    pub fn new(facts: &[Link], changes: Option<&[(Link, f32)]>, entities: usize, relations: usize) -> Self {
        let ends = facts.iter().chain(changes.unwrap_or_default().iter().map(|(fact, _)| fact));
        let mut active: Vec<u32> = ends.map(|fact| fact.0).collect();
        active.sort_unstable();
        active.dedup();
        if active.is_empty() {
            // An entity without edges moves like all others; a computation without rows would be a special case.
            active.push(0);
        }
        let rows: FxHashMap<u32, u32> =
            active.iter().enumerate().map(|(row, &entity)| (entity, row as u32)).collect();
        let arranged = |facts: &mut dyn Iterator<Item = (Link, f32)>| {
            let facts: Vec<(Link, f32)> = facts.collect();
            let mut degrees = vec![0.0_f32; active.len()];
            for ((known, ..), _) in &facts {
                degrees[rows[known] as usize] += 1.0;
            }
            let edge = |&((known, relation, answer), sign): &(Link, f32)| {
                let (source, destination) = (rows[&answer], rows[&known]);
                let degree = degrees[source as usize] * degrees[destination as usize];
                Edge { source, relation, destination, weight: sign / degree.sqrt() }
            };
            let rows = active.len() + 1;
            Arc::new(Edges::new(facts.iter().map(edge).collect(), rows, relations, rows))
        };
        let edges = arranged(&mut facts.iter().map(|&fact| (fact, 1.0)));
        let changes = changes.map(|changes| arranged(&mut changes.iter().copied()));
        let mut counts = vec![1.0; active.len()];
        counts.push((entities - active.len()) as f32);
        Self { edges, changes, counts: counts.into(), active: active.into() }
    }

    /// The row of all entities without facts.
    fn others(&self) -> usize {
        self.active.len()
    }
}

/// The facts of sorted lists that are in one only: 1 for those of the later list, −1 for those of the earlier one.
pub(super) fn changes(earlier: &[Link], later: &[Link]) -> Vec<(Link, f32)> {
    let only = |list: &[Link], other: &[Link], sign: f32| -> Vec<(Link, f32)> {
        list.iter().filter(|fact| other.binary_search(fact).is_err()).map(|&fact| (fact, sign)).collect()
    };
    let mut changes = only(later, earlier, 1.0);
    changes.extend(only(earlier, later, -1.0));
    changes.sort_unstable_by_key(|&(fact, _)| fact);
    changes
}

/// `relu(norm(dropout(Σ ν·(h_w∘p_r)·W) + b))` over the edges of an entity.
struct Convolution {
    weight: Parameter,
    /// Whether the weight is the diagonal of a matrix.
    is_diagonal: bool,
    bias: Parameter,
    norm: BatchNorm,
    dropout: f64,
}

impl Convolution {
    fn new(name: &str, d: usize, is_diagonal: bool, dropout: f64, store: &mut Parameters) -> Self {
        let rows = if is_diagonal { 1 } else { d };
        let (shape, initial) = ([rows, d], Initial::xavier_normal(rows, d));
        let weight = store.add(format!("{name}.weight"), &shape, initial);
        let bias = store.add(format!("{name}.bias"), &[d], Initial::ZERO);
        let norm = BatchNorm::new(&format!("{name}.norm"), d, store);
        Self { weight, is_diagonal, bias, norm, dropout }
    }

    /// `[rows, d]` for rows `x` and relations `p`.
    fn forward(
        &self,
        parameters: &Parameters,
        (x, p): (Tensor<2>, Tensor<2>),
        (edges, counts): (&Arc<Edges>, &Arc<[f32]>),
        training: Training,
    ) -> Tensor<2> {
        let moments = match training {
            Some(_) => Moments::Batch(Some(Arc::clone(counts))),
            None => Moments::Running,
        };
        let sums = product_messages(x, p, Arc::clone(edges));
        let mapped = if self.is_diagonal {
            sums * parameters.get::<2>(self.weight)
        } else {
            linear_without_bias(sums, parameters.any(self.weight))
        };
        let mapped = dropout(mapped, self.dropout, training) + parameters.get::<1>(self.bias).unsqueeze();
        relu(self.norm.forward(parameters, mapped, moments))
    }
}

/// The right-hand side, and how far it is followed.
pub(super) struct Flow {
    convolutions: Vec<Convolution>,
    /// Changes between snapshots and their weight.
    jump: Option<(Convolution, f64)>,
    dropout: f64,
    /// Steps of the integration per interval.
    steps: usize,
}

impl Flow {
    pub fn new(config: &Config, store: &mut Parameters) -> Self {
        let (d, rate) = (config.dimension, config.dropout);
        let convolutions = (0..config.layers)
            .map(|i| Convolution::new(&format!("convolution{i}"), d, false, rate, store))
            .collect();
        let jump = (config.jump > 0.0).then(|| (Convolution::new("jump", d, true, rate, store), config.jump));
        Self { convolutions, jump, dropout: rate, steps: config.steps }
    }

    /// Whether the changes between snapshots are read.
    pub fn reads_changes(&self) -> bool {
        self.jump.is_some()
    }

    /// dy/dt for y: the entities with facts, the row of all others, the relations.
    fn change(
        &self,
        parameters: &Parameters,
        graph: &IntervalGraph,
        y: &Tensor<2>,
        mut training: Training,
    ) -> Tensor<2> {
        let rows = graph.others() + 1;
        let relations = y.dims()[0] - rows;
        let start = (y.clone().narrow(0, 0, rows), y.clone().narrow(0, rows, relations));
        let (mut x, mut p) = start.clone();
        for convolution in &self.convolutions {
            let along = (&graph.edges, &graph.counts);
            let moved = convolution.forward(parameters, (x, p.clone()), along, training.as_deref_mut());
            x = self.drop_rows(moved, graph, training.as_deref_mut());
            p = dropout(p, self.dropout, training.as_deref_mut());
        }
        if let (Some((convolution, weight)), Some(changes)) = (&self.jump, &graph.changes) {
            let along = (changes, &graph.counts);
            let (start_p, start) = (start.1.clone(), start);
            let jumped = convolution.forward(parameters, start, along, training.as_deref_mut());
            x = self.drop_rows(x + jumped * *weight, graph, training.as_deref_mut());
            p = dropout(p + start_p * *weight, self.dropout, training);
        }
        Tensor::cat(vec![x, p], 0)
    }

    /// Dropout in the rows of entities with facts. What the others lose is drawn for each of them at the end of the interval.
    fn drop_rows(&self, x: Tensor<2>, graph: &IntervalGraph, training: Training) -> Tensor<2> {
        let others = graph.others();
        let active = dropout(x.clone().narrow(0, 0, others), self.dropout, training);
        Tensor::cat(vec![active, x.narrow(0, others, 1)], 0)
    }

    /// Entities and relations, `[n + 2R, d]`, after the time `length`.
    pub fn advance(
        &self,
        parameters: &Parameters,
        graph: &IntervalGraph,
        state: Tensor<2>,
        length: f64,
        mut training: Training,
    ) -> Tensor<2> {
        let [all, d] = state.dims();
        let others = graph.others();
        let n = others + graph.counts[others] as usize;
        let entities = state.clone().narrow(0, 0, n);
        let start = select_rows(entities.clone(), Arc::clone(&graph.active));
        let none = Tensor::zeros([1, d], (&state.device(), state.dtype()));
        let mut y = Tensor::cat(vec![start.clone(), none, state.narrow(0, n, all - n)], 0);
        let step = length / self.steps as f64;
        for _ in 0..self.steps {
            y = runge_kutta_step(y, step, |y| self.change(parameters, graph, &y, training.as_deref_mut()));
        }
        let mut is_other = vec![1.0; n];
        graph.active.iter().for_each(|&entity| is_other[entity as usize] = 0.0);
        let is_other = floats(is_other, [n, 1], &y);
        let moved = dropout(is_other.matmul(y.clone().narrow(0, others, 1)), self.dropout, training);
        let active = y.clone().narrow(0, 0, others) - start;
        let entities = add_rows(entities + moved, Arc::clone(&graph.active), active);
        Tensor::cat(vec![entities, y.narrow(0, others + 1, all - n)], 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_what_one_list_has() {
        let (a, b, c) = ((0, 0, 1), (0, 1, 2), (3, 0, 0));
        assert_eq!(changes(&[a, b], &[b, c]), [(a, -1.0), (c, 1.0)]);
    }

    #[test]
    fn weights_come_from_the_degrees_of_both_ends() {
        // 0 has two edges, 1 and 2 have one each.
        let facts = [(0, 0, 1), (0, 0, 2), (1, 1, 0), (2, 1, 0)];
        let graph = IntervalGraph::new(&facts, None, 6, 2);
        assert_eq!(graph.active[..], [0, 1, 2]);
        assert_eq!(graph.counts[..], [1.0, 1.0, 1.0, 3.0]);
        assert!(graph.edges.edges().iter().all(|edge| (edge.weight - 0.5_f32.sqrt()).abs() < 1e-6));
    }
}
