//! Networks that read the last snapshots. Scoring: encode a history once, answer from the encoding, explain by removal. Training:
//! predict a snapshot from the ones before it.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use quadcast_core::{
    EntityId, Evidence, Explanation, History, HistoryKey, ModelError, Quad, Query, ScoreSink, Step, Weighing,
};
use rand_chacha::ChaCha8Rng;
use serde_json::json;

use super::snapshots::{CHANNELS, PreparedSnapshot, SnapshotCache, last_steps};
use super::state::{Learned, StripSink, pad_rows};
use crate::capacity::{DataSizes, NUMBER, TRAINED};
use crate::training::{Learning, Trainable};

/// Most facts that are removed, one at a time: each removal encodes the snapshots again.
const MOST_REMOVALS: usize = 24;

/// A network that answers from snapshots.
pub(crate) trait SnapshotEncoder {
    /// The encoding of some snapshots.
    type Encoded;

    /// Encodes snapshots, oldest first.
    fn encode(&self, snapshots: &[Arc<PreparedSnapshot>]) -> Self::Encoded;

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
    cache: SnapshotCache,
    /// The history that is encoded.
    key: Option<HistoryKey>,
    encoded: Option<E::Encoded>,
}

impl<E: SnapshotEncoder> Default for EncodedHistory<E> {
    fn default() -> Self {
        Self { cache: SnapshotCache::default(), key: None, encoded: None }
    }
}

impl<E: SnapshotEncoder> EncodedHistory<E> {
    /// Encodes the last `length` snapshots of a history, unless that is done already.
    pub fn update(&mut self, network: &E, history: &History<'_>, length: usize) {
        if self.key == Some(history.key()) && self.encoded.is_some() {
            return;
        }
        if !self.key.is_some_and(|key| key.follows_in(history.key())) {
            self.cache.clear();
        }
        self.encoded = Some(network.encode(&self.cache.last(history, length)));
        self.key = Some(history.key());
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
    let score = |snapshots: &[Arc<PreparedSnapshot>]| {
        let mut own = 0.0;
        score(network, &network.encode(snapshots), history, &[*query], &mut |rows, scores| {
            if rows.start == 0 {
                own = f64::from(scores[answer.index()]);
            }
        });
        own
    };
    let mut steps: Vec<Step> = last_steps(history, length).collect();
    steps.reverse();
    let snapshots = steps.iter().map(|&step| Ok(history.snapshot(step)?.iter().collect()));
    let snapshots: Vec<Vec<Quad>> = snapshots.collect::<Result<_, ModelError>>()?;
    let prepared = |facts: &[Quad]| Arc::new(PreparedSnapshot::new(history, &facts.iter().copied()));
    let whole: Vec<Arc<PreparedSnapshot>> = snapshots.iter().map(|facts| prepared(facts)).collect();
    let full = score(&whole);

    let about = |fact: &Quad, entity: EntityId| fact.subject == entity || fact.object == entity;
    let near = |fact: &Quad| about(fact, query.known) || about(fact, answer);
    let mut nearby: Vec<Quad> = snapshots.iter().flatten().copied().filter(near).collect();
    // Most relevant first: facts about both entities, of the relation of the question, the newest.
    nearby.sort_by_key(|fact| {
        let both = about(fact, query.known) && about(fact, answer);
        (Reverse((both, fact.relation == query.relation, fact.step)), *fact)
    });
    let found = nearby.len();
    nearby.truncate(MOST_REMOVALS);
    let mut evidence = Vec::with_capacity(nearby.len());
    for fact in nearby {
        let mut snapshots_without = whole.clone();
        for ((&step, facts), place) in steps.iter().zip(&snapshots).zip(&mut snapshots_without) {
            if step == fact.step {
                let rest: Vec<Quad> = facts.iter().copied().filter(|other| *other != fact).collect();
                *place = prepared(&rest);
            }
        }
        evidence.push(Evidence { fact, weight: full - score(&snapshots_without), group: None });
    }
    evidence.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()).then(b.fact.step.cmp(&a.fact.step)));
    let tried = evidence.len();
    let details = [("facts_nearby", json!(found)), ("facts_removed_one_by_one", json!(tried))];
    Ok(Some(Explanation {
        query: *query,
        answer,
        score: full,
        weighing: Weighing::Losses,
        evidence,
        also: Vec::new(),
        rules: Vec::new(),
        details: details.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    }))
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
        snapshots: &[Arc<PreparedSnapshot>],
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
