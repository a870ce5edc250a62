//! The evolving encoder and its two decoders.

use std::ops::Range;
use std::sync::Arc;

use burn::tensor::Tensor;
use quadcast_core::{History, ModelError, Step};
use rand_chacha::ChaCha8Rng;

use super::Config;
use super::static_graph::{StaticLayer, Words, turned_too_far};
use crate::blocks::device::Device;
use crate::blocks::{
    AdamConfig, ConvTrans, ConvTransConfig, Embedding, GruCell, Initial, Parameters, Training, add_rows,
    cross_entropy, linear, linear_without_bias, normalise_rows, pair_rows, pair_rows_within, score_strips,
    segment_mean, tanh,
};
use crate::forecast::snapshot_network::{SnapshotEncoder, SnapshotLearner};
use crate::forecast::snapshots::{CHANNELS, GraphLayers, PreparedSnapshot, StepQuestions, Window};
use crate::forecast::state::{Learned, Shape};

/// The training questions of a step: the facts of a snapshot in both directions.
pub(super) struct Tasks {
    /// Known entity and directed relation; which entity?
    pub entity: StepQuestions,
    /// Two entities; which directed relation?
    pub relation: StepQuestions,
}

/// Entities and relations after the last snapshot.
pub(crate) struct Encoded {
    /// `[n, d]`, rows of length 1.
    pub entities: Tensor<2>,
    /// `[2R, d]`
    pub relations: Tensor<2>,
}

/// Initial vectors of entities.
enum Start {
    /// A learned vector each.
    Table(Embedding),
    /// The words of their names.
    Words(StaticLayer),
}

/// All parameters and their optimiser.
pub(crate) struct Network {
    pub(super) shape: Shape,
    /// Where entities start from, with a static graph.
    pub(super) words: Option<Arc<Words>>,
    config: Config,
    pub(super) learned: Learned,
    start: Start,
    relations: Embedding,
    layers: GraphLayers,
    cell: GruCell,
    entity_decoder: ConvTrans,
    relation_decoder: ConvTrans,
}

impl Network {
    /// A network with its initial numbers.
    pub fn new(shape: Shape, config: &Config, words: Option<Arc<Words>>, seed: u64) -> Self {
        Self::with(Parameters::new(seed, &Device::chosen()), shape, config, words)
    }

    /// A network without numbers.
    pub fn outline(shape: Shape, config: &Config, words: Option<Arc<Words>>) -> Self {
        Self::with(Parameters::outline(&Device::chosen()), shape, config, words)
    }

    fn with(mut parameters: Parameters, shape: Shape, config: &Config, words: Option<Arc<Words>>) -> Self {
        let store = &mut parameters;
        let d = config.dimension;
        let (rows, directed) = (shape.entities, 2 * shape.relations);
        let start = if let Some(words) = &words {
            Start::Words(StaticLayer::new(words, d, store))
        } else {
            Start::Table(Embedding::new("entity", [rows, d], Initial::Normal(1.0), store))
        };
        let initial = Initial::xavier_normal(directed, d);
        let relations = Embedding::new("relation", [directed, d], initial, store);
        let layers = GraphLayers::new(config.layers, d, config.dropout, store);
        let cell = GruCell::new("cell", 2 * d, d, store);
        let decoder = ConvTransConfig { d, channels: CHANNELS, dropout: config.dropout };
        let entity_decoder = decoder.init("entity_decoder", store);
        let relation_decoder = decoder.init("relation_decoder", store);
        let adam = AdamConfig {
            learning_rate: config.learning_rate,
            weight_decay: config.weight_decay,
            amsgrad: false,
            clip: Some(config.clip),
        };
        Self {
            shape,
            words,
            config: config.clone(),
            learned: Learned { parameters, adam: adam.init() },
            start,
            relations,
            layers,
            cell,
            entity_decoder,
            relation_decoder,
        }
    }

    /// Evolves entities and relations over snapshots, oldest first. `after` sees the entities (rows of length 1) after
    /// each snapshot and the vectors that they started from.
    fn evolve(
        &self,
        parameters: &Parameters,
        snapshots: &[Arc<PreparedSnapshot>],
        mut training: Training,
        mut after: impl FnMut(&Tensor<2>, &Tensor<2>),
    ) -> Encoded {
        let base = self.relations.table(parameters);
        let start = match &self.start {
            Start::Words(layer) => layer.forward(parameters),
            Start::Table(table) => normalise_rows(table.table(parameters)),
        };
        let (mut entities, mut relations) = (start.clone(), base.clone());
        let mut shown = entities.clone();
        // The input of the cell is the vector of a relation, the same for all snapshots, followed by the mean over its
        // members, or 0 if there are none: W·[p; m] = W₁·p + W₂·m saves most of the work.
        let (weight, bias) = self.cell.input_map(parameters);
        let [own, of_members] = halves(weight);
        let own = linear(base, own, bias);
        for snapshot in snapshots {
            let members = segment_mean(entities.clone(), Arc::clone(&snapshot.members));
            let members = linear_without_bias(members, of_members.clone());
            let input = add_rows(own.clone(), Arc::clone(&snapshot.relations), members);
            relations = normalise_rows(self.cell.forward_mapped(parameters, input, relations));
            let training = training.as_deref_mut();
            entities = self.layers.forward(parameters, snapshot, entities, &relations, training);
            shown = normalise_rows(entities.clone());
            after(&start, &shown);
        }
        Encoded { entities: shown, relations }
    }

