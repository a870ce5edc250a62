//! Gradients, precision and determinism of products, segments, and layers.

#![allow(clippy::many_single_char_names)] // Sizes are m, n, k, b, d.

mod check;

use check::{Case, gradients, inner, slopes, threads, zeros};
use quadcast_kernels::activations::RRELU_SLOPE;
use quadcast_kernels::dropout::Mask;
use quadcast_kernels::gcn::{self, SnapshotGraph};
use quadcast_kernels::matrix::{Form, Size, multiply, multiply_add};
use quadcast_kernels::segment::{self, Csr};
use quadcast_kernels::{Real, activations, gate, gru, linear, rows};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

struct Product(Size);

impl Case for Product {
    fn lengths(&self) -> Vec<usize> {
        let Size { m, n, k } = self.0;
        vec![m * k, k * n]
    }

    /// C = A·B, with dA = dC·Bᵀ and dB = Aᵀ·dC: all three forms.
    fn run<T: Real>(&self, p: &[Vec<T>]) -> (T, Vec<Vec<T>>) {
        let Size { m, n, k } = self.0;
        let dc = slopes::<T>(m * n);
        let half: Vec<T> = dc.iter().map(|&x| x * T::from_f64(0.5)).collect();
        let mut c = vec![T::from_f64(f64::NAN); m * n];
        multiply(Form::Plain, self.0, &p[0], &p[1], &mut c);
        let mut g = zeros(p);
        for _ in 0..2 {
            multiply_add(Form::RightTransposed, Size { m, n: k, k: n }, &half, &p[1], &mut g[0]);
            multiply_add(Form::LeftTransposed, Size { m: k, n, k: m }, &p[0], &half, &mut g[1]);
        }
        (inner(&c, &dc), g)
    }
}

#[test]
fn products() {
    for (m, n, k) in [(1, 1, 1), (3, 5, 2), (1, 4, 3), (4, 1, 7), (2, 2, 0)] {
        gradients(&Product(Size { m, n, k }), 1);
    }
    threads(&Product(Size { m: 2500, n: 40, k: 30 }));
    threads(&Product(Size { m: 300, n: 600, k: 70 }));
}

#[test]
fn a_long_inner_dimension_is_cut_and_added_rightly() {
    let size @ Size { m, n, k } = Size { m: 3, n: 4, k: 5000 };
    let p = check::draw(&[k * m, k * n, m * n], 5);
    let (mut set, mut added) = (vec![f64::NAN; m * n], p[2].clone());
    multiply(Form::LeftTransposed, size, &p[0], &p[1], &mut set);
    multiply_add(Form::LeftTransposed, size, &p[0], &p[1], &mut added);
    for i in 0..m {
        for j in 0..n {
            let sum: f64 = (0..k).map(|l| p[0][l * m + i] * p[1][l * n + j]).sum();
            assert!((set[i * n + j] - sum).abs() < 1e-9);
            assert!((added[i * n + j] - (sum + p[2][i * n + j])).abs() < 1e-9);
        }
    }
}

struct Means {
    lists: Csr,
    items: usize,
    d: usize,
}

impl Means {
    /// The first and the last segment are empty; items repeat.
    fn new(segments: usize, items: usize, places: usize, d: usize) -> Self {
        let mut stream = ChaCha8Rng::seed_from_u64(3);
        let last = segments as u32 - 1;
        let pairs: Vec<(u32, u32)> = (0..places)
            .map(|_| (stream.random_range(1..last), stream.random_range(0..items as u32)))
            .collect();
        Self { lists: Csr::from_pairs(segments, pairs.iter().copied()), items, d }
    }
}

impl Case for Means {
    fn lengths(&self) -> Vec<usize> {
        vec![self.items * self.d]
    }

    fn run<T: Real>(&self, p: &[Vec<T>]) -> (T, Vec<Vec<T>>) {
        let (lists, d) = (&self.lists, self.d);
        let dout = slopes::<T>(lists.segments() * d);
        let mut out = vec![T::from_f64(f64::NAN); lists.segments() * d];
        let mut g = zeros(p);
        segment::mean(lists, &p[0], d, &mut out);
        segment::mean_backward(lists, &lists.transpose(self.items), &dout, d, &mut g[0]);
        (inner(&out, &dout), g)
    }
}

#[test]
fn means_of_segments() {
    gradients(&Means::new(6, 5, 12, 3), 2);
    gradients(&Means::new(4, 2, 0, 2), 2);
    threads(&Means::new(700, 300, 4000, 40));
}

