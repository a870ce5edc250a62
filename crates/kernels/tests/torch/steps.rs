//! The training step `w1` of the side-by-side baseline `torch_steps.py`, put together from kernels: same shapes, same
//! hashed initial values, same data. The step `w2` is put together from the blocks of `quadcast-models`, in its tests.

#![allow(clippy::many_single_char_names)] // The letters of the script.

use quadcast_kernels::head::{self, Goal, Head};
use quadcast_kernels::memory::{take, take_zeroed};
use quadcast_kernels::optimisers::{Adam, State};
use quadcast_kernels::segment::{self, Csr};
use quadcast_testing::hashed::{integers, uniform};

/// Parameters with their gradients and Adam's state.
struct Tensor {
    value: Vec<f32>,
    gradient: Vec<f32>,
    mean: Vec<f32>,
    square: Vec<f32>,
}

impl Tensor {
    fn new(value: Vec<f32>) -> Self {
        let zeros = vec![0.0; value.len()];
        Self { value, gradient: zeros.clone(), mean: zeros.clone(), square: zeros }
    }
}

fn update<const N: usize>(step: u64, tensors: [&mut Tensor; N]) {
    for t in tensors {
        let state = State { mean: &mut t.mean, square: &mut t.square, largest: None };
        Adam { rate: 1e-3, decay: 0.0 }.update(step, &mut t.value, &t.gradient, 1.0, state);
        t.gradient.fill(0.0);
    }
}

/// 1-vs-all bilinear step with times: 1000 queries, 7128 entities, 512 numbers each.
pub struct BilinearStep {
    tensors: [Tensor; 4],
    subjects: Vec<u32>,
    relations: Vec<u32>,
    /// The target of each query.
    objects: Csr,
    times: Vec<u32>,
    steps: u64,
}

const D1: usize = 512;

impl BilinearStep {
    pub fn new() -> Self {
        let (n, r, t, b) = (7128, 460, 365, 1000);
        let table = |seed, rows| Tensor::new(uniform(seed, rows * D1, 0.1));
        Self {
            tensors: [table(1, n), table(2, r), table(3, r), table(4, t)],
            subjects: integers(11, b, n),
            relations: integers(12, b, r),
            objects: Csr { starts: (0..=b as u32).collect(), items: integers(13, b, n) },
            times: integers(14, b, t),
            steps: 0,
        }
    }

    /// Loss before the update.
    pub fn step(&mut self) -> f32 {
        self.steps += 1;
        let Self { tensors: [e, re, rn, te], subjects, relations, objects, times, steps } = self;
        let (b, half) = (subjects.len(), D1 / 2);
        let [mut l, mut a, mut c, mut q] = std::array::from_fn(|_| take::<f32>(b * D1));
        let mut f = take::<f32>(b * D1);
        segment::gather(subjects, &e.value, D1, &mut l);
        segment::gather(relations, &re.value, D1, &mut a);
        segment::gather(relations, &rn.value, D1, &mut f);
        segment::gather(times, &te.value, D1, &mut c);
        for i in 0..b {
            let row = i * D1..(i + 1) * D1;
            let (a, c, l) = (&a[row.clone()], &c[row.clone()], &l[row.clone()]);
            let (f, q) = (&mut f[row.clone()], &mut q[row]);
            for j in 0..half {
                f[j] += a[j] * c[j] - a[half + j] * c[half + j];
                f[half + j] += a[j] * c[half + j] + a[half + j] * c[j];
                q[j] = l[j] * f[j] - l[half + j] * f[half + j];
                q[half + j] = l[j] * f[half + j] + l[half + j] * f[j];
            }
        }
        let mut dq = take_zeroed::<f32>(b * D1);
        let loss = head::loss_and_gradients(
            &Head { queries: &q, entities: &e.value, d: D1 },
            &Goal { lists: objects, weights: &vec![1.0; b], row_weights: None },
            &mut head::Gradients { queries: &mut dq, entities: &mut e.gradient },
        );
        // The gradients take the places of l, f, a and c, row by row.
        for i in 0..b {
            let row = i * D1..(i + 1) * D1;
            let (l, f) = (&mut l[row.clone()], &mut f[row.clone()]);
            let (a, c, g) = (&mut a[row.clone()], &mut c[row.clone()], &dq[row]);
            for (j, k) in (0..half).zip(half..) {
                let df = (g[j] * l[j] + g[k] * l[k], g[k] * l[j] - g[j] * l[k]);
                (l[j], l[k]) = (g[j] * f[j] + g[k] * f[k], g[k] * f[j] - g[j] * f[k]);
                (f[j], f[k]) = df;
                let da = (df.0 * c[j] + df.1 * c[k], df.1 * c[j] - df.0 * c[k]);
                (c[j], c[k]) = (df.0 * a[j] + df.1 * a[k], df.1 * a[j] - df.0 * a[k]);
                (a[j], a[k]) = da;
            }
        }
        segment::scatter_add(subjects, &l, D1, &mut e.gradient);
        segment::scatter_add(relations, &a, D1, &mut re.gradient);
        segment::scatter_add(relations, &f, D1, &mut rn.gradient);
        segment::scatter_add(times, &c, D1, &mut te.gradient);
        update(*steps, [e, re, rn, te]);
        loss
    }
}
