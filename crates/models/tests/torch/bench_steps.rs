//! The step `w2` of the side-by-side baseline from blocks, for its ratio to `PyTorch`'s median. And the tape alone: what
//! it costs.

mod graph_step;

use burn::tensor::{Device, Tensor};
use criterion::{Criterion, criterion_group, criterion_main};
use quadcast_models::blocks::{Embedding, Initial, Parameters, select_rows};

/// As in the binary: it keeps the memory of large tensors, which the system's gives back and faults in again.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn tape(parameters: &Parameters, table: &Embedding, ops: usize) {
    let mut x: Tensor<2> = table.table(parameters);
    for _ in 0..ops {
        x = select_rows(x, [1, 0]);
    }
    parameters.backward(&x.sum());
}

fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("steps");
    group.sample_size(15);
    let mut step = graph_step::GraphStep::new();
    group.bench_function("w2 graph 3x500 edges, 500 queries, 7128x200", |b| b.iter(|| step.step()));
    group.finish();

    let mut parameters = Parameters::new(0, &Device::flex());
    let table = Embedding::new("x", [2, 2], Initial::Normal(1.0), &mut parameters);
    let mut group = c.benchmark_group("tape");
    for ops in [1, 21, 101] {
        group.bench_function(format!("{ops} operations on 2x2, both passes"), |b| {
            b.iter(|| tape(&parameters, &table, ops));
        });
    }
    group.finish();
}

criterion_group!(benches, bench);
criterion_main!(benches);
