//! Gradients, precision and determinism of the convolutional trunk and of batch normalisation; dropout and Adam by
//! hand.

#![allow(clippy::many_single_char_names)] // Sizes are b, k, d.

mod check;

use check::{Case, convert, draw, gradients, inner, slopes, threads, zeros};
use quadcast_kernels::Real;
use quadcast_kernels::batch_norm::{self, Running, Shape, Statistics};
use quadcast_kernels::conv_trans::{self, Masks, Mode};
use quadcast_kernels::dropout::Mask;
use quadcast_kernels::optimisers::{Adam, State, clip_scale, squared_norm};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

#[derive(Clone, Copy, PartialEq)]
enum Way {
    Train,
    Test,
    Plain,
}

struct Trunk {
    b: usize,
    k: usize,
    d: usize,
    way: Way,
    masked: bool,
    row_weights: Option<Vec<f64>>,
}

fn mask(n: usize) -> Mask {
    Mask::new((0..n).map(|i| u8::from(i % 5 != 2)).collect(), 1.25)
}

impl Trunk {
    /// Output, gradients, and the running estimates (means and variances of the three normalisations).
    fn all<T: Real>(&self, p: &[Vec<T>]) -> (Vec<T>, Vec<Vec<T>>, Vec<Vec<T>>) {
        let Self { b, k, d, .. } = *self;
        let norm = |i: usize| batch_norm::Weights { scale: &p[5 + 2 * i][..], shift: &p[6 + 2 * i][..] };
        let norms = (self.way != Way::Plain).then(|| [norm(0), norm(1), norm(2)]);
        let weights =
            conv_trans::Weights { conv: &p[1], conv_bias: &p[2], linear: &p[3], linear_bias: &p[4], norms };
        let (input, middle, output) = (mask(b * 2 * d), mask(b * k * d), mask(b * d));
        let masks = if self.masked {
            Masks { input: Some(&input), middle: Some(&middle), output: Some(&output) }
        } else {
            Masks::default()
        };
        let row_weights: Option<Vec<T>> = self.row_weights.as_ref().map(|w| convert(w));
        let half = T::from_f64(0.5);
        let mut estimates: Vec<Vec<T>> = [2, 2, k, k, d, d].iter().map(|&n| vec![half; n]).collect();
        let [m0, v0, m1, v1, m2, v2] = &mut estimates[..] else { unreachable!() };
        let mut running = [(m0, v0), (m1, v1), (m2, v2)].map(|(mean, variance)| Running { mean, variance });
        let mode = match self.way {
            Way::Train => Mode::Train { row_weights: row_weights.as_deref(), running: &mut running },
            Way::Test => Mode::Test { running: &running },
            Way::Plain => Mode::Plain,
        };
        let (mut out, dout) = (vec![T::ZERO; b * d], slopes::<T>(b * d));
        let kept = conv_trans::forward(&weights, &p[0], &masks, mode, &mut out);
        let mut g = zeros(p);
        let [x, conv, conv_bias, linear, linear_bias, s0, t0, s1, t1, s2, t2] = &mut g[..] else {
            unreachable!()
        };
        let norms =
            [(s0, t0), (s1, t1), (s2, t2)].map(|(scale, shift)| batch_norm::Gradients { scale, shift });
        let norms = (self.way != Way::Plain).then_some(norms);
        let mut all = conv_trans::Gradients { x, conv, conv_bias, linear, linear_bias, norms };
        let output = conv_trans::Output { out: &out, dout: &dout };
        conv_trans::backward(&weights, &p[0], &masks, &kept, &output, &mut all);
        (out, g, estimates)
    }

    /// The same, step by step.
    fn composed(&self, p: &[Vec<f64>]) -> Vec<f64> {
        let Self { b, k, d, .. } = *self;
        let norm = |x: &[f64], shape: Shape, i: usize| {
            let statistics = match self.way {
                Way::Train => Statistics::of_batch(x, shape, self.row_weights.as_deref()),
                Way::Test => Statistics::of_running(&vec![0.5; shape.channels], &vec![0.5; shape.channels]),
                Way::Plain => return x.to_vec(),
            };
            let weights = batch_norm::Weights { scale: &p[5 + 2 * i], shift: &p[6 + 2 * i] };
            let mut out = vec![0.0; x.len()];
            batch_norm::forward(x, shape, &statistics, &weights, &mut out);
            out
        };
        let drop = |x: Vec<f64>| -> Vec<f64> {
            let mask = if self.masked { mask(x.len()).values() } else { vec![1.0; x.len()] };
            x.iter().zip(mask).map(|(x, mask)| x * mask).collect()
        };
        let relu = |x: Vec<f64>| -> Vec<f64> { x.iter().map(|x| x.max(0.0)).collect() };
        let z = drop(norm(&p[0], Shape { rows: b, channels: 2, length: d }, 0));
        let mut y = vec![0.0; b * k * d];
        for (i, y) in y.iter_mut().enumerate() {
            let (row, c, place) = (i / (k * d), i / d % k, i % d);
            *y = p[2][c];
            for (channel, t) in (0..2).flat_map(|channel| (0..3).map(move |t| (channel, t))) {
                if (1..=d).contains(&(place + t)) {
                    *y += p[1][c * 6 + channel * 3 + t] * z[(row * 2 + channel) * d + place + t - 1];
                }
            }
        }
        let y = drop(relu(norm(&y, Shape { rows: b, channels: k, length: d }, 1)));
        let mut out = vec![0.0; b * d];
        for (i, out) in out.iter_mut().enumerate() {
            *out = p[4][i % d] + inner(&y[i / d * k * d..][..k * d], &p[3][i % d * k * d..][..k * d]);
        }
        let out = drop(out);
        // One row has no statistics of its own; running estimates need none.
        let normalised = b > 1 || self.way == Way::Test;
        relu(if normalised { norm(&out, Shape { rows: b, channels: d, length: 1 }, 2) } else { out })
    }
}

