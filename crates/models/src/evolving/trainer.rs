//! A model of one space in training.

use quadcast_core::{GraphValidation, GraphView, ModelError, Run, Step};
use quadcast_kernels::triples::{Batch, Exact, LockFree, Negatives, Source, Tables};
use quadcast_train::{Judge, Learning, Training, learn};
use rand::Rng;

use super::cut::Cut;
use super::examples::Examples;
use super::single_space::SingleSpace;
use super::space::Space;
use crate::forecast::state::unfitted;

/// How steps are taken.
enum Engine {
    Exact(Exact<f32>),
    LockFree(LockFree),
}

/// A model in training.
pub(super) struct Trainer<'a, M> {
    model: &'a mut SingleSpace<M>,
    /// The rows while they are learned; the model gets them back when it is asked.
    tables: Tables<f32>,
    examples: Examples,
    negatives: Negatives,
    engine: Engine,
    /// How the samples of an epoch become batches.
    cut: Cut,
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
        let cut = Cut::new(examples.size(), model.config.batches, model.config.positives);
        let known: Vec<[u32; 3]> =
            graph.triples.iter().map(|t| [t.subject.0, t.relation.0, t.object.0]).collect();
        let pool = graph.present.iter().map(|entity| entity.0).collect();
        let sizes = (graph.sizes.entities, graph.sizes.relations);
        let negatives = Negatives::new(model.config.drawing(), &examples.triples, &known, pool, sizes);
        let settings = model.config.settings();
        let engine = if model.config.deterministic {
            Engine::Exact(Exact::new(settings, &tables, cut.largest()))
        } else {
            Engine::LockFree(LockFree::new(settings, &tables))
        };
        let step = graph.step;
        Ok(Self { model, tables, examples, negatives, engine, cut, picks: Vec::new(), run, step })
    }

    /// Trains, and leaves the model in its best state. `name` tells this training from others of the same run.
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

    /// Brings the rows up to date.
    fn settle(&mut self) {
        if let Engine::LockFree(engine) = &self.engine {
            engine.write_back(&mut self.tables);
        }
    }

    fn judged(&mut self, validation: &dyn GraphValidation) -> Result<f64, ModelError> {
        self.settle();
        // Moved there and back: a copy would cost as much as an epoch of a small graph.
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
        self.cut.batches
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
        let turn = u64::from(epoch) * self.cut.batches as u64 + batch as u64;
        let batch = Batch { picks: &self.picks[self.cut.batch(batch)], key, turn };
        Ok(match &mut self.engine {
            Engine::Exact(exact) => exact.step(&model.space, tables, &source, &batch),
            Engine::LockFree(free) => free.step(&model.space, &source, &batch),
        })
    }

    fn state(&self) -> Result<Vec<u8>, ModelError> {
        let mut bytes = Vec::new();
        match &self.engine {
            Engine::Exact(exact) => {
                let tables = [&self.tables.entities, &self.tables.relations].map(|t| t.values().len());
                let numbers = tables.into_iter().chain(exact.memory().map(<[f32]>::len));
                // A list that outgrows its room is copied into one of twice the size: more than all else in a training.
                bytes.reserve_exact(8 + 4 * numbers.sum::<usize>());
                bytes.extend(exact.steps().to_le_bytes());
                let tables = [self.tables.entities.values(), self.tables.relations.values()];
                tables.into_iter().chain(exact.memory()).for_each(|numbers| extend(&mut bytes, numbers));
            }
            Engine::LockFree(free) => {
                let numbers = free.state();
                bytes.extend(0_u64.to_le_bytes());
                numbers.iter().for_each(|numbers| extend(&mut bytes, numbers));
            }
        }
        Ok(bytes)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), ModelError> {
        let cut = || ModelError::Saved("a checkpoint does not fit the model".to_owned());
        let (steps, numbers) = state.split_first_chunk::<8>().ok_or_else(cut)?;
        let (numbers, rest) = numbers.as_chunks::<4>();
        let mut numbers = numbers.iter().map(|&bytes| f32::from_le_bytes(bytes));
        match &mut self.engine {
            Engine::Exact(exact) => {
                let tables = [&mut self.tables.entities, &mut self.tables.relations];
                let (own, memory) = exact.memory_mut();
                let lengths = tables.iter().map(|table| table.values().len());
                let all: usize = lengths.chain(memory.iter().map(|numbers| numbers.len())).sum();
                if !rest.is_empty() || numbers.len() != all {
                    return Err(cut());
                }
                for table in tables {
                    table.replace(numbers.by_ref().take(table.values().len()));
                }
                *own = u64::from_le_bytes(*steps);
                for memory in memory {
                    memory.iter_mut().zip(numbers.by_ref()).for_each(|(own, number)| *own = number);
                }
            }
            Engine::LockFree(free) => {
                let parts = free.state().map(|part| part.len());
                if !rest.is_empty() || numbers.len() != parts.iter().sum::<usize>() {
                    return Err(cut());
                }
                free.restore(&parts.map(|count| numbers.by_ref().take(count).collect()));
            }
        }
        Ok(())
    }
}

fn extend(bytes: &mut Vec<u8>, numbers: &[f32]) {
    bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
}
