//! The network of one direction.

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::Tensor;
use quadcast_core::{Direction, ModelError};
use quadcast_kernels::mixture::{Linear, Mixture, score_strips};
use quadcast_kernels::segment::Csr;
use safetensors::{SafeTensorError, SafeTensors};

use super::Config;
use crate::blocks::device::Device;
use crate::blocks::{AdamConfig, Embedding, Initial, MixtureHead, Parameters};
use crate::forecast::state::{Learned, Shape, pad_rows};

/// A question as input of the network.
#[derive(Clone, Copy, Debug)]
pub(super) struct NetworkQuery {
    pub known: u32,
    pub relation: u32,
    pub time: f32,
}

/// The parameters of one direction and their optimiser.
pub(super) struct Network {
    pub shape: Shape,
    dimension: usize,
    alpha: f64,
    direction: Direction,
    pub learned: Learned,
    entities: Embedding,
    relations: Embedding,
    time: Embedding,
    head: MixtureHead,
}

impl Network {
    /// A network with its initial numbers.
    pub fn new(shape: Shape, config: &Config, direction: Direction, seed: u64) -> Self {
        Self::with(Parameters::new(seed, &Device::chosen()), shape, config, direction)
    }

    /// A network without numbers.
    pub fn outline(shape: Shape, config: &Config, direction: Direction) -> Self {
        Self::with(Parameters::outline(&Device::chosen()), shape, config, direction)
    }

    fn with(mut parameters: Parameters, shape: Shape, config: &Config, direction: Direction) -> Self {
        let (word, dimension) = (direction.word(), config.dimension);
        let mut table = |name: &str, rows: usize| {
            let initial = Initial::xavier_uniform_relu(rows, dimension);
            Embedding::new(&format!("{word}.{name}"), [rows, dimension], initial, &mut parameters)
        };
        let entities = table("entity", shape.entities);
        let relations = table("relation", shape.relations);
        let time = table("time", 1);
        let (name, alpha) = (format!("{word}.head"), config.alpha);
        let head = MixtureHead::new(&name, 3 * dimension, shape.entities, alpha, &mut parameters);
        let adam =
            AdamConfig { learning_rate: config.learning_rate, weight_decay: 0.0, amsgrad: true, clip: None };
        Self {
            shape,
            dimension,
            alpha,
            direction,
            learned: Learned { parameters, adam: adam.init() },
            entities,
            relations,
            time,
            head,
        }
    }

    /// `[rows, 3d]`: known entity, relation and time; for subjects the relation comes first.
    fn queries(&self, config: &Config, rows: &[NetworkQuery]) -> Tensor<2> {
        let parameters = &self.learned.parameters;
        let known: Vec<u32> = rows.iter().map(|row| row.known).collect();
        let relation: Vec<u32> = rows.iter().map(|row| row.relation).collect();
        let known = self.entities.rows(parameters, known);
        let relation = self.relations.rows(parameters, relation);
        let vector = if config.train_time {
            self.time.table(parameters)
        } else {
            parameters.constant::<2>(self.time.parameter()).autodiff()
        };
        // All facts of a batch are of one time.
        let time = rows.first().map_or(0.0, |row| row.time);
        let time = (vector * time).repeat_dim(0, rows.len());
        Tensor::cat(
            match self.direction {
                Direction::Object => vec![known, relation, time],
                Direction::Subject => vec![relation, known, time],
            },
            1,
        )
    }

    /// The mean negative log-likelihood of the answers, and the regulariser.
    fn loss(
        &self,
        config: &Config,
        rows: &[NetworkQuery],
        vocabulary: Arc<Csr>,
        answers: Vec<u32>,
    ) -> Tensor<1> {
        let queries = self.queries(config, rows);
        let loss = self.head.loss(&self.learned.parameters, queries, answers, vocabulary);
        let size = |table: &Embedding| table.table(&self.learned.parameters).powi_scalar(2).mean();
        let sizes = size(&self.relations) + size(&self.entities) + size(&self.time);
        loss + sizes * config.regulariser
    }

    /// One step of the optimiser; returns the loss.
    pub fn step(
        &mut self,
        config: &Config,
        rows: &[NetworkQuery],
        vocabulary: Csr,
        answers: Vec<u32>,
    ) -> f64 {
        let loss = self.loss(config, rows, Arc::new(vocabulary), answers);
        self.learned.descend(loss)
    }

    /// The parameters as plain numbers, for scoring.
    pub fn frozen(&self) -> Frozen {
        let named = |wanted: &str| {
            let name = format!("{}.{wanted}", self.direction.word());
            let parameters = &self.learned.parameters;
            parameters.named(&name).map(|found| parameters.values(found).to_vec()).unwrap_or_default()
        };
        Frozen {
            direction: self.direction,
            dimension: self.dimension,
            alpha: self.alpha,
            entity: named("entity"),
            relation: named("relation"),
            time: named("time"),
            copy: (named("head.copy.weight"), named("head.copy.bias")),
            generate: (named("head.generate.weight"), named("head.generate.bias")),
        }
    }
}

/// The parameters of both directions as one safetensors file; their names begin with the direction.
pub(super) fn to_bytes(networks: &[Network]) -> Result<Vec<u8>, ModelError> {
    let parts: Vec<Vec<u8>> =
        networks.iter().map(|network| network.learned.to_bytes()).collect::<Result<_, _>>()?;
    let parts: Vec<SafeTensors<'_>> = parts
        .iter()
        .map(|part| SafeTensors::deserialize(part))
        .collect::<Result<_, _>>()
        .map_err(|error| damaged(&error))?;
    let arrays = parts.iter().flat_map(SafeTensors::tensors);
    safetensors::serialize(arrays, None).map_err(|error| damaged(&error))
}

