//! Steps on triples: against dense optimisers, for any number of threads, and without locks.

use quadcast_kernels::Real;
use quadcast_kernels::optimisers::{Adam, State};
use quadcast_kernels::triples::{
    Batch, Draws, Exact, LockFree, Loss, LossKind, Negatives, NegativesConfig, Norm, Optimiser, Settings,
    Source, Table, Tables, Translation,
};

const ENTITIES: usize = 300;
const RELATIONS: usize = 4;
const ENERGY: Translation = Translation { dimension: 20, norm: Norm::L2, unit: true };

fn triples() -> Vec<[u32; 3]> {
    let triple = |i: u64| {
        let mut draws = Draws::new(3, i);
        [ENTITIES, RELATIONS, ENTITIES].map(|bound| draws.below(bound) as u32)
    };
    (0..2000).map(triple).collect()
}

fn fill<T: Real>(table: &mut Table<T>, key: u64) {
    let width = table.layout().width();
    let number = |i: usize| T::from_f64(Draws::new(key, i as u64).share() - 0.5);
    let numbers: Vec<T> = (0..table.rows() * width).map(number).collect();
    table.replace_segment(0, &numbers);
}

fn tables<T: Real>() -> Tables<T> {
    let mut tables = Tables::new(&ENERGY, ENTITIES, RELATIONS);
    fill(&mut tables.entities, 1);
    fill(&mut tables.relations, 2);
    tables
}

fn negatives(triples: &[[u32; 3]]) -> Negatives {
    let pool = (0..ENTITIES as u32).collect();
    Negatives::new(NegativesConfig::default(), triples, triples, pool, (ENTITIES, RELATIONS))
}

fn settings(optimiser: Optimiser) -> Settings {
    let loss = Loss { kind: LossKind::Softplus, margin: 1.0, temperature: None };
    Settings { loss, negatives: 2, relation_negatives: 0, optimiser, penalty: 0.1, cubes: 0.0 }
}

/// Batches of 40 samples: most rows are not touched.
fn batches(count: usize) -> Vec<(Vec<u32>, u64)> {
    let picks = |key: u64| (0..40).map(|i| Draws::new(key, i).below(2000) as u32).collect();
    (0..count as u64).map(|key| (picks(key), key)).collect()
}

/// The gradient of a batch at some rows: what a step of the rate 1 takes away.
fn gradient(tables: &Tables<f64>, source: &Source<'_>, batch: &Batch<'_>) -> [Vec<f64>; 2] {
    let mut moved = tables.clone();
    let mut exact = Exact::new(settings(Optimiser::Sgd { rate: 1.0 }), tables, 40);
    exact.step(&ENERGY, &mut moved, source, batch);
    let difference =
        |a: &Table<f64>, b: &Table<f64>| a.values().iter().zip(b.values()).map(|(a, b)| a - b).collect();
    [difference(&tables.entities, &moved.entities), difference(&tables.relations, &moved.relations)]
}

fn assert_near(found: &[f64], expected: &[f64], name: &str) {
    let worst = found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(worst < 1e-9, "{name}: {worst}");
}

#[test]
fn sparse_steps_are_dense_ones() {
    let triples = triples();
    let negatives = negatives(&triples);
    let source = Source { triples: &triples, against: &[], negatives: &negatives };
    let optimisers = [
        Optimiser::Sgd { rate: 0.1 },
        Optimiser::Adagrad { rate: 0.1 },
        Optimiser::Adam { rate: 0.01, lazy: false },
    ];
    for optimiser in optimisers {
        let mut tables = tables::<f64>();
        let mut exact = Exact::new(settings(optimiser), &tables, 40);
        let mut dense = [tables.entities.values().to_vec(), tables.relations.values().to_vec()];
        let mut memory = dense.clone().map(|x| [vec![0.0; x.len()], vec![0.0; x.len()]]);
        for (step, (picks, key)) in batches(8).iter().enumerate() {
            let batch = Batch { picks, key: *key, turn: 0 };
            let gradients = gradient(&tables, &source, &batch);
            exact.step(&ENERGY, &mut tables, &source, &batch);
            for ((x, g), [mean, square]) in dense.iter_mut().zip(&gradients).zip(&mut memory) {
                match optimiser {
                    Optimiser::Sgd { rate } => x.iter_mut().zip(g).for_each(|(x, g)| *x -= rate * g),
                    Optimiser::Adagrad { rate } => {
                        for ((x, g), square) in x.iter_mut().zip(g).zip(square) {
                            *square += g * g;
                            *x -= rate * g / (square.sqrt() + 1e-10);
                        }
                    }
                    Optimiser::Adam { rate, .. } => {
                        let state = State { mean, square, largest: None };
                        Adam { rate, decay: 0.0 }.update(step as u64 + 1, x, g, 1.0, state);
                    }
                }
            }
            let name = format!("{optimiser:?}, step {step}");
            assert_near(tables.entities.values(), &dense[0], &name);
            assert_near(tables.relations.values(), &dense[1], &name);
        }
    }
}

