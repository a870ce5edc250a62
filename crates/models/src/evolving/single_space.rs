//! Models with one embedding space for the whole graph: fitting, updating, scoring and saving.

use quadcast_core::{
    Capabilities, Direction, EntityId, EvolvingModel, GraphSizes, GraphUpdate, GraphValidation, GraphView,
    ModelError, Query, RelationId, Run, SavedModel, ScoreSink, Step, Tensors, Triple,
};
use quadcast_kernels::compare::{Comparison, pairs, score_strips};
use quadcast_kernels::rows::for_each_row;
use quadcast_kernels::triples::{Layout, Tables, Translation};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::examples::Examples;
use super::new_rows;
use super::settings::Config;
use super::space::Space;
use super::trainer::Trainer;
use crate::blocks::store::{Arrays, StoreError};
use crate::config::ConfigError;
use crate::forecast::state::{StripSink, pad_rows, saved_state, saved_tensors, unfitted};

/// Questions per call of the kernel.
const QUESTIONS_AT_ONCE: usize = 128;
/// Triples per call of the kernel in `energies`.
const TRIPLES_AT_ONCE: usize = 1 << 12;

/// A model with one space.
pub(crate) struct SingleSpace<M> {
    pub config: Config,
    pub space: M,
    pub tables: Option<Tables<f32>>,
    /// By entity: whether a training triple contained it. Use in sampled false triples does not count.
    trained: Vec<bool>,
    /// How many entities and relations were present at the first fit; earlier versions did not save that.
    present: Option<GraphSizes>,
    prepared: Prepared,
}

/// The candidates of the next questions.
#[derive(Default)]
struct Prepared {
    ids: Vec<EntityId>,
    /// Their rows, where those do not depend on the relation.
    rows: Option<Vec<f32>>,
}

impl<M: Space> SingleSpace<M> {
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        M::check(&config)?;
        let space = M::new(&config);
        let width = |layout: Layout| layout.0.first().map(|segment| segment.width);
        let is_like_transe = [space.entity(), space.relation()].map(width) == [Some(config.dimension); 2];
        if config.warm_epochs > 0 && !is_like_transe {
            return Err(ConfigError::Value(
                "warm_epochs begins with the rows of TransE, where entities and relations have as many numbers as \
                 dimension says, and here they do not: set warm_epochs = 0, or leave relation_dimension out"
                    .to_owned(),
            ));
        }
        Ok(Self::unfitted(space, config))
    }

    fn unfitted(space: M, config: Config) -> Self {
        let (trained, prepared) = (Vec::new(), Prepared::default());
        Self { config, space, tables: None, trained, present: None, prepared }
    }

    fn tables(&self) -> Result<&Tables<f32>, ModelError> {
        self.tables.as_ref().ok_or_else(unfitted)
    }

    /// The rows of all candidates for questions of a relation.
    fn all_candidates(&self, tables: &Tables<f32>, relation: RelationId) -> Vec<f32> {
        let pairs: Vec<_> = self.prepared.ids.iter().map(|&entity| (entity, relation)).collect();
        self.candidates(tables, &pairs)
    }

    fn candidates(&self, tables: &Tables<f32>, pairs: &[(EntityId, RelationId)]) -> Vec<f32> {
        let width = self.space.width();
        let mut rows = vec![0.0; pairs.len() * width];
        for_each_row(&mut rows, width, |i, out| {
            let (entity, relation) = pairs[i];
            self.space.candidate(tables.entities.row(entity.0), tables.relations.row(relation.0), out);
        });
        rows
    }

    fn queries(&self, tables: &Tables<f32>, asked: &[Query]) -> Vec<f32> {
        let width = self.space.width();
        let mut rows = vec![0.0; asked.len() * width];
        for_each_row(&mut rows, width, |i, out| {
            let Query { known, relation, direction, .. } = asked[i];
            let (known, relation) = (tables.entities.row(known.0), tables.relations.row(relation.0));
            self.space.query(known, relation, direction, out);
        });
        rows
    }

    /// Scores questions that share their candidates.
    fn score_shared(
        &self,
        tables: &Tables<f32>,
        candidates: &[f32],
        (queries, indices): (&[Query], &[usize]),
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        for indices in indices.chunks(QUESTIONS_AT_ONCE) {
            let asked: Vec<Query> = indices.iter().map(|&i| queries[i]).collect();
            let comparison = Comparison {
                likeness: self.space.likeness(),
                queries: &self.queries(tables, &pad_rows(&asked)),
                candidates,
                own: None,
                weights: None,
                d: self.space.width(),
            };
            let mut out = StripSink::new(sink, indices, self.prepared.ids.len());
            score_strips(&comparison, |rows, scores| out.accept(rows, scores));
            out.finish()?;
        }
        Ok(())
    }

    /// Draws the initial rows for a graph.
    fn draw(&mut self, graph: &GraphView<'_>, run: &Run) -> Result<(), ModelError> {
        // The old rows are freed before new ones of the same size are allocated.
        self.tables = None;
        self.forget_candidates();
        new_rows::check_rows::<M>(&self.config, graph.sizes)?;
        let present = counted(graph);
        self.tables = Some(new_rows::tables(&self.space, &self.config, (graph.sizes, present), run));
        (self.trained, self.present) = (vec![false; graph.sizes.entities], Some(present));
        Ok(())
    }

    /// Replaces the random rows by those of a `TransE` that was trained for some epochs; returns the seconds it took.
    fn warm_up(
        &mut self,
        graph: &GraphView<'_>,
        validation: &dyn GraphValidation,
        run: &Run,
    ) -> Result<f64, ModelError> {
        let config = self.config.warm_start();
        let mut first = SingleSpace::unfitted(<Translation as Space>::new(&config), config);
        first.draw(graph, run)?;
        let name = format!("warm-start-{}", graph.step.0 + 1);
        let seconds = first.learn((Examples::all(graph.triples), graph), (&name, false), validation, run)?;
        if let (Some(own), Some(first)) = (&mut self.tables, &first.tables) {
            own.entities.replace_segment(0, &first.entities.segment(0));
            own.relations.replace_segment(0, &first.relations.segment(0));
        }
        Ok(seconds)
    }

    /// Frees the candidates of the last questions, which take as much memory as the rows.
    pub fn forget_candidates(&mut self) {
        self.prepared = Prepared::default();
    }

    /// Trains on examples from the current state; `name` names the training. Returns the seconds it took.
    fn learn(
        &mut self,
        (examples, graph): (Examples, &GraphView<'_>),
        (name, update): (&str, bool),
        validation: &dyn GraphValidation,
        run: &Run,
    ) -> Result<f64, ModelError> {
        if examples.is_empty() {
            return Ok(0.0);
        }
        new_rows::check_training::<M>(&self.config, graph.sizes)?;
        let training = Trainer::new(self, examples, graph, run)?.train(name, update, validation)?;
        for end in graph.triples.iter().flat_map(|triple| [triple.subject, triple.object]) {
            self.trained[end.index()] = true;
        }
        Ok(training.seconds)
    }

    /// Adds rows for entities and relations that are new since the last graph. Existing rows do not change.
    fn grow(&mut self, graph: &GraphView<'_>, run: &Run) -> Result<(), ModelError> {
        let old = self.tables()?;
        let (own, sizes) = ([old.entities.rows(), old.relations.rows()], graph.sizes);
        if own == [sizes.entities, sizes.relations] {
            return Ok(());
        }
        if own[0] > sizes.entities || own[1] > sizes.relations {
            return Err(ModelError::Unsupported(format!(
                "the model was fitted to {} entities and {} relations, the graph has {} and {}",
                own[0], own[1], sizes.entities, sizes.relations
            )));
        }
        new_rows::check_rows::<M>(&self.config, sizes)?;
        let present = self.present.unwrap_or_else(|| counted(graph));
        let mut tables = new_rows::tables(&self.space, &self.config, (sizes, present), run);
        for (table, old) in [(&mut tables.entities, &old.entities), (&mut tables.relations, &old.relations)] {
            let mut values = table.values().to_vec();
            values[..old.values().len()].copy_from_slice(old.values());
            table.replace(values.into_iter());
        }
        self.tables = Some(tables);
        self.trained.resize(sizes.entities, false);
        self.forget_candidates();
        Ok(())
    }
}

