//! How the cost of TLogic grows with the number of facts: learning, and answering the questions of one step.
//!
//! The world is the first part of `gdelt-like`, cut at several lengths; rules have lengths 1 and 2, as published for data
//! of this size. `all` lets rules look back over everything, `200` over the last 200 steps.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use quadcast_analysis::{WorldName, synth};
use quadcast_core::{Direction, Facts, Forecaster, HistoryIndex, Quad, Query, Run, Step};
use quadcast_models::{find, set};
use quadcast_testing::{Discarded, Indifferent};

/// Numbers of steps; the world has about 770 facts a step.
const STEPS: [u32; 4] = [300, 600, 1200, 2400];

fn build(window: u32) -> Box<dyn Forecaster> {
    let entry = find("tlogic").expect("the model exists");
    let mut config = (entry.defaults)();
    for setting in ["lengths=[1,2]", &format!("window={window}")] {
        set(&mut config, setting).expect("a valid setting");
    }
    entry.forecaster(&config).expect("a valid configuration")
}

fn growth(criterion: &mut Criterion) {
    let world = synth(WorldName::GdeltLike, 1);
    let data = world.dataset().expect("facts to forecast");
    let splits = &data.splits;
    let all: Vec<Quad> =
        [&splits.train, &splits.valid, &splits.test].iter().flat_map(|part| part.iter()).collect();
    let mut group = criterion.benchmark_group("tlogic");
    group.sample_size(10);
    for steps in STEPS {
        let known: Vec<Quad> = all.iter().copied().filter(|quad| quad.step.0 < steps).collect();
        let asked: Vec<Query> = all
            .iter()
            .filter(|quad| quad.step.0 == steps)
            .flat_map(|&quad| Direction::BOTH.map(|direction| Query::hide(quad, direction).0))
            .collect();
        let facts = known.len();
        let part = Facts::new(known, data.axis.len());
        let index = HistoryIndex::new(&data.axis, data.entities(), data.relations(), &[&part]);
        let history = index.before(Step(steps));
        let mut fitted = build(0);
        let fit = |model: &mut dyn Forecaster| {
            model.fit(&history, &Indifferent, &Run::silent(1)).expect("facts to learn from");
        };
        fit(fitted.as_mut());
        group.throughput(Throughput::Elements(facts as u64));
        group.bench_function(BenchmarkId::new("learn", facts), |bench| bench.iter(|| fit(build(0).as_mut())));
        group.throughput(Throughput::Elements(asked.len() as u64));
        for window in [0, 200] {
            let mut model = build(window);
            let mut saved = model.save().expect("an empty model");
            saved.rules = fitted.save().expect("a fitted model").rules;
            model.load(&saved).expect("learned rules");
            model.begin(Step(steps), &history).expect("the relations of the data");
            let name = if window == 0 { "apply all" } else { "apply 200" };
            group.bench_function(BenchmarkId::new(name, facts), |bench| {
                bench.iter(|| model.score(&history, &asked, &mut Discarded).expect("a fitted model"));
            });
        }
    }
    group.finish();
}

criterion_group!(benches, growth);
criterion_main!(benches);
