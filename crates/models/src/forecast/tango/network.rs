//! The network: initial vectors, their flow from snapshot to snapshot, and the decoders.

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::Tensor;
use quadcast_core::{Direction, History, ModelError, Quad, Query, Step};
use rand_chacha::ChaCha8Rng;

use super::flow::{Flow, IntervalGraph, Link, changes};
use super::{Config, Decoder};
use crate::blocks::device::Device;
use crate::blocks::{
    AdamConfig, BatchNorm, Embedding, Gradients, Groups, Initial, Moments, Parameter, Parameters, Training,
    cross_entropy, dropout, grouped_product, leaf, linear_without_bias, pull_back, score_strips, select_rows,
};
use crate::forecast::snapshot_network::{SnapshotEncoder, SnapshotLearner};
use crate::forecast::snapshots::{Prepare, StepQuestions, Window};
use crate::forecast::state::{Learned, Shape, pad_rows};

/// The distinct directed facts of a snapshot, sorted.
pub(crate) struct Links(Vec<Link>);

impl Prepare for Links {
    fn prepare(history: &History<'_>, facts: &(impl Iterator<Item = Quad> + Clone)) -> Self {
        let directed = |fact: Quad| {
            Direction::BOTH.map(|direction| {
                let (query, answer) = Query::hide(fact, direction);
                (query.known.0, query.directed(history.relations()).0, answer.0)
            })
        };
        let mut links: Vec<Link> = facts.clone().flat_map(directed).collect();
        links.sort_unstable();
        links.dedup();
        Self(links)
    }
}

/// Entities and relations at the time that is asked about.
pub(crate) struct Encoded {
    entities: Tensor<2>,
    relations: Tensor<2>,
    /// What scores are products with.
    candidates: Tensor<2>,
}

/// Parts of the decoder with parameters.
enum Scorer {
    DistMult,
    TuckEr {
        /// `[d·d, d]`: row (i, j) gives entry (i, j) of the matrix of a relation.
        core: Parameter,
        before: BatchNorm,
        after: BatchNorm,
    },
}

/// All parameters and their optimiser.
pub(crate) struct Network {
    pub(super) shape: Shape,
    pub(super) learned: Learned,
    /// The time by which times are divided.
    pub(super) span: f64,
    config: Config,
    entities: Embedding,
    relations: Embedding,
    flow: Flow,
    scorer: Scorer,
}

impl Network {
    /// A network with its initial numbers.
    pub fn new(shape: Shape, config: &Config, span: f64, seed: u64) -> Self {
        Self::with(Parameters::new(seed, &Device::chosen()), shape, config, span)
    }

    /// A network without numbers.
    pub fn outline(shape: Shape, config: &Config, span: f64) -> Self {
        Self::with(Parameters::outline(&Device::chosen()), shape, config, span)
    }

    fn with(mut parameters: Parameters, shape: Shape, config: &Config, span: f64) -> Self {
        let store = &mut parameters;
        let d = config.dimension;
        let (rows, directed) = (shape.entities, 2 * shape.relations);
        let entities = Embedding::new("entity", [rows, d], Initial::xavier_normal(rows, d), store);
        let relations = Embedding::new("relation", [directed, d], Initial::xavier_normal(directed, d), store);
        let flow = Flow::new(config, store);
        let scorer = match config.decoder {
            Decoder::DistMult => Scorer::DistMult,
            Decoder::TuckEr => Scorer::TuckEr {
                core: store.add("core", &[d * d, d], Initial::Uniform(1.0)),
                before: BatchNorm::new("norm.before", d, store),
                after: BatchNorm::new("norm.after", d, store),
            },
        };
        let adam = AdamConfig { learning_rate: config.learning_rate, ..AdamConfig::default() }.init();
        let learned = Learned { parameters, adam };
        Self { shape, learned, span, config: config.clone(), entities, relations, flow, scorer }
    }