/// How many entities and relations are present.
fn counted(graph: &GraphView<'_>) -> GraphSizes {
    GraphSizes { entities: graph.present.len(), relations: graph.relations.len() }
}

/// Name of the training of a step.
fn training_name(graph: &GraphView<'_>) -> String {
    format!("step-{}", graph.step.0 + 1)
}

impl<M: Space> EvolvingModel for SingleSpace<M> {
    fn capabilities(&self) -> Capabilities {
        Capabilities { unlearns: self.config.unlearn > 0.0, ..super::CAPABILITIES }
    }

    fn fit(
        &mut self,
        graph: &GraphView<'_>,
        validation: &dyn GraphValidation,
        run: &Run,
    ) -> Result<(), ModelError> {
        self.draw(graph, run)?;
        let spent = if self.config.warm_epochs > 0 { self.warm_up(graph, validation, run)? } else { 0.0 };
        let (examples, name) = (Examples::all(graph.triples), training_name(graph));
        self.learn((examples, graph), (&name, false), validation, &run.after(spent))?;
        Ok(())
    }

    fn update(
        &mut self,
        update: &GraphUpdate<'_>,
        validation: &dyn GraphValidation,
        run: &Run,
    ) -> Result<(), ModelError> {
        let graph = &update.graph;
        self.grow(graph, run)?;
        if self.config.neighbour_start
            && let Some(tables) = &mut self.tables
        {
            new_rows::place(&self.space, tables, update.inserted, &self.trained);
        }
        let examples = Examples::of_change(update, &self.config, run);
        self.learn((examples, graph), (&training_name(graph), true), validation, run)?;
        Ok(())
    }

