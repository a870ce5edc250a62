//! From features to scores: `f(o) = (v + u_q)·φ + MLP(φ)`, and the gradient of the loss.

use quadcast_core::stream;
use quadcast_kernels::matrix::{Form, Size, multiply, multiply_add};
use rand::Rng;

use super::features::FEATURES;

/// Slope of leaky `ReLU` below 0.
const SLOPE: f32 = 0.01;
/// Candidates whose part in the gradient is smaller are left out of it.
const NEGLIGIBLE: f32 = 3e-5;
/// Rows of a product: more would be shared out among threads, and queries already are.
const ROWS: usize = 256;

/// All weights in one slice: v, the network, then u by relation.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Weights {
    pub values: Vec<f32>,
    /// Widths of the hidden layers; 0 without a network.
    pub hidden: [usize; 2],
}

/// Where each part of the weights begins.
#[derive(Clone, Copy)]
struct Layout {
    first: usize,
    first_bias: usize,
    second: usize,
    second_bias: usize,
    last: usize,
    relations: usize,
}

impl Weights {
    fn layout(&self) -> Layout {
        let [a, b] = self.hidden;
        let first = FEATURES;
        let first_bias = first + a * FEATURES;
        let second = first_bias + a;
        let second_bias = second + a * b;
        let last = second_bias + b;
        Layout { first, first_bias, second, second_bias, last, relations: last + b }
    }

    /// Random weights of the network, zeros elsewhere.
    pub fn new(hidden: [usize; 2], relations: usize, seed: u64) -> Self {
        let mut weights = Self { values: Vec::new(), hidden };
        let layout = weights.layout();
        weights.values = vec![0.0; layout.relations + relations * FEATURES];
        let mut random = stream(seed, "herald weights", 0);
        let parts = [
            (layout.first, layout.first_bias, FEATURES),
            (layout.second, layout.second_bias, hidden[0]),
            (layout.last, layout.relations, hidden[1]),
        ];
        for (from, to, inputs) in parts {
            let bound = (3.0 / inputs.max(1) as f32).sqrt();
            for value in &mut weights.values[from..to] {
                *value = random.random_range(-bound..bound);
            }
        }
        weights
    }

    /// Number of weights that all relations share.
    pub fn shared(&self) -> usize {
        self.layout().relations
    }

    /// Where the weights of a relation are.
    pub fn of_relation(&self, relation: u32) -> std::ops::Range<usize> {
        let from = self.layout().relations + relation as usize * FEATURES;
        from..from + FEATURES
    }
}

/// Buffers for the candidates of one query.
#[derive(Default)]
pub(super) struct Layers {
    first: Vec<f32>,
    second: Vec<f32>,
    pub scores: Vec<f32>,
    /// Gradient of the loss by score.
    pub slopes: Vec<f32>,
    kept: [Vec<f32>; 3],
    back: [Vec<f32>; 2],
}

fn resize(buffer: &mut Vec<f32>, len: usize) {
    buffer.clear();
    buffer.resize(len, 0.0);
}

