//! Training of the two networks, one after the other.

use std::sync::Arc;

use burn::tensor::Tensor;
use quadcast_core::{Direction, History, ModelError, Quad, Query, ScoreSink, Step, stream};
use rand::seq::SliceRandom;

use super::Config;
use super::memory::{Memory, parts};
use super::network::{Asked, Network, with_one};
use super::past::{Past, Simulated};
use super::simulation::Simulation;
use crate::blocks::{Csr, Parameters, Targets, Training, cross_entropy, leaf};
use crate::forecast::state::Learned;
use crate::training::{Learning, Trainable};

/// Answers of rows, each row with a weight of 1 in all.
fn targets(rows: &[Vec<u32>]) -> Targets {
    let pairs = rows.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |&item| (i as u32, item)));
    let shares = rows.iter().flat_map(|row| std::iter::repeat_n(1.0 / row.len() as f32, row.len()));
    Targets { weights: shares.collect(), lists: Arc::new(Csr::from_pairs(rows.len(), pairs)) }
}

/// Numbers `0..count` in a new order for an epoch.
fn shuffled(count: usize, seed: u64, purpose: &str, epoch: u32) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    order.shuffle(&mut stream(seed, purpose, u64::from(epoch)));
    order
}

/// The global network in training: it predicts which entities take part in a snapshot from the ones before it.
pub(super) struct GlobalTrainer<'a> {
    history: History<'a>,
    simulated: &'a Simulated,
    config: &'a Config,
    seed: u64,
    pub network: Network,
    /// The steps with facts, and the subjects and objects of each.
    steps: Vec<Step>,
    ends: Vec<[Vec<u32>; 2]>,
}

impl<'a> GlobalTrainer<'a> {
    pub fn new(
        history: &History<'a>,
        simulated: &'a Simulated,
        config: &'a Config,
        network: Network,
        seed: u64,
    ) -> Self {
        let occupied = history.snapshots_from(Step(0)).filter(|snapshot| !snapshot.is_empty());
        let (mut steps, mut ends) = (Vec::new(), Vec::<[Vec<u32>; 2]>::new());
        for snapshot in occupied {
            steps.push(snapshot.step);
            let mut facts = snapshot.iter();
            // The published code counts the first fact of a snapshot for the one before.
            if config.compat
                && let (Some(before), Some(first)) = (ends.last_mut(), facts.next())
            {
                before[0].push(first.subject.0);
                before[1].push(first.object.0);
            }
            let (subjects, objects) = facts.map(|fact| (fact.subject.0, fact.object.0)).unzip();
            ends.push([subjects, objects]);
        }
        Self { history: *history, simulated, config, seed, network, steps, ends }
    }

