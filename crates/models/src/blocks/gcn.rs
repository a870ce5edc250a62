//! Relational graph layer of RE-GCN and CEN.

use std::sync::Arc;

use burn::tensor::activation::leaky_relu;
use burn::tensor::{IndexingUpdateOp, Tensor};
use quadcast_kernels::activations::RRELU_SLOPE;
use quadcast_kernels::dropout::Mask;
use quadcast_kernels::gcn::{self, Gradients, SnapshotGraph, Weights};
use quadcast_kernels::memory::take;

use super::dropout::{Training, mask};
use super::embedding::{floats, integers};
use super::{AnyTensor, Fused, Initial, Input, Output, Parameter, Parameters, Returned, fused};

/// The edges of a snapshot, arranged once for all layers and passes.
#[derive(Clone, Debug)]
pub struct Graph {
    edges: Vec<(u32, u32, u32)>,
    arranged: SnapshotGraph,
}

impl Graph {
    /// Edges (source, relation, destination); duplicates count as parallel edges.
    pub fn new(nodes: usize, relations: usize, edges: Vec<(u32, u32, u32)>) -> Self {
        Self { arranged: SnapshotGraph::new(nodes, relations, &edges), edges }
    }
}

/// Sizes of a layer.
#[derive(Clone, Copy, Debug)]
pub struct GcnConfig {
    /// Length of a vector.
    pub d: usize,
    /// Probability to drop a number of the output in training.
    pub dropout: f64,
    /// Slope of φ for negative numbers. References: 11/48.
    pub slope: f64,
    /// Whether nodes without in-edges use `W_loop`, too, instead of a separate weight.
    pub own_for_isolated: bool,
}

impl GcnConfig {
    /// The layer of the references.
    pub fn new(d: usize, dropout: f64) -> Self {
        Self { d, dropout, slope: RRELU_SLOPE, own_for_isolated: false }
    }

    /// Adds the weights to the store under this name: Xavier uniform with the gain of ReLU.
    pub fn init(&self, name: &str, parameters: &mut Parameters) -> Gcn {
        let mut add = |which: &str| {
            let initial = Initial::xavier_uniform_relu(self.d, self.d);
            parameters.add(format!("{name}.{which}"), &[self.d, self.d], initial)
        };
        let (neighbour, own) = (add("neighbour"), add("own"));
        let isolated = if self.own_for_isolated { own } else { add("isolated") };
        Gcn { neighbour, own, isolated, dropout: self.dropout, slope: self.slope }
    }
}

/// `x'_v = dropout(φ(mean over in-edges (u, r) of (x_u + p_r)·W_n + x_v·W))` with `W = W_loop` for nodes with
/// in-edges, else `W_iso`, and φ leaky.
#[derive(Clone, Copy, Debug)]
pub struct Gcn {
    neighbour: Parameter,
    own: Parameter,
    isolated: Parameter,
    dropout: f64,
    slope: f64,
}

impl Gcn {
    /// `[nodes, d]` for nodes `x[nodes, d]` and relations `p[relations, d]`.
    pub fn forward(
        &self,
        parameters: &Parameters,
        graph: &Arc<Graph>,
        x: Tensor<2>,
        p: Tensor<2>,
        training: Training,
    ) -> Tensor<2> {
        let [n, d] = x.dims();
        let op = GcnLayer {
            graph: Arc::clone(graph),
            mask: mask(training, self.dropout, n * d),
            slope: self.slope,
        };
        let [neighbour, own, isolated] =
            [self.neighbour, self.own, self.isolated].map(|weight| parameters.any(weight));
        fused(op, [x.into(), p.into(), neighbour, own, isolated])
    }
}

struct GcnLayer {
    graph: Arc<Graph>,
    mask: Option<Mask>,
    slope: f64,
}

impl GcnLayer {
    fn weights<'a>(&self, [_, _, neighbour, own, isolated]: [Input<'a>; 5]) -> Weights<'a, f32> {
        let [neighbour, own, isolated] = [neighbour, own, isolated].map(|weight| weight.values);
        Weights { neighbour, own, isolated, slope: self.slope }
    }
}

impl Fused<5> for GcnLayer {
    type ForwardState = gcn::ForwardState<f32>;

    const SETS: [bool; 5] = [true, false, false, false, false];

    fn forward(&self, inputs: [Input; 5], _tape: bool) -> (Output, Self::ForwardState) {
        let [x, p, ..] = inputs;
        let mut out = take(x.values.len()).into_vec();
        let weights = self.weights(inputs);
        let mask = self.mask.as_ref();
        let kept = gcn::forward(&self.graph.arranged, &weights, x.values, p.values, mask, &mut out);
        (Output::new(out, x.shape), kept)
    }

    fn backward(
        self,
        inputs: [Input; 5],
        kept: Self::ForwardState,
        returned: Returned,
        [x, p, neighbour, own, isolated]: &mut [Vec<f32>; 5],
    ) {
        let mut gradients = Gradients { x, p, neighbour, own, isolated };
        let output = gcn::Output { out: returned.values, mask: self.mask.as_ref(), dout: returned.gradient };
        let weights = self.weights(inputs);
        gcn::backward(&self.graph.arranged, &weights, inputs[0].values, &kept, &output, &mut gradients);
    }

    fn composed(&self, inputs: [AnyTensor; 5]) -> AnyTensor {
        let [x, p, neighbour, own, isolated] = inputs.map(AnyTensor::tensor::<2>);
        let [n, d] = x.dims();
        let column =
            |f: fn(&(u32, u32, u32)) -> u32| -> Vec<u32> { self.graph.edges.iter().map(f).collect() };
        let (sources, relations, destinations) = (column(|e| e.0), column(|e| e.1), column(|e| e.2));
        let mut degrees = vec![0.0_f32; n];
        for &v in &destinations {
            degrees[v as usize] += 1.0;
        }
        let vector = |f: fn(f32) -> f32| {
            let numbers = degrees.iter().map(|&degree| f(degree)).collect();
            floats(numbers, [n, 1], &x)
        };
        let messages = x.clone().select(0, integers(&sources, &x)) + p.select(0, integers(&relations, &x));
        let sums = Tensor::<2>::zeros([n, d], (&x.device(), x.dtype())).select_assign(
            0,
            integers(&destinations, &x),
            messages.matmul(neighbour),
            IndexingUpdateOp::Add,
        );
        let own = x.clone().matmul(own) * vector(|degree| degree.min(1.0))
            + x.clone().matmul(isolated) * vector(|degree| 1.0 - degree.min(1.0));
        let out = leaky_relu(sums * vector(|degree| 1.0 / degree.max(1.0)) + own, self.slope);
        match &self.mask {
            Some(mask) => (out.clone() * floats(mask.values(), [n, d], &out)).into(),
            None => out.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{check, random};
    use quadcast_core::stream;

    #[test]
    fn layer_and_its_gradients() {
        let edges = vec![(0, 0, 1), (2, 1, 1), (2, 1, 1), (1, 2, 3), (4, 0, 0)];
        let graph = Arc::new(Graph::new(6, 3, edges));
        let [neighbour, own, isolated] = ["neighbour", "own", "isolated"].map(|name| random(name, &[4, 4]));
        let inputs = [random("x", &[6, 4]), random("p", &[3, 4]), neighbour, own, isolated];
        check(|| GcnLayer { graph: graph.clone(), mask: None, slope: 0.25 }, &inputs);
        let mask = mask(Some(&mut stream(1, "dropout", 0)), 0.3, 24);
        check(|| GcnLayer { graph: graph.clone(), mask: mask.clone(), slope: 0.25 }, &inputs);
    }
}
