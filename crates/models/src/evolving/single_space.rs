//! The models that keep one space for the whole graph, as the evaluator sees them.

use std::sync::{Mutex, PoisonError};

use quadcast_core::{
    Direction, EntityId, EvolvingCapabilities, EvolvingModel, GraphUpdate, GraphValidation, GraphView,
    ModelError, Query, RelationId, Run, SavedModel, ScoreRow, ScoreSink, Tensors, Triple,
};
use quadcast_kernels::compare::{Comparison, pairs, score_rows};
use quadcast_kernels::rows::for_each_row;
use quadcast_kernels::triples::{Layout, Table, Tables, Translation};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::examples::Examples;
use super::initial;
use super::settings::Config;
use super::space::{Depends, Space};
use super::trainer::Trainer;
use crate::blocks::store::{Arrays, StoreError};
use crate::config::ConfigError;
use crate::forecast::state::{at_least_a_few, unfitted};

/// Questions that are answered in one go: enough for the kernels, few enough for a row of scores each.
const QUESTIONS_AT_ONCE: usize = 128;
/// Triples that are rated in one go.
const TRIPLES_AT_ONCE: usize = 1 << 12;

/// A model that keeps one space.
pub(crate) struct SingleSpace<M> {
    pub config: Config,
    pub space: M,
    pub tables: Option<Tables<f32>>,
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
        Ok(Self { space, config, tables: None, prepared: Prepared::default() })
    }

    fn tables(&self) -> Result<&Tables<f32>, ModelError> {
        self.tables.as_ref().ok_or_else(unfitted)
    }

    /// The rows of all candidates for questions of a relation.
    fn candidates(&self, tables: &Tables<f32>, relation: RelationId) -> Vec<f32> {
        let width = self.space.width();
        let mut rows = vec![0.0; self.prepared.ids.len() * width];
        for_each_row(&mut rows, width, |i, out| {
            let entity = tables.entities.row(self.prepared.ids[i].0);
            self.space.candidate(entity, tables.relations.row(relation.0), out);
        });
        rows
    }

    fn queries(&self, tables: &Tables<f32>, asked: &[&Query]) -> Vec<f32> {
        let width = self.space.width();
        let mut rows = vec![0.0; asked.len() * width];
        for_each_row(&mut rows, width, |i, out| {
            let Query { known, relation, direction, .. } = *asked[i];
            let (known, relation) = (tables.entities.row(known.0), tables.relations.row(relation.0));
            self.space.query(known, relation, direction, out);
        });
        rows
    }

    /// Answers questions that share their candidates.
    fn answer(
        &self,
        tables: &Tables<f32>,
        candidates: &[f32],
        (queries, indices): (&[Query], &[usize]),
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        let n = self.prepared.ids.len();
        for indices in indices.chunks(QUESTIONS_AT_ONCE) {
            let asked: Vec<&Query> = indices.iter().map(|&i| &queries[i]).collect();
            let comparison = Comparison {
                likeness: self.space.likeness(),
                queries: &self.queries(tables, &at_least_a_few(&asked)),
                candidates,
                own: None,
                weights: None,
                d: self.space.width(),
            };
            let mut out = vec![0.0; indices.len() * n];
            let rows: Vec<Mutex<&mut [f32]>> = out.chunks_mut(n.max(1)).map(Mutex::new).collect();
            score_rows(&comparison, |row, scores| {
                if let Some(row) = rows.get(row) {
                    row.lock().unwrap_or_else(PoisonError::into_inner).copy_from_slice(scores);
                }
            });
            drop(rows);
            for (scores, &index) in out.chunks(n.max(1)).zip(indices) {
                sink.accept(index, ScoreRow::Dense(scores))?;
            }
        }
        Ok(())
    }

    /// Puts the rows of a `TransE` that learned the graph for some epochs where the drawn ones were.
    fn warm_up(
        &mut self,
        graph: &GraphView<'_>,
        validation: &dyn GraphValidation,
        run: &Run,
    ) -> Result<(), ModelError> {
        let config = self.config.warm_start();
        let mut first = SingleSpace {
            space: <Translation as Space>::new(&config),
            config,
            tables: None,
            prepared: Prepared::default(),
        };
        first.fit(graph, validation, &run.within("warm-start"))?;
        if let (Some(own), Some(first)) = (&mut self.tables, &first.tables) {
            own.entities.replace_segment(0, &first.entities.segment(0));
            own.relations.replace_segment(0, &first.relations.segment(0));
        }
        Ok(())
    }

    /// Lets go of the candidates of the last questions, which take as much room as all that is learned.
    pub fn forget_candidates(&mut self) {
        self.prepared = Prepared::default();
    }

    /// Learns examples from where it is.
    fn learn(
        &mut self,
        (examples, graph): (Examples, &GraphView<'_>),
        update: bool,
        validation: &dyn GraphValidation,
        run: &Run,
    ) -> Result<(), ModelError> {
        if examples.is_empty() {
            return Ok(());
        }
        Trainer::new(self, examples, graph, run)?.train(graph.step, update, validation)?;
        Ok(())
    }

    /// Makes room for entities and relations that are new since the last graph. What was learned stays as it is.
    fn grow(&mut self, graph: &GraphView<'_>, run: &Run) -> Result<(), ModelError> {
        let old = self.tables.take().ok_or_else(unfitted)?;
        let (own, sizes) = ([old.entities.rows(), old.relations.rows()], graph.sizes);
        if own == [sizes.entities, sizes.relations] {
            self.tables = Some(old);
            return Ok(());
        }
        if own[0] > sizes.entities || own[1] > sizes.relations {
            let message = format!(
                "the model was fitted to {} entities and {} relations, the graph has {} and {}",
                own[0], own[1], sizes.entities, sizes.relations
            );
            self.tables = Some(old);
            return Err(ModelError::Unsupported(message));
        }
        let mut tables = initial::tables(&self.space, &self.config, graph, run);
        for (table, old) in [(&mut tables.entities, &old.entities), (&mut tables.relations, &old.relations)] {
            let mut values = table.values().to_vec();
            values[..old.values().len()].copy_from_slice(old.values());
            table.replace(values.into_iter());
        }
        self.tables = Some(tables);
        self.forget_candidates();
        Ok(())
    }
}