/// Networks with the parameters of a file.
pub(super) fn from_bytes(shape: Shape, config: &Config, bytes: &[u8]) -> Result<Vec<Network>, ModelError> {
    let all = SafeTensors::deserialize(bytes).map_err(|error| damaged(&error))?;
    let of = |direction: Direction| {
        let prefix = format!("{}.", direction.word());
        let arrays = all.tensors().into_iter().filter(|(name, _)| name.starts_with(&prefix));
        let part = safetensors::serialize(arrays, None).map_err(|error| damaged(&error))?;
        let mut network = Network::outline(shape, config, direction);
        network.learned.load_bytes(&part)?;
        Ok(network)
    };
    Direction::BOTH.into_iter().map(of).collect()
}

fn damaged(error: &SafeTensorError) -> ModelError {
    ModelError::Saved(format!("its tensors cannot be read: {error}"))
}

/// The numbers of a network without its tape.
pub(super) struct Frozen {
    direction: Direction,
    dimension: usize,
    alpha: f64,
    entity: Vec<f32>,
    relation: Vec<f32>,
    time: Vec<f32>,
    copy: (Vec<f32>, Vec<f32>),
    generate: (Vec<f32>, Vec<f32>),
}

/// The parts of the probability of an answer.
pub(super) struct Shares {
    /// Part of the probability that is copied.
    pub copy: f64,
    /// Part that is generated.
    pub generate: f64,
    /// The score used for ranking.
    pub score: f64,
}

impl Frozen {
    fn queries(&self, rows: &[NetworkQuery]) -> Vec<f32> {
        let d = self.dimension;
        let mut queries = Vec::with_capacity(rows.len() * 3 * d);
        for row in rows {
            let known = &self.entity[row.known as usize * d..][..d];
            let relation = &self.relation[row.relation as usize * d..][..d];
            let (first, second) = match self.direction {
                Direction::Object => (known, relation),
                Direction::Subject => (relation, known),
            };
            queries.extend_from_slice(first);
            queries.extend_from_slice(second);
            queries.extend(self.time.iter().map(|x| x * row.time));
        }
        queries
    }

    fn mixture<'a>(&'a self, queries: &'a [f32], vocabulary: &'a Csr, alpha: f64) -> Mixture<'a, f32> {
        Mixture {
            queries,
            copy: Linear { weight: &self.copy.0, bias: &self.copy.1 },
            generate: Linear { weight: &self.generate.0, bias: &self.generate.1 },
            vocabulary,
            alpha,
            d: 3 * self.dimension,
        }
    }

    /// Calls `f(rows, log scores[rows, n])` for one strip of questions after the other.
    pub fn score(&self, rows: &[NetworkQuery], vocabulary: &Csr, mut f: impl FnMut(Range<usize>, &[f32])) {
        let padded = pad_rows(rows);
        let mut lists = vocabulary.clone();
        for _ in rows.len()..padded.len() {
            lists.items.extend_from_slice(vocabulary.segment(rows.len() - 1));
            lists.starts.push(lists.items.len() as u32);
        }
        let queries = self.queries(&padded);
        score_strips(&self.mixture(&queries, &lists, self.alpha), |rows, scores| f(rows, scores));
    }

    /// The parts of the probability of one answer.
    pub fn shares(&self, row: &NetworkQuery, vocabulary: &Csr, answer: u32) -> Shares {
        let answer = answer as usize;
        let (mut score, mut halved) = (0.0, 0.0);
        self.score(&[*row], vocabulary, |_, scores| score = f64::from(scores[answer]));
        // A second share of the copy mode gives a second equation for the two unknown parts.
        let queries = self.queries(&[*row]);
        score_strips(&self.mixture(&queries, vocabulary, 0.5 * self.alpha), |_, scores| {
            halved = f64::from(scores[answer]).exp();
        });
        let whole = score.exp();
        // whole = α·c + (1−α)·g, halved = α/2·c + (1−α/2)·g.
        let generated = ((2.0 * halved - whole) * (1.0 - self.alpha)).clamp(0.0, whole);
        Shares { copy: whole - generated, generate: generated, score }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::gradients_predict_the_loss;

    #[test]
    fn gradients_are_those_of_the_loss() {
        let shape = Shape { entities: 11, relations: 3 };
        let row = |known, relation| NetworkQuery { known, relation, time: 3.0 };
        let rows = [row(0, 1), row(4, 2), row(7, 0), row(10, 1)];
        // Row 1 has no vocabulary, the answer of row 3 is not in its own.
        let pairs = [(0, 2), (0, 5), (2, 1), (3, 6), (3, 8)];
        let vocabulary = Arc::new(Csr::from_pairs(4, pairs.into_iter()));
        let config =
            Config { dimension: 6, train_time: true, regulariser: 0.1, alpha: 0.6, ..Config::default() };
        for direction in Direction::BOTH {
            gradients_predict_the_loss(
                &mut Network::new(shape, &config, direction, 1),
                |network| &mut network.learned.parameters,
                |network| network.loss(&config, &rows, Arc::clone(&vocabulary), vec![5, 3, 1, 9]),
            );
        }
    }
}