impl Case for Trunk {
    fn lengths(&self) -> Vec<usize> {
        let Self { b, k, d, .. } = *self;
        vec![b * 2 * d, k * 6, k, d * k * d, d, 2, 2, k, k, d, d]
    }

    fn run<T: Real>(&self, p: &[Vec<T>]) -> (T, Vec<Vec<T>>) {
        let (out, g, _) = self.all(p);
        (inner(&out, &slopes(out.len())), g)
    }
}

#[test]
fn trunk() {
    for way in [Way::Train, Way::Test, Way::Plain] {
        for (b, masked) in [(4, false), (4, true), (1, true)] {
            let case = Trunk { b, k: 3, d: 5, way, masked, row_weights: None };
            let p = draw(&case.lengths(), 1);
            let (out, ..) = case.all(&p);
            assert!(out.iter().zip(case.composed(&p)).all(|(a, b)| (a - b).abs() < 1e-10));
            gradients(&case, 1);
        }
        threads(&Trunk { b: 300, k: 5, d: 20, way, masked: true, row_weights: None });
    }
    let row_weights = Some(vec![2.0, 1.0, 3.0, 1.0]);
    let case = Trunk { b: 4, k: 3, d: 5, way: Way::Train, masked: true, row_weights };
    let p = draw(&case.lengths(), 2);
    assert!(case.all(&p).0.iter().zip(case.composed(&p)).all(|(a, b)| (a - b).abs() < 1e-10));
    gradients(&case, 2);
}

#[test]
fn a_weighted_row_counts_like_equal_rows() {
    let trunk = |b, row_weights| Trunk { b, k: 3, d: 4, way: Way::Train, masked: false, row_weights };
    let weighted = trunk(3, Some(vec![2.0, 1.0, 3.0]));
    let repeated = trunk(6, None);
    let p = draw(&weighted.lengths(), 3);
    let mut q = p.clone();
    q[0] = [0, 0, 1, 2, 2, 2].iter().flat_map(|&row: &usize| p[0][row * 8..][..8].to_vec()).collect();
    let ((a, _, one), (b, _, other)) = (weighted.all(&p), repeated.all(&q));
    for (short, long) in [(0, 1), (1, 2), (2, 5)] {
        let rows = a[short * 4..][..4].iter().zip(&b[long * 4..][..4]);
        rows.for_each(|(a, b)| assert!((a - b).abs() < 1e-10));
    }
    for (a, b) in one.iter().flatten().zip(other.iter().flatten()) {
        assert!((a - b).abs() < 1e-12, "running estimates");
    }
}

struct Norm {
    shape: Shape,
    row_weights: Option<Vec<f64>>,
    train: bool,
}

impl Case for Norm {
    fn lengths(&self) -> Vec<usize> {
        let Shape { rows, channels, length } = self.shape;
        vec![rows * channels * length, channels, channels]
    }

    fn run<T: Real>(&self, p: &[Vec<T>]) -> (T, Vec<Vec<T>>) {
        let row_weights: Option<Vec<T>> = self.row_weights.as_ref().map(|w| convert(w));
        let row_weights = row_weights.as_deref();
        let statistics = if self.train {
            Statistics::of_batch(&p[0], self.shape, row_weights)
        } else {
            let quarter = vec![T::from_f64(0.25); self.shape.channels];
            Statistics::of_running(&quarter, &quarter)
        };
        let weights = batch_norm::Weights { scale: &p[1], shift: &p[2] };
        let (mut out, dout) = (vec![T::ZERO; p[0].len()], slopes::<T>(p[0].len()));
        batch_norm::forward(&p[0], self.shape, &statistics, &weights, &mut out);
        let mut g = zeros(p);
        let [x, scale, shift] = &mut g[..] else { unreachable!() };
        let mut all = batch_norm::Gradients { scale, shift };
        batch_norm::backward((&p[0], self.shape), &statistics, (&weights, row_weights), &dout, x, &mut all);
        (inner(&out, &dout), g)
    }
}

