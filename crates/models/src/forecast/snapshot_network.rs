//! Networks that read the last snapshots. Scoring: encode a history once, answer from the encoding, explain by removal. Training:
//! predict a snapshot from the ones before it.

use std::ops::Range;
use std::sync::Arc;

use quadcast_core::{
    Capabilities, EntityId, Explanation, Forecaster, History, HistoryKey, ModelError, Quad, Query, Run,
    SavedModel, ScoreSink, Step, Tensors, Validation,
};
use rand_chacha::ChaCha8Rng;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::removal;
use super::snapshots::{CHANNELS, Prepare, SnapshotCache, Window, last_steps};
use super::state::{Learned, Shape, StripSink, pad_rows, saved_state, saved_tensors, unfitted};
use crate::capacity::{DataSizes, NUMBER, TRAINED};
use crate::config::ConfigError;
use crate::settings::Settings;
use crate::training::{Learning, Trainable};

/// A network that answers from snapshots.
pub(crate) trait SnapshotEncoder {
    /// A snapshot as the network reads it.
    type Snapshot: Prepare + Send + Sync;

    /// The encoding of some snapshots.
    type Encoded: Send + Sync;

    /// Whether the encoding depends on the time that is asked about.
    const READS_TIME: bool = false;

    /// Encodes snapshots.
    fn encode(&self, window: &Window<Self::Snapshot>) -> Self::Encoded;

    /// Scores all entities for questions about a known entity and a directed relation. Calls `f(rows, scores[rows, n])` for one
    /// strip of questions after the other.
    fn score(
        &self,
        encoded: &Self::Encoded,
        known: &[u32],
        relation: &[u32],
        f: &mut dyn FnMut(Range<usize>, &[f32]),
    );
}

/// The encoding of the last snapshots of a history.
pub(crate) struct EncodedHistory<E: SnapshotEncoder> {
    cache: SnapshotCache<E::Snapshot>,
    /// The history that is encoded, and for which step.
    key: Option<(HistoryKey, Step)>,
    encoded: Option<E::Encoded>,
}

impl<E: SnapshotEncoder> Default for EncodedHistory<E> {
    fn default() -> Self {
        Self { cache: SnapshotCache::default(), key: None, encoded: None }
    }
}

impl<E: SnapshotEncoder> EncodedHistory<E> {
    /// Encodes the last `length` snapshots of a history to answer about a step, unless that is done already.
    pub fn update(&mut self, network: &E, history: &History<'_>, step: Step, length: usize) {
        let is_known = |(key, of): (HistoryKey, Step)| key == history.key() && (of == step || !E::READS_TIME);
        if self.key.is_some_and(is_known) && self.encoded.is_some() {
            return;
        }
        if !self.key.is_some_and(|(key, _)| key.follows_in(history.key())) {
            self.cache.clear();
        }
        self.encoded = Some(network.encode(&self.cache.last(history, step, length)));
        self.key = Some((history.key(), step));
    }

    /// Drops the encoding, because the parameters have changed.
    pub fn invalidate(&mut self) {
        self.encoded = None;
    }

    /// Scores questions with the current encoding.
    pub fn score(
        &self,
        network: &E,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        let early = || ModelError::Unsupported("scores were asked for before a step began".to_owned());
        let encoded = self.encoded.as_ref().ok_or_else(early)?;
        let indices: Vec<usize> = (0..queries.len()).collect();
        let mut out = StripSink::new(sink, &indices, history.entities());
        score(network, encoded, history, queries, &mut |rows, scores| out.accept(rows, scores));
        out.finish()
    }
}

fn score<E: SnapshotEncoder>(
    network: &E,
    encoded: &E::Encoded,
    history: &History<'_>,
    queries: &[Query],
    f: &mut dyn FnMut(Range<usize>, &[f32]),
) {
    let queries = pad_rows(queries);
    let known: Vec<u32> = queries.iter().map(|query| query.known.0).collect();
    let relation: Vec<u32> = queries.iter().map(|query| query.directed(history.relations()).0).collect();
    network.score(encoded, &known, &relation, f);
}

/// Explains the score of an answer by removal: removes, one at a time, the facts about the known entity or the answer from the
/// last `length` snapshots, and reports how the score changes.
pub(crate) fn explain<E: SnapshotEncoder>(
    network: &E,
    history: &History<'_>,
    query: &Query,
    answer: EntityId,
    length: usize,
) -> Result<Option<Explanation>, ModelError> {
    let score = |window: &Window<E::Snapshot>| {
        let mut own = 0.0;
        score(network, &network.encode(window), history, &[*query], &mut |rows, scores| {
            if rows.start == 0 {
                own = f64::from(scores[answer.index()]);
            }
        });
        own
    };
    let whole = SnapshotCache::default().last(history, query.step, length);
    let mut steps: Vec<Step> = last_steps(history, length).collect();
    steps.reverse();
    let snapshots = steps.iter().map(|&step| Ok(history.snapshot(step)?.iter().collect()));
    let snapshots: Vec<Vec<Quad>> = snapshots.collect::<Result<_, ModelError>>()?;
    let facts = snapshots.iter().flatten().copied();
    Ok(Some(removal::explain(query, answer, facts, |without| {
        let Some(removed) = without else { return score(&whole) };
        let mut window = whole.clone();
        for ((&step, facts), place) in steps.iter().zip(&snapshots).zip(&mut window.snapshots) {
            if step == removed.step {
                let rest: Vec<Quad> = facts.iter().copied().filter(|fact| *fact != removed).collect();
                *place = Arc::new(E::Snapshot::prepare(history, &rest.iter().copied()));
            }
        }
        score(&window)
    })))
}

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
        window: &Window<Self::Snapshot>,
        random: &mut ChaCha8Rng,
    ) -> Result<f64, ModelError>;
}

