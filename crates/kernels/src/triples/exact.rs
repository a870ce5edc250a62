//! Training with one step per batch; the same bits for any number of threads.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

use rayon::prelude::*;

use super::energy::{Ends, Energy, Slopes, SoftConstraint};
use super::sample::{Batch, Samples, Settings, Source, TOGETHER, penalties};
use super::table::{Table, Tables};
use super::update::{Moments, Rule, update};
use crate::Real;
use crate::parallel::{add, vectorised};

/// Smallest number of samples of a part.
const FEWEST: usize = 64;
/// Largest total size of the gradients of all parts: 1 GiB of `f32`. Relations with large matrices have fewer parts therefore.
const MOST_NUMBERS: usize = 1 << 28;
/// Largest number of parts of a batch: more parts occupy more threads, but add more rows.
const PARTS: usize = 4;
/// The slot of a row that is not touched.
const NONE: u32 = u32::MAX;
/// Largest number of ranges of ids in which touched rows are listed; ranges are updated in parallel.
const RANGES: usize = 64;

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
            || update(&mut tables.entities, &mut self.entities, (&entities, &self.slots[0]), rule(0)),
            || update(&mut tables.relations, &mut self.relations, (&relations, &self.slots[1]), rule(1)),
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

/// By row and part: the slot of the row's gradient in the part. A part writes its own slots only; the slots of a row are adjacent,
/// since the update reads all of them.
#[derive(Debug)]
pub(super) struct Slots(Vec<[AtomicU32; PARTS]>);

impl Slots {
    fn new(rows: usize) -> Self {
        Self((0..rows).map(|_| [const { AtomicU32::new(NONE) }; PARTS]).collect())
    }

    /// The slots of a row, of those parts that have one.
    #[inline(always)]
    pub fn of(&self, row: u32) -> [Option<usize>; PARTS] {
        self.0[row as usize].each_ref().map(|slot| {
            let slot = slot.load(Ordering::Relaxed);
            (slot != NONE).then_some(slot as usize)
        })
    }
}

/// Gradients of the rows that a part touches, in the order of their first touch.
#[derive(Clone, Debug)]
pub(super) struct TouchedRows<T> {
    /// Which part it belongs to.
    part: usize,
    stride: usize,
    /// Rows that are touched, by range of ids.
    pub touched: Vec<Vec<u32>>,
    /// Ids of a range differ in this many low bits only.
    shift: u32,
    /// By slot.
    values: Vec<T>,
    /// By slot: number of uses of the row in the batch.
    uses: Vec<u32>,
}

impl<T: Real> TouchedRows<T> {
    fn new(part: usize, table: &Table<T>) -> Self {
        let shift = table.rows().div_ceil(RANGES).next_power_of_two().trailing_zeros();
        Self {
            part,
            stride: table.stride(),
            touched: vec![Vec::new(); table.rows().div_ceil(1 << shift)],
            shift,
            values: Vec::new(),
            uses: Vec::new(),
        }
    }

    pub fn rows_per_range(&self) -> usize {
        1 << self.shift
    }

    /// Gradient and uses of a slot.
    #[inline(always)]
    pub fn get(&self, slot: usize) -> (&[T], u32) {
        (&self.values[self.place(slot)], self.uses[slot])
    }

    #[inline(always)]
    fn place(&self, slot: usize) -> Range<usize> {
        slot * self.stride..(slot + 1) * self.stride
    }

    fn clear(&mut self, slots: &Slots) {
        for rows in &mut self.touched {
            rows.iter().for_each(|&row| slots.0[row as usize][self.part].store(NONE, Ordering::Relaxed));
            rows.clear();
        }
        self.uses.clear();
    }

    /// The slot of a row; a new slot holds zeros.
    #[inline(always)]
    fn slot(&mut self, slots: &Slots, row: u32) -> usize {
        let own = &slots.0[row as usize][self.part];
        let slot = own.load(Ordering::Relaxed);
        if slot != NONE {
            return slot as usize;
        }
        let slot = self.uses.len();
        own.store(slot as u32, Ordering::Relaxed);
        self.touched[(row >> self.shift) as usize].push(row);
        self.uses.push(0);
        let place = self.place(slot);
        if self.values.len() < place.end {
            self.values.resize((slot + 1).next_multiple_of(256) * self.stride, T::ZERO);
        }
        self.values[place].fill(T::ZERO);
        slot
    }
}

