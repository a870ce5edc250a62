//! The model of parallel universes: growing, retiring, scoring and saving.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use quadcast_core::{
    Capabilities, Checkpoints, Constant, Direction, EntityId, EvolvingModel, GraphSizes, GraphUpdate,
    GraphValidation, GraphView, ModelError, NoCheckpoints, Query, Run, SavedModel, ScoreRow, ScoreSink, Step,
    Tensors, Triple,
};
use rayon::prelude::*;
use serde_json::json;

use super::energy_cache::EnergyCache;
use super::growth::{AddedPerStep, OldCheckpoints, StepProgress, best, block_name};
use super::index::UniverseIndex;
use super::saved::{from_bytes, to_bytes};
use super::settings::{Config, Deletion, Missing, unreadable};
use super::state::State;
use super::storage::{StoredUniverse, UniverseWriter};
use super::universe::{Universe, check_memory};
use super::view::{UniverseView, ZeroRow};
use super::walk::WalkGraph;
use crate::evolving::examples::ids;
use crate::evolving::space::Space;
use crate::forecast::state::unfitted;

/// Triples per task of `energies`.
const TRIPLES_AT_ONCE: usize = 256;

/// The model.
pub(super) struct Universes<M> {
    config: Config,
    space: M,
    index: Option<UniverseIndex>,
    sizes: GraphSizes,
    /// Deleted training triples, and how many universes there were at that time: later ones were trained without the triple.
    deleted: BTreeMap<Triple, usize>,
    /// How many universes each step added.
    added: AddedPerStep,
    /// Number of the next universe.
    next: u64,
    /// Candidates of the next questions.
    candidates: usize,
    /// The lowest energies found by the validations of the current step. Retirement and factors do not change during a step.
    cache: Option<EnergyCache>,
    /// The checkpoints of the last step.
    old_checkpoints: Option<OldCheckpoints>,
}

impl<M: Space> Universes<M> {
    pub fn new(config: Config) -> Self {
        Self {
            space: M::new(&config.space_config()),
            config,
            index: None,
            sizes: GraphSizes { entities: 0, relations: 0 },
            deleted: BTreeMap::new(),
            added: AddedPerStep::default(),
            next: 0,
            candidates: 0,
            cache: None,
            old_checkpoints: None,
        }
    }

    fn index(&self) -> Result<&UniverseIndex, ModelError> {
        self.index.as_ref().ok_or_else(unfitted)
    }

    fn index_mut(&mut self) -> Result<&mut UniverseIndex, ModelError> {
        self.index.as_mut().ok_or_else(unfitted)
    }

    /// Trains universes for a graph until validation no longer improves. Every block is a checkpoint: an interruption loses at
    /// most one.
    fn grow(
        &mut self,
        graph: &GraphView<'_>,
        validation: &dyn GraphValidation,
        run: &Run,
    ) -> Result<(), ModelError> {
        self.old_checkpoints.take().map_or(Ok(()), OldCheckpoints::discard)?;
        let walk_graph = WalkGraph::new(graph);
        if walk_graph.is_empty() {
            return Ok(());
        }
        check_memory::<M>(&self.config, graph)?;
        let (before, first, step) = (self.index()?.len(), self.next, graph.step);
        let folder = run.checkpoints.scratch_folder();
        let mut progress = self.recall_blocks(step, run)?;
        self.cache = Some(EnergyCache::default());
        let (earlier, since) = (progress.seconds, Instant::now());
        run.progress.begin("universes", self.config.universes as u64);
        run.progress.advance((self.index()?.len() - before) as u64);
        let ending = loop {
            if let Some(ending) = self.ending(&progress, run) {
                break ending;
            }
            run.check_cancelled()?;
            let block = progress.scores.len();
            let universes = self.store(self.block(&walk_graph, run, first, block), &folder)?;
            let views: Vec<UniverseView<'_>> = universes.iter().map(StoredUniverse::view).collect();
            run.checkpoints.save(&block_name(step, block), &[&to_bytes(&self.space, &views)?])?;
            self.index_mut()?.extend(universes);
            let score = validation.judge(self)?;
            progress.scores.push(score.hits10);
            progress.seconds = earlier + since.elapsed().as_secs_f64();
            progress.keep(step, run)?;
            run.progress.note(&format!("validation H@10 {:.2}", 100.0 * score.hits10));
            run.checkpoints
                .log(&json!({ "event": "universes", "step": step.0 + 1, "universes": self.index()?.len(),
                "hits@10": score.hits10, "mr": score.mr, "seconds": progress.seconds }))?;
        };
        run.progress.end();
        self.cache = None;
        let grown = self.index()?.len() - before;
        self.keep_best(before, first, &progress.scores)?;
        self.old_checkpoints = Some(OldCheckpoints::new(run, step, progress.scores.len()));
        let (kept, highest) =
            (self.index()?.len() - before, progress.scores.iter().copied().reduce(f64::max));
        run.checkpoints
            .log(&json!({ "event": "trained", "training": "universes", "ending": ending, "universes": grown,
            "best_universes": kept, "best_hits@10": highest, "seconds": progress.seconds }))
    }

