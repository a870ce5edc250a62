//! The ranker on dense rows: three filters and all tie policies, as `judge` runs it.
//!
//! Rows are built outside the timed part; 15 000 queries × 7 128 candidates is the size of ICEWS14.

use criterion::{Criterion, criterion_group, criterion_main};
use quadcast_core::{Direction, EntityId, Protocol, Query, RelationId, ScoreRow, Step, stream};
use quadcast_eval::{Outcome, RankedQuery, Ranker, Truth};
use rand::Rng;
use rayon::prelude::*;

const QUERIES: usize = 15_000;
const CANDIDATES: usize = 7_128;
/// Queries that one thread ranks in one go, as in the evaluator.
const CHUNK: usize = 64;

struct World {
    scores: Vec<f32>,
    golds: Vec<EntityId>,
    now: Vec<Vec<EntityId>>,
    ever: Vec<Vec<EntityId>>,
}

fn world() -> World {
    let mut random = stream(1, "bench", 0);
    let scores = (0..QUERIES * CANDIDATES).map(|_| random.random::<f32>()).collect();
    let golds: Vec<EntityId> =
        (0..QUERIES).map(|_| EntityId(random.random_range(0..CANDIDATES as u32))).collect();
    let mut truth = |size: usize| -> Vec<Vec<EntityId>> {
        let list = |&gold: &EntityId| {
            let mut list: Vec<EntityId> = (1..size)
                .map(|_| EntityId(random.random_range(0..CANDIDATES as u32)))
                .chain([gold])
                .collect();
            list.sort_unstable();
            list.dedup();
            list
        };
        golds.iter().map(list).collect()
    };
    // Means of the real dataset: 1.2 true answers at the same time, 13 at any time.
    let (now, ever) = (truth(2), truth(13));
    World { scores, golds, now, ever }
}

fn rank_all(world: &World) -> Outcome {
    let indices: Vec<usize> = (0..QUERIES).collect();
    let chunks: Vec<Vec<RankedQuery>> = indices
        .par_chunks(CHUNK)
        .map_init(
            || Ranker::new(CANDIDATES),
            |ranker, chunk| {
                let mut ranked = Vec::with_capacity(chunk.len());
                for &i in chunk {
                    let row = ScoreRow::Dense(&world.scores[i * CANDIDATES..(i + 1) * CANDIDATES]);
                    let truth = Truth { now: &world.now[i], ever: &world.ever[i] };
                    let query = Query {
                        step: Step(i as u32 / 500),
                        known: EntityId(0),
                        relation: RelationId(0),
                        direction: Direction::BOTH[i % 2],
                    };
                    ranker
                        .rank(row, &[world.golds[i]], truth, |gold, ranks| {
                            ranked.push(RankedQuery { query, gold, ranks, seen: false });
                        })
                        .expect("rows are well formed");
                }
                ranked
            },
        )
        .collect();
    Outcome::new(&chunks.concat(), CANDIDATES, &Protocol::default(), 1).expect("there are queries")
}

fn dense(criterion: &mut Criterion) {
    let world = world();
    let mut group = criterion.benchmark_group("ranker");
    group.sample_size(20);
    group.bench_function("dense 15000 queries x 7128 candidates, 3 filters, all policies", |bench| {
        bench.iter(|| rank_all(&world));
    });
    group.finish();
}

criterion_group!(benches, dense);
criterion_main!(benches);