#[test]
fn lazy_adam_leaves_rows_without_a_gradient_alone() {
    let triples = triples();
    let negatives = negatives(&triples);
    let source = Source { triples: &triples, against: &[], negatives: &negatives };
    let (mut lazy, mut dense) = (tables::<f64>(), tables::<f64>());
    let before = lazy.clone();
    let adam = |lazy| Exact::new(settings(Optimiser::Adam { rate: 0.01, lazy }), &before, 40);
    let (mut takes_lazy, mut takes_dense) = (adam(true), adam(false));
    let batches = batches(2);
    let batch = |i: usize| Batch { picks: &batches[i].0, key: batches[i].1, turn: 0 };
    takes_lazy.step(&ENERGY, &mut lazy, &source, &batch(0));
    takes_dense.step(&ENERGY, &mut dense, &source, &batch(0));
    assert_eq!(lazy.entities.values(), dense.entities.values(), "there is nothing to remember yet");
    let between = lazy.clone();
    takes_lazy.step(&ENERGY, &mut lazy, &source, &batch(1));
    takes_dense.step(&ENERGY, &mut dense, &source, &batch(1));
    let samples = source.samples(&batch(1), &settings(Optimiser::Sgd { rate: 1.0 }));
    let used = |row: u32| {
        let has = |triple: &[u32; 3]| triple[0] == row || triple[2] == row;
        samples.iter().any(|(triple, wrong)| has(triple) || wrong.iter().any(has))
    };
    let moved =
        |tables: &Tables<f64>, row: u32| tables.entities.row(row).values != between.entities.row(row).values;
    let idle: Vec<u32> = (0..ENTITIES as u32).filter(|&row| !used(row)).collect();
    assert!(idle.iter().all(|&row| !moved(&lazy, row)), "lazy rows stay");
    assert!(idle.iter().any(|&row| moved(&dense, row)), "dense rows go on");
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let triples = triples();
    let negatives = negatives(&triples);
    let wrong: Vec<[u32; 3]> =
        triples[..100].iter().map(|&[head, relation, tail]| [tail, relation, head]).collect();
    let train = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let mut tables = tables::<f32>();
            let source = Source { triples: &triples, against: &wrong, negatives: &negatives };
            let mut exact = Exact::new(settings(Optimiser::Adagrad { rate: 0.1 }), &tables, 500);
            let mut losses = Vec::new();
            for key in 0..10 {
                let picks: Vec<u32> = (0..500).map(|i| Draws::new(key, i).below(2000) as u32).collect();
                losses.push(exact.step(
                    &ENERGY,
                    &mut tables,
                    &source,
                    &Batch { picks: &picks, key, turn: 0 },
                ));
            }
            (tables.entities.values().to_vec(), tables.relations.values().to_vec(), losses)
        })
    };
    let one = train(1);
    assert!(one.2[9] < one.2[0], "it learns");
    for threads in [2, 3] {
        assert!(train(threads) == one, "{threads} threads");
    }
}

#[test]
fn without_locks_it_learns_as_much() {
    let triples = triples();
    let negatives = negatives(&triples);
    let source = Source { triples: &triples, against: &[], negatives: &negatives };
    for optimiser in [Optimiser::Sgd { rate: 20.0 }, Optimiser::Adagrad { rate: 0.05 }] {
        // The penalty is part of one loss and not of the other.
        let settings = Settings { penalty: 0.0, ..settings(optimiser) };
        let mut tables = tables::<f32>();
        let mut exact = Exact::new(settings, &tables, 500);
        let mut free = LockFree::new(settings, &tables);
        let (mut first, mut last) = ([0.0; 2], [0.0; 2]);
        for key in 0..200 {
            let picks: Vec<u32> = (0..500).map(|i| Draws::new(key, i).below(2000) as u32).collect();
            let batch = Batch { picks: &picks, key, turn: 0 };
            last = [exact.step(&ENERGY, &mut tables, &source, &batch), free.step(&ENERGY, &source, &batch)];
            if key == 0 {
                first = last;
            }
        }
        let gain = [first[0] - last[0], first[1] - last[1]];
        assert!(gain[0] > 0.05, "{optimiser:?}: {first:?} {last:?}");
        assert!((gain[1] / gain[0] - 1.0).abs() < 0.2, "{optimiser:?}: {first:?} {last:?}");
        let state = free.state();
        let mut other = LockFree::new(settings, &tables);
        other.restore(&state);
        assert_eq!(other.state(), state);
        let mut written = tables.clone();
        free.write_back(&mut written);
        assert_eq!(written.entities.values(), state[0]);
    }
}