    /// Adds the finished blocks of an interrupted step, up to the first missing one.
    fn recall_blocks(&mut self, step: Step, run: &Run) -> Result<StepProgress, ModelError> {
        let folder = run.checkpoints.scratch_folder();
        let mut progress = StepProgress::recall(step, run)?;
        for block in 0..progress.scores.len() {
            let Some(kept) = run.checkpoints.load(&block_name(step, block))? else {
                progress.scores.truncate(block);
                break;
            };
            let universes = from_bytes(&self.space, &kept, self.sizes, &folder)?;
            self.index_mut()?.extend(universes);
        }
        Ok(progress)
    }

    /// Trains the universes of a block; `first` is the number of the first universe of the step.
    fn block(&self, graph: &WalkGraph, run: &Run, first: u64, block: usize) -> Vec<Universe> {
        let done = block * self.config.validate_every;
        let count = self.config.validate_every.min(self.config.universes - done);
        let grow = |i: usize| {
            let universe = Universe::grow::<M>(&self.config, graph, run, first + (done + i) as u64);
            run.progress.advance(1);
            universe
        };
        (0..count).into_par_iter().with_max_len(1).map(grow).collect()
    }

    /// Writes trained universes to a file.
    fn store(&self, universes: Vec<Universe>, folder: &Path) -> Result<Vec<StoredUniverse>, ModelError> {
        let mut writer = UniverseWriter::new(&self.space, folder)?;
        universes.into_iter().try_for_each(|universe| writer.add(&universe.view()))?;
        writer.finish()
    }

    /// Why a step stops adding universes, if it does: their number, too many blocks without improvement, or the time budget. The
    /// first block is always trained: a model needs universes.
    fn ending(&self, StepProgress { scores, seconds }: &StepProgress, run: &Run) -> Option<&'static str> {
        let (patience, blocks) = (self.config.patience as usize, scores.len());
        if blocks * self.config.validate_every >= self.config.universes {
            Some("universes")
        } else if patience > 0 && blocks >= best(scores) + patience {
            Some("patience")
        } else if blocks > 0 && run.time_budget.is_some_and(|budget| *seconds >= budget.as_secs_f64()) {
            Some("time-budget")
        } else {
            None
        }
    }

    /// Keeps the number of new universes that did best on validation.
    fn keep_best(&mut self, before: usize, first: u64, scores: &[f64]) -> Result<(), ModelError> {
        let new = (best(scores) * self.config.validate_every).min(self.config.universes);
        self.next = first + new as u64;
        self.index_mut()?.truncate(before + new);
        self.added.push(self.index()?.len() - before);
        Ok(())
    }

    /// Retires or weighs universes by the triples deleted so far, or by their age. `coming` steps are about to add universes.
    fn retire(&mut self, coming: usize) {
        let Some(index) = &mut self.index else { return };
        index.reset();
        match self.config.deletion {
            Deletion::Keep => {}
            Deletion::Contains => {
                for (triple, &first) in &self.deleted {
                    index.retire(triple, first, |universe| universe.contains(triple));
                }
            }
            Deletion::Coexist => {
                for (triple, &first) in &self.deleted {
                    index.retire(triple, first, |universe| universe.knows(triple));
                }
            }
            Deletion::Age => index.retire_first(self.added.too_old(self.config.keep_steps, coming)),
            Deletion::Weight => index.weigh(self.deleted.keys(), self.config.deletion_weight),
        }
    }

    /// The lowest energy of the zero row as answer to a question.
    fn zero_energy(&self, query: &Query, zero: &ZeroRow, scratch: &mut [f32]) -> Result<f32, ModelError> {
        let energies = self.index()?.knowing(query, 0);
        Ok(energies.fold(f32::INFINITY, |low, (universe, question)| {
            low.min(if self.config.compat {
                universe.published_zero_energy(question, &self.config)
            } else {
                universe.energy(&self.space, question, zero.row(), scratch)
            })
        }))
    }

    fn energy(&self, triple: &Triple, zero: &ZeroRow, scratch: &mut [f32]) -> Result<f32, ModelError> {
        let lowest = self
            .index()?
            .around(triple)
            .filter_map(|universe| universe.energy_of(&self.space, triple, scratch))
            .fold(f32::INFINITY, f32::min);
        if lowest.is_finite() || self.config.missing == Missing::Infinity {
            return Ok(lowest);
        }
        let mut least = f32::INFINITY;
        for direction in Direction::BOTH {
            let (query, _) = Query::hide(triple.at(Step(0)), direction);
            least = least.min(self.zero_energy(&query, zero, scratch)?);
        }
        Ok(least)
    }
}

impl<M: Space> EvolvingModel for Universes<M> {
    fn capabilities(&self) -> Capabilities {
        Capabilities { unlearns: self.config.deletion != Deletion::Keep, ..super::CAPABILITIES }
    }

