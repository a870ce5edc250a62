//! Gradients, precision and determinism of the fused losses, and their equality with the plain formulas.

#![allow(clippy::many_single_char_names)] // Sizes are b, n, d.

mod check;

use check::{Case, convert, draw, gradients, inner, threads, zeros};
use quadcast_kernels::Real;
use quadcast_kernels::head::{self, Goal, Head};
use quadcast_kernels::mixture::{self, Linear, Mixture};
use quadcast_kernels::segment::Csr;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// One target of weight 1 per row.
fn single(targets: Vec<u32>) -> Csr {
    Csr { starts: (0..=targets.len() as u32).collect(), items: targets }
}

struct Loss {
    b: usize,
    n: usize,
    d: usize,
    /// Targets and their weights.
    lists: Csr,
    weights: Vec<f64>,
    row_weights: Option<Vec<f64>>,
}

impl Loss {
    fn new(b: usize, n: usize, d: usize, soft: bool, weighted: bool) -> Self {
        let mut stream = ChaCha8Rng::seed_from_u64(5);
        let mut target = || stream.random_range(0..n as u32);
        let lists = if soft {
            // Row 0 has no target; the others have up to three.
            let rows = (1..b as u32).flat_map(|i| std::iter::repeat_n(i, 1 + i as usize % 3));
            let pairs: Vec<(u32, u32)> = rows.map(|i| (i, target())).collect();
            Csr::from_pairs(b, pairs.iter().copied())
        } else {
            single((0..b).map(|_| target()).collect())
        };
        let mut weight = || if soft { stream.random_range(0.1..1.0) } else { 1.0 };
        let weights = lists.items.iter().map(|_| weight()).collect();
        let row_weights = weighted.then(|| (0..b).map(|i| 1.0 + (i % 3) as f64).collect());
        Self { b, n, d, lists, weights, row_weights }
    }

    /// Calls `f` with the head and its goal in numbers of a type.
    fn with<T: Real, R>(&self, p: &[Vec<T>], f: impl FnOnce(&Head<T>, &Goal<T>) -> R) -> R {
        let head = Head { queries: &p[0], entities: &p[1], d: self.d };
        let row_weights: Option<Vec<T>> = self.row_weights.as_ref().map(|w| convert(w));
        let weights = convert(&self.weights);
        f(&head, &Goal { lists: &self.lists, weights: &weights, row_weights: row_weights.as_deref() })
    }
}

impl Case for Loss {
    fn lengths(&self) -> Vec<usize> {
        vec![self.b * self.d, self.n * self.d]
    }

    fn run<T: Real>(&self, p: &[Vec<T>]) -> (T, Vec<Vec<T>>) {
        let mut g = zeros(p);
        let [queries, entities] = &mut g[..] else { unreachable!() };
        let mut all = head::Gradients { queries, entities };
        let loss = self.with(p, |head, goal| head::loss_and_gradients(head, goal, &mut all));
        (loss, g)
    }
}

#[test]
fn cross_entropy() {
    for (b, n, d) in [(3, 5, 2), (1, 4, 3), (2, 1, 2)] {
        for (soft, weighted) in [(false, false), (false, true), (true, false), (true, true)] {
            if !soft || b > 1 {
                gradients(&Loss::new(b, n, d, soft, weighted), 1);
            }
        }
    }
    threads(&Loss::new(600, 900, 30, true, true));
    threads(&Loss::new(300, 3000, 30, false, false));
}

#[test]
fn the_fused_loss_equals_the_composed_one() {
    let (b, n, d) = (300, 1100, 20);
    let case = Loss::new(b, n, d, true, true);
    let p = draw(&case.lengths(), 2);
    let (lists, weights) = (&case.lists, &case.weights);
    let rows = case.row_weights.as_ref().unwrap();
    let logit = |i: usize, j: usize| inner(&p[0][i * d..][..d], &p[1][j * d..][..d]);
    let (mut loss, mut dqueries) = (0.0, vec![0.0; b * d]);
    let total: f64 = rows.iter().sum();
    for i in 0..b {
        let logits: Vec<f64> = (0..n).map(|j| logit(i, j)).collect();
        let sum: f64 = logits.iter().map(|x| x.exp()).sum();
        let mut slope = vec![0.0; n];
        for (&j, weight) in lists.segment(i).iter().zip(&weights[lists.starts[i] as usize..]) {
            let (j, t) = (j as usize, weight * rows[i] / total);
            loss += t * (sum.ln() - logits[j]);
            slope[j] -= t;
            for (slope, x) in slope.iter_mut().zip(&logits) {
                *slope += t * x.exp() / sum;
            }
        }
        for j in 0..n {
            for c in 0..d {
                dqueries[i * d + c] += slope[j] * p[1][j * d + c];
            }
        }
    }
    let (ours, gradients) = case.run(&p);
    assert!((ours - loss).abs() < 1e-10);
    assert!((case.with(&p, head::loss) - loss).abs() < 1e-10, "without gradients");
    assert!(gradients[0].iter().zip(&dqueries).all(|(a, b)| (a - b).abs() < 1e-12));
    let head = Head { queries: &p[0], entities: &p[1], d };
    let mut scores = Vec::new();
    head::score_strips(&head, |rows, own| {
        assert_eq!((rows.start * n, rows.len() * n), (scores.len(), own.len()));
        scores.extend_from_slice(own);
    });
    assert_eq!(scores.len(), b * n);
    assert!((scores[7 * n + 9] - logit(7, 9)).abs() < 1e-12);
}