    fn past(&self) -> Past<'a> {
        let compat = self.config.compat;
        Past { history: self.history, simulated: self.simulated, without: None, known_first: compat }
    }

    /// The snapshots that predict others, in the order of an epoch, and the snapshots whose entities they are compared with.
    fn order(&self, epoch: u32) -> Vec<(usize, usize)> {
        let count = self.steps.len().saturating_sub(1);
        let purpose = "re-net global order";
        if !self.config.compat {
            return shuffled(count, self.seed, purpose, epoch).into_iter().map(|i| (i + 1, i + 1)).collect();
        }
        // The published code shuffles targets alone, again and again.
        let mut of: Vec<usize> = (0..count).collect();
        for epoch in 1..epoch {
            let order = shuffled(count, self.seed, purpose, epoch);
            of = order.into_iter().map(|i| of[i]).collect();
        }
        of.into_iter().enumerate().map(|(i, target)| (i + 1, target + 1)).collect()
    }

    /// The mean loss of predictions from the pooled snapshots, each a row, for the targets given as rows and snapshots.
    fn loss(
        &self,
        parameters: &Parameters,
        pooled: Tensor<2>,
        asked: &[(usize, usize)],
        first: usize,
    ) -> Tensor<1> {
        let lists: Vec<Vec<u32>> = asked
            .iter()
            .map(|&(next, _)| {
                (next.saturating_sub(self.config.history)..next).map(|i| (i - first) as u32).collect()
            })
            .collect();
        let vectors = with_one(self.network.global_vectors(parameters, pooled, &lists));
        let [subject, object] = self.network.global_heads;
        let of = |side: usize| -> Vec<Vec<u32>> {
            asked.iter().map(|&(_, target)| self.ends[target][side].clone()).collect()
        };
        let loss =
            |head, side| cross_entropy(vectors.clone(), parameters.get(head), targets(&of(side)), None);
        if self.config.compat {
            // The published code compares the head of subjects with objects, and trains no other.
            return loss(subject, 1);
        }
        loss(subject, 0) + loss(object, 1)
    }

    /// The first snapshot that some targets read, and the steps from there on.
    fn read(&self, asked: &[(usize, usize)]) -> (usize, &[Step]) {
        let first = asked.iter().map(|&(next, _)| next.saturating_sub(self.config.history)).min();
        let last = asked.iter().map(|&(next, _)| next).max();
        let (first, last) = (first.unwrap_or_default(), last.unwrap_or_default());
        (first, &self.steps[first..last])
    }

    /// The loss over all training snapshots without dropout: a function of the parameters alone.
    pub fn whole_loss(&self) -> f64 {
        let asked: Vec<(usize, usize)> =
            (1..self.steps.len()).map(|i| (i, i)).filter(|&(_, i)| self.has_ends(i)).collect();
        if asked.is_empty() {
            return 0.0;
        }
        let frozen = self.network.learned.parameters.frozen();
        let (first, steps) = self.read(&asked);
        let past = self.past();
        let pooled =
            parts(&past, steps).into_iter().map(|part| self.network.pooled(&frozen, &past, part, None));
        let pooled = Tensor::cat(pooled.collect(), 0);
        f64::from(self.loss(&frozen, pooled, &asked, first).into_scalar::<f32>())
    }

    fn has_ends(&self, snapshot: usize) -> bool {
        !self.ends[snapshot][0].is_empty()
    }
}

impl Learning for GlobalTrainer<'_> {
    fn parameters(&self) -> usize {
        self.network.learned.parameters.count()
    }

    fn batches(&self) -> usize {
        self.steps.len().saturating_sub(1).div_ceil(self.config.global_batch)
    }

    fn step(&mut self, epoch: u32, batch: usize) -> Result<f64, ModelError> {
        let order = self.order(epoch);
        let size = self.config.global_batch;
        let asked =
            order.into_iter().skip(batch * size).take(size).filter(|&(_, target)| self.has_ends(target));
        let asked: Vec<(usize, usize)> = asked.collect();
        if asked.is_empty() {
            return Ok(0.0);
        }
        let (network, past) = (&self.network, self.past());
        let parameters = &network.learned.parameters;
        let (first, steps) = self.read(&asked);
        let parts = parts(&past, steps);
        let masks = |part: usize| {
            let index = u64::from(epoch) << 40 | (batch as u64) << 20 | part as u64;
            stream(self.seed, "re-net global dropout", index)
        };
        // Snapshots are many: only what is pooled of them is kept, and each part is computed again for its gradient.
        let frozen = parameters.frozen();
        let pooled = parts
            .iter()
            .enumerate()
            .map(|(i, part)| network.pooled(&frozen, &past, part, Some(&mut masks(i))));
        let pooled = leaf(Tensor::cat(pooled.collect(), 0));
        drop(frozen);
        let loss = self.loss(parameters, pooled.clone(), &asked, first);
        let value = f64::from(loss.clone().into_scalar::<f32>());
        let (mut gradients, upstream) = parameters.backward_to(&loss, &pooled);
        let mut row = 0;
        for (i, part) in parts.iter().enumerate() {
            let again = network.pooled(parameters, &past, part, Some(&mut masks(i)));
            let upstream = Tensor::from_inner(upstream.clone().narrow(0, row, part.len()));
            gradients.add(parameters.backward(&(again * upstream).sum()));
            row += part.len();
        }
        let Learned { parameters, adam } = &mut self.network.learned;
        adam.step(parameters, gradients);
        Ok(value)
    }

    fn state(&self) -> Result<Vec<u8>, ModelError> {
        self.network.learned.state()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), ModelError> {
        self.network.learned.restore(state)
    }
}

