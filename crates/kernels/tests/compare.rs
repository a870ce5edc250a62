//! Scores, gradients, precision and determinism of comparisons, against the plain formulas.

#![allow(clippy::many_single_char_names)] // Sizes are b, n, d.

use std::sync::Mutex;

mod check;

use check::{Case, convert, draw, threads, zeros};
use quadcast_kernels::Real;
use quadcast_kernels::compare::{self, Comparison, Gradients, Likeness};

const ALL: [Likeness; 5] = [Likeness::Dot, Likeness::L1, Likeness::L2, Likeness::Modulus, Likeness::Gaussian];
/// Lanes, blocks and tiles: full, cut off, and missing altogether.
const SIZES: [(usize, usize, usize); 8] =
    [(1, 1, 2), (1, 5, 6), (3, 1, 8), (4, 2, 16), (5, 7, 10), (6, 3, 34), (2, 0, 4), (9, 4, 78)];

/// Cross entropy of the softmax over all candidates; the target is the own one if there is one, otherwise a shared one.
struct Compared {
    likeness: Likeness,
    b: usize,
    n: usize,
    d: usize,
    own: bool,
    weights: Option<Vec<f64>>,
    /// Logits are scores times this.
    scale: f64,
}

impl Compared {
    fn new(likeness: Likeness, (b, n, d): (usize, usize, usize), own: bool, weighted: bool) -> Self {
        let weights = (0..b * d).map(|i| if i % 3 == 0 { 0.0 } else { 1.25 + (i % 5) as f64 / 8.0 });
        Self { likeness, b, n, d, own, weights: weighted.then(|| weights.collect()), scale: 1.0 }
    }

    /// Numbers whose differences between queries and candidates are not below 1/256, far from the kinks of
    /// absolute values.
    fn parameters(&self) -> Vec<Vec<f64>> {
        let mut all = draw(&self.lengths(), 8);
        for (x, shift) in all.iter_mut().zip([0.25, 0.0, 0.0]) {
            for x in x.iter_mut() {
                *x = ((*x * 64.0).round() + shift) / 64.0;
            }
        }
        all
    }

    /// From parameters to what is compared: variances must be above 0.
    fn rows<T: Real>(&self, p: &[Vec<T>]) -> Vec<Vec<T>> {
        let mut rows = p.to_vec();
        self.for_variances(&mut rows, |x, _| *x = *x * *x + T::from_f64(0.5));
        rows
    }

    fn for_variances<T: Real>(&self, rows: &mut [Vec<T>], f: impl Fn(&mut T, (usize, usize))) {
        if self.likeness == Likeness::Gaussian {
            for (i, rows) in rows.iter_mut().enumerate() {
                let width = if i == 0 { 3 * self.d } else { 2 * self.d };
                rows.iter_mut()
                    .enumerate()
                    .filter(|(j, _)| j % width >= self.d)
                    .for_each(|(j, x)| f(x, (i, j)));
            }
        }
    }

    fn comparison<'a, T>(&self, rows: &'a [Vec<T>], weights: Option<&'a [T]>) -> Comparison<'a, T> {
        let own = self.own.then_some(&rows[2][..]);
        Comparison {
            likeness: self.likeness,
            queries: &rows[0],
            candidates: &rows[1],
            own,
            weights,
            d: self.d,
        }
    }

    fn loss<T: Real>(&self, row: usize, own: &mut T, scores: &mut [T]) -> f64 {
        assert!(self.own || *own == T::ZERO);
        assert_eq!(scores.len(), self.n);
        let target = row % self.n.max(1);
        let scale = T::from_f64(self.scale);
        let gold = scale * if self.own { *own } else { scores[target] };
        let peak = scores.iter().fold(gold, |a, &b| a.larger(scale * b));
        let mut sum = if self.own { (gold - peak).exp() } else { T::ZERO };
        for x in scores.iter_mut() {
            *x = (scale * *x - peak).exp();
            sum += *x;
        }
        for x in scores.iter_mut() {
            *x = *x * scale / sum;
        }
        let goal = if self.own { &mut *own } else { &mut scores[target] };
        *goal = scale * ((gold - peak).exp() / sum - T::ONE);
        if !self.own {
            // To be ignored.
            *own = T::from_f64(1e9);
        }
        (sum.ln() + peak - gold).to_f64()
    }