#[test]
fn large_logits_do_not_overflow() {
    let head = Head { queries: &[1000.0_f32, -1000.0], entities: &[1.0, -1.0, 0.5], d: 1 };
    let goal = Goal { lists: &single(vec![0, 0]), weights: &[1.0; 2], row_weights: None };
    assert_eq!(head::loss(&head, &goal), 1000.0);
    let (mut queries, mut entities) = ([0.0; 2], [0.0; 3]);
    let mut all = head::Gradients { queries: &mut queries, entities: &mut entities };
    assert_eq!(head::loss_and_gradients(&head, &goal, &mut all), 1000.0);
    assert_eq!(entities, [500.0, -500.0, 0.0]);
}

struct Mixed {
    b: usize,
    n: usize,
    d: usize,
    targets: Vec<u32>,
    vocabulary: Csr,
}

impl Mixed {
    /// Every third vocabulary is empty; some hold the target, others do not.
    fn new(b: usize, n: usize, d: usize) -> Self {
        let mut stream = ChaCha8Rng::seed_from_u64(6);
        let targets: Vec<u32> = (0..b).map(|_| stream.random_range(0..n as u32)).collect();
        let mut pairs = Vec::new();
        for i in (0..b).filter(|i| i % 3 != 0) {
            let mut ids: Vec<u32> = (0..3).map(|_| stream.random_range(0..n as u32)).collect();
            ids.extend((i % 2 == 0).then_some(targets[i]));
            ids.sort_unstable();
            ids.dedup();
            pairs.extend(ids.iter().map(|&id| (i as u32, id)));
        }
        Self { b, n, d, targets, vocabulary: Csr::from_pairs(b, pairs.iter().copied()) }
    }

    fn mixture<'a, T>(&'a self, p: &'a [Vec<T>]) -> Mixture<'a, T> {
        Mixture {
            queries: &p[0],
            copy: Linear { weight: &p[1], bias: &p[2] },
            generate: Linear { weight: &p[3], bias: &p[4] },
            vocabulary: &self.vocabulary,
            alpha: 0.8,
            d: self.d,
        }
    }
}

impl Case for Mixed {
    fn lengths(&self) -> Vec<usize> {
        let Self { b, n, d, .. } = *self;
        vec![b * d, n * d, n, n * d, n]
    }

    fn run<T: Real>(&self, p: &[Vec<T>]) -> (T, Vec<Vec<T>>) {
        let mut g = zeros(p);
        let [queries, copy_weight, copy_bias, generate_weight, generate_bias] = &mut g[..] else {
            unreachable!()
        };
        let mut all = mixture::Gradients { queries, copy_weight, copy_bias, generate_weight, generate_bias };
        let loss = mixture::loss_and_gradients(&self.mixture(p), &self.targets, &mut all);
        (loss, g)
    }
}

#[test]
fn log_mixture() {
    gradients(&Mixed::new(7, 6, 3), 3);
    gradients(&Mixed::new(1, 4, 2), 3);
    threads(&Mixed::new(600, 900, 30));
}

#[test]
fn the_fused_mixture_equals_the_composed_one() {
    let (b, n, d) = (30, 40, 5);
    let case = Mixed::new(b, n, d);
    let p = draw(&case.lengths(), 4);
    let dense = |i: usize, weight: &[f64], bias: &[f64]| -> Vec<f64> {
        (0..n).map(|j| inner(&p[0][i * d..][..d], &weight[j * d..][..d]) + bias[j]).collect()
    };
    let softmax = |x: Vec<f64>| {
        let sum: f64 = x.iter().map(|x| x.exp()).sum();
        x.into_iter().map(move |x| x.exp() / sum).collect::<Vec<_>>()
    };
    let mut scores = vec![0.0; b * n];
    for i in 0..b {
        let ids = case.vocabulary.segment(i);
        let masked = dense(i, &p[1], &p[2])
            .into_iter()
            .enumerate()
            .map(|(j, x)| x.tanh() - if ids.contains(&(j as u32)) { 0.0 } else { 100.0 });
        let c = softmax(masked.collect());
        let g = softmax(dense(i, &p[3], &p[4]));
        for j in 0..n {
            scores[i * n + j] = (0.8 * c[j] + 0.2 * g[j]).ln();
        }
    }
    let gold: f64 = (0..b).map(|i| scores[i * n + case.targets[i] as usize]).sum();
    let (loss, _) = case.run(&p);
    assert!((loss + gold / b as f64).abs() < 1e-10);
    let mixture = case.mixture(&p);
    assert!((mixture::loss(&mixture, &case.targets) - loss).abs() < 1e-12);
    mixture::score_strips(&mixture, |rows, own| {
        assert_eq!(own.len(), rows.len() * n);
        assert!(own.iter().zip(&scores[rows.start * n..]).all(|(a, b)| (a - b).abs() < 1e-10));
    });
}

#[test]
fn only_touched_rows_of_the_copy_layer_have_gradients() {
    let mut case = Mixed::new(2, 8, 3);
    case.vocabulary = Csr { starts: vec![0, 2, 3], items: vec![1, 4, 4] };
    let (_, g) = case.run(&draw(&case.lengths(), 5));
    let touched: Vec<usize> = (0..8).filter(|&j| g[1][j * 3..][..3].iter().any(|&x| x != 0.0)).collect();
    // Softmax over one entity is constant, and so is one whose part in the mixture is 0.
    assert!(touched.iter().all(|j| [1, 4].contains(j)));
}