/// Vectors of an entity that a snapshot leaves on the tape besides one per layer: before and after the gate.
const GATED: usize = 2;

/// Bytes that a network of these dimensions and layers takes in training: its parameters and what a step leaves on the tape, if
/// it reads this many snapshots and asks this many decoders.
pub(crate) fn footprint<N: SnapshotLearner>(
    outline: &N,
    data: &DataSizes,
    (dimension, layers): (usize, usize),
    (read, decoders): (usize, usize),
) -> f64 {
    let d = dimension as f64;
    let entities = data.entities * d * (read * (layers + GATED)) as f64;
    let questions = data.largest as f64 * d * (CHANNELS * decoders) as f64;
    NUMBER * (TRAINED * outline.learned().parameters.estimate() + entities + questions)
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
    pub cache: SnapshotCache<N::Snapshot>,
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

impl<N: SnapshotLearner> Trainable for Trainer<'_, N> {
    fn begin(&mut self, step: Step, history: &History<'_>) -> Result<(), ModelError> {
        self.encoded.update(&self.network, history, step, self.length);
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

impl<N: SnapshotLearner> Learning for Trainer<'_, N> {
    fn parameters(&self) -> usize {
        self.network.learned().parameters.count()
    }

    fn batches(&self) -> usize {
        self.targets.len()
    }

    fn step(&mut self, epoch: u32, batch: usize) -> Result<f64, ModelError> {
        let step = self.targets[batch];
        let window = self.cache.last(&self.history.until(step)?, step, self.length);
        let index = u64::from(epoch) << 32 | batch as u64;
        let mut random = quadcast_core::stream(self.seed, &self.purpose, index);
        self.encoded.invalidate();
        self.network.learn(&self.history, step, &window, &mut random)
    }

    fn state(&self) -> Result<Vec<u8>, ModelError> {
        self.network.learned().state()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), ModelError> {
        self.encoded.invalidate();
        self.network.learned_mut().restore(state)
    }
}

/// A design of a model that is one network over the last snapshots: what is its own besides the network.
pub(crate) trait Design: SnapshotLearner + Sized + 'static {
    type Config: Settings + Serialize + DeserializeOwned + Send + Sync;

    /// What messages call the saved state.
    const STATE: &'static str;

    fn capabilities() -> Capabilities;

    /// Refuses settings that contradict each other or are out of range.
    fn check(config: &Self::Config) -> Result<(), ConfigError>;

    /// How many snapshots are read.
    fn length(config: &Self::Config) -> usize;

    fn shape(&self) -> Shape;

    /// A trained network.
    fn train(
        config: &Self::Config,
        history: &History<'_>,
        validation: &dyn Validation,
        run: &Run,
    ) -> Result<Self, ModelError>;

    /// What is saved besides configuration, shape and numbers: the fields of an object.
    fn extra(&self) -> serde_json::Value;

    /// A network without numbers for a saved shape and these fields.
    fn saved(config: &Self::Config, shape: Shape, extra: serde_json::Value) -> Result<Self, ModelError>;
}

/// A model that is one network over the last snapshots.
pub(crate) struct SnapshotModel<N: Design> {
    config: N::Config,
    network: Option<N>,
    encoded: EncodedHistory<N>,
}

impl<N: Design> SnapshotModel<N> {
    /// An unfitted model.
    pub fn new(config: N::Config) -> Result<Self, ConfigError> {
        N::check(&config)?;
        Ok(Self { config, network: None, encoded: EncodedHistory::default() })
    }

    fn fitted(&self) -> Result<&N, ModelError> {
        self.network.as_ref().ok_or_else(unfitted)
    }
}

impl<N: Design> Forecaster for SnapshotModel<N> {
    fn capabilities(&self) -> Capabilities {
        N::capabilities()
    }

    fn fit(
        &mut self,
        history: &History<'_>,
        validation: &dyn Validation,
        run: &Run,
    ) -> Result<(), ModelError> {
        self.network = Some(N::train(&self.config, history, validation, run)?);
        self.encoded = EncodedHistory::default();
        Ok(())
    }

    fn begin(&mut self, step: Step, history: &History<'_>) -> Result<(), ModelError> {
        let network = self.network.as_ref().ok_or_else(unfitted)?;
        network.shape().check(history)?;
        self.encoded.update(network, history, step, N::length(&self.config));
        Ok(())
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        self.encoded.score(self.fitted()?, history, queries, sink)
    }

    fn explain(
        &self,
        history: &History<'_>,
        query: &Query,
        answer: EntityId,
    ) -> Result<Option<Explanation>, ModelError> {
        explain(self.fitted()?, history, query, answer, N::length(&self.config))
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        let network = self.fitted()?;
        let mut state = json!({ "config": self.config, "shape": network.shape() });
        if let (Some(state), serde_json::Value::Object(extra)) = (state.as_object_mut(), network.extra()) {
            state.extend(extra);
        }
        Ok(SavedModel { state, rules: None, tensors: Some(Tensors(network.learned().to_bytes()?)) })
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        #[derive(Deserialize)]
        #[serde(bound = "C: DeserializeOwned")]
        struct State<C> {
            config: C,
            shape: Shape,
        }
        let state: State<N::Config> = saved_state(saved, N::STATE)?;
        let tensors = saved_tensors(saved)?;
        *self = Self::new(state.config).map_err(|error| ModelError::Saved(error.to_string()))?;
        let mut network = N::saved(&self.config, state.shape.check_saved()?, saved.state.clone())?;
        network.learned_mut().load_bytes(tensors)?;
        self.network = Some(network);
        Ok(())
    }
}