    /// Score by the formula, and its derivatives by the query and the candidate.
    fn plain(&self, i: usize, q: &[f64], c: &[f64]) -> (f64, Vec<f64>, Vec<f64>) {
        let (d, half) = (self.d, self.d / 2);
        let weight = |k: usize| self.weights.as_ref().map_or(1.0, |w| w[i * d + k]);
        let (mut score, mut dq, mut dc) = (0.0, vec![0.0; q.len()], vec![0.0; c.len()]);
        match self.likeness {
            Likeness::Dot => (0..d).for_each(|k| {
                score += weight(k) * q[k] * c[k];
                (dq[k], dc[k]) = (weight(k) * c[k], weight(k) * q[k]);
            }),
            Likeness::L1 => (0..d).for_each(|k| {
                score -= weight(k) * (q[k] - c[k]).abs();
                dc[k] = weight(k) * (q[k] - c[k]).signum();
                dq[k] = -dc[k];
            }),
            Likeness::L2 => {
                score = -(0..d).map(|k| weight(k) * (q[k] - c[k]).powi(2)).sum::<f64>().sqrt();
                for k in 0..d {
                    dq[k] = if score == 0.0 { 0.0 } else { weight(k) * (q[k] - c[k]) / score };
                    dc[k] = -dq[k];
                }
            }
            Likeness::Modulus => (0..half).for_each(|k| {
                let size = (q[k] - c[k]).hypot(q[half + k] - c[half + k]);
                score -= weight(k) * size;
                for at in [k, half + k] {
                    dc[at] = weight(k) * (q[at] - c[at]) / size;
                    dq[at] = -dc[at];
                }
            }),
            Likeness::Gaussian => (0..d).for_each(|k| {
                let (u, v, w, f) = (q[k] - c[k], q[d + k] + c[d + k], q[2 * d + k], 0.25 * weight(k));
                score -= f * ((v + u * u) / w + (w + u * u) / v - 2.0);
                dq[k] = -f * (2.0 * u / w + 2.0 * u / v);
                dq[d + k] = -f * (1.0 / w - (w + u * u) / (v * v));
                dq[2 * d + k] = -f * (1.0 / v - (v + u * u) / (w * w));
                (dc[k], dc[d + k]) = (-dq[k], dq[d + k]);
            }),
        }
        (score, dq, dc)
    }

    /// Scores by the formula, those with own candidates last.
    fn plain_scores(&self, rows: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
        let (qw, cw) = (self.likeness.query_width(self.d), self.likeness.candidate_width(self.d));
        let score = |i: usize, c: &[f64]| self.plain(i, &rows[0][i * qw..][..qw], c).0;
        let shared = (0..self.b).flat_map(|i| rows[1].chunks(cw).map(move |c| score(i, c)));
        let own = rows[2].chunks(cw).enumerate().map(|(i, c)| score(i, c));
        (shared.collect(), own.collect())
    }
}

impl Case for Compared {
    fn lengths(&self) -> Vec<usize> {
        let (qw, cw) = (self.likeness.query_width(self.d), self.likeness.candidate_width(self.d));
        vec![self.b * qw, self.n * cw, self.b * cw]
    }

    fn run<T: Real>(&self, p: &[Vec<T>]) -> (T, Vec<Vec<T>>) {
        let rows = self.rows(p);
        let weights: Option<Vec<T>> = self.weights.as_ref().map(|w| convert(w));
        let mut g = zeros(p);
        let [queries, candidates, own] = &mut g[..] else { unreachable!() };
        let mut all = Gradients { queries, candidates, own: self.own.then_some(&mut own[..]) };
        let comparison = self.comparison(&rows, weights.as_deref());
        let loss = compare::train(&comparison, |row, own, scores| self.loss(row, own, scores), &mut all);
        self.for_variances(&mut g, |x, (i, j)| *x *= T::from_f64(2.0) * p[i][j]);
        (T::from_f64(loss), g)
    }
}

fn near(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs().max(1.0)
}