/// The local network in training.
pub(super) struct LocalTrainer<'a> {
    config: &'a Config,
    simulation: Simulation,
    pub network: Network,
    history: History<'a>,
    /// Global vectors of the training period.
    training: Memory,
    /// What validation knows and simulates.
    validation: Memory,
    facts: Vec<Quad>,
    /// The order of the facts in an epoch.
    order: Option<(u32, Vec<usize>)>,
}

impl<'a> LocalTrainer<'a> {
    pub fn new(history: &History<'a>, config: &'a Config, network: Network, simulation: Simulation) -> Self {
        let mut training = Memory::default();
        training.update(&network, history, history.ceiling(), &simulation);
        let facts = history.snapshots_from(Step(0)).flat_map(|snapshot| snapshot.iter().collect::<Vec<_>>());
        Self {
            config,
            simulation,
            network,
            history: *history,
            training,
            validation: Memory::default(),
            facts: facts.collect(),
            order: None,
        }
    }

    /// The loss of some facts.
    fn loss(&self, facts: &[Quad], mut training: Training) -> Tensor<1> {
        let losses = Direction::BOTH
            .map(|direction| self.loss_of_direction(facts, direction, training.as_deref_mut()));
        let [object, subject] = losses;
        object + subject
    }

    fn loss_of_direction(&self, facts: &[Quad], direction: Direction, training: Training) -> Tensor<1> {
        let network = &self.network;
        let parameters = &network.learned.parameters;
        let mut questions: Vec<(Asked, u32)> = facts
            .iter()
            .map(|&fact| {
                let (query, answer) = Query::hide(fact, direction);
                let Query { step, known, relation, .. } = query;
                (Asked { step, known, relation: relation.0 }, answer.0)
            })
            .collect();
        questions.sort_unstable();
        let groups = || questions.chunk_by(|a, b| a.0 == b.0);
        let asked: Vec<Asked> = groups().map(|group| group[0].0).collect();
        let past = self.training.past(&self.history, &self.simulation);
        let encoded =
            network.encode(parameters, &past, &self.training.vectors, (direction, &asked), training);
        let weighed = |rows: &[Vec<u32>]| {
            let counts: Arc<[f32]> = rows.iter().map(|row| row.len() as f32).collect();
            (targets(rows), Some(counts))
        };
        let answers: Vec<Vec<u32>> =
            groups().map(|group| group.iter().map(|&(_, answer)| answer).collect()).collect();
        let (goal, counts) = weighed(&answers);
        let entity = cross_entropy(encoded.entity, parameters.get(network.entity_head), goal, counts);
        // Questions are sorted by step and known entity, so pairs come in the same order.
        let pairs = questions.chunk_by(|a, b| (a.0.step, a.0.known) == (b.0.step, b.0.known));
        let relations: Vec<Vec<u32>> =
            pairs.map(|group| group.iter().map(|(asked, _)| asked.relation).collect()).collect();
        debug_assert_eq!(relations.len(), encoded.pairs.len(), "a row per pair");
        let (goal, counts) = weighed(&relations);
        let relation = cross_entropy(encoded.relation, parameters.get(network.relation_head), goal, counts);
        entity + relation * self.config.relation_weight
    }
}

impl Learning for LocalTrainer<'_> {
    fn parameters(&self) -> usize {
        self.network.learned.parameters.count()
    }

    fn batches(&self) -> usize {
        self.facts.len().div_ceil(self.config.batch)
    }

    fn step(&mut self, epoch: u32, batch: usize) -> Result<f64, ModelError> {
        let seed = self.simulation.seed;
        if self.order.as_ref().is_none_or(|(of, _)| *of != epoch) {
            self.order = Some((epoch, shuffled(self.facts.len(), seed, "re-net facts", epoch)));
        }
        let size = self.config.batch;
        let order = self.order.iter().flat_map(|(_, order)| order.iter().skip(batch * size).take(size));
        let facts: Vec<Quad> = order.map(|&i| self.facts[i]).collect();
        let index = u64::from(epoch) << 32 | batch as u64;
        let mut random = stream(seed, "re-net dropout", index);
        self.validation.forget_simulated();
        let loss = self.loss(&facts, Some(&mut random));
        Ok(self.network.learned.descend(loss))
    }

    fn state(&self) -> Result<Vec<u8>, ModelError> {
        self.network.learned.state()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), ModelError> {
        self.validation.forget_simulated();
        self.network.learned.restore(state)
    }
}

