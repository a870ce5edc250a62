//! What the evaluator promises to completion models.

use std::collections::BTreeSet;
use std::sync::Mutex;

use quadcast_core::{
    Capabilities, Dataset, Duplicates, EntityId, Facts, Forecaster, History, ModelError, Protocol, Quad,
    Query, Run, ScoreRow, ScoreSink, Split, Step, Task, Validation, ValidationUse,
};
use quadcast_eval::{EvalError, RankedQuery, fit, judge};
use quadcast_testing::world::{SMALL, dataset, quads};

/// Scores by id, the smallest best, and notes what it was shown.
#[derive(Default)]
struct Notes {
    learned_from: Vec<Quad>,
    asked_with: Mutex<BTreeSet<Vec<Quad>>>,
    validation: f64,
}

fn facts(known: &History<'_>) -> Vec<Quad> {
    known.snapshots_from(Step(0)).flatten().collect()
}

impl Forecaster for Notes {
    fn capabilities(&self) -> Capabilities {
        Capabilities::new(Task::Completion, &[])
    }

    fn fit(&mut self, known: &History<'_>, validation: &dyn Validation, _: &Run) -> Result<(), ModelError> {
        self.learned_from = facts(known);
        self.validation = validation.play(&mut Self::default())?.all.mrr;
        Ok(())
    }

    fn score(
        &self,
        known: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        self.asked_with.lock().expect("no panic").insert(facts(known));
        let scores: Vec<f32> = (0..known.entities()).map(|entity| -(entity as f32)).collect();
        (0..queries.len()).try_for_each(|index| sink.accept(index, ScoreRow::Dense(&scores)))?;
        Ok(())
    }
}

/// Facts in turn to train, train, train, valid, test; each once.
fn divided() -> Dataset {
    let mut facts = quads(1, SMALL);
    facts.sort_unstable();
    facts.dedup();
    let part = |turns: &[usize]| {
        let part = facts.iter().enumerate().filter(|(i, _)| turns.contains(&(i % 5)));
        Facts::new(part.map(|(_, fact)| *fact).collect(), SMALL.steps as usize)
    };
    let mut data = dataset(&facts, SMALL);
    (data.splits.train, data.splits.valid, data.splits.test) = (part(&[0, 1, 2]), part(&[3]), part(&[4]));
    data
}

fn completion() -> Protocol {
    Protocol::completion()
}

fn all(data: &Dataset, splits: &[Split]) -> Vec<Quad> {
    let mut facts: Vec<Quad> = splits.iter().flat_map(|&split| data.splits.get(split).iter()).collect();
    facts.sort_unstable();
    facts
}

#[test]
fn a_model_knows_the_training_facts_of_all_times_and_no_others() {
    let data = divided();
    let run = Run::silent(1);
    for (validation, known) in [
        (ValidationUse::Withheld, &[Split::Train][..]),
        (ValidationUse::Observed, &[Split::Train, Split::Valid]),
    ] {
        let protocol = Protocol { validation, ..completion() };
        let mut model = Notes::default();
        fit(&data, &protocol, &mut model, &run).expect("a model that fits");
        judge(&data, &protocol, &mut model, &run).expect("a model that scores");
        assert_eq!(model.learned_from, all(&data, &[Split::Train]));
        let shown = model.asked_with.into_inner().expect("no panic");
        assert_eq!(shown, BTreeSet::from([all(&data, known)]));
    }
}

/// The rank of every question by hand: smaller ids that are not true at the time, plus one.
fn by_hand(data: &Dataset, query: &Query, gold: EntityId) -> u32 {
    let truth = all(data, &Split::ALL);
    let better =
        (0..gold.0).filter(|&id| truth.binary_search(&query.fact(EntityId(id), query.step)).is_err());
    better.count() as u32 + 1
}

#[test]
fn filters_know_all_splits_and_every_fact_is_asked_from_both_sides() {
    let data = divided();
    let run = Run::silent(1);
    let mut model = Notes::default();
    fit(&data, &completion(), &mut model, &run).expect("a model that fits");
    let judged = judge(&data, &completion(), &mut model, &run).expect("a model that scores");
    assert_eq!((judged.ranked.len(), judged.repeated), (2 * data.splits.test.len(), 0));
    let key = |q: &RankedQuery| (q.query, q.gold);
    assert!(judged.ranked.windows(2).all(|pair| key(&pair[0]) < key(&pair[1])), "in order, each once");
    let train = all(&data, &[Split::Train]);
    for RankedQuery { query, gold, ranks, seen } in judged.ranked {
        assert_eq!(ranks.time.greater + 1, by_hand(&data, &query, gold));
        let fact = query.fact(gold, query.step);
        assert_eq!(seen, train.iter().any(|known| known.triple() == fact.triple()));
    }
    // The validation facts are judged in the same way.
    let valid = data.splits.valid.iter().flat_map(|fact| {
        quadcast_core::Direction::BOTH.map(|direction| {
            let (query, gold) = Query::hide(fact, direction);
            1.0 / f64::from(by_hand(&data, &query, gold))
        })
    });
    let mrr = valid.sum::<f64>() / (2 * data.splits.valid.len()) as f64;
    assert!((model.validation - mrr).abs() < 1e-12, "{} {mrr}", model.validation);
}

#[test]
fn a_fact_that_stands_twice_is_asked_once_or_twice() {
    let mut data = divided();
    let twice = data.splits.test.iter().flat_map(|fact| [fact, fact]).collect();
    data.splits.test = Facts::new(twice, SMALL.steps as usize);
    let judged = |duplicates| {
        let protocol = Protocol { duplicates, ..completion() };
        judge(&data, &protocol, &mut Notes::default(), &Run::silent(1)).expect("a model that scores")
    };
    let count = data.splits.test.len();
    assert_eq!(judged(Duplicates::Drop).ranked.len(), count);
    assert_eq!(judged(Duplicates::Drop).repeated, count);
    assert_eq!(judged(Duplicates::Keep).ranked.len(), 2 * count);
}

#[test]
fn a_completer_is_not_a_forecaster_and_no_split_may_be_empty() {
    let mut data = divided();
    let run = Run::silent(1);
    let mut model = Notes::default();
    let refused = judge(&data, &Protocol::default(), &mut model, &run).expect_err("it knows no clock");
    assert!(
        matches!(refused, EvalError::Task { task: Task::Forecasting, own: Task::Completion }),
        "{refused}"
    );
    data.splits.valid = Facts::new(Vec::new(), SMALL.steps as usize);
    let refused = fit(&data, &completion(), &mut model, &run).expect_err("nothing to choose on");
    assert!(matches!(refused, EvalError::Empty(Split::Valid)), "{refused}");
}
