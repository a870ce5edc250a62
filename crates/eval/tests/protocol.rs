//! What the evaluator promises, shown with models made for the purpose.

use proptest::prelude::*;
use quadcast_core::{
    Capabilities, Constant, Dataset, Duplicates, EntityId, Filter, Forecaster, History, LeakError,
    ModelError, Protocol, Query, Run, ScoreError, ScoreRow, ScoreSink, Setting, Snapshot, Step, Task,
    Validation, ValidationUse,
};
use quadcast_eval::{EvalError, Harmonic, Judged, Outcome, Rank, fit, judge};
use quadcast_testing::world::{self, SMALL, Shape};

type Accept<'a> = &'a mut dyn FnMut(ScoreRow<'_>) -> Result<(), ScoreError>;

/// Scores one query; it may look at the history.
type Score<'a> = &'a (dyn Fn(&History<'_>, &Query, Accept<'_>) -> Result<(), ModelError> + Sync);

/// A model made of one scoring function.
struct Probe<'a> {
    score: Score<'a>,
    observed: Vec<Step>,
    ceilings: Vec<(Step, Step)>,
}

impl<'a> Probe<'a> {
    fn new(score: Score<'a>) -> Self {
        Self { score, observed: Vec::new(), ceilings: Vec::new() }
    }
}

impl Forecaster for Probe<'_> {
    fn capabilities(&self) -> Capabilities {
        let settings = &[Setting::SingleStep, Setting::MultiStep];
        Capabilities { inductive: true, ..Capabilities::new(Task::Forecasting, settings) }
    }

    fn fit(&mut self, _: &History<'_>, _: &dyn Validation, _: &Run) -> Result<(), ModelError> {
        Ok(())
    }

    fn begin(&mut self, step: Step, history: &History<'_>) -> Result<(), ModelError> {
        self.ceilings.push((step, history.ceiling()));
        Ok(())
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        for (i, query) in queries.iter().enumerate() {
            (self.score)(history, query, &mut |row| sink.accept(i, row))?;
        }
        Ok(())
    }

    fn observe(&mut self, snapshot: &Snapshot<'_>) -> Result<(), ModelError> {
        self.observed.push(snapshot.step);
        Ok(())
    }
}

/// Everyone scores the same.
fn constant(history: &History<'_>, _: &Query, accept: Accept<'_>) -> Result<(), ModelError> {
    Ok(accept(ScoreRow::Dense(&vec![0.5; history.entities()]))?)
}

/// Past answers score by how often they were given; everyone else is unreached.
fn counting(history: &History<'_>, query: &Query, accept: Accept<'_>) -> Result<(), ModelError> {
    let mut counts = std::collections::BTreeMap::new();
    for event in history.answers(query.known, query.directed(history.relations())) {
        *counts.entry(event.answer).or_insert(0.0) += 1.0;
    }
    let ids: Vec<EntityId> = counts.keys().copied().collect();
    let scores: Vec<f64> = counts.values().copied().collect();
    let background = Constant::unreached(history.entities());
    Ok(accept(ScoreRow::Sparse { ids: &ids, scores: &scores, background: &background })?)
}

fn play(data: &Dataset, protocol: &Protocol, score: Score<'_>) -> Result<Judged, EvalError> {
    judge(data, protocol, &mut Probe::new(score), &Run::silent(1))
}

fn outcome(data: &Dataset, judged: &Judged) -> Outcome {
    Outcome::new(&judged.ranked, data.entities(), &Protocol::default(), 1).expect("there are queries")
}

fn protocol(setting: Setting) -> Protocol {
    Protocol { setting, ..Protocol::default() }
}

#[test]
fn the_constant_scorer_gets_the_analytic_mean() {
    let data = world::dataset(&world::quads(1, SMALL), SMALL);
    let judged = play(&data, &Protocol::default(), &constant).expect("a valid model");
    let raw = outcome(&data, &judged).filter(Filter::Raw).clone();
    let harmonic: f64 = (1..=SMALL.entities).map(|k| 1.0 / f64::from(k)).sum();
    assert!((raw.metrics.mrr - harmonic / f64::from(SMALL.entities)).abs() < 1e-12);
    assert!((raw.metrics.hits3 - 3.0 / f64::from(SMALL.entities)).abs() < 1e-12);
    assert_eq!(raw.policy["optimistic"].mrr, 1.0);
    assert_eq!(raw.ties, 1.0);
}

