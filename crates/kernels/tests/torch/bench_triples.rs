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

use epochs::{ENTITIES, Epochs, TRIPLES, WIDTH};

/// Batches of an epoch.
const BATCHES: usize = 100;

struct Shape {
    name: &'static str,
    entities: usize,
    relations: usize,
    triples: usize,
    width: usize,
    margin: f64,
    even: bool,
}

/// Name, margin, whether ids are drawn evenly; numbers of entities, relations and triples; width.
const fn shape(
    name: &'static str,
    margin: f64,
    even: bool,
    [entities, relations, triples, width]: [usize; 4],
) -> Shape {
    Shape { name, entities, relations, triples, width, margin, even }
}

const SHAPES: [Shape; 3] = [
    shape("even", 1.0, true, [15_000, 1345, 483_000, 100]),
    shape("wn18", 5.0, false, [40_943, 18, 141_442, 50]),
    shape("wikidata-evolve-4", 5.0, false, [59_419, 150, 668_000, 100]),
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
        let size = self.triples / BATCHES;
        let picks: Vec<u32> =
            (0..size * BATCHES).map(|i| Draws::new(epoch, i as u64).below(self.triples) as u32).collect();
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
        let mut exact = Exact::new(settings, &tables, count / BATCHES);
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
    fn timed<'a>(count: u64, begin: &dyn Fn() -> Box<dyn FnMut() -> f64 + 'a>) -> Duration {
        let mut total = Duration::ZERO;
        for _ in 0..count {
            let mut epoch = begin();
            epoch();
            let begun = Instant::now();
            (0..TIMED).for_each(|_| _ = black_box(epoch()));
            total += begun.elapsed() / TIMED;
        }
        total
    }
    let epochs = Epochs::new();
    let mut group = c.benchmark_group("triples");
    group.sample_size(10);
    group.bench_function(format!("exact w3 {ENTITIES}x{TRIPLES}x{WIDTH}"), |bencher| {
        bencher.iter_custom(|count| timed(count, &|| Box::new(epochs.exact())));
    });
    group.bench_function(format!("lock-free w3 {ENTITIES}x{TRIPLES}x{WIDTH}"), |bencher| {
        bencher.iter_custom(|count| timed(count, &|| Box::new(epochs.lock_free())));
    });
    group.finish();
}

criterion_group!(benches, like_torch, shapes);
criterion_main!(benches);