fn check_scores<T: Real>(case: &Compared, tolerance: f64) {
    let wide = case.rows(&case.parameters());
    let (shared, own) = case.plain_scores(&wide);
    let rows: Vec<Vec<T>> = wide.iter().map(|x| convert(x)).collect();
    let weights: Option<Vec<T>> = case.weights.as_ref().map(|w| convert(w));
    let comparison = case.comparison(&rows, weights.as_deref());
    let equal = |row: usize, scores: &[T]| {
        assert_eq!(scores.len(), case.n);
        for (&a, &b) in scores.iter().zip(&shared[row * case.n..]) {
            assert!(near(a.to_f64(), b, tolerance), "{:?}, row {row}: {a:?}, not {b}", case.likeness);
        }
    };
    let mut seen = Vec::new();
    compare::score_strips(&comparison, |rows, scores| {
        assert_eq!(scores.len(), rows.len() * case.n);
        rows.clone().zip(scores.chunks(case.n.max(1))).for_each(|(row, scores)| equal(row, scores));
        seen.extend(rows);
    });
    let seen = Mutex::new(seen);
    let mut g = zeros(&rows);
    let [queries, candidates, _] = &mut g[..] else { unreachable!() };
    let mut gradients = Gradients { queries, candidates, own: None };
    let total = compare::train(
        &comparison,
        |row, score, scores| {
            equal(row, scores);
            let right = if case.own { own[row] } else { 0.0 };
            assert!(
                near(score.to_f64(), right, tolerance),
                "{:?}: own {score:?}, not {right}",
                case.likeness
            );
            seen.lock().expect("no row panicked").push(row);
            row as f64
        },
        &mut gradients,
    );
    assert_eq!(total, (0..case.b).sum::<usize>() as f64);
    let mut seen = seen.into_inner().expect("no row panicked");
    seen.sort_unstable();
    assert!(seen.iter().copied().eq((0..2 * case.b).map(|i| i / 2)), "every row once in each");
    let mut out = vec![T::ZERO; case.b];
    compare::pairs(case.likeness, case.d, &rows[0], &rows[2], weights.as_deref(), &mut out);
    assert!(out.iter().zip(&own).all(|(a, &b)| near(a.to_f64(), b, tolerance)));
}

#[test]
fn scores_are_the_formulas() {
    for likeness in ALL {
        for size in SIZES.into_iter().chain([(0, 3, 4), (530, 3, 4), (70, 300, 12)]) {
            for (own, weighted) in [(false, false), (false, true), (true, false), (true, true)] {
                let case = Compared::new(likeness, size, own, weighted);
                check_scores::<f64>(&case, 1e-12);
                check_scores::<f32>(&case, 1e-5);
            }
        }
    }
}

#[test]
fn gradients_are_differences() {
    for likeness in ALL {
        for size in SIZES.into_iter().filter(|size| size.2 < 40) {
            for (own, weighted) in [(false, false), (false, true), (true, false), (true, true)] {
                if size.1 > 0 || own {
                    differences(&Compared::new(likeness, size, own, weighted));
                }
            }
        }
    }
}

/// Relative to the largest gradient of a parameter, which rounding in the differences is relative to.
fn differences(case: &Compared) {
    let mut p = case.parameters();
    let (_, exact) = case.run(&p);
    let largest = exact.iter().flatten().fold(0.0_f64, |a, b| a.max(b.abs()));
    let step = 1e-4;
    for i in 0..p.len() {
        for j in 0..p[i].len() {
            let x = p[i][j];
            let mut at = |x: f64| {
                p[i][j] = x;
                case.run(&p).0
            };
            // Fourth order.
            let near = at(x + step) - at(x - step);
            let far = at(x + 2.0 * step) - at(x - 2.0 * step);
            at(x);
            let numeric = (8.0 * near - far) / (12.0 * step);
            assert!(
                (numeric - exact[i][j]).abs() <= 1e-6 * largest,
                "{:?} {i} {j}: difference {numeric}, gradient {}",
                case.likeness,
                exact[i][j]
            );
        }
    }
}

