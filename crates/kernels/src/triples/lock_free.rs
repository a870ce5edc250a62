//! Training with one step per sample, on all threads without locks.
//!
//! Threads do not wait for each other: an update may be lost if two threads change the same row, which is rare, since a sample has
//! a few rows of thousands. Numbers are pairs in atomic words with relaxed loads and stores, so that nothing is undefined.

use std::sync::atomic::AtomicU64;

use rayon::prelude::*;

use super::atomic_rows::{AtomicNumbers, RowCopier};
use super::energy::{Ends, Energy, RowView, Slopes};
use super::negatives::End;
use super::sample::{Batch, Penalties, Samples, Settings, Source, TOGETHER, penalties};
use super::table::{Layout, Table, Tables, measure};
use super::update::{penalise, project};
use crate::optimisers::Optimiser;
use crate::parallel::vectorised;

/// Samples per task.
const TASK: usize = 256;

/// A table that all threads may change.
#[derive(Debug)]
struct SharedTable {
    words: AtomicNumbers,
    /// Sums of squared gradients, for Adagrad.
    squares: AtomicNumbers,
    units: Vec<(usize, usize)>,
    layout: Layout,
    stride: usize,
    copier: RowCopier,
}

impl SharedTable {
    fn new(table: &Table<f32>, optimiser: Optimiser) -> Self {
        let pairs = table.values().as_chunks::<2>().0;
        let squares = if optimiser.moments()[1] { pairs.len() } else { 0 };
        Self {
            words: AtomicNumbers::new(pairs.iter().copied()),
            squares: AtomicNumbers::new((0..squares).map(|_| [0.0; 2])),
            units: table.layout().units(),
            layout: table.layout().clone(),
            stride: table.stride(),
            copier: RowCopier::best(),
        }
    }

    fn write_back(&self, table: &mut Table<f32>) {
        table.replace(self.words.numbers().into_iter());
    }

    #[inline(always)]
    fn row<'a>(&self, words: &'a AtomicNumbers, row: u32) -> &'a [AtomicU64] {
        &words.all()[row as usize * self.stride / 2..][..self.stride / 2]
    }

    /// Reads a row and measures it.
    #[inline(always)]
    fn read(&self, row: u32, copy: &mut RowCopy) {
        self.copier.load(self.row(&self.words, row), &mut copy.values);
        measure(&copy.values, &self.units, &mut copy.scales);
    }

    /// Moves a row against its gradient. The row is read again into `own`: the less time between reading and writing, the fewer
    /// updates of other threads are lost.
    #[inline(always)]
    fn descend(&self, row: u32, gradient: &[f32], optimiser: Optimiser, [own, square]: [&mut [f32]; 2]) {
        let words = self.row(&self.words, row);
        self.copier.load(words, own);
        match optimiser {
            Optimiser::Adagrad { .. } => {
                let squares = self.row(&self.squares, row);
                self.copier.load(squares, square);
                optimiser.apply(1, own, gradient, &mut [], square);
                self.copier.store(squares, square);
            }
            Optimiser::Sgd { .. } | Optimiser::Adam { .. } => {
                optimiser.apply(1, own, gradient, &mut [], &mut []);
            }
        }
        self.copier.store(words, own);
    }
}

/// A copy of a row.
#[derive(Clone, Debug, Default)]
struct RowCopy {
    values: Vec<f32>,
    scales: Vec<f32>,
}

impl RowCopy {
    fn of(table: &SharedTable) -> Self {
        Self { values: vec![0.0; table.stride], scales: vec![0.0; table.units.len()] }
    }

    #[inline(always)]
    fn row(&self) -> RowView<'_, f32> {
        RowView { values: &self.values, scales: &self.scales }
    }
}

/// The rows of a sample: three of the true triple and three per false one (sampled false triples use one of them).
struct SampleRows {
    own: [RowCopy; 3],
    others: Vec<[RowCopy; 3]>,
    /// The end in which each false triple differs.
    ends: Vec<Option<End>>,
}

impl SampleRows {
    #[inline(always)]
    fn ends(&self) -> Ends<'_, f32> {
        Ends { head: self.own[0].row(), relation: self.own[1].row(), tail: self.own[2].row() }
    }

    #[inline(always)]
    fn other(&self, k: usize) -> Ends<'_, f32> {
        let [head, relation, tail] = &self.others[k];
        match self.ends[k] {
            Some(End::Head) => Ends { head: head.row(), ..self.ends() },
            Some(End::Tail) => Ends { tail: tail.row(), ..self.ends() },
            None => Ends { head: head.row(), relation: relation.row(), tail: tail.row() },
        }
    }
}

