//! The encoder of history suffixes and a decoder for each length.

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::Tensor;
use quadcast_core::{History, ModelError, Step};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::Config;
use crate::blocks::device::Device;
use crate::blocks::{
    Adam, AdamConfig, ConvTrans, ConvTransConfig, Embedding, Initial, Parameters, Training, cross_entropy,
    distance, normalise_rows, pair_rows, score_strips, tanh,
};
use crate::forecast::snapshot_network::{SnapshotEncoder, SnapshotLearner};
use crate::forecast::snapshots::{CHANNELS, GraphLayers, PreparedSnapshot, StepQuestions, Window};
use crate::forecast::state::{Learned, Shape, softmax};

/// Entities as the histories of each length show them, shortest first: `[n, d]` each.
pub(super) struct Encoded(Vec<Tensor<2>>);

/// Earlier parameters, and the weight of the pull towards them.
pub(super) struct Anchor {
    pub values: Vec<Arc<[f32]>>,
    pub weight: f64,
}

/// All parameters and their optimiser.
pub(super) struct Network {
    pub shape: Shape,
    pub learned: Learned,
    entities: Embedding,
    relations: Embedding,
    layers: GraphLayers,
    /// By length of history, from 1.
    decoders: Vec<ConvTrans>,
}

impl Network {
    /// A network with its initial numbers.
    pub fn new(shape: Shape, config: &Config, seed: u64) -> Self {
        Self::with(Parameters::new(seed, &Device::chosen()), shape, config)
    }

    /// A network without numbers.
    pub fn outline(shape: Shape, config: &Config) -> Self {
        Self::with(Parameters::outline(&Device::chosen()), shape, config)
    }

    fn with(mut parameters: Parameters, shape: Shape, config: &Config) -> Self {
        let store = &mut parameters;
        let d = config.dimension;
        let (rows, directed) = (shape.entities, 2 * shape.relations);
        let entities = Embedding::new("entity", [rows, d], Initial::Normal(1.0), store);
        let initial = Initial::xavier_normal(directed, d);
        let relations = Embedding::new("relation", [directed, d], initial, store);
        let layers = GraphLayers::new(config.layers, d, config.dropout, store);
        let decoder = ConvTransConfig { d, channels: CHANNELS, dropout: config.dropout };
        let linear = decoder.init_linear("decoder", store);
        let decoders = (1..=config.longest)
            .map(|length| decoder.init_sharing(&format!("decoder{length}"), linear, store))
            .collect();
        let adam = Self::optimiser(config.learning_rate, config.weight_decay, config);
        let learned = Learned { parameters, adam };
        Self { shape, learned, entities, relations, layers, decoders }
    }

    fn optimiser(learning_rate: f64, weight_decay: f64, config: &Config) -> Adam {
        AdamConfig { learning_rate, weight_decay, amsgrad: false, clip: Some(config.clip) }.init()
    }

    /// Resets the moments of the optimiser.
    pub fn restart_optimiser(&mut self, learning_rate: f64, weight_decay: f64, config: &Config) {
        self.learned.adam = Self::optimiser(learning_rate, weight_decay, config);
    }

    /// Entities after some snapshots, oldest first; rows of length 1.
    fn evolve(
        &self,
        parameters: &Parameters,
        start: Tensor<2>,
        snapshots: &[Arc<PreparedSnapshot>],
        mut training: Training,
    ) -> Tensor<2> {
        let relations = self.relations.table(parameters);
        snapshots.iter().fold(start, |entities, snapshot| {
            let training = training.as_deref_mut();
            normalise_rows(self.layers.forward(parameters, snapshot, entities, &relations, training))
        })
    }

    /// Entities after each suffix of the snapshots, shortest first, as the decoders compare with them.
    fn suffixes(
        &self,
        parameters: &Parameters,
        snapshots: &[Arc<PreparedSnapshot>],
        mut training: Training,
    ) -> Vec<Tensor<2>> {
        let start = normalise_rows(self.entities.table(parameters));
        let lengths = 1..=snapshots.len().min(self.decoders.len());
        let suffix = |length: usize| &snapshots[snapshots.len() - length..];
        lengths
            .map(|length| {
                let training = training.as_deref_mut();
                tanh(self.evolve(parameters, start.clone(), suffix(length), training))
            })
            .collect()
    }

    /// One step of the optimiser on the facts that follow some snapshots; returns the loss.
    pub fn step(
        &mut self,
        snapshots: &[Arc<PreparedSnapshot>],
        asked: &StepQuestions,
        anchor: Option<&Anchor>,
        random: &mut ChaCha8Rng,
    ) -> f64 {
        let loss = self.loss(snapshots, asked, anchor, random);
        self.learned.descend(loss)
    }

