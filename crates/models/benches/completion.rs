//! Training steps of composed models at the sizes of ICEWS14, for the ratio to `tools/torch_tntcomplex.py`. One epoch of
//! random facts is a known number of steps; the time that criterion prints is divided by it.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use quadcast_core::{Calendar, Facts, HistoryIndex, Quad, Run, TimeAxis, stream};
use quadcast_models::{find, set};
use quadcast_testing::Indifferent;
use rand::Rng;

/// As in the binary: it keeps the memory of large tensors, which the system's gives back and faults in again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ENTITIES: u32 = 7128;
const RELATIONS: u32 = 230;
const TIMES: u32 = 365;
/// With questions for both ends, 20 batches of 1000.
const FACTS: usize = 10_000;

fn facts() -> HistoryIndex {
    let mut random = stream(1, "bench facts", 0);
    let mut draw = |limit: u32| random.random_range(0..limit);
    let quads: Vec<Quad> =
        (0..FACTS).map(|_| Quad::new(draw(ENTITIES), draw(RELATIONS), draw(ENTITIES), draw(TIMES))).collect();
    let axis = TimeAxis::new((0..i64::from(TIMES)).collect(), Calendar::years_from(0));
    let facts = Facts::new(quads, TIMES as usize);
    HistoryIndex::new(&axis, ENTITIES as usize, RELATIONS as usize, &[&facts])
}

fn bench(c: &mut Criterion) {
    let index = facts();
    let known = index.whole();
    let mut group = c.benchmark_group("completion");
    group.sample_size(10);
    for (name, settings) in [
        ("tntcomplex", &["dimension=156", "batch=1000"][..]),
        ("ttranse", &["dimension=512", "batch=1000"][..]),
        ("t-simple", &["dimension=256", "batch=1000"][..]),
        ("de-simple", &["dimension=128", "batch=1000"][..]),
    ] {
        let entry = find(name).expect("a model of ours");
        let mut config = (entry.defaults)();
        for setting in settings.iter().chain(&["epochs=1"]) {
            set(&mut config, setting).expect("a setting of the model");
        }
        group.throughput(Throughput::Elements(2 * FACTS as u64 / 1000));
        group.bench_function(format!("{name} {} epoch of 20 batches", settings[0]), |b| {
            b.iter(|| {
                let mut model = entry.forecaster(&config).expect("the settings are sound");
                model.fit(&known, &Indifferent, &Run::silent(1)).expect("it trains");
            });
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