    fn loss(&self, snapshots: &[Arc<PreparedSnapshot>], tasks: &Tasks, random: &mut ChaCha8Rng) -> Tensor<1> {
        let parameters = &self.learned.parameters;
        let mut turned: Option<Tensor<1>> = None;
        let mut angle = 0.0;
        let encoded = self.evolve(parameters, snapshots, Some(random), |start, shown| {
            angle += self.config.angle;
            if matches!(self.start, Start::Words(_)) {
                let limit = angle.to_radians().cos() as f32;
                let further = turned_too_far(start.clone(), shown.clone(), limit);
                turned = Some(turned.take().map_or_else(|| further.clone(), |sum| sum + further.clone()));
            }
        });
        let Encoded { entities, relations } = encoded;
        let entities = tanh(entities);
        let Tasks { entity: asked, relation: linked } = tasks;
        let pairs = pair_rows(entities.clone(), asked.first.clone(), relations.clone(), asked.second.clone());
        let counts = Some(Arc::clone(&asked.counts));
        let queries = self.entity_decoder.forward(parameters, pairs, Some(random), counts.clone());
        let entity_loss = cross_entropy(queries, entities.clone(), asked.targets.clone(), counts);
        let pairs = pair_rows_within(entities, &linked.first, &linked.second);
        let counts = Some(Arc::clone(&linked.counts));
        let queries = self.relation_decoder.forward(parameters, pairs, Some(random), counts.clone());
        let relation_loss = cross_entropy(queries, relations, linked.targets.clone(), counts);
        let loss = entity_loss * self.config.task_weight + relation_loss * (1.0 - self.config.task_weight);
        match turned {
            Some(turned) => loss + turned * self.config.static_weight,
            None => loss,
        }
    }
}

/// The left and the right half of the columns.
fn halves(matrix: Tensor<2>) -> [Tensor<2>; 2] {
    let half = matrix.dims()[1] / 2;
    [matrix.clone().narrow(1, 0, half), matrix.narrow(1, half, half)]
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
        let tasks = Tasks {
            entity: StepQuestions::missing_entities(history, step)?,
            relation: StepQuestions::missing_relations(history, step)?,
        };
        let loss = self.loss(&window.snapshots, &tasks, random);
        Ok(self.learned.descend(loss))
    }
}

impl SnapshotEncoder for Network {
    type Snapshot = PreparedSnapshot;
    type Encoded = Encoded;

    fn encode(&self, window: &Window<PreparedSnapshot>) -> Encoded {
        let frozen = self.learned.parameters.frozen();
        let Encoded { entities, relations } = self.evolve(&frozen, &window.snapshots, None, |_, _| {});
        Encoded { entities: tanh(entities), relations }
    }

    fn score(
        &self,
        encoded: &Encoded,
        known: &[u32],
        relation: &[u32],
        f: &mut dyn FnMut(Range<usize>, &[f32]),
    ) {
        let frozen = self.learned.parameters.frozen();
        let pairs = pair_rows(encoded.entities.clone(), known, encoded.relations.clone(), relation);
        let queries = self.entity_decoder.forward(&frozen, pairs, None, None);
        score_strips(queries, encoded.entities.clone(), |rows, scores| f(rows, scores));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::gradients_predict_the_loss;
    use crate::forecast::snapshots::testing::snapshots;
    use quadcast_core::{Names, stream};

    #[test]
    fn gradients_are_those_of_the_loss() {
        for static_graph in [false, true] {
            let config = Config { dimension: 8, dropout: 0.0, static_graph, ..Config::default() };
            snapshots::<PreparedSnapshot>(3, |history, window| {
                let names = (0..history.entities()).map(|i| Some(format!("Crew {i} (Port {})", i % 3)));
                let words = static_graph.then(|| Arc::new(Words::of(&Names::new(names.collect(), None))));
                let mut network = Network::new(Shape::of(history), &config, words, 1);
                let next = Step(3);
                let tasks = Tasks {
                    entity: StepQuestions::missing_entities(history, next).unwrap(),
                    relation: StepQuestions::missing_relations(history, next).unwrap(),
                };
                gradients_predict_the_loss(
                    &mut network,
                    |network| &mut network.learned.parameters,
                    |network| network.loss(&window.snapshots, &tasks, &mut stream(1, "none", 0)),
                );
            });
        }
    }
}