    /// The sum over lengths of the cross entropies, and the pull back to the anchor.
    fn loss(
        &self,
        snapshots: &[Arc<PreparedSnapshot>],
        asked: &StepQuestions,
        anchor: Option<&Anchor>,
        random: &mut ChaCha8Rng,
    ) -> Tensor<1> {
        let parameters = &self.learned.parameters;
        let relations = self.relations.table(parameters);
        let encoded = self.suffixes(parameters, snapshots, Some(random));
        let mut losses = Vec::new();
        for (entities, decoder) in encoded.into_iter().zip(&self.decoders) {
            let (known, relation) = (asked.first.clone(), asked.second.clone());
            let pairs = pair_rows(entities.clone(), known, relations.clone(), relation);
            let counts = Some(Arc::clone(&asked.counts));
            let queries = decoder.forward(parameters, pairs, Some(random), counts.clone());
            losses.push(cross_entropy(queries, entities, asked.targets.clone(), counts));
        }
        if let Some(Anchor { values, weight }) = anchor {
            for ((parameter, _), from) in parameters.names().zip(values) {
                losses.push(distance(parameters.any(parameter), Arc::clone(from)) * *weight);
            }
        }
        Tensor::cat(losses, 0).sum()
    }

    /// The current parameters as an anchor.
    pub fn anchor(&self, weight: f64) -> Anchor {
        let parameters = &self.learned.parameters;
        let values = parameters.names().map(|(parameter, _)| Arc::from(&*parameters.values(parameter)));
        Anchor { values: values.collect(), weight }
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
        window: &Window<PreparedSnapshot>,
        random: &mut ChaCha8Rng,
    ) -> Result<f64, ModelError> {
        Ok(self.step(&window.snapshots, &StepQuestions::missing_entities(history, step)?, None, random))
    }
}

impl SnapshotEncoder for Network {
    type Snapshot = PreparedSnapshot;
    type Encoded = Encoded;

    fn encode(&self, window: &Window<PreparedSnapshot>) -> Encoded {
        Encoded(self.suffixes(&self.learned.parameters.frozen(), &window.snapshots, None))
    }

    fn score(
        &self,
        encoded: &Encoded,
        known: &[u32],
        relation: &[u32],
        f: &mut dyn FnMut(Range<usize>, &[f32]),
    ) {
        let frozen = self.learned.parameters.frozen();
        let relations = self.relations.table(&frozen);
        // The sum over lengths of the probabilities.
        let n = self.shape.entities.max(1);
        let mut sums = vec![0.0; known.len() * n];
        for (entities, decoder) in encoded.0.iter().zip(&self.decoders) {
            let pairs = pair_rows(entities.clone(), known, relations.clone(), relation);
            let queries = decoder.forward(&frozen, pairs, None, None);
            score_strips(queries, entities.clone(), |rows, scores| {
                let sums = sums[rows.start * n..rows.end * n].par_chunks_mut(n);
                sums.zip(scores.par_chunks_mut(n)).for_each(|(sums, scores)| {
                    softmax(scores);
                    sums.iter_mut().zip(scores).for_each(|(sum, x)| *sum += *x);
                });
            });
        }
        f(0..known.len(), &sums);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::gradients_predict_the_loss;
    use crate::forecast::snapshots::testing::snapshots;
    use quadcast_core::stream;

    #[test]
    fn gradients_are_those_of_the_loss() {
        let config = Config { dimension: 8, dropout: 0.0, longest: 3, ..Config::default() };
        snapshots::<PreparedSnapshot>(3, |history, window| {
            let mut network = Network::new(Shape::of(history), &config, 1);
            // From elsewhere, so that the pull has a direction.
            let anchor = Network::new(Shape::of(history), &config, 2).anchor(0.5);
            let asked = StepQuestions::missing_entities(history, Step(3)).unwrap();
            gradients_predict_the_loss(
                &mut network,
                |network| &mut network.learned.parameters,
                |network| network.loss(&window.snapshots, &asked, Some(&anchor), &mut stream(1, "none", 0)),
            );
        });
    }

    #[test]
    fn scores_are_sums_of_probabilities() {
        let config = Config { dimension: 8, longest: 3, ..Config::default() };
        snapshots::<PreparedSnapshot>(3, |history, window| {
            let network = Network::new(Shape::of(history), &config, 1);
            for read in 1..=3 {
                let mut window = window.clone();
                window.snapshots.drain(..3 - read);
                let encoded = network.encode(&window);
                network.score(&encoded, &[0, 4], &[1, 2], &mut |rows, scores| {
                    assert_eq!((rows, scores.len()), (0..2, 2 * history.entities()));
                    for row in scores.chunks(history.entities()) {
                        assert!((row.iter().sum::<f32>() - read as f32).abs() < 1e-4, "{row:?}");
                    }
                });
            }
        });
    }
}