impl<M: Space> EvolvingModel for SingleSpace<M> {
    fn capabilities(&self) -> EvolvingCapabilities {
        super::capabilities_of(&self.config)
    }

    fn fit(
        &mut self,
        graph: &GraphView<'_>,
        validation: &dyn GraphValidation,
        run: &Run,
    ) -> Result<(), ModelError> {
        // What was learned of an earlier graph goes before there is something new, which takes as much room.
        self.tables = None;
        self.forget_candidates();
        self.tables = Some(initial::tables(&self.space, &self.config, graph, run));
        if self.config.warm_epochs > 0 {
            self.warm_up(graph, validation, run)?;
        }
        self.learn((Examples::all(graph.triples), graph), false, validation, run)
    }

    fn update(
        &mut self,
        update: &GraphUpdate<'_>,
        validation: &dyn GraphValidation,
        run: &Run,
    ) -> Result<(), ModelError> {
        let graph = &update.graph;
        self.grow(graph, run)?;
        let changes = super::examples::Changes::new(update);
        if self.config.neighbour_start
            && let Some(tables) = &mut self.tables
        {
            initial::place(&self.space, tables, update.inserted, &changes);
        }
        let examples = Examples::of_change(update, &changes, &self.config, run);
        self.learn((examples, graph), true, validation, run)
    }

    fn begin(&mut self, candidates: &[EntityId]) -> Result<(), ModelError> {
        self.prepared = Prepared { ids: candidates.to_vec(), rows: None };
        let tables = self.tables()?;
        if self.space.depends() == Depends::Nothing && tables.relations.rows() > 0 {
            self.prepared.rows = Some(self.candidates(tables, RelationId(0)));
        }
        Ok(())
    }

    fn score(&self, queries: &[Query], sink: &mut dyn ScoreSink) -> Result<(), ModelError> {
        let tables = self.tables()?;
        let mut order: Vec<usize> = (0..queries.len()).collect();
        if let Some(candidates) = &self.prepared.rows {
            return self.answer(tables, candidates, (queries, &order), sink);
        }
        order.sort_by_key(|&i| queries[i].relation);
        for indices in order.chunk_by(|&a, &b| queries[a].relation == queries[b].relation) {
            let candidates = self.candidates(tables, queries[indices[0]].relation);
            self.answer(tables, &candidates, (queries, indices), sink)?;
        }
        Ok(())
    }

    fn energies(&self, triples: &[Triple]) -> Result<Vec<f32>, ModelError> {
        let tables = self.tables()?;
        let width = self.space.width();
        let mut energies = vec![0.0; triples.len()];
        for (triples, out) in triples.chunks(TRIPLES_AT_ONCE).zip(energies.chunks_mut(TRIPLES_AT_ONCE)) {
            let (mut queries, mut candidates) =
                (vec![0.0; triples.len() * width], vec![0.0; triples.len() * width]);
            for_each_row(&mut queries, width, |i, out| {
                let (head, relation) = (triples[i].subject.0, triples[i].relation.0);
                let (head, relation) = (tables.entities.row(head), tables.relations.row(relation));
                self.space.query(head, relation, Direction::Object, out);
            });
            for_each_row(&mut candidates, width, |i, out| {
                let (tail, relation) = (triples[i].object.0, triples[i].relation.0);
                let (tail, relation) = (tables.entities.row(tail), tables.relations.row(relation));
                self.space.candidate(tail, relation, out);
            });
            pairs(self.space.likeness(), width, &queries, &candidates, None, out);
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
        let state = Saved { config: self.config.clone(), entities, relations };
        let bytes = arrays.to_bytes().map_err(|error| broken(&error))?;
        Ok(SavedModel { state: json!(state), rules: None, tensors: Some(Tensors(bytes)) })
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        let state: Saved = serde_json::from_value(saved.state.clone())
            .map_err(|error| ModelError::Saved(format!("{error} in the state of an embedding model")))?;
        let tensors =
            saved.tensors.as_ref().ok_or_else(|| ModelError::Saved("it has no tensors".to_owned()))?;
        *self = Self::new(state.config).map_err(|error| ModelError::Saved(error.to_string()))?;
        let mut tables = Tables::new(&self.space, state.entities, state.relations);
        let mut arrays = Arrays::from_bytes(&tensors.0).map_err(|error| broken(&error))?;
        let mut take = |table: &mut Table<f32>| -> Result<(), ModelError> {
            for (index, segment) in table.layout().clone().0.iter().enumerate() {
                let numbers = arrays
                    .take(segment.name, &[table.rows(), segment.width])
                    .map_err(|error| broken(&error))?;
                table.replace_segment(index, &numbers);
            }
            Ok(())
        };
        take(&mut tables.entities)?;
        take(&mut tables.relations)?;
        arrays.finish().map_err(|error| broken(&error))?;
        self.tables = Some(tables);
        Ok(())
    }
}

/// The state beside the tables.
#[derive(Serialize, Deserialize)]
struct Saved {
    config: Config,
    entities: usize,
    relations: usize,
}

fn broken(error: &StoreError) -> ModelError {
    ModelError::Saved(error.to_string())
}
