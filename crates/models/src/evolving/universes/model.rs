//! Parallel universes as the evaluator sees them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use quadcast_core::{
    Constant, Direction, EntityId, EvolvingCapabilities, EvolvingModel, GraphSizes, GraphUpdate,
    GraphValidation, GraphView, ModelError, NoWorkshop, Query, Run, SavedModel, ScoreRow, ScoreSink, Step,
    Tensors, Triple, Workshop,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::brought::Brought;
use super::looks::{Leftover, Looks, best, block_name};
use super::remembered::Remembered;
use super::saved::{from_bytes, to_bytes};
use super::settings::{Config, Deletion, Missing, unreadable};
use super::shelf::Shelf;
use super::surroundings::Surroundings;
use super::universe::{Universe, check_memory};
use super::view::{Nobody, UniverseView, words};
use super::volume::{Kept, VolumeWriter};
use crate::evolving::space::Space;
use crate::forecast::state::unfitted;

/// Triples that one thread rates in one go.
const TRIPLES_AT_ONCE: usize = 256;

/// The model.
pub(super) struct Universes<M> {
    config: Config,
    space: M,
    shelf: Option<Shelf>,
    sizes: GraphSizes,
    /// Training triples that are gone, and how many universes there were when they went: those that came later know of it.
    gone: BTreeMap<Triple, usize>,
    /// Which universes each step brought.
    brought: Brought,
    /// Number of the next universe.
    next: u64,
    /// Candidates of the next questions.
    candidates: usize,
    /// What the looks of a step that grows have found: all of them ask the same questions, and who is retired and by what
    /// energies are multiplied is settled before the first.
    remembered: Option<Remembered>,
    /// What the last step has left in the workshop.
    leftover: Option<Leftover>,
}

/// What of the model is no universe.
#[derive(Serialize, Deserialize)]
struct State {
    config: Config,
    entities: usize,
    relations: usize,
    gone: Vec<[u32; 3]>,
    /// How many universes there were when each of them went. Earlier versions did not save it: to them all were there.
    #[serde(default)]
    gone_after: Vec<usize>,
    #[serde(default)]
    brought: Brought,
    next: u64,
}

impl<M: Space> Universes<M> {
    pub fn new(config: Config) -> Self {
        Self {
            space: M::new(&config.space_config()),
            config,
            shelf: None,
            sizes: GraphSizes { entities: 0, relations: 0 },
            gone: BTreeMap::new(),
            brought: Brought::default(),
            next: 0,
            candidates: 0,
            remembered: None,
            leftover: None,
        }
    }

    fn shelf(&self) -> Result<&Shelf, ModelError> {
        self.shelf.as_ref().ok_or_else(unfitted)
    }

    /// Adds universes of a graph until they help no more. Blocks between validations are kept, so that a kill costs one.
    fn grow(
        &mut self,
        graph: &GraphView<'_>,
        validation: &dyn GraphValidation,
        run: &Run,
    ) -> Result<(), ModelError> {
        self.leftover.take().map_or(Ok(()), Leftover::discard)?;
        let around = Surroundings::new(graph);
        if around.is_empty() {
            return Ok(());
        }
        check_memory(&self.config, &self.space, graph)?;
        let (before, first, step) = (self.shelf()?.len(), self.next, graph.step);
        let folder = run.workshop.scratch_folder();
        let mut looks = self.recall_blocks(step, run)?;
        self.remembered = Some(Remembered::default());
        let (earlier, since) = (looks.seconds, Instant::now());
        run.progress.begin("universes", self.config.universes as u64);
        run.progress.advance((self.shelf()?.len() - before) as u64);
        let ending = loop {
            if let Some(ending) = self.ending(&looks, run) {
                break ending;
            }
            let block = looks.scores.len();
            let universes = self.put(self.block(&around, run, first, block), &folder)?;
            let views: Vec<UniverseView<'_>> = universes.iter().map(Kept::view).collect();
            run.workshop.keep(&block_name(step, block), &[&to_bytes(&self.space, &views)?])?;
            self.add(universes);
            let score = validation.judge(self)?;
            looks.scores.push(score.hits10);
            looks.seconds = earlier + since.elapsed().as_secs_f64();
            looks.keep(step, run)?;
            run.progress.note(&format!("validation H@10 {:.2}", 100.0 * score.hits10));
            run.workshop
                .note(&json!({ "event": "universes", "step": step.0 + 1, "universes": self.shelf()?.len(),
                "hits@10": score.hits10, "mr": score.mr, "seconds": looks.seconds }))?;
        };
        run.progress.end();
        self.remembered = None;
        let grown = self.shelf()?.len() - before;
        self.keep_best(before, first, &looks.scores)?;
        self.leftover = Some(Leftover::new(run, step, looks.scores.len()));
        let (kept, highest) = (self.shelf()?.len() - before, looks.scores.iter().copied().reduce(f64::max));
        run.workshop
            .note(&json!({ "event": "trained", "training": "universes", "ending": ending, "universes": grown,
            "best_universes": kept, "best_hits@10": highest, "seconds": looks.seconds }))
    }