#[test]
fn a_model_that_reads_the_future_fails_loudly() {
    let data = world::dataset(&world::quads(1, SMALL), SMALL);
    let probe = |history: &History<'_>, query: &Query, accept: Accept<'_>| {
        history.snapshot(query.step)?;
        constant(history, query, accept)
    };
    for setting in [Setting::SingleStep, Setting::MultiStep] {
        let error = play(&data, &protocol(setting), &probe).expect_err("a leak");
        let EvalError::Model(ModelError::Leak(LeakError { asked, ceiling })) = error else {
            panic!("expected a leak error, got {error}");
        };
        assert_eq!(asked, Step(16));
        assert_eq!(ceiling, Step(16));
    }
}

#[test]
fn settings_decide_what_is_seen() {
    let data = world::dataset(&world::quads(1, SMALL), SMALL);
    let run = Run::silent(1);
    let ceilings = |setting| {
        let mut probe = Probe::new(&counting);
        let judged = judge(&data, &protocol(setting), &mut probe, &run).expect("a valid model");
        (probe.ceilings, probe.observed, judged.latest_read)
    };
    let steps = [16, 17, 18, 19].map(Step);
    let (single, observed, latest) = ceilings(Setting::SingleStep);
    assert_eq!(single, steps.map(|step| (step, step)));
    assert_eq!(observed, steps);
    assert_eq!(latest, Some(Step(18)));
    let (multi, observed, latest) = ceilings(Setting::MultiStep);
    assert_eq!(multi, steps.map(|step| (step, Step(16))));
    assert!(observed.is_empty());
    assert_eq!(latest, Some(Step(15)));
}

#[test]
fn withheld_validation_facts_are_not_there() {
    let data = world::dataset(&world::quads(1, SMALL), SMALL);
    let withheld = Protocol { validation: ValidationUse::Withheld, ..protocol(Setting::MultiStep) };
    let probe = |history: &History<'_>, query: &Query, accept: Accept<'_>| {
        assert!(history.snapshots_from(Step(12)).all(|snapshot| snapshot.is_empty()));
        counting(history, query, accept)
    };
    let judged = play(&data, &withheld, &probe).expect("a valid model");
    let mut only_train = data.clone();
    only_train.splits.valid = quadcast_core::Facts::new(vec![quadcast_core::Quad::new(0, 0, 0, 12)], 20);
    // The filters still know the validation facts, so only ranks that no filter touches are compared.
    let reference = play(&only_train, &withheld, &counting).expect("a valid model");
    let raw = |judged: &Judged| judged.ranked.iter().map(|q| q.ranks.raw).collect::<Vec<Rank>>();
    assert_eq!(raw(&judged), raw(&reference));
}

#[test]
fn wrong_rows_are_errors_that_say_why() {
    let data = world::dataset(&world::quads(1, SMALL), SMALL);
    let silent = |_: &History<'_>, _: &Query, _: Accept<'_>| Ok(());
    let error = play(&data, &Protocol::default(), &silent).expect_err("no rows");
    assert!(error.to_string().contains("got no scores"), "{error}");
    let short = |_: &History<'_>, _: &Query, accept: Accept<'_>| Ok(accept(ScoreRow::Dense(&[1.0]))?);
    let error = play(&data, &Protocol::default(), &short).expect_err("a short row");
    assert!(error.to_string().contains("holds 1 scores, expected one per entity (12)"), "{error}");
    let twice = |history: &History<'_>, query: &Query, accept: Accept<'_>| {
        constant(history, query, accept)?;
        constant(history, query, accept)
    };
    let error = play(&data, &Protocol::default(), &twice).expect_err("two rows");
    assert!(error.to_string().contains("answered already"), "{error}");
}