    /// Graph and length of each interval of a window, the last one until the time that is asked about.
    fn intervals(&self, window: &Window<Links>) -> Vec<(IntervalGraph, f64)> {
        let lists = &window.snapshots;
        // The last snapshot has no later one yet: it takes the changes before it.
        let changed = |i: usize| match lists.get(i + 1) {
            Some(later) => changes(&lists[i].0, &later.0),
            None => i.checked_sub(1).map_or_else(Vec::new, |before| changes(&lists[before].0, &lists[i].0)),
        };
        let (n, directed) = (self.shape.entities, 2 * self.shape.relations);
        let interval = |(i, times): (usize, &[i64])| {
            let changes = self.flow.reads_changes().then(|| changed(i));
            let graph = IntervalGraph::new(&lists[i].0, changes.as_deref(), n, directed);
            // Growth is exponential: what is further away than the training period is long counts as that far.
            let length = (times[1].saturating_sub(times[0]) as f64 / self.span).min(1.0);
            (graph, length * self.config.scale)
        };
        window.times.windows(2).enumerate().map(interval).collect()
    }

    /// Entities and relations before the first snapshot, `[n + 2R, d]`.
    fn start(&self, parameters: &Parameters) -> Tensor<2> {
        Tensor::cat(vec![self.entities.table(parameters), self.relations.table(parameters)], 0)
    }

    fn encoded(&self, parameters: &Parameters, state: Tensor<2>) -> Encoded {
        let (n, all) = (self.shape.entities, state.dims()[0]);
        let entities = state.clone().narrow(0, 0, n);
        let candidates = match self.scorer {
            Scorer::DistMult => Tensor::cat(vec![self.entities.table(parameters), entities.clone()], 1),
            Scorer::TuckEr { .. } => entities.clone(),
        };
        Encoded { entities, relations: state.narrow(0, n, all - n), candidates }
    }

    /// What is compared with the candidates, for questions sorted by relation; a question counts as often as `counts` says.
    fn queries(
        &self,
        parameters: &Parameters,
        encoded: &Encoded,
        (relation, known): (&Arc<[u32]>, &Arc<[u32]>),
        (counts, mut training): (&Arc<[f32]>, Training),
    ) -> Tensor<2> {
        let own = select_rows(encoded.entities.clone(), Arc::clone(known));
        let Scorer::TuckEr { core, before, after } = &self.scorer else {
            let p = select_rows(encoded.relations.clone(), Arc::clone(relation));
            let first = self.entities.rows(parameters, Arc::clone(known));
            return Tensor::cat(vec![first * p.clone(), own * p], 1);
        };
        let moments = match training {
            Some(_) => Moments::Batch(Some(Arc::clone(counts))),
            None => Moments::Running,
        };
        let rate = self.config.dropout;
        let mut starts: Vec<usize> =
            (0..relation.len()).filter(|&i| i == 0 || relation[i] != relation[i - 1]).collect();
        let occurring: Vec<u32> = starts.iter().map(|&start| relation[start]).collect();
        starts.push(relation.len());
        // The mask of a matrix is shared by the questions of its relation.
        let p = select_rows(encoded.relations.clone(), pad_rows(&occurring));
        let matrices = linear_without_bias(p, parameters.any(*core)).narrow(0, 0, occurring.len());
        let matrices = dropout(matrices, rate, training.as_deref_mut());
        let own = dropout(before.forward(parameters, own, moments.clone()), rate, training.as_deref_mut());
        let mapped = grouped_product(own, matrices, Arc::new(Groups { starts }));
        dropout(after.forward(parameters, mapped, moments), rate, training)
    }

    /// The loss for a state at the time that is asked about.
    fn loss_at(
        &self,
        parameters: &Parameters,
        state: Tensor<2>,
        asked: &StepQuestions,
        random: &mut ChaCha8Rng,
    ) -> Tensor<1> {
        let encoded = self.encoded(parameters, state);
        let known = (&asked.first, &asked.second);
        let queries = self.queries(parameters, &encoded, known, (&asked.counts, Some(random)));
        cross_entropy(queries, encoded.candidates, asked.targets.clone(), Some(Arc::clone(&asked.counts)))
    }

