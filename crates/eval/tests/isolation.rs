//! The evaluator finds models that answer a query with knowledge of the others.

use std::collections::BTreeSet;
use std::sync::Mutex;

use quadcast_core::{
    Capabilities, Dataset, EntityId, Facts, Forecaster, History, Leak, ModelError, Protocol, Query, Run,
    ScoreRow, ScoreSink, Setting, Step, Task, Validation,
};
use quadcast_eval::{Evaluator, Isolation, IsolationVerdict};
use quadcast_testing::world::{Shape, dataset, quads};

/// More questions about a step than a chunk holds.
const SHAPE: Shape = Shape { entities: 400, relations: 4, steps: 40, facts_per_step: 60 };

/// What a scripted model knows besides the query.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Knows {
    /// Nothing.
    Nothing,
    /// Nothing, but its sums depend on how many queries it gets at once, in the last bits.
    Rounds,
    /// Who else is asked about in the same call.
    Chunk,
    /// Who was asked about since the step began.
    Step,
    /// Who was ever asked about.
    Everything,
    /// What it is shown.
    Shown,
}

struct Scripted {
    knows: Knows,
    task: Task,
    remembered: Mutex<BTreeSet<EntityId>>,
    shown: Option<BTreeSet<EntityId>>,
    /// How many queries it was shown, each time.
    showings: Vec<(Leak, usize)>,
}

impl Scripted {
    fn new(knows: Knows, task: Task) -> Self {
        Self { knows, task, remembered: Mutex::default(), shown: None, showings: Vec::new() }
    }

    /// Who is known to be asked about.
    fn asked_about(&self, queries: &[Query]) -> BTreeSet<EntityId> {
        let chunk = queries.iter().map(|query| query.known);
        match self.knows {
            Knows::Nothing | Knows::Rounds => BTreeSet::new(),
            Knows::Chunk => chunk.collect(),
            Knows::Step | Knows::Everything => {
                let mut remembered = self.remembered.lock().expect("no test panics");
                remembered.extend(chunk);
                remembered.clone()
            }
            Knows::Shown => self.shown.clone().unwrap_or_default(),
        }
    }
}

/// A number in [0, 1) that looks random, the same for a query whenever it is asked. Every eighth is tied with others.
fn luck(query: &Query, id: u32) -> f32 {
    let mixed = query.known.0 * 31 + query.relation.0 * 17 + query.step.0 * 7 + id * 101;
    (mixed.wrapping_mul(2_654_435_761) >> 24) as f32 / 256.0
}

impl Forecaster for Scripted {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new(self.task, &[Setting::SingleStep, Setting::MultiStep, Setting::Online])
    }

    fn fit(&mut self, _: &History<'_>, _: &dyn Validation, _: &Run) -> Result<(), ModelError> {
        Ok(())
    }

    fn begin(&mut self, _: Step, _: &History<'_>) -> Result<(), ModelError> {
        self.shown = None;
        if self.knows == Knows::Step {
            self.remembered.get_mut().expect("no test panics").clear();
        }
        Ok(())
    }

    fn shown_queries(&mut self, leak: Leak, queries: &[Query]) {
        self.shown = Some(queries.iter().map(|query| query.known).collect());
        self.showings.push((leak, queries.len()));
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        let asked = self.asked_about(queries);
        for (index, query) in queries.iter().enumerate() {
            let score = |id: u32| {
                let known = if asked.contains(&EntityId(id)) { 0.5 } else { 0.0 };
                let rounding = if self.knows == Knows::Rounds {
                    1e-7 * ((queries.len() as u32 * id) % 5) as f32
                } else {
                    0.0
                };
                luck(query, id) + known + rounding
            };
            let row: Vec<f32> = (0..history.entities() as u32).map(score).collect();
            sink.accept(index, ScoreRow::Dense(&row))?;
        }
        Ok(())
    }
}

fn check(knows: Knows, data: &Dataset, protocol: Protocol) -> (Isolation, Scripted) {
    let (mut model, run) = (Scripted::new(knows, protocol.task), Run::silent(3));
    let evaluator = Evaluator::new(data, &protocol);
    let mut judged = evaluator.judge(&mut model, &run).expect("a valid model");
    assert_eq!(judged.isolation, None);
    let found = evaluator.check_isolation(&mut model, &run, &mut judged).expect("a valid model");
    assert_eq!(judged.isolation, Some(found));
    (found, model)
}