impl Trainable for LocalTrainer<'_> {
    fn begin(&mut self, step: Step, history: &History<'_>) -> Result<(), ModelError> {
        let known = super::known(&self.simulation, history, self.history.ceiling())?;
        self.validation.update(&self.network, &known, step, &self.simulation);
        Ok(())
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        let known = super::known(&self.simulation, history, self.history.ceiling())?;
        let past = self.validation.past(&known, &self.simulation);
        super::score(&self.network, &past, &self.validation.vectors, queries, sink)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::testing::{close, gradients_predict_the_loss};
    use crate::forecast::snapshots::PreparedSnapshot;
    use crate::forecast::snapshots::testing::snapshots;
    use crate::forecast::state::Shape;

    fn config() -> Config {
        Config { dimension: 8, dropout: 0.0, history: 3, ..Config::default() }
    }

    #[test]
    fn gradients_of_the_local_network_are_those_of_its_loss() {
        snapshots::<PreparedSnapshot>(6, |history, _| {
            let config = config();
            let network = Network::new(Shape::of(history), &config, 1);
            let simulation = Simulation { seed: 1, size: 5, compat: false };
            let mut trainer = LocalTrainer::new(history, &config, network, simulation);
            let facts: Vec<Quad> = trainer.facts[20..60].to_vec();
            gradients_predict_the_loss(
                &mut trainer,
                |trainer| &mut trainer.network.learned.parameters,
                |trainer| trainer.loss(&facts, None),
            );
        });
    }

    #[test]
    fn gradients_of_the_global_network_are_those_of_its_loss() {
        snapshots::<PreparedSnapshot>(6, |history, _| {
            let (config, simulated) = (config(), Simulated::default());
            let network = Network::new(Shape::of(history), &config, 1);
            let mut trainer = GlobalTrainer::new(history, &simulated, &config, network, 1);
            let asked = [(1, 1), (4, 4), (5, 5)];
            gradients_predict_the_loss(
                &mut trainer,
                |trainer| &mut trainer.network.learned.parameters,
                |trainer| {
                    let (first, steps) = trainer.read(&asked);
                    let parameters = &trainer.network.learned.parameters;
                    let pooled = trainer.network.pooled(parameters, &trainer.past(), steps, None);
                    trainer.loss(parameters, pooled, &asked, first)
                },
            );
        });
    }

    #[test]
    fn snapshots_that_are_computed_again_change_no_step() {
        snapshots::<PreparedSnapshot>(6, |history, _| {
            let (config, simulated) = (Config { dropout: 0.5, ..config() }, Simulated::default());
            let network = || Network::new(Shape::of(history), &config, 1);
            let mut parted = GlobalTrainer::new(history, &simulated, &config, network(), 1);
            let mut whole = GlobalTrainer::new(history, &simulated, &config, network(), 1);
            parted.step(1, 0).unwrap();
            let asked = whole.order(1);
            let (first, steps) = whole.read(&asked);
            let parameters = &whole.network.learned.parameters;
            let mut masks = stream(1, "re-net global dropout", 1 << 40);
            let pooled = whole.network.pooled(parameters, &whole.past(), steps, Some(&mut masks));
            let loss = whole.loss(parameters, pooled, &asked, first);
            whole.network.learned.descend(loss);
            for (parameter, name) in whole.network.learned.parameters.names() {
                let of =
                    |trainer: &GlobalTrainer| trainer.network.learned.parameters.values(parameter).to_vec();
                close(name, &of(&parted), &of(&whole));
            }
        });
    }
}
