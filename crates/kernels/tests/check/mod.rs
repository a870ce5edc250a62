//! What every kernel must pass: its gradients against central differences, `f32` against `f64`, and the same bits
//! for any number of threads.

#![allow(dead_code)] // Each test file uses a part of it.

use quadcast_kernels::Real;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// A computation with a scalar result.
pub trait Case: Sync {
    /// Lengths of its parameters.
    fn lengths(&self) -> Vec<usize>;
    /// Its value and the gradients of all parameters.
    fn run<T: Real>(&self, parameters: &[Vec<T>]) -> (T, Vec<Vec<T>>);
}

/// Parameters in (−1, 1).
pub fn draw(lengths: &[usize], seed: u64) -> Vec<Vec<f64>> {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    lengths.iter().map(|&n| (0..n).map(|_| stream.random_range(-1.0..1.0)).collect()).collect()
}

pub fn convert<T: Real>(x: &[f64]) -> Vec<T> {
    x.iter().map(|&x| T::from_f64(x)).collect()
}

pub fn zeros<T: Real>(parameters: &[Vec<T>]) -> Vec<Vec<T>> {
    parameters.iter().map(|x| vec![T::ZERO; x.len()]).collect()
}

/// Fixed numbers that serve as the gradient of an output: the value of a case is ⟨output, these⟩.
pub fn slopes<T: Real>(n: usize) -> Vec<T> {
    convert(&draw(&[n], 99)[0])
}

pub fn inner<T: Real>(a: &[T], b: &[T]) -> T {
    assert_eq!(a.len(), b.len());
    T::from_f64(a.iter().zip(b).map(|(a, b)| a.to_f64() * b.to_f64()).sum())
}

/// For small cases: every single derivative, and `f32`.
pub fn gradients(case: &impl Case, seed: u64) {
    let mut parameters = draw(&case.lengths(), seed);
    let (value, exact) = case.run(&parameters);
    let step = 1e-5;
    for i in 0..parameters.len() {
        for j in 0..parameters[i].len() {
            let x = parameters[i][j];
            let mut at = |x: f64| {
                parameters[i][j] = x;
                case.run(&parameters).0
            };
            let numeric = (at(x + step) - at(x - step)) / (2.0 * step);
            at(x);
            let ours = exact[i][j];
            let scale = numeric.abs().max(ours.abs()).max(1e-4);
            assert!(
                (numeric - ours).abs() < 1e-3 * scale,
                "parameter {i}, element {j}, seed {seed}: difference {numeric}, gradient {ours}"
            );
        }
    }
    let narrow: Vec<Vec<f32>> = parameters.iter().map(|x| convert(x)).collect();
    let (narrow_value, narrow_gradients) = case.run(&narrow);
    let near = |a: f32, b: f64, size: f64| (f64::from(a) - b).abs() < 1e-4 * size.max(1.0);
    assert!(near(narrow_value, value, value.abs()), "f32 value {narrow_value}, f64 value {value}");
    for (i, (narrow, wide)) in narrow_gradients.iter().zip(&exact).enumerate() {
        let size = wide.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        for (&a, &b) in narrow.iter().zip(wide) {
            assert!(near(a, b, size), "gradient {i}, seed {seed}: f32 {a}, f64 {b}");
        }
    }
}

/// For cases large enough to be split: 1, 2 and 3 threads, bit by bit.
pub fn threads(case: &impl Case) {
    let parameters: Vec<Vec<f32>> = draw(&case.lengths(), 1).iter().map(|x| convert(x)).collect();
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
        let (value, gradients) = pool.install(|| case.run(&parameters));
        let bits = gradients.iter().flatten().map(|x| x.to_bits());
        std::iter::once(value.to_bits()).chain(bits).collect::<Vec<u32>>()
    };
    let one = on(1);
    assert!(one == on(2), "2 threads differ from 1");
    assert!(one == on(3), "3 threads differ from 1");
}