    /// Adds the blocks that an interrupted step had finished, up to the first that is gone.
    fn recall_blocks(&mut self, step: Step, run: &Run) -> Result<Looks, ModelError> {
        let folder = run.workshop.scratch_folder();
        let mut looks = Looks::recall(step, run)?;
        for block in 0..looks.scores.len() {
            let Some(kept) = run.workshop.recall(&block_name(step, block))? else {
                looks.scores.truncate(block);
                break;
            };
            self.add(from_bytes(&self.space, &kept, self.sizes, &folder)?);
        }
        Ok(looks)
    }

    /// Trains the universes of a block, whose first is number `first` of the step.
    fn block(&self, around: &Surroundings, run: &Run, first: u64, block: usize) -> Vec<Universe> {
        let done = block * self.config.validate_every;
        let count = self.config.validate_every.min(self.config.universes - done);
        let grow = |i: usize| {
            let universe = Universe::grow::<M>(&self.config, around, run, first + (done + i) as u64);
            run.progress.advance(1);
            universe
        };
        (0..count).into_par_iter().with_max_len(1).map(grow).collect()
    }

    /// Puts universes that are trained into a file.
    fn put(&self, universes: Vec<Universe>, folder: &Path) -> Result<Vec<Kept>, ModelError> {
        let mut volume = VolumeWriter::new(&self.space, folder)?;
        universes.into_iter().try_for_each(|universe| volume.add(&universe.view()))?;
        volume.finish()
    }

    fn add(&mut self, universes: Vec<Kept>) {
        if let Some(shelf) = &mut self.shelf {
            shelf.extend(universes);
        }
    }

    /// Why a step brings no more universes, if so: it has all of them, has gone too long without improvement, or has spent its
    /// time. The first block always comes: a model without universes is no result.
    fn ending(&self, Looks { scores, seconds }: &Looks, run: &Run) -> Option<&'static str> {
        let (patience, looks) = (self.config.patience as usize, scores.len());
        if looks * self.config.validate_every >= self.config.universes {
            Some("universes")
        } else if patience > 0 && looks >= best(scores) + patience {
            Some("patience")
        } else if looks > 0 && run.time_budget.is_some_and(|budget| *seconds >= budget.as_secs_f64()) {
            Some("time-budget")
        } else {
            None
        }
    }

    /// Keeps as many new universes as did best on validation.
    fn keep_best(&mut self, before: usize, first: u64, scores: &[f64]) -> Result<(), ModelError> {
        let new = (best(scores) * self.config.validate_every).min(self.config.universes);
        self.next = first + new as u64;
        let shelf = self.shelf.as_mut().ok_or_else(unfitted)?;
        shelf.truncate(before + new);
        self.brought.add(shelf.len() - before);
        Ok(())
    }

    /// Lets the triples that are gone now, or the steps that went by, reach the universes. Triples that came back do so no
    /// more. `coming` steps are about to bring new universes.
    fn retire(&mut self, coming: usize) {
        let Some(shelf) = &mut self.shelf else { return };
        shelf.recall_all();
        match self.config.deletion {
            Deletion::Keep => {}
            Deletion::Contains => {
                for (triple, &first) in &self.gone {
                    shelf.retire(triple, first, |universe| universe.contains(triple));
                }
            }
            Deletion::Coexist => {
                for (triple, &first) in &self.gone {
                    shelf.retire(triple, first, |universe| universe.knows(triple));
                }
            }
            Deletion::Age => shelf.retire_first(self.brought.too_old(self.config.keep_steps, coming)),
            Deletion::Weight => shelf.weigh(self.gone.keys(), self.config.deletion_weight),
        }
    }

    /// The lowest energy that a question has with nobody as its answer.
    fn of_nobody(&self, query: &Query, nobody: &Nobody, scratch: &mut [f32]) -> Result<f32, ModelError> {
        let energies = self.shelf()?.knowing(query, 0);
        Ok(energies.fold(f32::INFINITY, |low, (universe, asked)| {
            low.min(if self.config.compat {
                universe.published_energy_of_nobody(asked, &self.config)
            } else {
                universe.energy_of_nobody(&self.space, asked, nobody, scratch)
            })
        }))
    }

    fn energy(&self, triple: &Triple, nobody: &Nobody, scratch: &mut [f32]) -> Result<f32, ModelError> {
        let lowest = self
            .shelf()?
            .around(triple)
            .filter_map(|universe| universe.energy_of(&self.space, triple, scratch))
            .fold(f32::INFINITY, f32::min);
        if lowest.is_finite() || self.config.missing == Missing::Infinity {
            return Ok(lowest);
        }
        let mut least = f32::INFINITY;
        for direction in Direction::BOTH {
            let (query, _) = Query::hide(triple.at(Step(0)), direction);
            least = least.min(self.of_nobody(&query, nobody, scratch)?);
        }
        Ok(least)
    }
}

