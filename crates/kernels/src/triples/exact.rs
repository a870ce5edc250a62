//! A step per batch, the same for any number of threads.

use rayon::prelude::*;

use super::energy::{Energy, Wish};
use super::memory::Memory;
use super::part::{Heap, PARTS, Part, Slots};
use super::sample::{Batch, Settings, Source, penalties};
use super::table::{Table, Tables};
use super::update::{Rule, update};
use crate::Real;
use crate::parallel::vectorised;

/// Samples of a part at least.
const FEWEST: usize = 64;
/// Numbers that the gradients of all parts may take together: 1 GiB of `f32`. Relations with a large matrix each may have
/// fewer parts for it.
const MOST_NUMBERS: usize = 1 << 28;

/// Takes steps on whole batches.
#[derive(Debug)]
pub struct Exact<T> {
    settings: Settings,
    /// Of entities and of relations.
    slots: [Slots; 2],
    parts: Vec<Part<T>>,
    entities: Memory<T>,
    relations: Memory<T>,
    steps: u64,
}

impl<T: Real> Exact<T> {
    /// Steps on tables of these sizes, in batches of so many samples.
    pub fn new(settings: Settings, tables: &Tables<T>, batch: usize) -> Self {
        let numbers = |table: &Table<T>, uses: usize| table.rows().min(uses * batch) * table.stride();
        let largest = numbers(&tables.entities, 2 + settings.negatives)
            + numbers(&tables.relations, 1 + settings.relation_negatives);
        let affordable = (MOST_NUMBERS / largest.max(1)).max(1);
        let parts = batch.div_ceil(FEWEST).clamp(1, PARTS).min(affordable);
        Self {
            settings,
            slots: [&tables.entities, &tables.relations].map(|table| Slots::new(table.rows())),
            parts: (0..parts).map(|part| Part::new(part, tables)).collect(),
            entities: Memory::new(&tables.entities, settings.optimiser),
            relations: Memory::new(&tables.relations, settings.optimiser),
            steps: 0,
        }
    }

    /// One step; returns the mean loss of the samples, penalty included.
    pub fn step<E: Energy<T>>(
        &mut self,
        energy: &E,
        tables: &mut Tables<T>,
        source: &Source<'_>,
        batch: &Batch<'_>,
    ) -> f64 {
        let loss = self.gradients(energy, tables, source, batch);
        loss + self.update(tables, batch.picks.len(), energy.wishes())
    }

    /// Adds up the gradients of a batch; returns its mean loss without the penalty.
    fn gradients<E: Energy<T>>(
        &mut self,
        energy: &E,
        tables: &Tables<T>,
        source: &Source<'_>,
        batch: &Batch<'_>,
    ) -> f64 {
        let (samples, settings, slots) = (batch.picks.len(), self.settings, &self.slots);
        let each = samples.div_ceil(self.parts.len());
        self.parts.par_iter_mut().with_max_len(1).enumerate().for_each(|(i, part)| {
            let samples = (i * each).min(samples)..((i + 1) * each).min(samples);
            vectorised(
                #[inline(always)]
                || part.run((energy, tables), slots, (source, batch), &settings, samples),
            );
        });
        self.parts.iter().map(|part| part.loss).sum::<f64>() / samples.max(1) as f64
    }

    /// Moves the rows; returns the penalty.
    fn update(&mut self, tables: &mut Tables<T>, samples: usize, wishes: [Vec<Wish>; 2]) -> f64 {
        self.steps += 1;
        let optimiser = self.settings.optimiser;
        let layouts = [tables.entities.layout(), tables.relations.layout()];
        let weights = penalties(&self.settings, samples, layouts, wishes);
        let rule = |table: usize| Rule { optimiser, step: self.steps, penalties: &weights[table] };
        let entities: Vec<&Heap<T>> = self.parts.iter().map(|part| &part.entities).collect();
        let relations: Vec<&Heap<T>> = self.parts.iter().map(|part| &part.relations).collect();
        let (first, second) = rayon::join(
            || update(tables.entities.parts_mut(), &mut self.entities, (&entities, &self.slots[0]), rule(0)),
            || {
                update(
                    tables.relations.parts_mut(),
                    &mut self.relations,
                    (&relations, &self.slots[1]),
                    rule(1),
                )
            },
        );
        first + second
    }

    /// Steps taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// What the optimiser remembers: means and squares of entities, then of relations; empty where nothing is.
    pub fn memory(&self) -> [&[T]; 4] {
        let Self { entities, relations, .. } = self;
        [&entities.mean, &entities.square, &relations.mean, &relations.square]
    }

    /// The same and the number of steps, to be restored.
    pub fn memory_mut(&mut self) -> (&mut u64, [&mut [T]; 4]) {
        let Self { entities, relations, steps, .. } = self;
        (steps, [&mut entities.mean, &mut entities.square, &mut relations.mean, &mut relations.square])
    }
}
