//! What every model must pass, whatever it is. A new entry of the registry is tested by being there.

use quadcast_core::{
    Dataset, Direction, EntityId, Facts, Filter, Forecaster, HistoryIndex, Protocol, Quad, Query, Run,
    SavedModel, Setting, Split, Step, Task, stream,
};
use quadcast_eval::{Evaluator, Judged, Outcome, fit, judge};
use quadcast_models::{Entry, MODELS};
use quadcast_testing::Collected;
use quadcast_testing::world::{self, SMALL, Shape};
use rand::seq::SliceRandom;

const SHAPE: Shape = Shape { entities: 20, relations: 4, steps: 25, facts_per_step: 12 };

fn build(entry: &Entry) -> Box<dyn Forecaster> {
    entry.forecaster(&entry.quick_config()).expect("the quick settings build")
}

/// The protocols that a model can be judged under: its settings, or completion.
fn protocols(entry: &Entry) -> Vec<Protocol> {
    match entry.task() {
        Task::Forecasting => {
            (entry.capabilities)().settings.iter().map(|&setting| Protocol::forecasting(setting)).collect()
        }
        Task::Completion => vec![Protocol::completion()],
        Task::Evolving => Vec::new(),
    }
}

/// Fits and judges with settings that do not take long.
fn play(entry: &Entry, data: &Dataset, protocol: Protocol) -> (Box<dyn Forecaster>, Judged) {
    let mut model = build(entry);
    let run = Run::silent(7);
    fit(data, &protocol, model.as_mut(), &run).expect("a model that fits");
    let judged = judge(data, &protocol, model.as_mut(), &run).expect("a model that scores");
    (model, judged)
}

/// Every model under every protocol it supports.
fn everywhere(mut check: impl FnMut(&Entry, Protocol)) {
    for entry in MODELS {
        for protocol in protocols(entry) {
            check(entry, protocol);
        }
    }
}

fn queries(data: &Dataset, step: Step) -> Vec<Query> {
    let facts = data.splits.get(Split::Test).snapshot(step);
    let mut queries: Vec<Query> =
        facts.iter().flat_map(|fact| Direction::BOTH.map(|d| Query::hide(fact, d).0)).collect();
    queries.sort_unstable();
    queries.dedup();
    queries
}

/// Scores of all candidates for each query about a step, from a history that ends before it.
fn scores(model: &mut dyn Forecaster, data: &Dataset, step: Step, queries: &[Query]) -> Vec<Vec<f64>> {
    let splits = &data.splits;
    let parts = [&splits.train, &splits.valid, &splits.test];
    let index = HistoryIndex::new(&data.axis, data.entities(), data.relations(), &parts);
    let history = index.before(step);
    let mut sink = Collected::new(data.entities());
    model.begin(step, &history).expect("a fitted model");
    model.score(&history, queries, &mut sink).expect("a fitted model");
    assert!(index.latest_read().is_none_or(|latest| latest < step), "the model read the future");
    sink.into_rows()
}

#[test]
fn a_saved_model_scores_as_before() {
    everywhere(|entry, protocol| {
        let data = world::dataset(&world::quads(1, SHAPE), SHAPE);
        let (mut model, judged) = play(entry, &data, protocol);
        let saved = model.save().expect("a fitted model");
        let text = serde_json::to_string(&saved).expect("plain data");
        let mut loaded = build(entry);
        loaded.load(&serde_json::from_str(&text).expect("what was written")).expect("what was saved");
        let again = judge(&data, &protocol, loaded.as_mut(), &Run::silent(7)).expect("a loaded model");
        assert_eq!(judged.ranked, again.ranked, "{} {}", entry.name, protocol.headline());
        let first = Step(20);
        let asked = queries(&data, first);
        assert_eq!(
            scores(model.as_mut(), &data, first, &asked),
            scores(loaded.as_mut(), &data, first, &asked),
            "{}",
            entry.name
        );
        assert!(build(entry).load(&SavedModel::plain(serde_json::json!({"no": 1}))).is_err());
    });
}

#[test]
fn the_order_of_queries_does_not_matter() {
    everywhere(|entry, protocol| {
        let data = world::dataset(&world::quads(2, SHAPE), SHAPE);
        let (mut model, _) = play(entry, &data, protocol);
        let asked = queries(&data, Step(20));
        let straight = scores(model.as_mut(), &data, Step(20), &asked);
        let mut order: Vec<usize> = (0..asked.len()).collect();
        order.shuffle(&mut stream(1, "order", 0));
        let shuffled: Vec<Query> = order.iter().map(|&i| asked[i]).collect();
        for (&i, row) in order.iter().zip(scores(model.as_mut(), &data, Step(20), &shuffled)) {
            assert_eq!(straight[i], row, "{}", entry.name);
        }
    });
}

#[test]
fn a_score_does_not_depend_on_what_else_is_asked() {
    everywhere(|entry, protocol| {
        let data = world::dataset(&world::quads(9, SHAPE), SHAPE);
        let (mut model, _) = play(entry, &data, protocol);
        let asked = queries(&data, Step(20));
        let together = scores(model.as_mut(), &data, Step(20), &asked);
        for count in [1, 2, 5] {
            for (asked, rows) in asked.chunks(count).zip(together.chunks(count)) {
                assert_eq!(scores(model.as_mut(), &data, Step(20), asked), rows, "{} {count}", entry.name);
            }
        }
    });
}