/// Takes steps on single samples, on all threads. Results differ from run to run.
#[derive(Debug)]
pub struct LockFree {
    settings: Settings,
    entities: SharedTable,
    relations: SharedTable,
}

impl LockFree {
    /// Copies the rows of tables. With Adagrad, the sample's share of the rate cancels out, because the roots of squared gradients
    /// contain it too: every sample moves its rows as far as a whole batch would.
    ///
    /// # Panics
    /// If the optimiser is Adam, which needs whole batches, or with cubes, which need all rows.
    pub fn new(settings: Settings, tables: &Tables<f32>) -> Self {
        assert!(!matches!(settings.optimiser, Optimiser::Adam { .. }), "Adam needs whole batches");
        assert!(settings.cubes == 0.0, "cubes need all rows");
        Self {
            settings,
            entities: SharedTable::new(&tables.entities, settings.optimiser),
            relations: SharedTable::new(&tables.relations, settings.optimiser),
        }
    }

    /// Writes the current rows to tables.
    pub fn write_back(&self, tables: &mut Tables<f32>) {
        self.entities.write_back(&mut tables.entities);
        self.relations.write_back(&mut tables.relations);
    }

    /// The training state: numbers and squares of entities, then of relations.
    pub fn state(&self) -> [Vec<f32>; 4] {
        let Self { entities, relations, .. } = self;
        [&entities.words, &entities.squares, &relations.words, &relations.squares].map(AtomicNumbers::numbers)
    }

    /// Restores [`state`](Self::state).
    pub fn restore(&mut self, state: &[Vec<f32>; 4]) {
        let Self { entities, relations, .. } = self;
        let own = [&entities.words, &entities.squares, &relations.words, &relations.squares];
        own.into_iter().zip(state).for_each(|(words, numbers)| words.replace(numbers));
    }

    /// Takes one step per sample of a batch, each with its share of the rate; returns the mean loss without the penalty.
    pub fn step<E: Energy<f32>>(&mut self, energy: &E, source: &Source<'_>, batch: &Batch<'_>) -> f64 {
        let samples = batch.picks.len();
        let layouts = [&self.entities.layout, &self.relations.layout];
        let weights = penalties(&self.settings, samples, layouts, energy.constraints());
        let tasks = samples.div_ceil(TASK);
        let total: f64 = (0..tasks)
            .into_par_iter()
            .map(|task| {
                let mut worker = Worker::new(self, &weights);
                vectorised(
                    #[inline(always)]
                    || worker.run(energy, source, batch, task * TASK..((task + 1) * TASK).min(samples)),
                )
            })
            .sum();
        total / samples.max(1) as f64
    }
}

/// The state of one task: some samples, and buffers of one of them.
struct Worker<'a> {
    tables: &'a LockFree,
    weights: &'a [Penalties; 2],
    copies: SampleRows,
    samples: Samples,
    /// Energy of the true triple, then its slope.
    right: f32,
    /// Energies of the false triples, then their slopes.
    wrong: Vec<f32>,
    /// Values that energies leave for slopes.
    scratch: Vec<f32>,
    /// Gradients of the ends of the true triple.
    own: [Vec<f32>; 3],
    /// Gradients of the ends of a false triple that are not those of the true one.
    other: [Vec<f32>; 3],
    /// A row while it is moved, and its squares.
    moved: [Vec<f32>; 2],
}

impl<'a> Worker<'a> {
    fn new(tables: &'a LockFree, weights: &'a [Penalties; 2]) -> Self {
        let LockFree { entities, relations, settings } = tables;
        let ends = [entities, relations, entities];
        let gradients = || ends.map(|table| vec![0.0; table.stride]);
        let widest = vec![0.0; entities.stride.max(relations.stride)];
        let others = (0..settings.wrong().max(1)).map(|_| ends.map(RowCopy::of)).collect();
        Self {
            tables,
            weights,
            copies: SampleRows { own: ends.map(RowCopy::of), others, ends: Vec::new() },
            samples: Samples::default(),
            right: 0.0,
            wrong: Vec::new(),
            scratch: Vec::new(),
            own: gradients(),
            other: gradients(),
            moved: [widest.clone(), widest],
        }
    }

    #[inline(always)]
    fn run<E: Energy<f32>>(
        &mut self,
        energy: &E,
        source: &Source<'_>,
        batch: &Batch<'_>,
        samples: std::ops::Range<usize>,
    ) -> f64 {
        let share = 1.0 / batch.picks.len() as f32;
        let settings = &self.tables.settings;
        let is_penalised = self.weights.iter().any(|penalties| !penalties.is_empty());
        let mut loss = 0.0;
        let mut from = samples.start;
        while from < samples.end {
            let to = (from + TOGETHER).min(samples.end);
            self.samples.draw(source, batch, from..to, settings);
            for sample in 0..to - from {
                self.read(sample);
                loss += self.forward(energy, share);
                let moves = self.right != 0.0 || self.wrong.iter().any(|&slope| slope != 0.0);
                if moves || is_penalised {
                    self.learn(energy, sample);
                }
            }
            from = to;
        }
        loss
    }