#[test]
fn overlapping_splits_and_unknown_settings_are_refused() {
    let mut data = world::dataset(&world::quads(1, SMALL), SMALL);
    let mut probe = Probe::new(&constant);
    let run = Run::silent(1);
    let error = fit(&data, &protocol(Setting::Online), &mut probe, &run).expect_err("unknown setting");
    assert!(
        error.to_string().contains("does not support online; it supports single-step, multi-step"),
        "{error}"
    );
    std::mem::swap(&mut data.splits.train, &mut data.splits.test);
    let error = fit(&data, &Protocol::default(), &mut probe, &run).expect_err("test before train");
    assert!(error.to_string().contains("valid starts at 12, before train ends at 19"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_larger_filter_never_makes_a_rank_worse(seed in 0_u64..10_000) {
        let data = world::dataset(&world::quads(seed, SMALL), SMALL);
        let harmonic = Harmonic::up_to(data.entities());
        for query in play(&data, &Protocol::default(), &counting).unwrap().ranked {
            let value = |filter| harmonic.expected_reciprocal(query.rank(filter));
            prop_assert!(value(Filter::Raw) <= value(Filter::Time) + 1e-12);
            prop_assert!(value(Filter::Time) <= value(Filter::Static) + 1e-12);
            prop_assert!(query.ranks.fixed.tied >= 1, "the gold answer always stays");
        }
    }

    #[test]
    fn parts_add_up(seed in 0_u64..10_000) {
        let data = world::dataset(&world::quads(seed, SMALL), SMALL);
        let outcome = outcome(&data, &play(&data, &Protocol::default(), &counting).unwrap());
        let time = outcome.filter(Filter::Time);
        let weighted = |parts: Vec<(u64, f64)>| {
            let queries: u64 = parts.iter().map(|p| p.0).sum();
            assert_eq!(queries, time.queries);
            parts.iter().map(|&(n, mrr)| n as f64 * mrr).sum::<f64>() / queries as f64
        };
        let steps = outcome.by_step.values().map(|part| (part.queries, part.metrics.mrr)).collect();
        let relations = outcome.by_relation.values().map(|part| (part.queries, part.metrics.mrr)).collect();
        let pair = |a: Option<quadcast_eval::Part>, b: Option<quadcast_eval::Part>| {
            [a, b].into_iter().flatten().map(|p| (p.queries, p.metrics.mrr)).collect()
        };
        for parts in [steps, relations, pair(time.object, time.subject), pair(time.seen, time.unseen)] {
            prop_assert!((weighted(parts) - time.metrics.mrr).abs() < 1e-12);
        }
        prop_assert_eq!(time.object.unwrap().queries, time.subject.unwrap().queries);
    }

    #[test]
    fn repeating_every_test_fact_changes_nothing(seed in 0_u64..10_000) {
        let quads = world::quads(seed, SMALL);
        let repeated: Vec<_> = quads.iter().copied().chain(quads.iter().copied().filter(|q| q.step.0 >= 16)).collect();
        let (data, doubled) = (world::dataset(&quads, SMALL), world::dataset(&repeated, SMALL));
        // Multi-step, so that the repeated facts are asked about but are never history.
        let once = play(&data, &protocol(Setting::MultiStep), &counting).unwrap();
        let twice = play(&doubled, &protocol(Setting::MultiStep), &counting).unwrap();
        prop_assert_eq!(&once.ranked, &twice.ranked);
        let keep = Protocol { duplicates: Duplicates::Keep, ..protocol(Setting::MultiStep) };
        prop_assert_eq!(play(&doubled, &keep, &counting).unwrap().ranked.len(), 2 * doubled.splits.test.len());
    }

    #[test]
    fn one_more_entity_only_touches_unreached_golds(seed in 0_u64..10_000) {
        let quads = world::quads(seed, SMALL);
        let larger = Shape { entities: SMALL.entities + 1, ..SMALL };
        let before = play(&world::dataset(&quads, SMALL), &Protocol::default(), &counting).unwrap();
        let after = play(&world::dataset(&quads, larger), &Protocol::default(), &counting).unwrap();
        for (old, new) in before.ranked.iter().zip(&after.ranked) {
            for filter in Filter::ALL {
                let (old_rank, new_rank) = (old.rank(filter), new.rank(filter));
                let grown = u32::from(!old.ranks.reached);
                prop_assert_eq!(Rank { tied: old_rank.tied + grown, ..old_rank }, new_rank);
            }
        }
    }
}