#[test]
fn each_query_is_answered_without_knowing_the_others() {
    everywhere(|entry, protocol| {
        let data = world::dataset(&world::quads(10, SHAPE), SHAPE);
        let (mut model, mut judged) = play(entry, &data, protocol);
        let found = Evaluator::new(&data, &protocol)
            .check_isolation(model.as_mut(), &Run::silent(7), &mut judged)
            .expect("a model that scores");
        assert!(!found.is_broken(), "{} {}: {found:?}", entry.name, protocol.headline());
    });
}

#[test]
fn later_facts_change_nothing() {
    everywhere(|entry, protocol| {
        let quads = world::quads(3, SHAPE);
        let data = world::dataset(&quads, SHAPE);
        let (mut model, _) = play(entry, &data, protocol);
        let step = Step(21);
        let mut cut = data.clone();
        let early = quads.iter().copied().filter(|q| (20..=21).contains(&q.step.0)).collect();
        cut.splits.test = Facts::new(early, SHAPE.steps as usize);
        let asked = queries(&data, step);
        let whole = scores(model.as_mut(), &data, step, &asked);
        assert_eq!(whole, scores(model.as_mut(), &cut, step, &asked), "{}", entry.name);
    });
}

#[test]
fn the_first_test_step_is_the_same_in_single_and_multi_step() {
    for entry in MODELS {
        let settings = (entry.capabilities)().settings;
        if !(settings.contains(&Setting::SingleStep) && settings.contains(&Setting::MultiStep)) {
            continue;
        }
        let data = world::dataset(&world::quads(4, SHAPE), SHAPE);
        let mut model = build(entry);
        let run = Run::silent(7);
        fit(&data, &Protocol::forecasting(Setting::SingleStep), model.as_mut(), &run)
            .expect("a model that fits");
        let mut first_step = |setting| {
            let protocol = Protocol::forecasting(setting);
            let judged = judge(&data, &protocol, model.as_mut(), &run).expect("a fitted model");
            judged.ranked.into_iter().filter(|q| q.query.step == Step(20)).collect::<Vec<_>>()
        };
        assert_eq!(first_step(Setting::SingleStep), first_step(Setting::MultiStep), "{}", entry.name);
    }
}

#[test]
fn the_number_of_threads_does_not_matter() {
    everywhere(|entry, protocol| {
        let data = world::dataset(&world::quads(5, SHAPE), SHAPE);
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
            let (model, judged) = pool.install(|| play(entry, &data, protocol));
            (judged.ranked, model.save().expect("a fitted model"))
        };
        assert_eq!(with(1), with(3), "{} {}", entry.name, protocol.headline());
    });
}

#[test]
fn names_of_entities_do_not_matter() {
    everywhere(|entry, protocol| {
        if (entry.capabilities)().random {
            return;
        }
        let quads = world::quads(6, SHAPE);
        let mut names: Vec<u32> = (0..SHAPE.entities).collect();
        names.shuffle(&mut stream(2, "names", 0));
        let renamed: Vec<Quad> = quads
            .iter()
            .map(|q| Quad::new(names[q.subject.index()], q.relation.0, names[q.object.index()], q.step.0))
            .collect();
        let metrics = |quads: &[Quad]| {
            let data = world::dataset(quads, SHAPE);
            let (_, judged) = play(entry, &data, protocol);
            let outcome = Outcome::new(&judged.ranked, data.entities(), &protocol, 7);
            let outcome = outcome.expect("there are queries");
            Filter::ALL.map(|filter| outcome.filter(filter).metrics)
        };
        for (old, new) in metrics(&quads).into_iter().zip(metrics(&renamed)) {
            for (old, new) in
                [(old.mrr, new.mrr), (old.hits1, new.hits1), (old.hits10, new.hits10), (old.mr, new.mr)]
            {
                assert!((old - new).abs() < 1e-9, "{} {}: {old} {new}", entry.name, protocol.headline());
            }
        }
    });
}

#[test]
fn explanations_rest_on_the_past_and_name_the_score() {
    for entry in MODELS.iter().filter(|entry| (entry.capabilities)().explains) {
        let data = world::dataset(&world::quads(8, SMALL), SMALL);
        let (mut model, _) = play(entry, &data, protocols(entry)[0]);
        let step = Step(17);
        let asked = queries(&data, step);
        let rows = scores(model.as_mut(), &data, step, &asked);
        let splits = &data.splits;
        let parts = [&splits.train, &splits.valid, &splits.test];
        let index = HistoryIndex::new(&data.axis, data.entities(), data.relations(), &parts);
        let history = index.before(step);
        for (query, row) in asked.iter().zip(rows) {
            for answer in (0..SMALL.entities).map(EntityId) {
                let reason =
                    model.explain(&history, query, answer).expect("a fitted model").expect("a reason");
                assert!(reason.evidence.iter().all(|e| e.fact.step < step), "{}", entry.name);
                let score = row[answer.index()];
                let close = (reason.score - score).abs() <= 1e-9 * score.abs().max(1.0);
                assert!(close || reason.score == score, "{}: {} {score}", entry.name, reason.score);
            }
        }
    }
}
