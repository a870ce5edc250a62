//! The graph that the model expects at a step: the likeliest facts of sampled subjects and objects.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use burn::tensor::Tensor;
use quadcast_core::{Direction, EntityId, Quad, Query, RelationId, SimulatedFact, Step, stream};
use rand::Rng;
use rustc_hash::FxHashMap;

use super::network::{Asked, GlobalVectors, Network, with_one};
use super::past::Past;
use crate::blocks::{Parameter, Parameters, floats, score_strips, select_rows};
use crate::forecast::state::{pad_rows, softmax};

/// Questions whose answers are scored together.
const TOGETHER: usize = 512;

/// How graphs are simulated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Simulation {
    pub seed: u64,
    /// Entities that are sampled on each side, and facts that each side may add.
    pub size: usize,
    /// Whether an entity that is sampled several times counts several times, and histories begin with known facts.
    pub compat: bool,
}

/// A fact and its probability; the least likely one is the greatest.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Candidate {
    probability: f64,
    fact: Quad,
}

impl Eq for Candidate {}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        other.probability.total_cmp(&self.probability).then(self.fact.cmp(&other.fact))
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The likeliest candidates so far.
struct Best {
    most: usize,
    heap: BinaryHeap<Candidate>,
}

impl Best {
    /// What a candidate must exceed.
    fn threshold(&self) -> f64 {
        match self.heap.peek() {
            Some(least) if self.heap.len() >= self.most => least.probability,
            _ => 0.0,
        }
    }

    fn push(&mut self, candidate: Candidate) {
        self.heap.push(candidate);
        if self.heap.len() > self.most {
            self.heap.pop();
        }
    }
}

/// Simulates a step, of which the global vector before it is given. Facts are distinct (but for `compat`) and in order of
/// probability: that of drawing this fact, as the likelier of the two sides has it.
pub(super) fn simulate(
    network: &Network,
    frozen: &Parameters,
    past: &Past<'_>,
    vectors: &GlobalVectors,
    (step, vector): (Step, Option<&[f32]>),
    simulation: &Simulation,
) -> Vec<SimulatedFact> {
    let mut facts: FxHashMap<Quad, (f64, usize)> = FxHashMap::default();
    for (direction, head) in Direction::BOTH.into_iter().zip(network.global_heads) {
        let sampled = sample(network, frozen, (step, vector), head, direction, simulation);
        for candidate in likeliest(network, frozen, past, vectors, (step, direction, &sampled), simulation) {
            let (probability, copies) = facts.entry(candidate.fact).or_default();
            *probability = probability.max(candidate.probability);
            *copies += 1;
        }
    }
    let mut facts: Vec<(Quad, (f64, usize))> = facts.into_iter().collect();
    facts.sort_by(|(a, (p, _)), (b, (q, _))| q.total_cmp(p).then(a.cmp(b)));
    let copies = |count: usize| if simulation.compat { count } else { 1 };
    facts
        .into_iter()
        .flat_map(|(fact, (share, count))| std::iter::repeat_n(SimulatedFact { fact, share }, copies(count)))
        .collect()
}

/// Distinct entities drawn from the global distribution of a side, with their probability and how often they were drawn.
fn sample(
    network: &Network,
    frozen: &Parameters,
    (step, vector): (Step, Option<&[f32]>),
    head: Parameter,
    direction: Direction,
    simulation: &Simulation,
) -> Vec<(EntityId, f64, usize)> {
    let Some(vector) = vector else { return Vec::new() };
    let beside: Tensor<2> = Tensor::zeros([1, 1], frozen.device());
    let vector = floats(vector.to_vec(), [1, vector.len()], &beside);
    let mut shares: Vec<f64> = Vec::new();
    let rows = select_rows(vector, pad_rows(&[0]));
    score_strips(with_one(rows), frozen.get(head), |rows, scores| {
        if rows.start == 0 {
            let own = &mut scores[..network.shape.entities];
            softmax(own);
            shares = own.iter().map(|&share| f64::from(share)).collect();
        }
    });
    let sums: Vec<f64> = shares
        .iter()
        .scan(0.0, |sum, share| {
            *sum += share;
            Some(*sum)
        })
        .collect();
    let total = sums.last().copied().unwrap_or_default();
    let side = u64::from(direction == Direction::Subject);
    let mut random = stream(simulation.seed, "re-net simulation", u64::from(step.0) << 1 | side);
    let mut counts: FxHashMap<usize, usize> = FxHashMap::default();
    for _ in 0..simulation.size {
        let place = random.random::<f64>() * total;
        let drawn = sums.partition_point(|&sum| sum <= place).min(sums.len() - 1);
        *counts.entry(drawn).or_default() += 1;
    }
    let mut sampled: Vec<(EntityId, f64, usize)> =
        counts.into_iter().map(|(entity, count)| (EntityId(entity as u32), shares[entity], count)).collect();
    sampled.sort_unstable_by_key(|&(entity, ..)| entity);
    sampled
}