/// A part of a batch: energies, losses, and the gradients of the rows that it touches.
#[derive(Clone, Debug)]
struct Part<T> {
    entities: TouchedRows<T>,
    relations: TouchedRows<T>,
    loss: f64,
    samples: Samples,
    /// Energies of the true triples, then of the false ones; in the end the slopes of the loss along them.
    energies: Vec<T>,
    /// Values that energies leave for slopes, in the same order.
    scratch: Vec<T>,
    /// Gradient of the tail of a triple whose head and tail are the same.
    loop_tail: Vec<T>,
}

#[inline(always)]
fn ends<T: Real>(tables: &Tables<T>, [head, relation, tail]: [u32; 3]) -> Ends<'_, T> {
    Ends {
        head: tables.entities.row(head),
        relation: tables.relations.row(relation),
        tail: tables.entities.row(tail),
    }
}

impl<T: Real> Part<T> {
    fn new(part: usize, tables: &Tables<T>) -> Self {
        Self {
            entities: TouchedRows::new(part, &tables.entities),
            relations: TouchedRows::new(part, &tables.relations),
            loss: 0.0,
            samples: Samples::default(),
            energies: Vec::new(),
            scratch: Vec::new(),
            loop_tail: Vec::new(),
        }
    }

    /// Sums the gradients of some samples; `slots` are those of entities and of relations.
    #[inline(always)]
    fn run<E: Energy<T>>(
        &mut self,
        (energy, tables): (&E, &Tables<T>),
        slots: &[Slots; 2],
        (source, batch): (&Source<'_>, &Batch<'_>),
        settings: &Settings,
        samples: Range<usize>,
    ) {
        self.entities.clear(&slots[0]);
        self.relations.clear(&slots[1]);
        self.loss = 0.0;
        let is_penalised = settings.penalty > 0.0 || energy.constraints().iter().any(|own| !own.is_empty());
        let share = T::from_f64(1.0 / batch.picks.len() as f64);
        let mut from = samples.start;
        while from < samples.end {
            let to = (from + TOGETHER).min(samples.end);
            self.samples.draw(source, batch, from..to, settings);
            self.forward(energy, tables);
            let (right, wrong) = self.energies.split_at_mut(to - from);
            for (sample, right) in right.iter_mut().enumerate() {
                let wrong = &mut wrong[self.samples.wrong_of(sample)];
                self.loss += settings.loss.apply(share, right, wrong);
            }
            self.backward(energy, tables, slots);
            if is_penalised {
                self.count(slots);
            }
            from = to;
        }
    }

    /// The energies of all triples.
    #[inline(always)]
    fn forward<E: Energy<T>>(&mut self, energy: &E, tables: &Tables<T>) {
        let Self { samples, energies, scratch, .. } = self;
        let size = energy.scratch();
        scratch.resize((samples.triples.len() + samples.wrong.len()) * size, T::ZERO);
        energies.clear();
        for (k, triple) in samples.all().enumerate() {
            energies.push(energy.energy(&ends(tables, triple), &mut scratch[k * size..][..size]));
        }
    }

    /// Adds the gradients of all triples.
    #[inline(always)]
    fn backward<E: Energy<T>>(&mut self, energy: &E, tables: &Tables<T>, slots: &[Slots; 2]) {
        let Self { entities, relations, samples, energies, scratch, loop_tail, .. } = self;
        let size = energy.scratch();
        for (k, (triple, &slope)) in samples.all().zip(&*energies).enumerate() {
            if slope == T::ZERO {
                continue;
            }
            let [head, tail] = [triple[0], triple[2]].map(|entity| entities.slot(&slots[0], entity));
            let relation = relations.slot(&slots[1], triple[1]);
            let relation = relations.place(relation);
            let places = [entities.place(head), entities.place(tail)];
            let [head, tail] = if head == tail {
                loop_tail.clear();
                loop_tail.resize(entities.stride, T::ZERO);
                [&mut entities.values[places[0].clone()], loop_tail]
            } else {
                entities.values.get_disjoint_mut(places).expect("slots of different rows are apart")
            };
            let slopes = &mut Slopes { head, relation: &mut relations.values[relation], tail };
            energy.slopes(&ends(tables, triple), &mut scratch[k * size..][..size], slope, slopes);
            if triple[0] == triple[2] {
                add(slopes.head, slopes.tail);
            }
        }
    }

    /// Counts the rows of all triples.
    fn count(&mut self, slots: &[Slots; 2]) {
        let Self { entities, relations, samples, .. } = self;
        for [head, relation, tail] in samples.all() {
            for entity in [head, tail] {
                let slot = entities.slot(&slots[0], entity);
                entities.uses[slot] += 1;
            }
            let slot = relations.slot(&slots[1], relation);
            relations.uses[slot] += 1;
        }
    }
}