    fn begin(&mut self, candidates: &[EntityId]) -> Result<(), ModelError> {
        self.prepared = Prepared { ids: candidates.to_vec(), rows: None };
        let tables = self.tables()?;
        if !M::CANDIDATES_BY_RELATION && tables.relations.rows() > 0 {
            self.prepared.rows = Some(self.all_candidates(tables, RelationId(0)));
        }
        Ok(())
    }

    fn score(&self, queries: &[Query], sink: &mut dyn ScoreSink) -> Result<(), ModelError> {
        let tables = self.tables()?;
        let mut order: Vec<usize> = (0..queries.len()).collect();
        if let Some(candidates) = &self.prepared.rows {
            return self.score_shared(tables, candidates, (queries, &order), sink);
        }
        order.sort_by_key(|&i| queries[i].relation);
        for indices in order.chunk_by(|&a, &b| queries[a].relation == queries[b].relation) {
            let candidates = self.all_candidates(tables, queries[indices[0]].relation);
            self.score_shared(tables, &candidates, (queries, indices), sink)?;
        }
        Ok(())
    }

    fn energies(&self, triples: &[Triple]) -> Result<Vec<f32>, ModelError> {
        let tables = self.tables()?;
        let mut energies = vec![0.0; triples.len()];
        for (triples, out) in triples.chunks(TRIPLES_AT_ONCE).zip(energies.chunks_mut(TRIPLES_AT_ONCE)) {
            let asked = triples.iter().map(|triple| Query::hide(triple.at(Step(0)), Direction::Object).0);
            let queries = self.queries(tables, &asked.collect::<Vec<_>>());
            let answers = triples.iter().map(|triple| (triple.object, triple.relation));
            let candidates = self.candidates(tables, &answers.collect::<Vec<_>>());
            pairs(self.space.likeness(), self.space.width(), &queries, &candidates, None, out);
            out.iter_mut().for_each(|x| *x = -*x);
        }
        Ok(energies)
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        let tables = self.tables()?;
        let mut arrays = Arrays::default();
        for table in [&tables.entities, &tables.relations] {
            for (index, segment) in table.layout().0.iter().enumerate() {
                arrays.insert(segment.name, vec![table.rows(), segment.width], table.segment(index));
            }
        }
        let (entities, relations) = (tables.entities.rows(), tables.relations.rows());
        let untrained = (0..).zip(&self.trained).filter(|(_, trained)| !**trained).map(|(row, _)| row);
        let state = Saved {
            config: self.config.clone(),
            entities,
            relations,
            untrained: untrained.collect(),
            present: self.present.map(|present| [present.entities, present.relations]),
        };
        let bytes = arrays.to_bytes().map_err(|error| broken(&error))?;
        Ok(SavedModel { state: json!(state), rules: None, tensors: Some(Tensors(bytes)) })
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        let state: Saved = saved_state(saved, "state of an embedding model")?;
        let tensors = saved_tensors(saved)?;
        let mut model = Self::new(state.config).map_err(|error| ModelError::Saved(error.to_string()))?;
        let mut arrays = Arrays::from_bytes(tensors).map_err(|error| broken(&error))?;
        // All arrays are checked before a table is allocated: wrong settings could ask for a table of any size.
        let mut take = |layout: Layout, rows: usize| -> Result<Vec<Vec<f32>>, ModelError> {
            let numbers = layout.0.iter().map(|segment| arrays.take(segment.name, &[rows, segment.width]));
            numbers.collect::<Result<_, StoreError>>().map_err(|error| broken(&error))
        };
        let entities = take(model.space.entity(), state.entities)?;
        let relations = take(model.space.relation(), state.relations)?;
        arrays.finish().map_err(|error| broken(&error))?;
        let mut tables = Tables::new(&model.space, state.entities, state.relations);
        for (table, segments) in [(&mut tables.entities, entities), (&mut tables.relations, relations)] {
            // Each segment is freed after it was copied.
            segments.into_iter().enumerate().for_each(|(i, numbers)| table.replace_segment(i, &numbers));
        }
        model.tables = Some(tables);
        model.trained = vec![true; state.entities];
        for row in state.untrained {
            let outside = || ModelError::Saved(format!("untrained entity {row} does not exist"));
            *model.trained.get_mut(row as usize).ok_or_else(outside)? = false;
        }
        if let Some(present) = state.present.filter(|own| own[0] > state.entities || own[1] > state.relations)
        {
            return Err(ModelError::Saved(format!(
                "present = {present:?} is out of range: expected at most [{}, {}]",
                state.entities, state.relations
            )));
        }
        model.present = state.present.map(|[entities, relations]| GraphSizes { entities, relations });
        *self = model;
        Ok(())
    }
}

/// State besides the tables.
#[derive(Serialize, Deserialize)]
struct Saved {
    config: Config,
    entities: usize,
    relations: usize,
    /// Entities without a training triple so far. Earlier versions did not save them: then all rows count as trained.
    #[serde(default)]
    untrained: Vec<u32>,
    /// Entities and relations that were present at the first fit. Earlier versions did not save them.
    #[serde(default)]
    present: Option<[usize; 2]>,
}

fn broken(error: &StoreError) -> ModelError {
    ModelError::Saved(error.to_string())
}