fn world() -> Dataset {
    dataset(&quads(1, SHAPE), SHAPE)
}

/// Facts in turn to train, train, train, valid, test.
fn divided() -> Dataset {
    let mut facts = quads(1, SHAPE);
    facts.sort_unstable();
    facts.dedup();
    let part = |turns: &[usize]| {
        let part = facts.iter().enumerate().filter(|(i, _)| turns.contains(&(i % 5)));
        Facts::new(part.map(|(_, fact)| *fact).collect(), SHAPE.steps as usize)
    };
    let mut data = dataset(&facts, SHAPE);
    (data.splits.train, data.splits.valid, data.splits.test) = (part(&[0, 1, 2]), part(&[3]), part(&[4]));
    data
}

#[test]
fn an_honest_model_is_exact_in_every_setting_and_task() {
    let exact = |questions, steps| Isolation {
        verdict: IsolationVerdict::Exact,
        questions,
        steps,
        largest_difference: 0.0,
    };
    for (setting, expected) in [
        (Setting::SingleStep, exact(64, 4)),
        (Setting::MultiStep, exact(64, 4)),
        (Setting::Online, exact(16, 1)),
    ] {
        assert_eq!(check(Knows::Nothing, &world(), Protocol::forecasting(setting)).0, expected);
    }
    let completion = check(Knows::Nothing, &divided(), Protocol::completion()).0;
    assert_eq!(completion, exact(16, completion.steps));
    assert!(completion.steps > 1, "questions about several steps: {completion:?}");
}

#[test]
fn a_model_that_knows_the_other_queries_is_broken() {
    let forecasting = [Setting::SingleStep, Setting::MultiStep, Setting::Online].map(Protocol::forecasting);
    for knows in [Knows::Chunk, Knows::Step, Knows::Everything] {
        for protocol in forecasting {
            let (found, _) = check(knows, &world(), protocol);
            assert!(found.is_broken(), "{} {found:?}", protocol.headline());
        }
        let (found, _) = check(knows, &divided(), Protocol::completion());
        assert!(found.is_broken(), "completion {found:?}");
    }
    let (found, _) = check(Knows::Chunk, &world(), Protocol::default());
    assert!(found.largest_difference > 0.1, "{found:?}");
}

#[test]
fn other_sums_in_the_last_bits_are_rounding() {
    // Scores are multiples of 1/256, so that many candidates are nearly tied and ranks move among them.
    let (found, _) = check(Knows::Rounds, &world(), Protocol::default());
    assert_eq!(found.verdict, IsolationVerdict::Rounding, "{found:?}");
    assert!(found.largest_difference > 0.0 && found.largest_difference <= 1e-5, "{found:?}");
}

#[test]
fn the_sample_follows_from_the_seed() {
    let once = || check(Knows::Chunk, &world(), Protocol::default()).0;
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
        pool.install(once)
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn queries_are_shown_to_demonstrate_the_leak_and_never_else() {
    let (found, model) = check(Knows::Shown, &world(), Protocol::default());
    assert_eq!(found.verdict, IsolationVerdict::Exact);
    assert!(model.showings.is_empty());
    let leak = Leak::BothDirections;
    let (found, model) = check(Knows::Shown, &world(), Protocol { leak: Some(leak), ..Protocol::default() });
    assert!(found.is_broken(), "{found:?}");
    let asked =
        |step: Step| quadcast_eval::queries(&world().splits.test).iter().filter(|q| q.step == step).count();
    let steps = world().splits.test.occupied().collect::<Vec<_>>();
    let expected: Vec<(Leak, usize)> = steps.iter().map(|&step| (leak, asked(step))).collect();
    assert_eq!(model.showings[..steps.len()], expected, "the questions of every step, both directions");
    assert!(
        model.showings[steps.len()..].iter().all(|(_, count)| *count <= 16 + 48),
        "then those of each call"
    );
}
