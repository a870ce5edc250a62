//! An evaluation that goes on where an earlier one stopped ends like one that was never interrupted.

mod playing;

use std::collections::BTreeMap;
use std::sync::Mutex;

use playing::MemoryJournal;
use proptest::prelude::*;
use quadcast_core::{
    Capabilities, Constant, Dataset, DirectedRelation, Direction, EntityId, Forecaster, History, ModelError,
    Protocol, Query, Run, ScoreRow, ScoreSink, Setting, Snapshot, Step, Task, Validation,
};
use quadcast_eval::{EvalError, Evaluator, Judged, judge};
use quadcast_testing::world::{self, SMALL};

/// Counts past answers. Those that it was told of count tenfold, so that it depends on every `observe`; and as the
/// recurrency baseline does, it keeps the step at which it was first asked about a relation while the history stands
/// still.
#[derive(Default)]
struct Follower {
    told: BTreeMap<(Query, EntityId), u32>,
    ceiling: Option<Step>,
    first_asked: Mutex<BTreeMap<DirectedRelation, Step>>,
    asked: Mutex<Vec<Step>>,
    begun: Vec<Step>,
    observed: Vec<Step>,
}

/// The question at no particular time.
fn timeless(query: Query) -> Query {
    Query { step: Step(0), ..query }
}

impl Forecaster for Follower {
    fn capabilities(&self) -> Capabilities {
        let settings = &[Setting::SingleStep, Setting::MultiStep, Setting::Online];
        Capabilities { inductive: true, ..Capabilities::new(Task::Forecasting, settings) }
    }

    fn fit(&mut self, _: &History<'_>, _: &dyn Validation, _: &Run) -> Result<(), ModelError> {
        Ok(())
    }

    fn begin(&mut self, step: Step, history: &History<'_>) -> Result<(), ModelError> {
        self.begun.push(step);
        if self.ceiling.replace(history.ceiling()) != Some(history.ceiling()) {
            self.first_asked.get_mut().expect("no test panics").clear();
        }
        Ok(())
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        for (i, query) in queries.iter().enumerate() {
            let directed = query.directed(history.relations());
            let first =
                *self.first_asked.lock().expect("no test panics").entry(directed).or_insert(query.step);
            self.asked.lock().expect("no test panics").push(query.step);
            let mut counts: BTreeMap<EntityId, f64> = BTreeMap::new();
            for event in history.answers(query.known, directed) {
                let told = self.told.get(&(timeless(*query), event.answer)).copied().unwrap_or_default();
                *counts.entry(event.answer).or_default() +=
                    1.0 + 10.0 * f64::from(told) + f64::from((event.step.0 * first.0) % 5);
            }
            let (ids, scores): (Vec<_>, Vec<_>) = counts.into_iter().unzip();
            let background = Constant::unreached(history.entities());
            sink.accept(i, ScoreRow::Sparse { ids: &ids, scores: &scores, background: &background })?;
        }
        Ok(())
    }

    fn observe(&mut self, snapshot: &Snapshot<'_>) -> Result<(), ModelError> {
        self.observed.push(snapshot.step);
        for fact in snapshot.iter() {
            for direction in Direction::BOTH {
                let (query, answer) = Query::hide(fact, direction);
                *self.told.entry((timeless(query), answer)).or_default() += 1;
            }
        }
        Ok(())
    }
}

fn data(seed: u64) -> Dataset {
    world::dataset(&world::quads(seed, SMALL), SMALL)
}

fn protocol(setting: Setting) -> Protocol {
    Protocol { setting, ..Protocol::default() }
}

/// Judges a fresh model with what the journal holds.
fn play(data: &Dataset, setting: Setting, journal: &mut MemoryJournal) -> (Judged, Follower) {
    let mut model = Follower::default();
    let judged = Evaluator::new(data, &protocol(setting)).judge_with(&mut model, &Run::silent(1), journal);
    (judged.expect("a valid model"), model)
}

fn assert_same(one: &Judged, other: &Judged) {
    assert_eq!(one.ranked, other.ranked);
    assert_eq!((one.repeated, one.latest_read), (other.repeated, other.latest_read));
}

proptest! {
    #[test]
    fn any_first_steps_may_be_judged_earlier(
        seed in 0_u64..10_000,
        done in 0_usize..=4,
        setting in prop::sample::select(vec![Setting::SingleStep, Setting::MultiStep]),
    ) {
        let data = data(seed);
        let whole = judge(&data, &protocol(setting), &mut Follower::default(), &Run::silent(1)).unwrap();
        let mut all = MemoryJournal::default();
        assert_same(&play(&data, setting, &mut all).0, &whole);
        prop_assert_eq!(all.steps.len(), 4);

        let mut journal = MemoryJournal::holding(&all.steps[..done]);
        let (resumed, model) = play(&data, setting, &mut journal);
        assert_same(&resumed, &whole);
        prop_assert_eq!(&journal.steps, &all.steps);
        // Earlier steps are not asked again, but the model hears what was true, or is reminded of each relation once.
        let steps = [16, 17, 18, 19].map(Step);
        let again = model.asked.into_inner().unwrap().iter().filter(|step| steps[..done].contains(step)).count();
        if setting == Setting::MultiStep {
            prop_assert!(again <= 2 * SMALL.relations as usize);
            prop_assert!(model.observed.is_empty());
        } else {
            prop_assert_eq!(again, 0);
            prop_assert_eq!(&model.begun[..], &steps[done..]);
            prop_assert_eq!(&model.observed[..], &steps[..]);
        }
    }
}

#[test]
fn steps_of_another_evaluation_are_asked_again() {
    let data = data(1);
    let mut all = MemoryJournal::default();
    let (whole, _) = play(&data, Setting::SingleStep, &mut all);
    let mut shortened = all.steps.clone();
    shortened[1].ranked.pop();
    let mut foreign = all.steps.clone();
    foreign[1].ranked[0].gold.0 += 1;
    let mut skipped = all.steps.clone();
    skipped.remove(1);
    for earlier in [shortened, foreign, skipped] {
        let (resumed, model) = play(&data, Setting::SingleStep, &mut MemoryJournal::holding(&earlier));
        assert_same(&resumed, &whole);
        assert_eq!(model.begun, [17, 18, 19].map(Step));
    }
}

#[test]
fn online_plays_from_the_start() {
    let data = data(1);
    let (whole, _) = play(&data, Setting::Online, &mut MemoryJournal::default());
    let mut single = MemoryJournal::default();
    play(&data, Setting::SingleStep, &mut single);
    let mut journal = MemoryJournal::holding(&single.steps);
    let (resumed, model) = play(&data, Setting::Online, &mut journal);
    assert_same(&resumed, &whole);
    assert_eq!(model.begun.len(), 4);
    assert_eq!(journal.steps, single.steps, "nothing is noted");
}

#[test]
fn a_step_that_cannot_be_noted_stops_the_evaluation() {
    let mut journal = MemoryJournal { room: Some(2), ..MemoryJournal::default() };
    let mut model = Follower::default();
    let data = data(1);
    let evaluator = Evaluator::new(&data, &Protocol::default());
    let judged = evaluator.judge_with(&mut model, &Run::silent(1), &mut journal);
    let error = judged.expect_err("the journal is full");
    assert!(matches!(&error, EvalError::Journal(_)), "{error}");
    assert_eq!(error.to_string(), "no page is left");
    assert_eq!(model.begun.len(), 3);
}