#[test]
fn segments_by_hand() {
    let lists = Csr { starts: vec![0, 3, 3, 4], items: vec![1, 0, 1, 2] };
    assert_eq!(lists.transpose(3), Csr { starts: vec![0, 1, 3, 4], items: vec![0, 0, 0, 2] });
    let x = [1.0, 8.0, 4.0, 5.0, -1.0, -2.0];
    let mut out = vec![9.0; 6];
    segment::mean(&lists, &x, 2, &mut out);
    assert_eq!(out, [3.0, 6.0, 0.0, 0.0, -1.0, -2.0]);
    segment::add_sums(&lists, &x, 2, &mut out);
    assert_eq!(out, [12.0, 24.0, 0.0, 0.0, -2.0, -4.0]);
    let mut shares = vec![0.0; 4];
    segment::softmax(&lists, &[0.0, 2.0_f64.ln(), 0.0, 7.0], &mut shares);
    let expected = [0.25, 0.5, 0.25, 1.0];
    assert!(shares.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12));
    let mut rows = vec![0.0; 4];
    segment::gather(&[2, 0], &x, 2, &mut rows);
    assert_eq!(rows, [-1.0, -2.0, 1.0, 8.0]);
    let mut sums = vec![0.0; 4];
    segment::scatter_add(&[1, 1], &rows, 2, &mut sums);
    assert_eq!(sums, [0.0, 0.0, 0.0, 6.0]);
}

struct Layer {
    nodes: usize,
    graph: SnapshotGraph,
    d: usize,
    masked: bool,
}

impl Layer {
    fn new(nodes: u32, edges: usize, d: usize, masked: bool) -> Self {
        let mut stream = ChaCha8Rng::seed_from_u64(4);
        let mut node = || stream.random_range(0..nodes);
        let edges: Vec<_> = (0..edges).map(|_| (node(), node() % 3, node())).collect();
        let nodes = nodes as usize;
        Self { nodes, graph: SnapshotGraph::new(nodes, 3, &edges), d, masked }
    }
}

impl Case for Layer {
    fn lengths(&self) -> Vec<usize> {
        let square = self.d * self.d;
        vec![self.nodes * self.d, 3 * self.d, square, square, square]
    }

    fn run<T: Real>(&self, p: &[Vec<T>]) -> (T, Vec<Vec<T>>) {
        let len = p[0].len();
        let weights = gcn::Weights { neighbour: &p[2], own: &p[3], isolated: &p[4], slope: RRELU_SLOPE };
        let mask = Mask::new((0..len).map(|i| u8::from(i % 3 != 1)).collect(), 1.25);
        let mask = self.masked.then_some(&mask);
        let (mut out, dout) = (vec![T::from_f64(f64::NAN); len], slopes::<T>(len));
        let kept = gcn::forward(&self.graph, &weights, &p[0], &p[1], mask, &mut out);
        let mut g = zeros(p);
        let [x, relations, neighbour, own, isolated] = &mut g[..] else { unreachable!() };
        let mut all = gcn::Gradients { x, p: relations, neighbour, own, isolated };
        let output = gcn::Output { out: &out, mask, dout: &dout };
        gcn::backward(&self.graph, &weights, &p[0], &kept, &output, &mut all);
        (inner(&out, &dout), g)
    }
}

#[test]
fn graph_layer() {
    // Few, many and no nodes with in-edges; parallel edges and loops occur among six nodes.
    for edges in [3, 14, 0] {
        for masked in [false, true] {
            gradients(&Layer::new(6, edges, 3, masked), 6);
        }
    }
    gradients(&Layer::new(1, 2, 2, false), 6);
    threads(&Layer::new(2500, 700, 40, true));
    threads(&Layer::new(2500, 9000, 40, true));
}

#[test]
fn graph_layer_equals_its_formula() {
    let edges = [(0, 0, 1), (2, 1, 1), (2, 1, 1), (1, 2, 0)];
    let graph = SnapshotGraph::new(4, 3, &edges);
    let d = 3;
    let p = check::draw(&[4 * d, 3 * d, d * d, d * d, d * d], 8);
    let weights = gcn::Weights { neighbour: &p[2], own: &p[3], isolated: &p[4], slope: RRELU_SLOPE };
    let mut out = vec![0.0; 4 * d];
    gcn::forward(&graph, &weights, &p[0], &p[1], None, &mut out);
    for v in 0..4 {
        let into: Vec<_> = edges.iter().filter(|e| e.2 == v).collect();
        let own = if into.is_empty() { &p[4] } else { &p[3] };
        for c in 0..d {
            let mut sum: f64 = (0..d).map(|l| p[0][v as usize * d + l] * own[l * d + c]).sum();
            for (u, r, _) in &into {
                let message =
                    (0..d).map(|l| (p[0][*u as usize * d + l] + p[1][*r as usize * d + l]) * p[2][l * d + c]);
                sum += message.sum::<f64>() / into.len() as f64;
            }
            let expected = if sum > 0.0 { sum } else { sum * 11.0 / 48.0 };
            assert!((out[v as usize * d + c] - expected).abs() < 1e-12);
        }
    }
}

struct Normalise(usize, usize);