#[test]
fn normalisation_of_batches() {
    let shape = Shape { rows: 4, channels: 3, length: 2 };
    for train in [true, false] {
        gradients(&Norm { shape, row_weights: None, train }, 4);
        gradients(&Norm { shape: Shape { length: 1, ..shape }, row_weights: None, train }, 4);
    }
    gradients(&Norm { shape, row_weights: Some(vec![1.0, 4.0, 2.0, 1.0]), train: true }, 4);
    let shape = Shape { rows: 400, channels: 30, length: 3 };
    threads(&Norm { shape, row_weights: None, train: true });
}

#[test]
fn normalisation_by_hand() {
    // One channel with 1, 3, 5, 7: mean 4, biased variance 5, unbiased variance 20 / 3.
    let x = [1.0, 3.0, 5.0, 7.0];
    let shape = Shape { rows: 2, channels: 1, length: 2 };
    let statistics = Statistics::of_batch(&x, shape, None);
    assert_eq!((statistics.mean[0], statistics.variance[0], statistics.count), (4.0, 5.0, Some(4.0)));
    let (mut mean, mut variance) = ([0.0_f64], [1.0_f64]);
    statistics.update(&mut Running { mean: &mut mean, variance: &mut variance });
    assert!((mean[0] - 0.4).abs() < 1e-12 && (variance[0] - (0.9 + 2.0 / 3.0)).abs() < 1e-12);
    let weights = batch_norm::Weights { scale: &[2.0], shift: &[1.0] };
    let mut out = [0.0; 4];
    batch_norm::forward(&x, shape, &statistics, &weights, &mut out);
    let expected = 1.0 - 6.0 / 5.00001_f64.sqrt();
    assert!((out[0] - expected).abs() < 1e-12, "training");
    let statistics = Statistics::of_running(&[3.0], &[4.0]);
    batch_norm::forward(&x, shape, &statistics, &weights, &mut out);
    assert!((out[3] - (1.0 + 8.0 / 4.00001_f64.sqrt())).abs() < 1e-12, "test");
}

#[test]
fn dropout_keeps_the_mean_and_depends_on_the_stream_alone() {
    let fill = |threads: usize, n: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut stream = ChaCha8Rng::seed_from_u64(7);
        let mask = pool.install(|| Mask::draw(&mut stream, 0.25, n));
        (mask.values::<f32>(), stream.get_word_pos())
    };
    let (mask, place) = fill(1, 100_001);
    assert_eq!(place, 50_001);
    assert_eq!((mask.clone(), place), fill(3, 100_001));
    assert_eq!(mask[..70_000], fill(2, 70_000).0);
    assert!(mask.iter().all(|&x| x == 0.0 || x == 4.0 / 3.0));
    let mean = mask.iter().map(|&x| f64::from(x)).sum::<f64>() / mask.len() as f64;
    assert!((mean - 1.0).abs() < 0.01, "mean {mean}");
    let mut stream = ChaCha8Rng::seed_from_u64(7);
    let first = Mask::draw(&mut stream, 0.5, 64);
    let second = Mask::draw(&mut stream, 0.5, 64);
    assert_ne!(first, second, "the stream moves on");
    assert_eq!(Mask::draw(&mut stream, 0.0, 64).values::<f32>(), [1.0; 64]);
}

#[test]
fn adam_by_hand() {
    let adam = Adam { rate: 0.1, decay: 0.5 };
    for amsgrad in [false, true] {
        let (mut x, mut mean, mut square, mut largest) = ([2.0], [0.0], [0.0], [0.0]);
        let (mut y, mut m, mut v, mut w) = (2.0_f64, 0.0_f64, 0.0_f64, 0.0_f64);
        for (step, gradient) in [(1, 4.0), (2, -1.0), (3, 0.0)] {
            let largest = amsgrad.then_some(&mut largest[..]);
            let state = State { mean: &mut mean, square: &mut square, largest };
            adam.update(step, &mut x, &[gradient], 0.5, state);
            let g = 0.5 * gradient + 0.5 * y;
            m = 0.9 * m + 0.1 * g;
            v = 0.999 * v + 0.001 * g * g;
            w = if amsgrad { w.max(v) } else { v };
            let (c1, c2) = (1.0 - 0.9_f64.powi(step as i32), 1.0 - 0.999_f64.powi(step as i32));
            y -= 0.1 * (m / c1) / ((w / c2).sqrt() + 1e-8);
            assert!((x[0] - y).abs() < 1e-12);
        }
    }
}

#[test]
fn clipping_by_the_global_norm() {
    assert_eq!(squared_norm(&[3.0; 9]), 81.0);
    assert_eq!(squared_norm(&[-4.0; 25]), 400.0);
    assert_eq!(clip_scale(0.25, 1.0), 1.0);
    assert!((clip_scale(16.0, 1.0) - 0.25).abs() < 1e-6);
    let long: Vec<f32> = draw(&[100_000], 8)[0].iter().map(|&x| x as f32).collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| squared_norm(&long).to_bits())
    };
    assert_eq!((on(1), on(1)), (on(2), on(3)));
}
