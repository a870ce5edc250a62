//! Models on worlds whose best possible score is known.

use quadcast_core::{Dataset, Filter, Forecaster, Protocol, Run, Setting};
use quadcast_data::{SynthWorld, WorldName, synth};
use quadcast_eval::{FilterOutcome, Outcome, fit, judge};
use quadcast_models::find;

const SEED: u64 = 1;

/// The time-aware result of a model.
fn result(dataset: &Dataset, model: &mut dyn Forecaster, setting: Setting) -> FilterOutcome {
    let protocol = Protocol { setting, ..Protocol::default() };
    let run = Run::silent(SEED);
    fit(dataset, &protocol, model, &run).expect("a model that fits");
    let judged = judge(dataset, &protocol, model, &run).expect("a fitted model");
    let outcome = Outcome::new(&judged.ranked, dataset.entities(), protocol.ties, SEED).expect("test facts");
    outcome.filter(Filter::Time).clone()
}

/// The results of the oracle and of the recurrency baseline.
fn best_and_baseline(name: WorldName, setting: Setting) -> (FilterOutcome, FilterOutcome) {
    let world: SynthWorld = synth(name, SEED);
    let dataset = world.dataset().expect("facts to forecast");
    let entry = find("recurrency").expect("the baseline is registered");
    let mut baseline = (entry.build)(&(entry.defaults)()).expect("valid defaults");
    let mut oracle = world.oracle().expect("facts to forecast");
    (result(dataset, &mut oracle, setting), result(dataset, baseline.as_mut(), setting))
}

#[test]
fn the_baseline_reaches_the_best_score_where_facts_only_recur() {
    let (best, baseline) = best_and_baseline(WorldName::RecurrenceOnly, Setting::SingleStep);
    let [low, high] = best.ci95.expect("many steps").mrr;
    let mrr = baseline.metrics.mrr;
    assert!(low <= mrr && mrr <= high, "{mrr} lies outside of {low} to {high}");
    assert!(mrr <= best.metrics.mrr + 0.01, "{mrr} is above the best, {}", best.metrics.mrr);
}

#[test]
fn the_baseline_misses_the_best_score_where_facts_follow_rules() {
    let (best, baseline) = best_and_baseline(WorldName::RulesOnly, Setting::SingleStep);
    let [low, _] = best.ci95.expect("many steps").mrr;
    let mrr = baseline.metrics.mrr;
    assert!(2.0 * mrr < low, "{mrr} is not far below {low}");
}

#[test]
fn nobody_beats_the_oracle_several_steps_ahead() {
    for name in [WorldName::Village, WorldName::RecurrenceOnly] {
        let (best, baseline) = best_and_baseline(name, Setting::MultiStep);
        assert!(baseline.metrics.mrr <= best.metrics.mrr + 0.01, "{name}: {best:?} {baseline:?}");
    }
}

#[test]
fn the_village_leaves_room_above_the_baseline() {
    let (best, baseline) = best_and_baseline(WorldName::Village, Setting::SingleStep);
    let [low, _] = best.ci95.expect("many steps").mrr;
    assert!(baseline.metrics.mrr < low, "{} {low}", baseline.metrics.mrr);
}