impl Case for Normalise {
    fn lengths(&self) -> Vec<usize> {
        vec![self.0 * self.1]
    }

    fn run<T: Real>(&self, p: &[Vec<T>]) -> (T, Vec<Vec<T>>) {
        let (len, dout) = (p[0].len(), slopes::<T>(p[0].len()));
        let (mut out, mut lengths) = (vec![T::ZERO; len], vec![T::ZERO; self.0]);
        rows::normalise(&p[0], self.1, &mut out, &mut lengths);
        let mut g = zeros(p);
        rows::normalise_backward(&out, &lengths, &dout, self.1, &mut g[0]);
        (inner(&out, &dout), g)
    }
}

#[test]
fn normalised_rows() {
    gradients(&Normalise(4, 3), 7);
    gradients(&Normalise(1, 20), 7);
    threads(&Normalise(900, 50));
    let (mut out, mut lengths, mut dx) = ([9.0; 4], [9.0; 2], [0.0; 4]);
    rows::normalise(&[0.0, -8.0, 0.0, 0.0], 2, &mut out, &mut lengths);
    assert_eq!((out, lengths), ([0.0, -1.0, 0.0, 0.0], [8.0, 1e-12]));
    rows::normalise_backward(&out, &lengths, &[0.0, 0.0, 1.0, 0.0], 2, &mut dx);
    assert!((dx[2] / 1e12 - 1.0_f64).abs() < 1e-9);
}

struct Gate(usize, usize);

impl Case for Gate {
    fn lengths(&self) -> Vec<usize> {
        let Self(n, d) = *self;
        vec![n * d, n * d, d * d, d]
    }

    fn run<T: Real>(&self, p: &[Vec<T>]) -> (T, Vec<Vec<T>>) {
        let (len, dout) = (p[0].len(), slopes::<T>(p[0].len()));
        let (mut out, mut kept) = (vec![T::ZERO; len], vec![T::ZERO; len]);
        let inputs = gate::Inputs { old: &p[0], candidate: &p[1], weight: &p[2], bias: &p[3] };
        gate::forward(&inputs, &mut kept, &mut out);
        let mut g = zeros(p);
        let [old, candidate, weight, bias] = &mut g[..] else { unreachable!() };
        gate::backward(&inputs, &kept, &dout, &mut gate::Gradients { old, candidate, weight, bias });
        (inner(&out, &dout), g)
    }
}

#[test]
fn time_gate() {
    gradients(&Gate(4, 3), 9);
    gradients(&Gate(1, 5), 9);
    threads(&Gate(2500, 40));
}

struct Cell(usize, usize, usize);

impl Case for Cell {
    fn lengths(&self) -> Vec<usize> {
        let Self(b, input, d) = *self;
        vec![b * input, b * d, 3 * d * input, 3 * d * d, 3 * d, 3 * d]
    }

    fn run<T: Real>(&self, p: &[Vec<T>]) -> (T, Vec<Vec<T>>) {
        let dout = slopes::<T>(p[1].len());
        let mut out = vec![T::ZERO; p[1].len()];
        let input = linear::Weights { weight: &p[2], bias: Some(&p[4]) };
        let weights = gru::Weights { hidden: &p[3], hidden_bias: &p[5] };
        let gates = p[4].len();
        let mut mapped = vec![T::ZERO; self.0 * gates];
        linear::forward(&input, &p[0], gates, &mut mapped);
        let kept = gru::forward(&weights, &mapped, &p[1], &mut out);
        let mut g = zeros(p);
        let [x, h, weight, hidden, bias, hidden_bias] = &mut g[..] else { unreachable!() };
        let mut dmapped = vec![T::ZERO; mapped.len()];
        let mut all = gru::Gradients { x: &mut dmapped, h, hidden, hidden_bias };
        gru::backward(&weights, &p[1], &kept, &dout, &mut all);
        let mut all = linear::Gradients { x, weight, bias: Some(bias) };
        linear::backward(&input, &p[0], gates, &dmapped, &mut all);
        (inner(&out, &dout), g)
    }
}

#[test]
fn recurrent_cell() {
    gradients(&Cell(3, 4, 2), 10);
    gradients(&Cell(1, 1, 3), 10);
    threads(&Cell(700, 60, 40));
}

struct Functions(usize);

impl Case for Functions {
    fn lengths(&self) -> Vec<usize> {
        vec![self.0]
    }

    fn run<T: Real>(&self, p: &[Vec<T>]) -> (T, Vec<Vec<T>>) {
        let dout = slopes::<T>(self.0);
        let (mut out, mut g) = (p[0].clone(), zeros(p));
        activations::tanh(&p[0], &mut out);
        activations::tanh_backward(&out, &dout, &mut g[0]);
        (inner(&out, &dout), g)
    }
}

#[test]
fn activation_functions() {
    gradients(&Functions(20), 11);
    threads(&Functions(50_000));
}
