//! Training of networks that read the last snapshots.

use std::sync::Arc;

use quadcast_core::{History, ModelError, Query, ScoreSink, Step};
use quadcast_train::{Learning, Trainable};
use rand_chacha::ChaCha8Rng;

use super::reader::{Encoder, Reader};
use super::snapshots::{Arranged, Arrangements};
use super::state::Learned;

/// A network that learns to predict a snapshot from the ones before it.
pub(crate) trait Learner: Encoder + Send + Sync {
    /// What training changes.
    fn learned(&self) -> &Learned;

    /// The same, to be changed.
    fn learned_mut(&mut self) -> &mut Learned;

    /// One step of the optimiser on the facts of `step`, which follow these snapshots; returns the loss.
    fn learn(
        &mut self,
        history: &History<'_>,
        step: Step,
        snapshots: &[Arc<Arranged>],
        random: &mut ChaCha8Rng,
    ) -> Result<f64, ModelError>;
}

/// A network in training.
pub(crate) struct Trainer<'a, N: Learner> {
    pub history: History<'a>,
    pub seed: u64,
    /// Names the streams of dropout masks.
    pub purpose: String,
    pub network: N,
    /// Snapshots that are read.
    pub length: usize,
    pub arrangements: Arrangements,
    /// Snapshots that are predicted.
    pub targets: Vec<Step>,
    /// For the validation period.
    pub reader: Reader<N>,
}

impl<'a, N: Learner> Trainer<'a, N> {
    /// Predicts all snapshots but the first `skipped` ones.
    pub fn new(history: &History<'a>, seed: u64, network: N, length: usize, skipped: usize) -> Self {
        let occupied = history.snapshots_from(Step(0)).filter(|snapshot| !snapshot.is_empty());
        Self {
            history: *history,
            seed,
            purpose: String::new(),
            network,
            length,
            arrangements: Arrangements::default(),
            targets: occupied.skip(skipped).map(|snapshot| snapshot.step).collect(),
            reader: Reader::default(),
        }
    }
}

impl<N: Learner> Trainable for Trainer<'_, N>
where
    N::Encoded: Send + Sync,
{
    fn begin(&mut self, _: Step, history: &History<'_>) -> Result<(), ModelError> {
        self.reader.read(&self.network, history, self.length);
        Ok(())
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        self.reader.score(&self.network, history, queries, sink)
    }
}

impl<N: Learner> Learning for Trainer<'_, N>
where
    N::Encoded: Send + Sync,
{
    fn parameters(&self) -> usize {
        self.network.learned().parameters.count()
    }

    fn batches(&self) -> usize {
        self.targets.len()
    }

    fn step(&mut self, epoch: u32, batch: usize) -> Result<f64, ModelError> {
        let step = self.targets[batch];
        let snapshots = self.arrangements.last(&self.history.until(step)?, self.length);
        let index = u64::from(epoch) << 32 | batch as u64;
        let mut random = quadcast_core::stream(self.seed, &self.purpose, index);
        self.reader.forget();
        self.network.learn(&self.history, step, &snapshots, &mut random)
    }

    fn state(&self) -> Result<Vec<u8>, ModelError> {
        self.network.learned().state()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), ModelError> {
        self.reader.forget();
        self.network.learned_mut().restore(state)
    }
}
