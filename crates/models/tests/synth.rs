//! Models on worlds whose best possible score is known.

use quadcast_analysis::{SynthWorld, WorldName, synth};
use quadcast_core::{
    Dataset, DirectedRelation, Direction, Filter, Forecaster, Protocol, Quad, RelationId, Run, Setting,
};
use quadcast_eval::{FilterOutcome, Outcome, fit, judge};
use quadcast_models::find;

const SEED: u64 = 1;

/// Builds a model with its default configuration.
fn build(name: &str) -> Box<dyn Forecaster> {
    let entry = find(name).expect("the model is registered");
    entry.forecaster(&(entry.defaults)()).expect("valid defaults")
}

/// The time-aware result of a model.
fn result(dataset: &Dataset, model: &mut dyn Forecaster, setting: Setting) -> FilterOutcome {
    let protocol = Protocol { setting, ..Protocol::default() };
    let run = Run::silent(SEED);
    fit(dataset, &protocol, model, &run).expect("a model that fits");
    let judged = judge(dataset, &protocol, model, &run).expect("a fitted model");
    let outcome = Outcome::new(&judged.ranked, dataset.entities(), &protocol, SEED).expect("test facts");
    outcome.filter(Filter::Time).clone()
}

/// The results of the oracle and of the recurrency baseline.
fn best_and_baseline(name: WorldName, setting: Setting) -> (FilterOutcome, FilterOutcome) {
    let world: SynthWorld = synth(name, SEED);
    let dataset = world.dataset().expect("facts to forecast");
    let mut baseline = build("recurrency");
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

/// The world has two rules: (X writes to Y) and (Y vouches for Z) on one day are followed by (X trusts Z) on the next in
/// 90 of 100 cases, and (X asks Y) by (Y answers X) in 80.
#[test]
fn rules_of_a_world_are_found_with_their_confidence() {
    let world: SynthWorld = synth(WorldName::ChainsOnly, SEED);
    let dataset = world.dataset().expect("facts to forecast");
    let mut model = build("tlogic");
    fit(dataset, &Protocol::default(), model.as_mut(), &Run::silent(SEED)).expect("a model that fits");
    let rules = model.save().expect("a fitted model").rules.expect("it learns rules");
    let directed = |name: &str, direction| {
        let id = dataset.vocabulary.relations.find(name).expect("a relation of the world");
        DirectedRelation::new(RelationId(id), direction, dataset.relations())
    };
    let (ahead, back) = (Direction::Object, Direction::Subject);
    // Both ways of asking: who answers X, and whom does Y answer.
    for (one, other) in [(ahead, back), (back, ahead)] {
        let (head, body) = (directed("answers", one), [directed("asks", other)]);
        let found =
            rules.iter().find(|rule| rule.head == head && rule.body == body).expect("the rule is found");
        // 500 samples of a share near 0.8 have a standard error of 0.02; chance repeats add a little.
        assert!((found.confidence - 0.8).abs() < 0.06, "{found:?}");
        // Longer bodies that hold the same fact twice come close or above by chance; one fact alone has no rival.
        let single = rules.iter().filter(|rule| rule.head == head && rule.body.len() == 1);
        let best = single.map(|rule| rule.confidence).fold(0.0, f64::max);
        assert_eq!(best, found.confidence, "no other single fact says more");
    }
    // The body of a chain need not be of one day, so its confidence is less than that of the process. The truth is
    // counted: all pairs of facts that fit, and how many of them a head follows.
    let facts: Vec<Quad> = dataset.splits.train.iter().collect();
    let of = |name: &str| {
        let id = dataset.vocabulary.relations.find(name).expect("a relation of the world");
        facts.iter().filter(move |fact| fact.relation.0 == id)
    };
    // Bodies are drawn fact by fact: each first fact weighs the same, however many second facts there are.
    let (mut weight, mut followed) = (0.0, 0.0);
    for first in of("writes to") {
        let seconds: Vec<&Quad> = of("vouches for")
            .filter(|second| second.subject == first.object && second.step >= first.step)
            .collect();
        for second in &seconds {
            let head = of("trusts").any(|head| {
                (head.subject, head.object) == (first.subject, second.object) && head.step > second.step
            });
            weight += 1.0 / seconds.len() as f64;
            followed += f64::from(u8::from(head)) / seconds.len() as f64;
        }
    }
    let truth = followed / weight;
    let (head, body) =
        (directed("trusts", ahead), ["writes to", "vouches for"].map(|name| directed(name, ahead)));
    let found = rules
        .iter()
        .find(|rule| rule.head == head && rule.body == body && rule.constraints.is_empty())
        .expect("the chain is found");
    // Three standard errors of 500 samples, and room for sampled bodies that coincide.
    let error = 3.0 * (truth * (1.0 - truth) / 500.0_f64).sqrt() + 0.01;
    assert!((found.confidence - truth).abs() < error, "{found:?} against {truth}");
}

#[test]
fn tlogic_reaches_the_best_score_where_facts_follow_rules() {
    for seed in 1..=5 {
        let world: SynthWorld = synth(WorldName::ChainsOnly, seed);
        let dataset = world.dataset().expect("facts to forecast");
        let best = result(dataset, &mut world.oracle().expect("facts to forecast"), Setting::SingleStep);
        let found = result(dataset, build("tlogic").as_mut(), Setting::SingleStep);
        let baseline = result(dataset, build("recurrency").as_mut(), Setting::SingleStep);
        let ([low, high], mrr) = (best.ci95.expect("many steps").mrr, found.metrics.mrr);
        println!("seed {seed}: {mrr:.4} in {low:.4} to {high:.4}, baseline {:.4}", baseline.metrics.mrr);
        assert!(low <= mrr && mrr <= high, "seed {seed}: {mrr} lies outside of {low} to {high}");
        assert!(baseline.metrics.mrr < low, "the world is not one of repetition");
    }
}

/// After one epoch: `docs/models/herald.md` has the figures of a whole training, also for the other worlds.
#[test]
fn herald_comes_near_the_best_score_and_beats_rules_and_recurrence() {
    let entry = find("herald").expect("the model is registered");
    let mut config = (entry.defaults)();
    config.insert("epochs".to_owned(), 1.into());
    for (name, share) in [(WorldName::RulesOnly, 0.97), (WorldName::Village, 0.88)] {
        let (best, baseline) = best_and_baseline(name, Setting::SingleStep);
        let world = synth(name, SEED);
        let dataset = world.dataset().expect("facts to forecast");
        let of = |model: &mut dyn Forecaster| result(dataset, model, Setting::SingleStep).metrics.mrr;
        let herald = of(entry.forecaster(&config).expect("valid settings").as_mut());
        let tlogic = of(build("tlogic").as_mut());
        println!("{name}: herald {herald:.4}, tlogic {tlogic:.4}, best {:.4}", best.metrics.mrr);
        assert!(herald > tlogic && herald > baseline.metrics.mrr, "{name}: {herald} {tlogic}");
        assert!(herald > share * best.metrics.mrr, "{name}: {herald} of {}", best.metrics.mrr);
        assert!(herald < best.metrics.mrr + 0.01, "{name}: nobody is better than the best");
    }
}
