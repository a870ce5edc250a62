//! The query-set leak, demonstrated: a model that knows who is asked about scores higher than it should, and is found out.

use quadcast_core::{Dataset, Filter, Leak, Protocol, Quad, Run, Setting, stream};
use quadcast_eval::{Evaluator, IsolationVerdict, Outcome};
use quadcast_models::find;
use quadcast_testing::world::{self, Shape};
use rand::Rng;
use rand::seq::IndexedRandom;

const SHAPE: Shape = Shape { entities: 60, relations: 3, steps: 50, facts_per_step: 16 };

/// On each day a few entities that nothing foretells are active, and deal with each other.
fn busy_days() -> Dataset {
    let mut random = stream(1, "busy days", 0);
    let everyone: Vec<u32> = (0..SHAPE.entities).collect();
    let mut quads = Vec::new();
    for step in 0..SHAPE.steps {
        let active: Vec<u32> = everyone.choose_multiple(&mut random, 10).copied().collect();
        for _ in 0..SHAPE.facts_per_step {
            let mut one = || active[random.random_range(0..active.len())];
            let (subject, object) = (one(), one());
            quads.push(Quad::new(subject, random.random_range(0..SHAPE.relations), object, step));
        }
    }
    world::dataset(&quads, SHAPE)
}

/// The time-aware MRR, and whether the queries were isolated.
fn play(data: &Dataset, setting: Setting, leak: Option<Leak>) -> (f64, IsolationVerdict) {
    let protocol = Protocol { leak, ..Protocol::forecasting(setting) };
    let entry = find("herald").expect("it is in the registry");
    let mut model = entry.forecaster(&entry.quick_config()).expect("the quick settings build");
    let (evaluator, run) = (Evaluator::new(data, &protocol), Run::silent(1));
    evaluator.fit(model.as_mut(), &run).expect("a model that fits");
    let mut judged = evaluator.judge(model.as_mut(), &run).expect("a model that scores");
    let found = evaluator.check_isolation(model.as_mut(), &run, &mut judged).expect("a model that scores");
    let outcome = Outcome::new(&judged.ranked, data.entities(), &protocol, 1).expect("there are queries");

    // What is kept of a model does not say what it was shown: the evaluator does, each time.
    let mut loaded = entry.forecaster(&entry.quick_config()).expect("the quick settings build");
    loaded.load(&model.save().expect("a fitted model")).expect("what was saved");
    let again = evaluator.judge(loaded.as_mut(), &run).expect("a loaded model");
    assert_eq!(again.ranked, judged.ranked, "{leak:?}");
    (outcome.filter(Filter::Time).metrics.mrr, found.verdict)
}

#[test]
fn knowing_the_queries_pays_and_is_found() {
    let data = busy_days();
    for setting in [Setting::SingleStep, Setting::MultiStep] {
        let (honest, isolated) = play(&data, setting, None);
        let (same, peeked) = play(&data, setting, Some(Leak::SameDirection));
        let (both, told) = play(&data, setting, Some(Leak::BothDirections));
        assert!(honest + 0.05 < same && same + 0.05 < both, "{honest} {same} {both}");
        assert_ne!(isolated, IsolationVerdict::Broken);
        assert_eq!((peeked, told), (IsolationVerdict::Broken, IsolationVerdict::Broken));
    }
}
