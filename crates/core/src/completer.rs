//! What a completion model is, and how the evaluator plays it.

use crate::{
    Capabilities, EntityId, Explanation, Forecaster, History, ModelError, Quad, Query, Run, SavedModel,
    ScoreSink, Step, Validation,
};

/// A completion model: it fills holes in facts of any time, knowing other facts of any time. The evaluator calls `fit`
/// once, then `begin`, then `score`, possibly on several threads.
///
/// What is known comes as a [`History`] that ends after the last step: the training facts, or the training and
/// validation facts. The facts that are asked about are not in it.
pub trait Completer: Send + Sync {
    /// What the model can do.
    fn capabilities(&self) -> Capabilities;

    /// Learns from the training facts; `validation` judges candidate models.
    fn fit(&mut self, known: &History<'_>, validation: &dyn Validation, run: &Run) -> Result<(), ModelError>;

    /// Prepares for questions, given what is known.
    fn begin(&mut self, _known: &History<'_>) -> Result<(), ModelError> {
        Ok(())
    }

    /// Scores all candidates of each query; one row per query goes into the sink. `known` is what was given to `begin`.
    fn score(
        &self,
        known: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError>;

    /// How plausible whole facts are, on one scale for all relations and times: what holes in other places are filled by.
    /// `None` if the scores of the model cannot be compared so.
    fn rate(&self, _known: &History<'_>, _facts: &[Quad]) -> Result<Option<Vec<f32>>, ModelError> {
        Ok(None)
    }

    /// Why `answer` has its score, or `None` if the model gives no reasons.
    fn explain(
        &self,
        _known: &History<'_>,
        _query: &Query,
        _answer: EntityId,
    ) -> Result<Option<Explanation>, ModelError> {
        Ok(None)
    }

    /// The learned state.
    fn save(&self) -> Result<SavedModel, ModelError>;

    /// Takes a learned state that `save` gave.
    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError>;
}

/// A completer as the evaluator plays it: it is asked like a forecaster, and what it is shown does not depend on the
/// step asked about.
#[derive(Clone, Debug)]
pub struct Completing<C>(pub C);

impl<C: Completer> Forecaster for Completing<C> {
    fn capabilities(&self) -> Capabilities {
        self.0.capabilities()
    }

    fn fit(
        &mut self,
        history: &History<'_>,
        validation: &dyn Validation,
        run: &Run,
    ) -> Result<(), ModelError> {
        self.0.fit(history, validation, run)
    }

    fn begin(&mut self, _step: Step, history: &History<'_>) -> Result<(), ModelError> {
        self.0.begin(history)
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        self.0.score(history, queries, sink)
    }

    fn rate(&self, history: &History<'_>, facts: &[Quad]) -> Result<Option<Vec<f32>>, ModelError> {
        self.0.rate(history, facts)
    }

    fn explain(
        &self,
        history: &History<'_>,
        query: &Query,
        answer: EntityId,
    ) -> Result<Option<Explanation>, ModelError> {
        self.0.explain(history, query, answer)
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        self.0.save()
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        self.0.load(saved)
    }
}
