//! Completion models composed of parts: time encoding, its targets, score function, loss, sampler and penalties.
//!
//! **Idea.** Published models of this family differ in a few independent choices. Each choice is a component here, and a
//! model is a list of them; the named models are such lists (`recipes`).
//!
//! **Paper.** Han, Zhang, Ma, Tresp: Time-dependent entity embedding is not all you need: a re-evaluation of temporal
//! knowledge graph completion models under a unified framework. EMNLP 2021.
//!
//! **Score.** Questions and candidates become rows, and one kernel compares them: see `scorers`. With an inverse half, a score is
//! the mean of the scores of the fact and of its reciprocal.
//!
//! **Training.** Questions of both directions, against all entities or sampled ones, in random order; where candidates change
//! with time, the questions of a block share a time. The best epoch is chosen on validation.
//!
//! **Differs from the paper.** Dropout drops the same components of a question for all of its candidates, not other ones for
//! every candidate. Drawn candidates may be shared by a block of questions (`sampler = "shared"`).
//!
//! **Cost.** 1-vs-all training multiplies questions by entities by width, three times; memory is that of the tables, their
//! gradients and one or two numbers of the optimiser each.

// As in the kernels: formulas keep the letters of their papers, helpers must be compiled into their callers to take over the
// vector width, element-wise work is one line, and an index into several rows reads better than a chain of zips.
#![allow(
    clippy::many_single_char_names,
    clippy::inline_always,
    clippy::needless_for_each,
    clippy::needless_range_loop
)]

use std::sync::Arc;

use quadcast_core::{
    Capabilities, Direction, Forecaster, History, ModelError, Quad, Query, Run, SavedModel, ScoreSink, Step,
    Task, Tensors, Validation,
};
use quadcast_kernels::compare::{Comparison, pairs, score_strips};
use quadcast_kernels::optimisers::Optimiser;
use serde::{Deserialize, Serialize};
use serde_json::json;

mod assemble;
mod composition;
mod encoders;
mod footprint;
mod learner;
mod losses;
mod penalties;
mod plan;
mod scorers;
mod settings;
mod tables;
#[cfg(test)]
mod tests;
mod times;

pub use encoders::fused::Fusion;
pub(crate) use encoders::fused::{complex_product, conjugate_product};
pub use encoders::hyperplane::Projection;
pub use settings::{
    Config, InitialName, LossName, OptimiserName, PenaltyName, SamplerName, ScorerName, SubjectQueries,
    Target, Temporal,
};

use crate::blocks::store::Arrays;
use crate::capacity::{self, DataSizes};
use crate::config::ConfigError;
use crate::forecast::state::{Shape, StripSink, pad_rows, saved_state, saved_tensors, unfitted};
use crate::training::{Learning, Trainable, train};
use composition::{Composition, Questions};
use encoders::Places;
use learner::Learner;
use plan::EpochPlan;
use scorers::Side;
use tables::{Gradients, TableOptimiser};
use times::Times;

/// Facts per call of the kernel in `rate`.
const FACTS_AT_ONCE: usize = 1 << 12;

/// The model.
pub struct Composed {
    config: Config,
    fitted: Option<Fitted>,
}

/// A fitted model, ready to score.
struct Fitted {
    shape: Shape,
    times: Arc<Times>,
    model: Composition<f32>,
    /// Candidates of each side, where they do not change with time.
    candidates: [Option<Vec<f32>>; 2],
    /// Whether subject queries use the relation itself, not its reciprocal.
    direct: bool,
}

impl Composed {
    /// An unfitted model.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self { config, fitted: None })
    }

    /// Number of parameters of a model for these numbers of entities, relations and times.
    pub fn parameters(config: &Config, entities: usize, relations: usize, times: usize) -> usize {
        let ordinals = (0..times as u32).collect();
        let times = Times { ordinals, dates: Vec::new(), tokens: Vec::new() };
        Composition::<f32>::outline(config, Shape { entities, relations }, Arc::new(times), 0).tables.count()
    }
}

impl Fitted {
    /// A model whose tables must still be drawn.
    fn outline(config: &Config, shape: Shape, times: Arc<Times>, seed: u64) -> Self {
        let model = Composition::outline(config, shape, times.clone(), seed);
        Self { shape, times, model, candidates: [None, None], direct: config.asks_subjects_directly() }
    }

    /// Computes the candidates that questions of any time share.
    fn prepare(&mut self) {
        let ids: Vec<u32> = (0..self.shape.entities as u32).collect();
        for side in [Side::Tails, Side::Heads] {
            let used = side == Side::Tails || self.direct;
            if used && !self.model.candidates_change(side) && self.times.len() > 0 {
                let places = Places { ids: &ids, times: &vec![0; ids.len()] };
                self.candidates[side as usize] = Some(self.model.candidates(side, places).to_vec());
            }
        }
    }

