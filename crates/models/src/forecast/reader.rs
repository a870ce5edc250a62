//! What models that read the last snapshots share: reading a history once, answering from it, giving reasons.

use std::sync::Arc;

use quadcast_core::{EntityId, Explanation, History, HistoryKey, ModelError, Query, ScoreRow, ScoreSink};

use super::removal;
use super::snapshots::{Arranged, Arrangements};
use super::state::at_least_a_few;

/// A network that answers from snapshots.
pub(crate) trait Encoder {
    /// What it makes of some snapshots.
    type Encoded;

    /// Reads snapshots, oldest first.
    fn encode(&self, snapshots: &[Arc<Arranged>]) -> Self::Encoded;

    /// Scores of all entities, one row per question about a known entity and a directed relation.
    fn scores(&self, encoded: &Self::Encoded, known: &[u32], relation: &[u32]) -> Vec<Vec<f32>>;
}

/// What a network makes of the last snapshots of a history.
pub(crate) struct Reader<E: Encoder> {
    arrangements: Arrangements,
    /// The history that is encoded.
    key: Option<HistoryKey>,
    encoded: Option<E::Encoded>,
}

impl<E: Encoder> Default for Reader<E> {
    fn default() -> Self {
        Self { arrangements: Arrangements::default(), key: None, encoded: None }
    }
}

impl<E: Encoder> Reader<E> {
    /// Encodes the end of a history, unless that is done already.
    pub fn read(&mut self, network: &E, history: &History<'_>, length: usize) {
        if self.key == Some(history.key()) && self.encoded.is_some() {
            return;
        }
        if !self.key.is_some_and(|key| key.follows_in(history.key())) {
            self.arrangements.clear();
        }
        self.encoded = Some(network.encode(&self.arrangements.last(history, length)));
        self.key = Some(history.key());
    }

    /// The parameters have changed.
    pub fn forget(&mut self) {
        self.encoded = None;
    }

    /// Scores questions about the history that was read.
    pub fn score(
        &self,
        network: &E,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        let early = || ModelError::Unsupported("scores were asked for before a step began".to_owned());
        let encoded = self.encoded.as_ref().ok_or_else(early)?;
        for (index, row) in rows(network, encoded, history, queries).iter().enumerate() {
            sink.accept(index, ScoreRow::Dense(row))?;
        }
        Ok(())
    }
}

fn rows<E: Encoder>(
    network: &E,
    encoded: &E::Encoded,
    history: &History<'_>,
    queries: &[Query],
) -> Vec<Vec<f32>> {
    let asked = at_least_a_few(queries);
    let known: Vec<u32> = asked.iter().map(|query| query.known.0).collect();
    let relation: Vec<u32> = asked.iter().map(|query| query.directed(history.relations()).0).collect();
    let mut rows = network.scores(encoded, &known, &relation);
    rows.truncate(queries.len());
    rows
}

/// Why an answer has its score: the facts of the last `length` snapshots that it depends on.
pub(crate) fn explain<E: Encoder>(
    network: &E,
    history: &History<'_>,
    query: &Query,
    answer: EntityId,
    length: usize,
) -> Result<Option<Explanation>, ModelError> {
    let score = |snapshots: &[Arc<Arranged>]| {
        f64::from(rows(network, &network.encode(snapshots), history, &[*query])[0][answer.index()])
    };
    removal::explain(history, query, answer, length, score).map(Some)
}
