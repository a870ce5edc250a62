//! What a model of a changing graph is, and what it is given.

use crate::{
    Capabilities, EntityId, LinkScore, ModelError, Query, RelationId, Run, SavedModel, ScoreSink, Step,
    Triple,
};

/// What a model may learn from at one step. Held-out triples are not in it.
#[derive(Clone, Copy, Debug)]
pub struct GraphView<'a> {
    /// The step, counted from 0.
    pub step: Step,
    /// Triples to learn from, in their order, each once.
    pub triples: &'a [Triple],
    /// Entities that are present at this step, ascending. An entity that stands in held-out triples only is present too:
    /// that it is there is known, its triples are not.
    pub present: &'a [EntityId],
    /// Relations that are present at this step, ascending.
    pub relations: &'a [RelationId],
    /// Size of the id spaces: every entity and relation that ever occurs.
    pub sizes: GraphSizes,
}

/// How many entities and relations ever occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphSizes {
    /// Entities.
    pub entities: usize,
    /// Relations.
    pub relations: usize,
}

/// How the graph changed.
#[derive(Clone, Copy, Debug)]
pub struct GraphUpdate<'a> {
    /// The graph after the change, or, for a model that is told of new triples only, those triples.
    pub graph: GraphView<'a>,
    /// Training triples that came, in their order.
    pub inserted: &'a [Triple],
    /// Training triples that went, in their order.
    pub deleted: &'a [Triple],
}

/// A model of a graph whose triples come and go. The evaluator calls the verbs in this order: for each step `fit` or
/// `update`; then `begin` and `score`, possibly on several threads, and `energies`.
pub trait EvolvingModel: Send + Sync {
    /// What the model can do.
    fn capabilities(&self) -> Capabilities;

    /// Forgets what it knew and learns a graph; `validation` judges states.
    fn fit(
        &mut self,
        graph: &GraphView<'_>,
        validation: &dyn GraphValidation,
        run: &Run,
    ) -> Result<(), ModelError>;

    /// Goes on from what it knows after the graph changed.
    fn update(
        &mut self,
        update: &GraphUpdate<'_>,
        validation: &dyn GraphValidation,
        run: &Run,
    ) -> Result<(), ModelError>;

    /// Prepares for questions whose answers are among `candidates`, which ascend.
    fn begin(&mut self, candidates: &[EntityId]) -> Result<(), ModelError>;

    /// Scores all candidates of each query, higher is better. A dense row has one score per candidate of the last `begin`,
    /// in their order; a sparse row lists entities, and others than candidates are passed over.
    fn score(&self, queries: &[Query], sink: &mut dyn ScoreSink) -> Result<(), ModelError>;

    /// Energies of whole triples, lower is more plausible; infinite where the model has nothing to say.
    fn energies(&self, triples: &[Triple]) -> Result<Vec<f32>, ModelError>;

    /// The learned state.
    fn save(&self) -> Result<SavedModel, ModelError>;

    /// Takes a learned state that `save` gave.
    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError>;
}

/// Judges models on the validation triples of a step. Test triples are out of reach.
pub trait GraphValidation: Sync {
    /// Asks for both ends of the validation triples among the entities that are present.
    fn judge(&self, model: &mut dyn EvolvingModel) -> Result<LinkScore, ModelError>;
}