    /// The loss with one tape for all of it.
    #[cfg(test)]
    fn loss(&self, window: &Window<Links>, asked: &StepQuestions, random: &mut ChaCha8Rng) -> Tensor<1> {
        let parameters = &self.learned.parameters;
        let mut state = self.start(parameters);
        for (graph, length) in self.intervals(window) {
            state = self.flow.advance(parameters, &graph, state, length, Some(random));
        }
        self.loss_at(parameters, state, asked, random)
    }

    /// The loss and its gradients. Only the states between the intervals are kept: each interval is computed again for its gradient,
    /// and moves the running estimates of its normalisations then.
    fn gradients(
        &self,
        window: &Window<Links>,
        asked: &StepQuestions,
        random: &mut ChaCha8Rng,
    ) -> (f64, Gradients) {
        let parameters = &self.learned.parameters;
        let frozen = parameters.frozen();
        let mut state = self.start(&frozen);
        let mut parts = Vec::new();
        for (graph, length) in self.intervals(window) {
            let (before, stream) = (state.clone(), random.clone());
            state = self.flow.advance(&frozen, &graph, state, length, Some(random));
            parts.push((graph, length, before, stream));
        }
        drop(frozen);
        let end = leaf(state);
        let loss = self.loss_at(parameters, end.clone(), asked, random);
        let value = f64::from(loss.clone().into_scalar::<f32>());
        let (mut gradients, mut upstream) = parameters.backward_to(&loss, &end);
        for (graph, length, before, mut stream) in parts.into_iter().rev() {
            let before = leaf(before);
            let after = self.flow.advance(parameters, &graph, before.clone(), length, Some(&mut stream));
            let (own, earlier) = pull_back(parameters, &before, after, upstream);
            gradients.add(own);
            upstream = earlier;
        }
        let start = self.start(parameters);
        let upstream = Tensor::from_inner(upstream);
        gradients.add(parameters.backward(&(start * upstream).sum()));
        (value, gradients)
    }
}

impl SnapshotLearner for Network {
    fn learned(&self) -> &Learned {
        &self.learned
    }

    fn learned_mut(&mut self) -> &mut Learned {
        &mut self.learned
    }

    fn learn(
        &mut self,
        history: &History<'_>,
        step: Step,
        window: &Window<Links>,
        random: &mut ChaCha8Rng,
    ) -> Result<f64, ModelError> {
        let asked = StepQuestions::distinct_by_relation(history, step)?;
        let (loss, gradients) = self.gradients(window, &asked, random);
        self.learned.adam.step(&mut self.learned.parameters, gradients);
        Ok(loss)
    }
}

impl SnapshotEncoder for Network {
    type Snapshot = Links;
    type Encoded = Encoded;

    const READS_TIME: bool = true;

    fn encode(&self, window: &Window<Links>) -> Encoded {
        let frozen = self.learned.parameters.frozen();
        let mut state = self.start(&frozen);
        for (graph, length) in self.intervals(window) {
            state = self.flow.advance(&frozen, &graph, state, length, None);
        }
        self.encoded(&frozen, state)
    }