    fn fit(
        &mut self,
        graph: &GraphView<'_>,
        validation: &dyn GraphValidation,
        run: &Run,
    ) -> Result<(), ModelError> {
        *self = Self {
            index: Some(UniverseIndex::new(graph.sizes)),
            sizes: graph.sizes,
            old_checkpoints: self.old_checkpoints.take(),
            ..Self::new(self.config.clone())
        };
        self.grow(graph, validation, run)
    }

    fn update(
        &mut self,
        update: &GraphUpdate<'_>,
        validation: &dyn GraphValidation,
        run: &Run,
    ) -> Result<(), ModelError> {
        let sizes = update.graph.sizes;
        self.index_mut()?.grow(sizes);
        self.sizes = sizes;
        let universes = self.index()?.len();
        self.deleted.extend(update.deleted.iter().map(|&triple| (triple, universes)));
        for triple in update.inserted {
            self.deleted.remove(triple);
        }
        // Validation during a step already ignores the universes that the step makes too old. A step without triples adds none.
        self.retire(usize::from(!update.graph.triples.is_empty()));
        self.grow(&update.graph, validation, run)
    }

    fn begin(&mut self, candidates: &[EntityId]) -> Result<(), ModelError> {
        self.candidates = candidates.len();
        Ok(())
    }

    fn score(&self, queries: &[Query], sink: &mut dyn ScoreSink) -> Result<(), ModelError> {
        let index = self.index()?;
        let zero = ZeroRow::new(&self.space);
        let mut scratch = vec![0.0; self.space.scratch()];
        let mut lowest = vec![f32::INFINITY; self.sizes.entities];
        let (mut ids, mut scores) = (Vec::new(), Vec::new());
        for (row, query) in queries.iter().enumerate() {
            let done = self.cache.as_ref().map_or(0, |cache| cache.take(query, &mut lowest));
            for (universe, local) in index.knowing(query, done) {
                universe.lower(&self.space, local, &mut scratch, &mut lowest);
            }
            if let Some(cache) = &self.cache {
                cache.keep(query, index.len(), &lowest);
            }
            ids.clear();
            scores.clear();
            for (id, lowest) in lowest.iter_mut().enumerate() {
                if lowest.is_finite() {
                    ids.push(EntityId(id as u32));
                    scores.push(-f64::from(*lowest));
                    *lowest = f32::INFINITY;
                }
            }
            let rest = match self.config.missing {
                Missing::Infinity => f32::INFINITY,
                Missing::Null => self.zero_energy(query, &zero, &mut scratch)?,
            };
            let background = Constant { value: -f64::from(rest), entities: self.candidates };
            sink.accept(row, ScoreRow::Sparse { ids: &ids, scores: &scores, background: &background })?;
        }
        Ok(())
    }

    fn energies(&self, triples: &[Triple]) -> Result<Vec<f32>, ModelError> {
        let chunks = triples.par_chunks(TRIPLES_AT_ONCE).map(|triples| {
            let (zero, mut scratch) = (ZeroRow::new(&self.space), vec![0.0; self.space.scratch()]);
            triples.iter().map(|triple| self.energy(triple, &zero, &mut scratch)).collect()
        });
        Ok(chunks.collect::<Result<Vec<Vec<f32>>, ModelError>>()?.concat())
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        let index = self.index()?;
        let state = State {
            config: self.config.clone(),
            entities: self.sizes.entities,
            relations: self.sizes.relations,
            gone: self.deleted.keys().map(ids).collect(),
            gone_after: self.deleted.values().copied().collect(),
            brought: self.added.clone(),
            next: self.next,
        };
        let universes: Vec<UniverseView<'_>> = index.universes().collect();
        let bytes = to_bytes(&self.space, &universes)?;
        Ok(SavedModel { state: json!(state), rules: None, tensors: Some(Tensors(bytes)) })
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        let state: State = serde_json::from_value(saved.state.clone()).map_err(unreadable)?;
        state.config.check().map_err(unreadable)?;
        let tensors = saved.tensors.as_ref().ok_or_else(|| unreadable("no tensors"))?;
        let mut model = Self::new(state.config.clone());
        model.sizes = GraphSizes { entities: state.entities, relations: state.relations };
        state.check()?;
        let mut index = UniverseIndex::new(model.sizes);
        // Loading has no checkpoint store.
        let folder = NoCheckpoints.scratch_folder();
        let universes = from_bytes(&model.space, &tensors.0, model.sizes, &folder)?;
        model.added = state.brought.checked(universes.len())?;
        if let Some(after) = state.gone_after.iter().find(|after| **after > universes.len()) {
            return Err(unreadable(format!("gone_after = {after} with {} universes", universes.len())));
        }
        let after = state.gone_after.into_iter().chain(std::iter::repeat(universes.len()));
        let deleted = state.gone.into_iter().map(|[s, r, o]| Triple::new(s, r, o));
        model.deleted = deleted.zip(after).collect();
        index.extend(universes);
        (model.index, model.next) = (Some(index), state.next);
        model.retire(0);
        *self = model;
        Ok(())
    }
}
