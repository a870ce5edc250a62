//! The step `w1` of the side-by-side baseline, for its ratio to `PyTorch`'s median.

mod steps;

use criterion::{Criterion, criterion_group, criterion_main};

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("steps");
    group.sample_size(15);
    let mut step = steps::BilinearStep::new();
    group.bench_function("w1 1-vs-all 1000x512x7128", |b| b.iter(|| step.step()));
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
