//! Training of a model with one space.

use quadcast_core::{GraphValidation, GraphView, ModelError, Run, Step};
use quadcast_kernels::triples::{Batch, Exact, LockFree, Negatives, Source, Tables};
use rand::Rng;

use super::examples::{BatchSplit, Examples, ids};
use super::single_space::SingleSpace;
use super::space::Space;
use crate::blocks::store::{Checkpoint, checkpoint_bytes};
use crate::forecast::state::unfitted;
use crate::training::{Judge, Learning, Training, learn};

/// The training algorithm.
enum Engine {
    Exact(Exact<f32>),
    LockFree(LockFree),
}

/// A model in training.
pub(super) struct Trainer<'a, M> {
    model: &'a mut SingleSpace<M>,
    /// The rows during training; the model gets them back for validation and at the end.
    tables: Tables<f32>,
    examples: Examples,
    negatives: Negatives,
    engine: Engine,
    /// How the samples of an epoch become batches.
    split: BatchSplit,
    /// The samples of the current epoch.
    picks: Vec<u32>,
    run: &'a Run,
    step: Step,
}

impl<'a, M: Space> Trainer<'a, M> {
    pub fn new(
        model: &'a mut SingleSpace<M>,
        examples: Examples,
        graph: &GraphView<'_>,
        run: &'a Run,
    ) -> Result<Self, ModelError> {
        let tables = model.tables.take().ok_or_else(unfitted)?;
        let split = BatchSplit::new(examples.size(), model.config.batches, model.config.positives);
        let known: Vec<[u32; 3]> = graph.triples.iter().map(ids).collect();
        let pool = graph.present.iter().map(|entity| entity.0).collect();
        let sizes = (graph.sizes.entities, graph.sizes.relations);
        let negatives = Negatives::new(model.config.drawing(), &examples.triples, &known, pool, sizes);
        let settings = model.config.settings();
        let engine = if model.config.deterministic {
            Engine::Exact(Exact::new(settings, &tables, split.largest()))
        } else {
            Engine::LockFree(LockFree::new(settings, &tables))
        };
        let step = graph.step;
        Ok(Self { model, tables, examples, negatives, engine, split, picks: Vec::new(), run, step })
    }

    /// Trains, and leaves the model in its best state. `name` identifies the training within the run.
    pub fn train(
        mut self,
        name: &str,
        update: bool,
        validation: &dyn GraphValidation,
    ) -> Result<Training, ModelError> {
        let look = |trainer: &mut Self| trainer.judged(validation);
        let judge = Judge { name: "H@10", key: "hits@10", look: &look };
        let (schedule, run) = (self.model.config.schedule(update), self.run);
        let training = learn(&mut self, name, &schedule, judge, run)?;
        self.settle();
        self.model.tables = Some(self.tables);
        Ok(training)
    }

    /// Copies the rows of the lock-free engine back to the tables.
    fn settle(&mut self) {
        if let Engine::LockFree(engine) = &self.engine {
            engine.write_back(&mut self.tables);
        }
    }

    fn judged(&mut self, validation: &dyn GraphValidation) -> Result<f64, ModelError> {
        self.settle();
        // Moved and moved back: a copy would cost as much as an epoch of a small graph.
        let empty = Tables::new(&self.model.space, 0, 0);
        self.model.tables = Some(std::mem::replace(&mut self.tables, empty));
        let score = validation.judge(self.model);
        self.model.forget_candidates();
        self.tables = self.model.tables.take().ok_or_else(unfitted)?;
        Ok(score?.hits10)
    }
}

impl<M: Space> Learning for Trainer<'_, M> {
    fn parameters(&self) -> usize {
        self.tables.count()
    }

    fn batches(&self) -> usize {
        self.split.batches
    }

    fn begin_epoch(&mut self, epoch: u32) -> Result<(), ModelError> {
        let index = u64::from(self.step.0) << 32 | u64::from(epoch);
        let key = self.run.stream("triples of an epoch", index).random();
        self.picks = self.examples.pick(self.model.config.positives, key);
        Ok(())
    }

    fn step(&mut self, epoch: u32, batch: usize) -> Result<f64, ModelError> {
        let purpose = format!("false triples of step {}", self.step.0);
        let key = self.run.stream(&purpose, u64::from(epoch) << 32 | batch as u64).random();
        let Self { model, tables, examples, negatives, .. } = self;
        let Examples { triples, against, .. } = &*examples;
        let source = Source { triples, against, negatives };
        let turn = u64::from(epoch) * self.split.batches as u64 + batch as u64;
        let batch = Batch { picks: &self.picks[self.split.batch(batch)], key, turn };
        Ok(match &mut self.engine {
            Engine::Exact(exact) => exact.step(&model.space, tables, &source, &batch),
            Engine::LockFree(free) => free.step(&model.space, &source, &batch),
        })
    }

    fn state(&self) -> Result<Vec<u8>, ModelError> {
        Ok(match &self.engine {
            Engine::Exact(exact) => {
                let tables = [self.tables.entities.values(), self.tables.relations.values()];
                let parts: Vec<&[f32]> = tables.into_iter().chain(exact.moments()).collect();
                checkpoint_bytes(exact.steps(), &parts)
            }
            Engine::LockFree(free) => checkpoint_bytes(0, &free.state().each_ref().map(Vec::as_slice)),
        })
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), ModelError> {
        match &mut self.engine {
            Engine::Exact(exact) => {
                let tables = [&mut self.tables.entities, &mut self.tables.relations];
                let (steps, moments) = exact.moments_mut();
                let lengths = tables.iter().map(|table| table.values().len());
                let all = lengths.chain(moments.iter().map(|numbers| numbers.len())).sum();
                let mut checkpoint = Checkpoint::read(state, all)?;
                *steps = checkpoint.steps;
                for table in tables {
                    table.replace(checkpoint.take(table.values().len()));
                }
                moments.into_iter().for_each(|numbers| checkpoint.fill(numbers));
            }
            Engine::LockFree(free) => {
                let lengths = free.state().map(|part| part.len());
                let mut checkpoint = Checkpoint::read(state, lengths.iter().sum())?;
                free.restore(&lengths.map(|count| checkpoint.take(count).collect()));
            }
        }
        Ok(())
    }
}
