//! Training of networks that read the last snapshots.

use std::sync::Arc;

use quadcast_core::{History, ModelError, Query, ScoreSink, Step};
use rand_chacha::ChaCha8Rng;

use super::snapshot_encoder::{EncodedHistory, SnapshotEncoder};
use super::snapshots::{PreparedSnapshot, SnapshotCache};
use super::state::Learned;
use crate::training::{Learning, Trainable};

/// A network that learns to predict a snapshot from the ones before it.
pub(crate) trait SnapshotLearner: SnapshotEncoder + Send + Sync {
    /// The trained parameters.
    fn learned(&self) -> &Learned;

    /// The trained parameters, mutable.
    fn learned_mut(&mut self) -> &mut Learned;

    /// One step of the optimiser on the facts of `step`, which follow these snapshots; returns the loss.
    fn learn(
        &mut self,
        history: &History<'_>,
        step: Step,
        snapshots: &[Arc<PreparedSnapshot>],
        random: &mut ChaCha8Rng,
    ) -> Result<f64, ModelError>;
}

/// A network in training.
pub(crate) struct Trainer<'a, N: SnapshotLearner> {
    pub history: History<'a>,
    pub seed: u64,
    /// Name of the random streams of dropout masks.
    pub purpose: String,
    pub network: N,
    /// Number of snapshots that are read.
    pub length: usize,
    pub cache: SnapshotCache,
    /// Steps that are predicted.
    pub targets: Vec<Step>,
    /// The encoding used for validation.
    pub encoded: EncodedHistory<N>,
}

impl<'a, N: SnapshotLearner> Trainer<'a, N> {
    /// Predicts all snapshots but the first `skipped` ones.
    pub fn new(history: &History<'a>, seed: u64, network: N, length: usize, skipped: usize) -> Self {
        let occupied = history.snapshots_from(Step(0)).filter(|snapshot| !snapshot.is_empty());
        Self {
            history: *history,
            seed,
            purpose: String::new(),
            network,
            length,
            cache: SnapshotCache::default(),
            targets: occupied.skip(skipped).map(|snapshot| snapshot.step).collect(),
            encoded: EncodedHistory::default(),
        }
    }
}

impl<N: SnapshotLearner> Trainable for Trainer<'_, N>
where
    N::Encoded: Send + Sync,
{
    fn begin(&mut self, _: Step, history: &History<'_>) -> Result<(), ModelError> {
        self.encoded.update(&self.network, history, self.length);
        Ok(())
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        self.encoded.score(&self.network, history, queries, sink)
    }
}

impl<N: SnapshotLearner> Learning for Trainer<'_, N>
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
        let snapshots = self.cache.last(&self.history.until(step)?, self.length);
        let index = u64::from(epoch) << 32 | batch as u64;
        let mut random = quadcast_core::stream(self.seed, &self.purpose, index);
        self.encoded.invalidate();
        self.network.learn(&self.history, step, &snapshots, &mut random)
    }

    fn state(&self) -> Result<Vec<u8>, ModelError> {
        self.network.learned().state()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), ModelError> {
        self.encoded.invalidate();
        self.network.learned_mut().restore(state)
    }
}