    /// Drops them, because the tables have changed.
    fn forget(&mut self) {
        self.candidates = [None, None];
    }

    /// Side, known entity, relation and time of a question.
    fn inputs(&self, query: &Query) -> (Side, u32, u32, u32) {
        let relations = self.shape.relations as u32;
        // Times beyond the axis are treated as the last one.
        let time = query.step.0.min(self.times.len().saturating_sub(1) as u32);
        match query.direction {
            Direction::Object => (Side::Tails, query.known.0, query.relation.0, time),
            Direction::Subject if self.direct => (Side::Heads, query.known.0, query.relation.0, time),
            Direction::Subject => (Side::Tails, query.known.0, query.relation.0 + relations, time),
        }
    }

    fn score(&self, queries: &[Query], sink: &mut dyn ScoreSink) -> Result<(), ModelError> {
        let inputs: Vec<_> = queries.iter().map(|query| self.inputs(query)).collect();
        let mut order: Vec<usize> = (0..inputs.len()).collect();
        let family = |i: usize| {
            let (side, _, _, time) = inputs[i];
            (side, if self.candidates[side as usize].is_some() { 0 } else { time })
        };
        order.sort_by_key(|&i| family(i));
        for rows in order.chunk_by(|&a, &b| family(a) == family(b)) {
            let (side, time) = family(rows[0]);
            let mut questions = Questions::default();
            for row in pad_rows(rows) {
                let (_, known, relation, time) = inputs[row];
                questions.push(known, relation, time);
            }
            let mut out = StripSink::new(sink, rows, self.shape.entities);
            self.scores(side, time, &questions, &mut out);
            out.finish()?;
        }
        Ok(())
    }

    /// Scores all entities for questions of one side and, where candidates change, of one time.
    fn scores(&self, side: Side, time: u32, questions: &Questions, out: &mut StripSink<'_>) {
        let n = self.shape.entities;
        let made;
        let candidates = if let Some(candidates) = &self.candidates[side as usize] {
            candidates
        } else {
            let ids: Vec<u32> = (0..n as u32).collect();
            made = self.model.candidates(side, Places { ids: &ids, times: &vec![time; n] });
            &made[..]
        };
        let forward = self.model.queries(side, questions);
        let comparison = Comparison {
            likeness: self.model.parts.likeness,
            queries: &forward.queries,
            candidates,
            own: None,
            weights: None,
            d: self.model.width(),
        };
        score_strips(&comparison, |rows, scores| out.accept(rows, scores));
    }

    /// Scores of whole facts.
    fn rate(&self, facts: &[Quad]) -> Vec<f32> {
        let mut scores = vec![0.0; facts.len()];
        for (facts, out) in facts.chunks(FACTS_AT_ONCE).zip(scores.chunks_mut(FACTS_AT_ONCE)) {
            let mut questions = Questions::default();
            for fact in facts {
                let (query, _) = Query::hide(*fact, Direction::Object);
                let (_, known, relation, time) = self.inputs(&query);
                questions.push(known, relation, time);
            }
            let objects: Vec<u32> = facts.iter().map(|fact| fact.object.0).collect();
            let forward = self.model.queries(Side::Tails, &questions);
            let places = Places { ids: &objects, times: &questions.times };
            let candidates = self.model.candidates(Side::Tails, places);
            let (likeness, d) = (self.model.parts.likeness, self.model.width());
            pairs(likeness, d, &forward.queries, &candidates, None, out);
        }
        scores
    }

    fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        let mut arrays = Arrays::default();
        for (table, values) in self.model.tables.iter() {
            arrays.insert(&*table.name, vec![table.rows, table.width], values.clone());
        }
        arrays.to_bytes().map_err(|error| ModelError::Saved(error.to_string()))
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        let broken = |error: crate::blocks::StoreError| ModelError::Saved(error.to_string());
        let mut arrays = Arrays::from_bytes(bytes).map_err(broken)?;
        // All arrays are checked before memory is taken: wrong settings could ask for tables of any size.
        self.model
            .tables
            .fill(|table| arrays.take(&table.name, &[table.rows, table.width]))
            .map_err(broken)?;
        arrays.finish().map_err(broken)
    }
}

fn optimiser(config: &Config) -> Optimiser {
    let rate = config.learning_rate;
    match config.optimiser {
        OptimiserName::Adagrad => Optimiser::Adagrad { rate },
        OptimiserName::Adam => Optimiser::Adam { rate, lazy: false },
        OptimiserName::Sgd => Optimiser::Sgd { rate },
    }
}

/// A model in training.
struct Trainer<'a> {
    run: &'a Run,
    config: &'a Config,
    fitted: Fitted,
    optimiser: TableOptimiser,
    gradients: Gradients<f32>,
    plan: EpochPlan,
}