/// The likeliest facts of sampled entities on the known side of questions of a direction. Questions come in order of their own
/// probability, and end where no answer could be likely enough.
fn likeliest(
    network: &Network,
    frozen: &Parameters,
    past: &Past<'_>,
    vectors: &GlobalVectors,
    (step, direction, sampled): (Step, Direction, &[(EntityId, f64, usize)]),
    simulation: &Simulation,
) -> Vec<Candidate> {
    let mut questions: Vec<(f64, Asked, usize)> = Vec::new();
    let relations = network.shape.relations;
    for sampled in sampled.chunks(TOGETHER) {
        // The relation is not asked about here: any will do.
        let asked: Vec<Asked> =
            sampled.iter().map(|&(known, ..)| Asked { step, known, relation: 0 }).collect();
        let encoded = network.encode(frozen, past, vectors, (direction, &asked), None);
        let rows: Vec<u32> = (0..sampled.len() as u32).collect();
        let queries = select_rows(encoded.relation, pad_rows(&rows));
        score_strips(queries, frozen.get(network.relation_head), |rows, scores| {
            for (row, scores) in rows.zip(scores.chunks_exact_mut(relations)) {
                let Some(&(known, share, copies)) = sampled.get(row) else { break };
                softmax(scores);
                let asked = scores
                    .iter()
                    .zip(0..)
                    .map(|(&p, relation)| (share * f64::from(p), Asked { step, known, relation }, copies));
                questions.extend(asked);
            }
        });
    }
    questions.sort_by(|(p, a, _), (q, b, _)| q.total_cmp(p).then(a.cmp(b)));
    let mut best = Best { most: simulation.size, heap: BinaryHeap::new() };
    for questions in questions.chunks(TOGETHER) {
        if questions[0].0 <= best.threshold() {
            break;
        }
        let asked: Vec<Asked> = questions.iter().map(|(_, asked, _)| *asked).collect();
        let encoded = network.encode(frozen, past, vectors, (direction, &asked), None);
        let rows: Vec<u32> = (0..asked.len() as u32).collect();
        let queries = select_rows(encoded.entity, pad_rows(&rows));
        score_strips(queries, frozen.get(network.entity_head), |rows, scores| {
            for (row, scores) in rows.zip(scores.chunks_exact_mut(network.shape.entities)) {
                let Some(&(share, Asked { step, known, relation }, copies)) = questions.get(row) else {
                    break;
                };
                if share <= best.threshold() {
                    break;
                }
                softmax(scores);
                let query = Query { step, known, relation: RelationId(relation), direction };
                for (&p, answer) in scores.iter().zip(0..) {
                    let probability = share * f64::from(p);
                    if probability > best.threshold() {
                        let fact = query.fact(EntityId(answer), step);
                        let copies = if simulation.compat { copies } else { 1 };
                        (0..copies).for_each(|_| best.push(Candidate { probability, fact }));
                    }
                }
            }
        });
    }
    best.heap.into_vec()
}

/// Scores of all candidates for questions of one direction, as rows of logits.
pub(super) fn score(
    network: &Network,
    frozen: &Parameters,
    past: &Past<'_>,
    vectors: &GlobalVectors,
    (direction, asked): (Direction, &[Asked]),
    f: impl FnMut(std::ops::Range<usize>, &mut [f32]),
) {
    let encoded = network.encode(frozen, past, vectors, (direction, asked), None);
    let rows: Vec<u32> = (0..asked.len() as u32).collect();
    let queries = select_rows(encoded.entity, pad_rows(&rows));
    score_strips(queries, frozen.get(network.entity_head), f);
}