/// `out = leaky(x·Wᵀ + b)`
fn layer(x: &[f32], weight: &[f32], bias: &[f32], out: &mut Vec<f32>) {
    let (n, k) = (bias.len(), weight.len() / bias.len());
    resize(out, x.len() / k * n);
    for (x, out) in x.chunks(ROWS * k).zip(out.chunks_mut(ROWS * n)) {
        multiply(Form::RightTransposed, Size { m: x.len() / k, n, k }, x, weight, out);
        for row in out.chunks_exact_mut(n) {
            for (out, bias) in row.iter_mut().zip(bias) {
                let value = *out + bias;
                *out = if value > 0.0 { value } else { SLOPE * value };
            }
        }
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0.0_f32; 8];
    let (a8, b8) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a8.remainder().iter().zip(b8.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a8.zip(b8) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    lanes.iter().sum::<f32>() + rest
}

fn add_scaled(y: &mut [f32], factor: f32, x: &[f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += factor * x;
    }
}

impl Layers {
    /// Scores of `rows[candidates, FEATURES]`.
    pub fn forward(&mut self, weights: &Weights, relation: u32, rows: &[f32]) {
        let (values, layout) = (&weights.values[..], weights.layout());
        let own = values[..FEATURES].iter().zip(&values[weights.of_relation(relation)]);
        let linear: [f32; FEATURES] = {
            let mut linear = [0.0; FEATURES];
            linear.iter_mut().zip(own).for_each(|(sum, (v, u))| *sum = v + u);
            linear
        };
        self.scores.clear();
        self.scores.extend(rows.chunks_exact(FEATURES).map(|row| dot(row, &linear)));
        let width = weights.hidden[1];
        if width == 0 {
            return;
        }
        let (first, first_bias) =
            (&values[layout.first..layout.first_bias], &values[layout.first_bias..layout.second]);
        layer(rows, first, first_bias, &mut self.first);
        let (second, second_bias) =
            (&values[layout.second..layout.second_bias], &values[layout.second_bias..layout.last]);
        layer(&self.first, second, second_bias, &mut self.second);
        let last = &values[layout.last..layout.relations];
        for (score, row) in self.scores.iter_mut().zip(self.second.chunks_exact(width)) {
            *score += dot(row, last);
        }
    }

    /// The loss of the golds among the candidates, and its gradient by score: for each gold a softmax over it and all candidates
    /// that are not gold. Returns the loss and the number of golds.
    pub fn loss(&mut self, is_gold: &[bool]) -> (f64, usize) {
        resize(&mut self.slopes, self.scores.len());
        let largest = self.scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let exp = |score: f32| (score - largest).exp();
        let others = self.scores.iter().zip(is_gold).filter(|(_, gold)| !**gold);
        let rest: f32 = others.map(|(&score, _)| exp(score)).sum();
        let (mut loss, mut golds, mut inverses) = (0.0, 0, 0.0);
        for ((&score, slope), _) in
            self.scores.iter().zip(&mut self.slopes).zip(is_gold).filter(|(_, gold)| **gold)
        {
            let own = exp(score);
            let sum = own + rest;
            // A gold far below the others: its logarithm is taken without the exponential.
            loss += f64::from(sum.ln() - (score - largest));
            *slope = own / sum - 1.0;
            inverses += 1.0 / sum;
            golds += 1;
        }
        for ((&score, slope), _) in
            self.scores.iter().zip(&mut self.slopes).zip(is_gold).filter(|(_, gold)| !**gold)
        {
            *slope = exp(score) * inverses;
        }
        (loss, golds)
    }

    /// Adds the gradient to that of the shared weights and that of the relation.
    pub fn backward(&mut self, weights: &Weights, rows: &[f32], shared: &mut [f32], own: &mut [f32]) {
        let [a, b] = weights.hidden;
        self.keep(rows, a, b);
        let Self { kept: [x, first, second], back: [back_first, back_second], slopes, .. } = self;
        let slopes: &[f32] = slopes;
        for (row, &slope) in x.chunks_exact(FEATURES).zip(slopes) {
            add_scaled(own, slope, row);
        }
        if b == 0 {
            add_scaled(&mut shared[..FEATURES], 1.0, own);
            return;
        }
        let (values, layout) = (&weights.values[..], weights.layout());
        let (linear, rest) = shared.split_at_mut(layout.first);
        add_scaled(linear, 1.0, own);
        let (d_first, rest) = rest.split_at_mut(layout.first_bias - layout.first);
        let (d_first_bias, rest) = rest.split_at_mut(a);
        let (d_second, rest) = rest.split_at_mut(a * b);
        let (d_second_bias, d_last) = rest.split_at_mut(b);
        let last = &values[layout.last..layout.relations];
        resize(back_second, slopes.len() * b);
        for ((back, row), &slope) in back_second.chunks_exact_mut(b).zip(second.chunks_exact(b)).zip(slopes) {
            add_scaled(d_last, slope, row);
            for ((back, &out), &weight) in back.iter_mut().zip(row).zip(last) {
                *back = slope * weight * if out > 0.0 { 1.0 } else { SLOPE };
            }
            add_scaled(d_second_bias, 1.0, back);
        }
        resize(back_first, slopes.len() * a);
        for (i, back) in back_second.chunks(ROWS * b).enumerate() {
            let m = back.len() / b;
            let (first, back_first) =
                (&first[i * ROWS * a..][..m * a], &mut back_first[i * ROWS * a..][..m * a]);
            multiply_add(Form::LeftTransposed, Size { m: b, n: a, k: m }, back, first, d_second);
            multiply(
                Form::Plain,
                Size { m, n: a, k: b },
                back,
                &values[layout.second..layout.second_bias],
                back_first,
            );
            for (back, &out) in back_first.iter_mut().zip(first) {
                *back *= if out > 0.0 { 1.0 } else { SLOPE };
            }
            for back in back_first.chunks_exact(a) {
                add_scaled(d_first_bias, 1.0, back);
            }
            let x = &x[i * ROWS * FEATURES..][..m * FEATURES];
            multiply_add(Form::LeftTransposed, Size { m: a, n: FEATURES, k: m }, back_first, x, d_first);
        }
    }

    /// Keeps the rows that matter: most candidates have next to no probability.
    fn keep(&mut self, rows: &[f32], a: usize, b: usize) {
        let [x, first, second] = &mut self.kept;
        x.clear();
        first.clear();
        second.clear();
        let mut count = 0;
        for i in 0..self.slopes.len() {
            let slope = self.slopes[i];
            if slope.abs() >= NEGLIGIBLE {
                x.extend_from_slice(&rows[i * FEATURES..][..FEATURES]);
                first.extend_from_slice(&self.first[i * a..][..a]);
                second.extend_from_slice(&self.second[i * b..][..b]);
                self.slopes[count] = slope;
                count += 1;
            }
        }
        self.slopes.truncate(count);
    }
}