    #[inline(always)]
    fn read(&mut self, sample: usize) {
        let LockFree { entities, relations, .. } = self.tables;
        let SampleRows { own: [head, relation, tail], others, ends } = &mut self.copies;
        let samples = &self.samples;
        let [h, r, t] = samples.triples[sample];
        entities.read(h, head);
        relations.read(r, relation);
        entities.read(t, tail);
        ends.clear();
        for (&(triple, end), [head, relation, tail]) in
            samples.wrong[samples.wrong_of(sample)].iter().zip(others)
        {
            ends.push(end);
            if end != Some(End::Tail) {
                entities.read(triple[0], head);
            }
            if end != Some(End::Head) {
                entities.read(triple[2], tail);
            }
            if end.is_none() {
                relations.read(triple[1], relation);
            }
        }
    }

    /// The loss of the sample that was read; energies become slopes.
    #[inline(always)]
    fn forward<E: Energy<f32>>(&mut self, energy: &E, share: f32) -> f64 {
        let Self { copies, tables, right, wrong, scratch, .. } = self;
        let size = energy.scratch();
        scratch.resize((1 + copies.ends.len()) * size, 0.0);
        let (own, others) = scratch.split_at_mut(size);
        *right = energy.energy(&copies.ends(), own);
        wrong.clear();
        for k in 0..copies.ends.len() {
            wrong.push(energy.energy(&copies.other(k), &mut others[k * size..][..size]));
        }
        tables.settings.loss.apply(share, right, wrong)
    }

    /// Moves the rows of a sample.
    #[inline(always)]
    fn learn<E: Energy<f32>>(&mut self, energy: &E, sample: usize) {
        let Self { tables, weights, copies, samples, right, wrong, scratch, own: gradients, other, moved } =
            self;
        gradients.iter_mut().for_each(|row| row.fill(0.0));
        let [head, relation, tail] = &mut *gradients;
        let size = energy.scratch();
        let (own, others) = scratch.split_at_mut(size);
        energy.slopes(&copies.ends(), own, *right, &mut Slopes { head, relation, tail });
        let mut shared = [1, 1, 1];
        let drawn = samples.wrong[samples.wrong_of(sample)].iter().zip(wrong.iter());
        for (k, (&(triple, end), &slope)) in drawn.enumerate() {
            let (ends, scratch) = (copies.other(k), &mut others[k * size..][..size]);
            let same = [end == Some(End::Tail), end.is_some(), end == Some(End::Head)];
            other.iter_mut().zip(same).filter(|(_, same)| !same).for_each(|(row, _)| row.fill(0.0));
            let [other_head, other_relation, other_tail] = &mut *other;
            shared.iter_mut().zip(same).for_each(|(uses, same)| *uses += u32::from(same));
            let slopes = &mut Slopes {
                head: if same[0] { &mut *head } else { other_head },
                relation: if same[1] { &mut *relation } else { other_relation },
                tail: if same[2] { &mut *tail } else { other_tail },
            };
            energy.slopes(&ends, scratch, slope, slopes);
            for place in (0..3).filter(|&place| !same[place]) {
                let own = (place, triple[place], &copies.others[k][place]);
                tables.move_row(own, 1, weights, &mut other[place], moved);
            }
        }
        for (place, gradient) in gradients.iter_mut().enumerate() {
            let own = (place, samples.triples[sample][place], &copies.own[place]);
            tables.move_row(own, shared[place], weights, gradient, moved);
        }
    }
}

impl LockFree {
    /// Moves the head, relation or tail of a triple: place 0, 1 or 2, the row, and its copy.
    #[inline(always)]
    fn move_row(
        &self,
        (place, row, copy): (usize, u32, &RowCopy),
        uses: u32,
        weights: &[Penalties; 2],
        gradient: &mut [f32],
        moved: &mut [Vec<f32>; 2],
    ) {
        let (table, weights) =
            if place == 1 { (&self.relations, &weights[1]) } else { (&self.entities, &weights[0]) };
        project(&copy.values, &copy.scales, &table.units, gradient);
        penalise(weights, uses, &copy.values, gradient);
        let room = moved.each_mut().map(|room| &mut room[..table.stride]);
        table.descend(row, gradient, self.settings.optimiser, room);
    }
}
