//! The training steps `w1` and `w2` of the side-by-side baseline `torch_steps.py`, put together from kernels:
//! same shapes, same hashed initial values, same data.

#![allow(clippy::many_single_char_names)] // The letters of the script.

use quadcast_kernels::conv_trans::{self, Masks, Mode};
use quadcast_kernels::gcn::{self, SnapshotGraph};
use quadcast_kernels::head::{self, Goal, Head};
use quadcast_kernels::memory::{Buffer, take, take_zeroed};
use quadcast_kernels::optimisers::{Adam, State};
use quadcast_kernels::segment::{self, Csr};
use quadcast_kernels::{gate, gru, linear};
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
        Adam::default().update(step, &mut t.value, &t.gradient, 1.0, state);
        t.gradient.fill(0.0);
    }
}

/// 1-vs-all bilinear step with times: 1000 queries, 7128 entities, 512 numbers each.
pub struct BilinearStep {
    tensors: [Tensor; 4],
    subjects: Vec<u32>,
    relations: Vec<u32>,
    objects: Vec<u32>,
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
            objects: integers(13, b, n),
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
            &Head { queries: &q, entities: &e.value, bias: None, d: D1 },
            &Goal::plain(objects),
            &mut head::Gradients { queries: &mut dq, entities: &mut e.gradient, bias: None },
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

const N: usize = 7128;
const R: usize = 460;
const D: usize = 200;
const CHANNELS: usize = 50;
/// As the script rounds 11/48.
const SLOPE: f64 = 0.2292;

struct Snapshot {
    graph: SnapshotGraph,
    /// Subjects per relation, and relations per subject.
    subjects: Csr,
    relations: Csr,
}

/// What the backward pass of a snapshot needs.
struct Passed {
    gru_input: Buffer<f32>,
    gru: gru::ForwardState<f32>,
    layers: [(Buffer<f32>, gcn::ForwardState<f32>); 2],
    gate: Buffer<f32>,
    /// State of entities and relations after the snapshot.
    entities: Buffer<f32>,
    relations: Buffer<f32>,
}

/// RE-GCN-like step: 3 snapshots with 500 edges, 7128 entities, 500 queries, 200 numbers each.
pub struct GraphStep {
    entities: Tensor,
    relations: Tensor,
    neighbour: [Tensor; 2],
    own: [Tensor; 2],
    gate_weight: Tensor,
    gate_bias: Tensor,
    /// Input and hidden weights, input and hidden bias.
    gru: [Tensor; 4],
    /// Convolution and its bias, linear map and its bias.
    trunk: [Tensor; 4],
    snapshots: Vec<Snapshot>,
    queries: [Vec<u32>; 3],
    steps: u64,
}

impl GraphStep {
    pub fn new() -> Self {
        let zeros = |n| Tensor::new(vec![0.0; n]);
        let table = |seed, n, a| Tensor::new(uniform(seed, n, a));
        let snapshots = (0..3)
            .map(|t| {
                let (s, r, o) = (
                    integers(20 + 3 * t, 500, N),
                    integers(21 + 3 * t, 500, R),
                    integers(22 + 3 * t, 500, N),
                );
                let edges: Vec<_> = (0..500).map(|i| (s[i], r[i], o[i])).collect();
                let subjects = Csr::from_pairs(R, edges.iter().map(|e| (e.1, e.0)));
                let relations = subjects.transpose(N);
                Snapshot { graph: SnapshotGraph::new(N, R, &edges), subjects, relations }
            })
            .collect();
        Self {
            entities: table(1, N * D, 0.1),
            relations: table(2, R * D, 0.1),
            neighbour: [table(3, D * D, 0.1), table(4, D * D, 0.1)],
            own: [table(5, D * D, 0.1), table(6, D * D, 0.1)],
            gate_weight: table(7, D * D, 0.1),
            gate_bias: zeros(D),
            gru: [table(8, 3 * D * 2 * D, 0.1), table(9, 3 * D * D, 0.1), zeros(3 * D), zeros(3 * D)],
            trunk: [
                table(10, CHANNELS * 6, 0.1),
                zeros(CHANNELS),
                table(11, D * CHANNELS * D, 0.01),
                zeros(D),
            ],
            snapshots,
            queries: [integers(40, 500, N), integers(41, 500, R), integers(42, 500, N)],
            steps: 0,
        }
    }

    fn gru_weights(&self) -> gru::Weights<'_, f32> {
        let [_, hidden, _, hidden_bias] = self.gru.each_ref().map(|t| &t.value[..]);
        gru::Weights { hidden, hidden_bias }
    }

