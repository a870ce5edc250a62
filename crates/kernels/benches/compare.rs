//! Comparisons at the sizes of completion: all entities of a benchmark, or some hundred drawn ones.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use quadcast_kernels::compare::{self, Comparison, Gradients, Likeness};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Sizes b, n and d.
type Size = (usize, usize, usize);

fn draw(count: usize, seed: u64) -> Vec<f32> {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| stream.random_range(-1.0..1.0)).collect()
}

/// Every pair gets a gradient: the first epoch, in which nothing can be left out.
fn dense(_: usize, _: &mut f32, scores: &mut [f32]) -> f64 {
    for x in scores.iter_mut() {
        *x *= 1e-3;
    }
    f64::from(scores[0])
}

/// One pair in a hundred gets a gradient: later epochs.
fn sparse(row: usize, _: &mut f32, scores: &mut [f32]) -> f64 {
    scores
        .iter_mut()
        .enumerate()
        .for_each(|(j, x)| *x *= if (row + j).is_multiple_of(100) { 1e-3 } else { 1e-12 });
    f64::from(scores[0])
}

fn train(
    c: &mut Criterion,
    name: &str,
    likeness: Likeness,
    size: Size,
    loss: fn(usize, &mut f32, &mut [f32]) -> f64,
) {
    let (b, n, d) = size;
    let (queries, candidates, own) = (draw(b * d, 1), draw(n * d, 2), draw(b * d, 3));
    let (mut dq, mut dc, mut down) = (vec![0.0; b * d], vec![0.0; n * d], vec![0.0; b * d]);
    let comparison = Comparison {
        likeness,
        queries: &queries,
        candidates: &candidates,
        own: Some(&own),
        weights: None,
        d,
    };
    let mut group = c.benchmark_group("compare");
    group.sample_size(10).throughput(Throughput::Elements((b * n * d) as u64));
    group.bench_function(format!("{likeness:?} train {name} {b}x{n}x{d}"), |bencher| {
        bencher.iter(|| {
            let all = &mut Gradients { queries: &mut dq, candidates: &mut dc, own: Some(&mut down) };
            compare::train(&comparison, loss, all)
        });
    });
}

fn score(c: &mut Criterion, likeness: Likeness, size: Size) {
    let (b, n, d) = size;
    let (queries, candidates) = (draw(b * d, 1), draw(n * d, 2));
    let comparison =
        Comparison { likeness, queries: &queries, candidates: &candidates, own: None, weights: None, d };
    let mut group = c.benchmark_group("compare");
    group.sample_size(10).throughput(Throughput::Elements((b * n * d) as u64));
    group.bench_function(format!("{likeness:?} score {b}x{n}x{d}"), |bencher| {
        bencher.iter(|| {
            compare::score_strips(&comparison, |_, scores| {
                black_box(scores);
            });
        });
    });
}

fn bench(c: &mut Criterion) {
    score(c, Likeness::L1, (512, 7128, 1024));
    train(c, "dense", Likeness::L1, (512, 7128, 1024), dense);
    train(c, "sparse", Likeness::L1, (512, 7128, 1024), sparse);
    score(c, Likeness::L1, (128, 500, 1024));
    train(c, "dense", Likeness::L1, (128, 500, 1024), dense);
    score(c, Likeness::Dot, (512, 7128, 512));
    train(c, "dense", Likeness::Dot, (512, 7128, 512), dense);
}

criterion_group!(benches, bench);
criterion_main!(benches);
