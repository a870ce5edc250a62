//! Training with one step per batch; the same bits for any number of threads.

use rayon::prelude::*;

use super::energy::{Energy, SoftConstraint};
use super::part::{PARTS, Part, Slots, TouchedRows};
use super::sample::{Batch, Settings, Source, penalties};
use super::table::{Table, Tables};
use super::update::{Moments, Rule, update};
use crate::Real;
use crate::parallel::vectorised;

/// Smallest number of samples of a part.
const FEWEST: usize = 64;
/// Largest total size of the gradients of all parts: 1 GiB of `f32`. Relations with large matrices have fewer parts therefore.
const MOST_NUMBERS: usize = 1 << 28;

/// Takes steps on whole batches.
#[derive(Debug)]
pub struct Exact<T> {
    settings: Settings,
    /// Of entities and of relations.
    slots: [Slots; 2],
    parts: Vec<Part<T>>,
    entities: Moments<T>,
    relations: Moments<T>,
    steps: u64,
}

impl<T: Real> Exact<T> {
    /// For tables of these sizes and batches of `batch` samples.
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
            entities: Moments::new(&tables.entities, settings.optimiser),
            relations: Moments::new(&tables.relations, settings.optimiser),
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
        loss + self.update(tables, batch.picks.len(), energy.constraints())
    }

    /// Sums the gradients of a batch; returns its mean loss without the penalty.
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
    fn update(
        &mut self,
        tables: &mut Tables<T>,
        samples: usize,
        constraints: [Vec<SoftConstraint>; 2],
    ) -> f64 {
        self.steps += 1;
        let optimiser = self.settings.optimiser;
        let layouts = [tables.entities.layout(), tables.relations.layout()];
        let weights = penalties(&self.settings, samples, layouts, constraints);
        let rule = |table: usize| Rule { optimiser, step: self.steps, penalties: &weights[table] };
        let entities: Vec<&TouchedRows<T>> = self.parts.iter().map(|part| &part.entities).collect();
        let relations: Vec<&TouchedRows<T>> = self.parts.iter().map(|part| &part.relations).collect();
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

    /// The moments of the optimiser: means and squares of entities, then of relations; empty where none are kept.
    pub fn moments(&self) -> [&[T]; 4] {
        let Self { entities, relations, .. } = self;
        [&entities.mean, &entities.square, &relations.mean, &relations.square]
    }

    /// The number of steps and the moments, to restore them.
    pub fn moments_mut(&mut self) -> (&mut u64, [&mut [T]; 4]) {
        let Self { entities, relations, steps, .. } = self;
        (steps, [&mut entities.mean, &mut entities.square, &mut relations.mean, &mut relations.square])
    }
}