    fn score(
        &self,
        encoded: &Encoded,
        known: &[u32],
        relation: &[u32],
        f: &mut dyn FnMut(Range<usize>, &[f32]),
    ) {
        let frozen = self.learned.parameters.frozen();
        let mut order: Vec<u32> = (0..known.len() as u32).collect();
        order.sort_by_key(|&i| relation[i as usize]);
        // Every relation has as many rows as a product needs to add in the same order for any number of them.
        let (mut rows, mut places) = (Vec::new(), vec![0; known.len()]);
        for group in order.chunk_by(|&a, &b| relation[a as usize] == relation[b as usize]) {
            group.iter().zip(rows.len() as u32..).for_each(|(&i, place)| places[i as usize] = place);
            rows.extend(pad_rows(group));
        }
        let of = |list: &[u32]| -> Arc<[u32]> { rows.iter().map(|&i| list[i as usize]).collect() };
        let counts = vec![1.0; rows.len()].into();
        let queries = self.queries(&frozen, encoded, (&of(relation), &of(known)), (&counts, None));
        let queries = select_rows(queries, places);
        score_strips(queries, encoded.candidates.clone(), |rows, scores| f(rows, scores));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{close, gradients_predict_the_loss};
    use crate::forecast::snapshots::testing::snapshots;
    use quadcast_core::stream;

    fn config(decoder: Decoder, jump: f64, layers: usize) -> Config {
        // A long time, so that the flow matters.
        Config { dimension: 8, dropout: 0.0, scale: 1.0, decoder, jump, layers, ..Config::default() }
    }

    const KINDS: [(Decoder, f64, usize); 3] =
        [(Decoder::TuckEr, 0.0, 2), (Decoder::DistMult, 0.5, 2), (Decoder::DistMult, 0.0, 1)];

    #[test]
    fn gradients_are_those_of_the_loss() {
        for (decoder, jump, layers) in KINDS {
            snapshots::<Links>(3, |history, window| {
                let config = config(decoder, jump, layers);
                let mut network = Network::new(Shape::of(history), &config, 5.0, 1);
                let asked = StepQuestions::distinct_by_relation(history, Step(3)).unwrap();
                gradients_predict_the_loss(
                    &mut network,
                    |network| &mut network.learned.parameters,
                    |network| network.loss(window, &asked, &mut stream(1, "none", 0)),
                );
            });
        }
    }

    #[test]
    fn intervals_that_are_computed_again_give_the_same_gradients() {
        for (decoder, jump, layers) in KINDS {
            snapshots::<Links>(3, |history, window| {
                let config = Config { dropout: 0.3, ..config(decoder, jump, layers) };
                let network = || Network::new(Shape::of(history), &config, 5.0, 1);
                let asked = StepQuestions::distinct_by_relation(history, Step(3)).unwrap();
                let (whole, parts) = (network(), network());
                let loss = whole.loss(window, &asked, &mut stream(1, "masks", 0));
                let expected = whole.learned.parameters.backward(&loss);
                let (value, gradients) = parts.gradients(window, &asked, &mut stream(1, "masks", 0));
                assert!((value - f64::from(loss.into_scalar::<f32>())).abs() < 1e-6);
                for (parameter, name) in parts.learned.parameters.names() {
                    let of = |gradients: &Gradients| gradients.values(parameter).unwrap_or_default();
                    close(name, &of(&gradients), &of(&expected));
                }
            });
        }
    }

    #[test]
    fn entities_without_facts_move_alike() {
        snapshots::<Links>(1, |history, window| {
            let config = config(Decoder::DistMult, 0.0, 2);
            let network = Network::new(Shape { entities: 20, ..Shape::of(history) }, &config, 5.0, 1);
            let frozen = network.learned.parameters.frozen();
            let d = config.dimension;
            let moved: Vec<f32> = {
                // With the moments of the rows at hand: the running estimates leave a bias of 0 where it is.
                let (graph, length) = network.intervals(window).pop().unwrap();
                let (before, masks) = (network.start(&frozen), &mut stream(1, "none", 0));
                let after = network.flow.advance(&frozen, &graph, before.clone(), length, Some(masks));
                crate::blocks::AnyTensor::from(after - before).into_values()
            };
            // The small world has 14 entities.
            let (first, other) = (&moved[14 * d..15 * d], &moved[19 * d..]);
            assert!(
                first.iter().zip(other).all(|(a, b)| (a - b).abs() < 1e-6) && first.iter().any(|&x| x != 0.0)
            );
            assert!(moved[..d].iter().zip(first).any(|(a, b)| (a - b).abs() > 1e-4), "an entity with facts");
        });
    }
}