    fn layer(&self, i: usize) -> gcn::Weights<'_, f32> {
        gcn::Weights {
            neighbour: &self.neighbour[i].value,
            own: &self.own[i].value,
            isolated: None,
            slope: SLOPE,
        }
    }

    fn evolve(&self, snapshot: &Snapshot, entities: &[f32], relations: &[f32]) -> Passed {
        let mut means = take::<f32>(R * D);
        segment::mean(&snapshot.subjects, entities, D, &mut means);
        let mut gru_input = take::<f32>(R * 2 * D);
        for (i, row) in gru_input.chunks_exact_mut(2 * D).enumerate() {
            row[..D].copy_from_slice(&self.relations.value[i * D..][..D]);
            row[D..].copy_from_slice(&means[i * D..][..D]);
        }
        let mut mapped = take::<f32>(R * 3 * D);
        let [weight, _, bias, _] = self.gru.each_ref().map(|t| &t.value[..]);
        linear::forward(&linear::Weights { weight, bias: Some(bias) }, &gru_input, 3 * D, &mut mapped);
        let mut p = take::<f32>(R * D);
        let gru = gru::forward(&self.gru_weights(), &mapped, relations, &mut p);
        let (mut first, mut second) = (take::<f32>(N * D), take::<f32>(N * D));
        let kept_first = gcn::forward(&snapshot.graph, &self.layer(0), entities, &p, None, &mut first);
        let kept_second = gcn::forward(&snapshot.graph, &self.layer(1), &first, &p, None, &mut second);
        let (mut gate, mut out) = (take::<f32>(N * D), take::<f32>(N * D));
        gate::forward(&self.gate_inputs(entities, &second), &mut gate, &mut out);
        Passed {
            gru_input,
            gru,
            layers: [(first, kept_first), (second, kept_second)],
            gate,
            entities: out,
            relations: p,
        }
    }

    fn gate_inputs<'a>(&'a self, old: &'a [f32], candidate: &'a [f32]) -> gate::Inputs<'a, f32> {
        gate::Inputs { old, candidate, weight: &self.gate_weight.value, bias: &self.gate_bias.value }
    }

    /// Loss before the update.
    pub fn step(&mut self) -> f32 {
        self.steps += 1;
        let mut passed: Vec<Passed> = Vec::new();
        for snapshot in &self.snapshots {
            let (h, p) = passed.last().map_or((&self.entities.value[..], &self.relations.value[..]), |x| {
                (&x.entities, &x.relations)
            });
            let next = self.evolve(snapshot, h, p);
            passed.push(next);
        }
        let mut dh = take_zeroed::<f32>(N * D);
        let mut dp = take_zeroed::<f32>(R * D);
        let loss = self.decode(&passed[2], &mut dh, &mut dp);
        for t in (0..3).rev() {
            let mut dh_before = take::<f32>(N * D);
            let mut dp_before = take::<f32>(R * D);
            let before = if t == 0 { None } else { Some(&passed[t - 1]) };
            self.back(t, before, &passed[t], (&dh, &mut dp), (&mut dh_before, &mut dp_before));
            (dh, dp) = (dh_before, dp_before);
        }
        add(&mut self.entities.gradient, &dh);
        add(&mut self.relations.gradient, &dp);
        let Self { entities, relations, neighbour, own, gate_weight, gate_bias, gru, trunk, .. } = self;
        update(self.steps, [entities, relations, gate_weight, gate_bias]);
        update(self.steps, neighbour.each_mut());
        update(self.steps, own.each_mut());
        update(self.steps, gru.each_mut());
        update(self.steps, trunk.each_mut());
        loss
    }

    /// Loss, and its gradients for the last states.
    fn decode(&mut self, last: &Passed, dh: &mut [f32], dp: &mut [f32]) -> f32 {
        let Self { trunk: [conv, conv_bias, linear, linear_bias], queries: [s, r, o], .. } = self;
        let b = s.len();
        let weights = conv_trans::Weights {
            conv: &conv.value,
            conv_bias: &conv_bias.value,
            linear: &linear.value,
            linear_bias: &linear_bias.value,
            norms: None,
        };
        let mut x = take::<f32>(b * 2 * D);
        for (i, row) in x.chunks_exact_mut(2 * D).enumerate() {
            row[..D].copy_from_slice(&last.entities[s[i] as usize * D..][..D]);
            row[D..].copy_from_slice(&last.relations[r[i] as usize * D..][..D]);
        }
        let masks = Masks::default();
        let mut out = take::<f32>(b * D);
        let kept = conv_trans::forward(&weights, &x, &masks, Mode::Plain, &mut out);
        let mut dout = take_zeroed::<f32>(b * D);
        let loss = head::loss_and_gradients(
            &Head { queries: &out, entities: &last.entities, bias: None, d: D },
            &Goal::plain(o),
            &mut head::Gradients { queries: &mut dout, entities: dh, bias: None },
        );
        let mut dx = take_zeroed::<f32>(b * 2 * D);
        conv_trans::backward(
            &weights,
            &x,
            &masks,
            &kept,
            &conv_trans::Output { out: &out, dout: &dout },
            &mut conv_trans::Gradients {
                x: &mut dx,
                conv: &mut conv.gradient,
                conv_bias: &mut conv_bias.gradient,
                linear: &mut linear.gradient,
                linear_bias: &mut linear_bias.gradient,
                norms: None,
            },
        );
        for (i, row) in dx.chunks_exact(2 * D).enumerate() {
            add(&mut dh[s[i] as usize * D..][..D], &row[..D]);
            add(&mut dp[r[i] as usize * D..][..D], &row[D..]);
        }
        loss
    }

    /// Gradients of one snapshot: from those of the states after it to those of the states before it.
    fn back(
        &mut self,
        t: usize,
        before: Option<&Passed>,
        passed: &Passed,
        (dh, dp): (&[f32], &mut [f32]),
        (dh_before, dp_before): (&mut [f32], &mut [f32]),
    ) {
        let snapshot = &self.snapshots[t];
        let Passed { gru_input, gru, layers: [(first, kept_first), (second, kept_second)], gate, .. } =
            passed;
        let (h, p) = before
            .map_or((&self.entities.value[..], &self.relations.value[..]), |x| (&x.entities, &x.relations));
        let mut dsecond = take::<f32>(N * D);
        gate::backward(
            &gate::Inputs {
                old: h,
                candidate: second,
                weight: &self.gate_weight.value,
                bias: &self.gate_bias.value,
            },
            gate,
            dh,
            &mut gate::Gradients {
                old: dh_before,
                candidate: &mut dsecond,
                weight: &mut self.gate_weight.gradient,
                bias: &mut self.gate_bias.gradient,
            },
        );
        let (mut dfirst, mut dx) = (take::<f32>(N * D), take::<f32>(N * D));
        let [neighbour0, neighbour1] = &mut self.neighbour;
        let [own0, own1] = &mut self.own;
        gcn::backward(
            &snapshot.graph,
            &gcn::Weights { neighbour: &neighbour1.value, own: &own1.value, isolated: None, slope: SLOPE },
            first,
            kept_second,
            &gcn::Output { out: second, mask: None, dout: &dsecond },
            &mut gcn::Gradients {
                x: &mut dfirst,
                p: dp,
                neighbour: &mut neighbour1.gradient,
                own: &mut own1.gradient,
                isolated: None,
            },
        );
        gcn::backward(
            &snapshot.graph,
            &gcn::Weights { neighbour: &neighbour0.value, own: &own0.value, isolated: None, slope: SLOPE },
            h,
            kept_first,
            &gcn::Output { out: first, mask: None, dout: &dfirst },
            &mut gcn::Gradients {
                x: &mut dx,
                p: dp,
                neighbour: &mut neighbour0.gradient,
                own: &mut own0.gradient,
                isolated: None,
            },
        );
        add(dh_before, &dx);
        let [input, hidden, input_bias, hidden_bias] = &mut self.gru;
        let mut dmapped = take::<f32>(R * 3 * D);
        gru::backward(
            &gru::Weights { hidden: &hidden.value, hidden_bias: &hidden_bias.value },
            p,
            gru,
            dp,
            &mut gru::Gradients {
                x: &mut dmapped,
                h: dp_before,
                hidden: &mut hidden.gradient,
                hidden_bias: &mut hidden_bias.gradient,
            },
        );
        let mut dx = take::<f32>(R * 2 * D);
        linear::backward(
            &linear::Weights { weight: &input.value, bias: Some(&input_bias.value) },
            gru_input,
            3 * D,
            &dmapped,
            &mut linear::Gradients {
                x: &mut dx,
                weight: &mut input.gradient,
                bias: Some(&mut input_bias.gradient),
            },
        );
        let mut dmeans = take::<f32>(R * D);
        for (i, row) in dx.chunks_exact(2 * D).enumerate() {
            add(&mut self.relations.gradient[i * D..][..D], &row[..D]);
            dmeans[i * D..][..D].copy_from_slice(&row[D..]);
        }
        segment::mean_backward(&snapshot.subjects, &snapshot.relations, &dmeans, D, dh_before);
    }
}

fn add(y: &mut [f32], x: &[f32]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += x;
    }
}
