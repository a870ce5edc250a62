//! The training step `w2` of the side-by-side baseline `torch_steps.py`, put together from blocks: same shapes,
//! same hashed initial values, same data.

#![allow(clippy::many_single_char_names)] // The letters of the script.

use std::sync::Arc;

use burn::tensor::{Device, Tensor};
use quadcast_kernels::conv_trans::{self, Masks, Mode, Weights};
use quadcast_models::blocks::{
    Adam, AdamConfig, AnyTensor, Csr, Fused, Gcn, GcnConfig, Graph, GruCell, Input, Output, Parameter,
    Parameters, Returned, Segments, Targets, TimeGate, cross_entropy, fused, pair_rows, segment_mean,
};
use quadcast_testing::hashed::{integers, uniform};

const N: usize = 7128;
const R: usize = 460;
const D: usize = 200;
const CHANNELS: usize = 50;

/// RE-GCN-like step: 3 snapshots with 500 edges, 7128 entities, 500 queries, 200 numbers each.
pub struct GraphStep {
    parameters: Parameters,
    adam: Adam,
    entities: Parameter,
    relations: Parameter,
    layers: [Gcn; 2],
    gate: TimeGate,
    cell: GruCell,
    trunk: [Parameter; 4],
    snapshots: Vec<(Arc<Graph>, Arc<Segments>)>,
    queries: [Arc<[u32]>; 3],
}

impl GraphStep {
    pub fn new() -> Self {
        let mut parameters = Parameters::new(0, &Device::flex());
        let mut add = |name: &str, shape: &[usize], seed, a| {
            let values = uniform(seed, shape.iter().product(), a);
            parameters.add_values(name, shape, values)
        };
        let entities = add("entities", &[N, D], 1, 0.1);
        let relations = add("relations", &[R, D], 2, 0.1);
        let trunk = [
            add("conv", &[CHANNELS, 2, 3], 10, 0.1),
            add("conv bias", &[CHANNELS], 0, 0.0),
            add("linear", &[D, CHANNELS * D], 11, 0.01),
            add("linear bias", &[D], 0, 0.0),
        ];
        // The script has one weight for all nodes and a rounded slope.
        let layer = GcnConfig { slope: 0.2292, own_for_isolated: true, ..GcnConfig::new(D, 0.0) };
        let layers = ["layer 0", "layer 1"].map(|name| layer.init(name, &mut parameters));
        let gate = TimeGate::new("gate", D, &mut parameters);
        let cell = GruCell::new("cell", 2 * D, D, &mut parameters);
        for (name, seed) in [
            ("layer 0.neighbour", 3),
            ("layer 1.neighbour", 4),
            ("layer 0.own", 5),
            ("layer 1.own", 6),
            ("gate.weight", 7),
            ("cell.input.weight", 8),
            ("cell.hidden.weight", 9),
        ] {
            let parameter = parameters.named(name).expect("a parameter of the blocks above");
            let len = parameters.shape(parameter).iter().product();
            parameters.set(parameter, uniform(seed, len, 0.1));
        }
        for name in ["cell.input.bias", "cell.hidden.bias"] {
            parameters
                .set(parameters.named(name).expect("a parameter of the blocks above"), vec![0.0; 3 * D]);
        }
        let snapshots = (0..3).map(|t| {
            let [s, r, o] = [(0, N), (1, R), (2, N)].map(|(i, below)| integers(20 + 3 * t + i, 500, below));
            let subjects = Csr::from_pairs(R, r.iter().copied().zip(s.iter().copied()));
            let edges = (0..500).map(|i| (s[i], r[i], o[i])).collect();
            (Arc::new(Graph::new(N, R, edges)), Arc::new(Segments::new(subjects, N)))
        });
        Self {
            adam: AdamConfig::default().init(),
            entities,
            relations,
            layers,
            gate,
            cell,
            trunk,
            snapshots: snapshots.collect(),
            queries: [(40, N), (41, R), (42, N)].map(|(seed, below)| integers(seed, 500, below).into()),
            parameters,
        }
    }

    pub fn loss(&self) -> Tensor<1> {
        let parameters = &self.parameters;
        let base: Tensor<2> = parameters.get(self.relations);
        let (mut h, mut p) = (parameters.get(self.entities), base.clone());
        for (graph, segments) in &self.snapshots {
            let means = segment_mean(h.clone(), segments.clone());
            p = self.cell.forward(parameters, Tensor::cat(vec![base.clone(), means], 1), p);
            let mut x = h.clone();
            for layer in &self.layers {
                x = layer.forward(parameters, graph, x, p.clone(), None);
            }
            h = self.gate.forward(parameters, h, x);
        }
        let [s, r, o] = self.queries.clone();
        let pairs = pair_rows(h.clone(), s, p, r);
        let [conv, conv_bias, linear, linear_bias] = self.trunk.map(|p| parameters.any(p));
        let queries: Tensor<2> = fused(PlainTrunk, [pairs.into(), conv, conv_bias, linear, linear_bias]);
        let lists = Arc::new(Csr { starts: (0..=o.len() as u32).collect(), items: o.to_vec() });
        cross_entropy(queries, h, Targets { lists, weights: vec![1.0; o.len()].into() }, None)
    }

    /// Loss before the update.
    pub fn step(&mut self) -> f32 {
        let loss = self.loss();
        let gradients = self.parameters.backward(&loss);
        self.adam.step(&mut self.parameters, gradients);
        loss.into_scalar()
    }
}

/// The trunk without normalisation.
struct PlainTrunk;

fn weights<'a>(inputs: &[Input<'a>; 5]) -> Weights<'a, f32> {
    let [_, conv, conv_bias, linear, linear_bias] = inputs.map(|input| input.values);
    Weights { conv, conv_bias, linear, linear_bias, norms: None }
}

impl Fused<5> for PlainTrunk {
    type ForwardState = conv_trans::ForwardState<f32>;

    fn forward(&self, inputs: [Input; 5], _tape: bool) -> (Output, Self::ForwardState) {
        let rows = inputs[0].shape[0];
        let mut out = vec![0.0; rows * D];
        let (x, masks) = (inputs[0].values, Masks::default());
        let kept = conv_trans::forward(&weights(&inputs), x, &masks, Mode::Plain, &mut out);
        (Output::new(out, &[rows, D]), kept)
    }

    fn backward(
        self,
        inputs: [Input; 5],
        kept: Self::ForwardState,
        returned: Returned,
        [x, conv, conv_bias, linear, linear_bias]: &mut [Vec<f32>; 5],
    ) {
        let mut gradients = conv_trans::Gradients { x, conv, conv_bias, linear, linear_bias, norms: None };
        let output = conv_trans::Output { out: returned.values, dout: returned.gradient };
        let (x, masks) = (inputs[0].values, Masks::default());
        conv_trans::backward(&weights(&inputs), x, &masks, &kept, &output, &mut gradients);
    }

    fn composed(&self, _: [AnyTensor; 5]) -> AnyTensor {
        unreachable!("on the CPU only")
    }
}