impl Trainer<'_> {
    /// Draws the tables and allocates gradients and moments, once. Not before training starts: training first checks whether
    /// the parameters fit into memory.
    fn allocate(&mut self) {
        let tables = &mut self.fitted.model.tables;
        if tables.draw() {
            self.optimiser = TableOptimiser::new(optimiser(self.config), tables);
            self.gradients = Gradients::zero(tables);
        }
    }
}

impl Trainable for Trainer<'_> {
    fn begin(&mut self, _: Step, _: &History<'_>) -> Result<(), ModelError> {
        self.fitted.prepare();
        Ok(())
    }

    fn score(&self, _: &History<'_>, queries: &[Query], sink: &mut dyn ScoreSink) -> Result<(), ModelError> {
        self.fitted.score(queries, sink)
    }
}

impl Learning for Trainer<'_> {
    fn parameters(&self) -> usize {
        self.fitted.model.tables.count()
    }

    fn batches(&self) -> usize {
        self.plan.batches
    }

    fn begin_epoch(&mut self, epoch: u32) -> Result<(), ModelError> {
        self.allocate();
        self.plan.shuffle(self.run, epoch);
        Ok(())
    }

    fn step(&mut self, epoch: u32, batch: usize) -> Result<f64, ModelError> {
        self.fitted.forget();
        self.gradients.clear();
        let index = (u64::from(epoch) << 32) | batch as u64;
        let blocks = self.plan.batch(batch);
        let (model, entities) = (&self.fitted.model, self.fitted.shape.entities);
        let learner = Learner { config: self.config, model, entities };
        let loss = learner.gradients(blocks, self.run, index, &mut self.gradients);
        self.optimiser.step(&mut self.fitted.model.tables, &self.gradients);
        Ok(loss)
    }

    fn state(&self) -> Result<Vec<u8>, ModelError> {
        Ok(self.optimiser.state(&self.fitted.model.tables))
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), ModelError> {
        self.allocate();
        self.fitted.forget();
        self.optimiser.restore(&mut self.fitted.model.tables, state)
    }
}

impl Forecaster for Composed {
    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn fit(&mut self, known: &History<'_>, validation: &dyn Validation, run: &Run) -> Result<(), ModelError> {
        let (times, shape) = (Arc::new(Times::of(known.axis())), Shape::of(known));
        let data = DataSizes::of(known);
        let Shape { entities, relations } = shape;
        let what =
            format!("training with {entities} entities, {relations} relations and {} times", times.len());
        capacity::check_settings(&self.config, &what, |config| {
            footprint::bytes(config, shape, &times, &data)
        })?;
        let fitted = Fitted::outline(&self.config, shape, times, run.seed);
        let changes = fitted.model.candidates_change(Side::Tails);
        let mut trainer = Trainer {
            run,
            config: &self.config,
            optimiser: TableOptimiser::new(optimiser(&self.config), &fitted.model.tables),
            gradients: Gradients::zero(&fitted.model.tables),
            plan: EpochPlan::new(known, &self.config, changes),
            fitted,
        };
        train(&mut trainer, "training", &self.config.schedule(), validation, run)?;
        trainer.fitted.prepare();
        self.fitted = Some(trainer.fitted);
        Ok(())
    }

    fn begin(&mut self, _: Step, known: &History<'_>) -> Result<(), ModelError> {
        self.fitted.as_ref().ok_or_else(unfitted)?.shape.check(known)
    }

    fn score(&self, _: &History<'_>, queries: &[Query], sink: &mut dyn ScoreSink) -> Result<(), ModelError> {
        self.fitted.as_ref().ok_or_else(unfitted)?.score(queries, sink)
    }

    fn rate(&self, _: &History<'_>, facts: &[Quad]) -> Result<Option<Vec<f32>>, ModelError> {
        Ok(Some(self.fitted.as_ref().ok_or_else(unfitted)?.rate(facts)))
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        let fitted = self.fitted.as_ref().ok_or_else(unfitted)?;
        let state =
            Saved { config: self.config.clone(), shape: fitted.shape, times: (*fitted.times).clone() };
        Ok(SavedModel { state: json!(state), rules: None, tensors: Some(Tensors(fitted.to_bytes()?)) })
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        let state: Saved = saved_state(saved, "state of a composed model")?;
        let tensors = saved_tensors(saved)?;
        *self = Self::new(state.config).map_err(|error| ModelError::Saved(error.to_string()))?;
        let (shape, times) = (state.shape.check_saved()?, state.times.check_saved()?);
        let mut fitted = Fitted::outline(&self.config, shape, Arc::new(times), 0);
        fitted.load_bytes(tensors)?;
        fitted.prepare();
        self.fitted = Some(fitted);
        Ok(())
    }
}

/// State besides the tables.
#[derive(Serialize, Deserialize)]
struct Saved {
    config: Config,
    shape: Shape,
    times: Times,
}

/// What every composed model can do.
pub(crate) const CAPABILITIES: Capabilities =
    Capabilities { random: true, ..Capabilities::new(Task::Completion, &[]) };
