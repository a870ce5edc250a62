//! Epochs of `TransE` at the sizes of benchmarks: a batch at a time, and without locks.
//!
//! `w3` is the very epoch of the side-by-side baseline `torch_steps.py w3`: the first is not timed, the next three are, as
//! there. In the other shapes rows are divided by their lengths and all samples have slopes. Entities and relations are drawn
//! with a few frequent and many rare ones, as in real graphs, or evenly.

mod epochs;

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use quadcast_kernels::triples::{
    Batch, Draws, Exact, LockFree, Loss, LossKind, Negatives, NegativesConfig, Norm, Optimiser, Settings,
    Source, Tables, Translation,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use epochs::{ENTITIES, Epochs, ExactEpochs, LockFreeEpochs, TRIPLES, WIDTH};

/// A shape: name, entities, relations, triples, batches, width, margin, and whether ids are drawn evenly.
struct Shape {
    name: &'static str,
    entities: usize,
    relations: usize,
    triples: usize,
    batches: usize,
    width: usize,
    margin: f64,
    even: bool,
}

const SHAPES: [Shape; 3] = [
    Shape {
        name: "even",
        entities: 15_000,
        relations: 1345,
        triples: 483_000,
        batches: 100,
        width: 100,
        margin: 1.0,
        even: true,
    },
    Shape {
        name: "wn18",
        entities: 40_943,
        relations: 18,
        triples: 141_442,
        batches: 100,
        width: 50,
        margin: 5.0,
        even: false,
    },
    Shape {
        name: "wikidata-evolve-4",
        entities: 59_419,
        relations: 150,
        triples: 668_000,
        batches: 100,
        width: 100,
        margin: 5.0,
        even: false,
    },
];

impl Shape {
    fn triples(&self) -> Vec<[u32; 3]> {
        let mut stream = ChaCha8Rng::seed_from_u64(1);
        let mut id = |n: usize| {
            let place: f64 = stream.random();
            let place = if self.even { place } else { place * place };
            (place * n as f64) as u32
        };
        (0..self.triples).map(|_| [id(self.entities), id(self.relations), id(self.entities)]).collect()
    }

    fn tables(&self, energy: &Translation) -> Tables<f32> {
        let mut tables = Tables::new(energy, self.entities, self.relations);
        let mut stream = ChaCha8Rng::seed_from_u64(2);
        let mut draw = |rows: usize| -> Vec<f32> {
            let bound = (6.0 / (rows + self.width) as f64).sqrt() as f32;
            (0..rows * self.width).map(|_| stream.random_range(-bound..bound)).collect()
        };
        tables.entities.replace_segment(0, &draw(self.entities));
        tables.relations.replace_segment(0, &draw(self.relations));
        tables
    }

    /// Calls `step` for every batch of an epoch.
    fn epoch(&self, epoch: u64, mut step: impl FnMut(&Batch<'_>) -> f64) -> f64 {
        let size = self.triples / self.batches;
        let picks: Vec<u32> = (0..size * self.batches)
            .map(|i| Draws::new(epoch, i as u64).below(self.triples) as u32)
            .collect();
        let mut loss = 0.0;
        for (key, picks) in picks.chunks_exact(size).enumerate() {
            loss += step(&Batch { picks, key: epoch << 32 | key as u64, turn: 0 });
        }
        loss
    }
}

fn shapes(c: &mut Criterion) {
    let mut group = c.benchmark_group("triples");
    group.sample_size(10);
    for shape in SHAPES {
        let triples = shape.triples();
        let energy = Translation { dimension: shape.width, norm: Norm::L1, unit: true };
        let sizes = (shape.entities, shape.relations);
        let pool = (0..shape.entities as u32).collect();
        let negatives = Negatives::new(NegativesConfig::default(), &triples, &triples, pool, sizes);
        let source = Source { triples: &triples, against: &[], negatives: &negatives };
        let settings = Settings {
            loss: Loss { kind: LossKind::Margin, margin: shape.margin, temperature: None },
            negatives: 1,
            relation_negatives: 0,
            optimiser: Optimiser::Sgd { rate: 0.1 },
            penalty: 0.0,
            cubes: 0.0,
        };
        let Shape { name, entities, triples: count, width, .. } = shape;
        group.throughput(Throughput::Elements(count as u64));
        let mut tables = shape.tables(&energy);
        let mut exact = Exact::new(settings, &tables, count / shape.batches);
        let mut epoch = 0;
        group.bench_function(format!("exact {name} {entities}x{count}x{width}"), |bencher| {
            bencher.iter(|| {
                epoch += 1;
                black_box(shape.epoch(epoch, |batch| exact.step(&energy, &mut tables, &source, batch)))
            });
        });
        let mut free = LockFree::new(settings, &shape.tables(&energy));
        group.bench_function(format!("lock-free {name} {entities}x{count}x{width}"), |bencher| {
            bencher.iter(|| {
                epoch += 1;
                black_box(shape.epoch(epoch, |batch| free.step(&energy, &source, batch)))
            });
        });
    }
    group.finish();
}

/// The mean time of three epochs after the first, with new rows every time.
fn like_torch(c: &mut Criterion) {
    const TIMED: u32 = 3;
    let timed = |count: u64, begin: &mut dyn FnMut() -> Box<dyn FnMut() -> f64>| {
        let mut total = Duration::ZERO;
        for _ in 0..count {
            let mut epoch = begin();
            epoch();
            let begun = Instant::now();
            (0..TIMED).for_each(|_| _ = black_box(epoch()));
            total += begun.elapsed() / TIMED;
        }
        total
    };
    let epochs: &'static Epochs = Box::leak(Box::new(Epochs::new()));
    let mut group = c.benchmark_group("triples");
    group.sample_size(10);
    group.bench_function(format!("exact w3 {ENTITIES}x{TRIPLES}x{WIDTH}"), |bencher| {
        bencher.iter_custom(|count| {
            timed(count, &mut || {
                let mut exact = ExactEpochs::new(epochs);
                Box::new(move || exact.epoch())
            })
        });
    });
    group.bench_function(format!("lock-free w3 {ENTITIES}x{TRIPLES}x{WIDTH}"), |bencher| {
        bencher.iter_custom(|count| {
            timed(count, &mut || {
                let mut free = LockFreeEpochs::new(epochs);
                Box::new(move || free.epoch())
            })
        });
    });
    group.finish();
}

criterion_group!(benches, like_torch, shapes);
criterion_main!(benches);