impl<M: Space> EvolvingModel for Universes<M> {
    fn capabilities(&self) -> EvolvingCapabilities {
        EvolvingCapabilities { unlearns: self.config.deletion != Deletion::Keep, ..super::capabilities() }
    }

    fn fit(
        &mut self,
        graph: &GraphView<'_>,
        validation: &dyn GraphValidation,
        run: &Run,
    ) -> Result<(), ModelError> {
        *self = Self {
            shelf: Some(Shelf::new(graph.sizes)),
            sizes: graph.sizes,
            leftover: self.leftover.take(),
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
        let shelf = self.shelf.as_mut().ok_or_else(unfitted)?;
        shelf.grow(sizes);
        self.sizes = sizes;
        let there = shelf.len();
        self.gone.extend(update.deleted.iter().map(|&triple| (triple, there)));
        for triple in update.inserted {
            self.gone.remove(triple);
        }
        // The looks of a step already do without those that it makes too old. Without triples it brings no universes.
        self.retire(usize::from(!update.graph.triples.is_empty()));
        self.grow(&update.graph, validation, run)
    }

    fn begin(&mut self, candidates: &[EntityId]) -> Result<(), ModelError> {
        self.candidates = candidates.len();
        Ok(())
    }

    fn score(&self, queries: &[Query], sink: &mut dyn ScoreSink) -> Result<(), ModelError> {
        let shelf = self.shelf()?;
        let nobody = Nobody::new(&self.space);
        let mut scratch = vec![0.0; self.space.scratch()];
        let mut lowest = vec![f32::INFINITY; self.sizes.entities];
        let (mut ids, mut scores) = (Vec::new(), Vec::new());
        for (index, query) in queries.iter().enumerate() {
            let before = self.remembered.as_ref().map_or(0, |found| found.take(query, &mut lowest));
            for (universe, asked) in shelf.knowing(query, before) {
                universe.lower(&self.space, asked, &mut scratch, &mut lowest);
            }
            if let Some(found) = &self.remembered {
                found.keep(query, shelf.len(), &lowest);
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
                Missing::Null => self.of_nobody(query, &nobody, &mut scratch)?,
            };
            let background = Constant { value: -f64::from(rest), entities: self.candidates };
            sink.accept(index, ScoreRow::Sparse { ids: &ids, scores: &scores, background: &background })?;
        }
        Ok(())
    }

    fn energies(&self, triples: &[Triple]) -> Result<Vec<f32>, ModelError> {
        let chunks: Vec<Result<Vec<f32>, ModelError>> = triples
            .par_chunks(TRIPLES_AT_ONCE)
            .map(|triples| {
                let (nobody, mut scratch) = (Nobody::new(&self.space), vec![0.0; self.space.scratch()]);
                triples.iter().map(|triple| self.energy(triple, &nobody, &mut scratch)).collect()
            })
            .collect();
        chunks.into_iter().try_fold(Vec::with_capacity(triples.len()), |mut all, chunk| {
            all.extend(chunk?);
            Ok(all)
        })
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        let shelf = self.shelf()?;
        let state = State {
            config: self.config.clone(),
            entities: self.sizes.entities,
            relations: self.sizes.relations,
            gone: self.gone.keys().map(words).collect(),
            gone_after: self.gone.values().copied().collect(),
            brought: self.brought.clone(),
            next: self.next,
        };
        let universes: Vec<UniverseView<'_>> = shelf.universes().collect();
        let bytes = to_bytes(&self.space, &universes)?;
        Ok(SavedModel { state: json!(state), rules: None, tensors: Some(Tensors(bytes)) })
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        let state: State = serde_json::from_value(saved.state.clone()).map_err(unreadable)?;
        state.config.check().map_err(unreadable)?;
        let tensors = saved.tensors.as_ref().ok_or_else(|| unreadable("no tensors"))?;
        let mut model = Self::new(state.config);
        model.sizes = GraphSizes { entities: state.entities, relations: state.relations };
        let mut shelf = Shelf::new(model.sizes);
        // Who loads a model has no workshop.
        let folder = NoWorkshop.scratch_folder();
        let universes = from_bytes(&model.space, &tensors.0, model.sizes, &folder)?;
        model.brought = state.brought.checked(universes.len())?;
        let after = state.gone_after.into_iter().chain(std::iter::repeat(universes.len()));
        let gone = state.gone.into_iter().map(|[s, r, o]| Triple::new(s, r, o));
        model.gone = gone.zip(after).collect();
        shelf.extend(universes);
        (model.shelf, model.next) = (Some(shelf), state.next);
        model.retire(0);
        *self = model;
        Ok(())
    }
}