/// Gradients from the derivatives of the plain formulas, with nothing left out.
fn plain_gradients(case: &Compared, p: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let rows = case.rows(p);
    let (qw, cw) = (case.likeness.query_width(case.d), case.likeness.candidate_width(case.d));
    let (mut shared, own) = case.plain_scores(&rows);
    let mut g = zeros(p);
    for i in 0..case.b {
        let scores = &mut shared[i * case.n..][..case.n];
        let mut own = if case.own { own[i] } else { 0.0 };
        case.loss(i, &mut own, scores);
        let own = case.own.then_some((own, 2, i));
        for (slope, table, j) in scores.iter().enumerate().map(|(j, &x)| (x, 1, j)).chain(own) {
            let (_, dq, dc) = case.plain(i, &rows[0][i * qw..][..qw], &rows[table][j * cw..][..cw]);
            g[0][i * qw..].iter_mut().zip(&dq).for_each(|(g, x)| *g += slope * x);
            g[table][j * cw..].iter_mut().zip(&dc).for_each(|(g, x)| *g += slope * x);
        }
    }
    case.for_variances(&mut g, |x, (i, j)| *x *= 2.0 * p[i][j]);
    g
}

#[test]
fn small_gradients_may_be_left_out() {
    for likeness in ALL {
        for (own, weighted) in [(false, true), (true, false)] {
            let case = Compared { scale: 40.0, ..Compared::new(likeness, (21, 150, 38), own, weighted) };
            let p = case.parameters();
            let (_, ours) = case.run(&p);
            let plain = plain_gradients(&case, &p);
            for (ours, plain) in ours.iter().zip(&plain) {
                let largest = plain.iter().fold(0.0_f64, |a, b| a.max(b.abs()));
                assert!(ours.iter().zip(plain).all(|(a, b)| (a - b).abs() <= 1e-6 * largest), "{likeness:?}");
            }
            let width = likeness.candidate_width(case.d);
            let empty = ours[1].chunks(width).filter(|row| row.iter().all(|&x| x == 0.0)).count();
            assert!(
                likeness == Likeness::Dot || empty > 20,
                "{likeness:?}: {empty} candidates without gradient"
            );
        }
    }
}

#[test]
fn f32_is_close_to_f64_and_independent_of_threads() {
    for likeness in ALL {
        for (own, weighted) in [(false, false), (true, true)] {
            let case = Compared::new(likeness, (70, 150, 34), own, weighted);
            let p = case.parameters();
            let narrow: Vec<Vec<f32>> = p.iter().map(|x| convert(x)).collect();
            let ((a, ours), (b, wide)) = (case.run(&narrow), case.run(&p));
            assert!(near(f64::from(a), b, 1e-5), "{likeness:?}: {a}, not {b}");
            let largest = wide.iter().flatten().fold(0.0_f64, |a, b| a.max(b.abs()));
            let pairs = ours.iter().flatten().zip(wide.iter().flatten());
            assert!(
                pairs.into_iter().all(|(&a, b)| (f64::from(a) - b).abs() < 1e-5 * largest),
                "{likeness:?}"
            );
            threads(&Compared::new(likeness, (600, 150, 34), own, weighted));
            threads(&Compared::new(likeness, (40, 300, 50), own, weighted));
        }
    }
}

#[test]
fn gradients_are_added_and_zero_at_equal_rows() {
    let rows = [0.5_f32, -1.0, 0.25, 0.0];
    for likeness in [Likeness::L1, Likeness::L2, Likeness::Modulus] {
        let comparison =
            Comparison { likeness, queries: &rows, candidates: &rows, own: Some(&rows), weights: None, d: 4 };
        let [mut queries, mut candidates, mut own] = [[1.0, 2.0, 3.0, 4.0]; 3];
        let all = &mut Gradients { queries: &mut queries, candidates: &mut candidates, own: Some(&mut own) };
        let loss = compare::train(
            &comparison,
            |_, own, scores| {
                assert_eq!((*own, &*scores), (0.0, &[0.0][..]));
                (*own, scores[0]) = (1.0, -2.0);
                0.5
            },
            all,
        );
        assert_eq!((loss, queries, candidates, own), (0.5, [1.0, 2.0, 3.0, 4.0], queries, queries));
    }
}
