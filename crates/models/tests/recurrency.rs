//! The recurrency baseline on paper-sized worlds.

use quadcast_core::{
    Calendar, DirectedRelation, Direction, EntityId, Facts, Forecaster, HistoryIndex, Quad, Query,
    RelationId, Run, Step, TimeAxis,
};
use quadcast_models::forecast::recurrency::{Config, Normaliser, Recurrency, Tuned, Variant};
use quadcast_testing::{Collected, Indifferent};

/// Facts (0, r, o) for relation 0: 1 at steps 0, 1, 2; 2 at step 5; 3 at step 4; and (4, r, 3) at step 1.
fn index() -> HistoryIndex {
    let facts = [(0, 1, 0), (0, 1, 1), (0, 1, 2), (0, 2, 5), (0, 3, 4), (4, 3, 1), (0, 5, 9)];
    let quads = facts.map(|(s, o, t)| Quad::new(s, 0, o, t)).to_vec();
    let axis = TimeAxis::new((0..10).collect(), Calendar::UNKNOWN);
    HistoryIndex::new(&axis, 6, 1, &[&Facts::new(quads, 10)])
}

const QUERY: Query =
    Query { step: Step(6), known: EntityId(0), relation: RelationId(0), direction: Direction::Object };

fn fitted(config: Config, index: &HistoryIndex) -> Recurrency {
    let mut model = Recurrency::new(config).expect("a valid configuration");
    let history = index.before(Step(6));
    model.fit(&history, &Indifferent, &Run::silent(1)).expect("a model that fits");
    model.begin(Step(6), &history).expect("a fitted model");
    model
}

fn scores(config: Config) -> Vec<(u32, f64)> {
    let index = index();
    let model = fitted(config, &index);
    let mut sink = Collected::new(6).sparse();
    model.score(&index.before(Step(6)), &[QUERY], &mut sink).expect("a fitted model");
    (0..).zip(sink.row(0).iter().copied()).collect()
}

fn strict(lambda: f64) -> Config {
    Config { variant: Variant::Strict, lambda: Tuned::Fixed(lambda), ..Config::default() }
}

/// Answers by score, best first; those never given are left out.
fn order(scores: &[(u32, f64)]) -> Vec<u32> {
    let mut given: Vec<(u32, f64)> =
        scores.iter().copied().filter(|(_, score)| *score > f64::NEG_INFINITY).collect();
    given.sort_by(|a, b| b.1.total_cmp(&a.1));
    given.into_iter().map(|(id, _)| id).collect()
}

#[test]
fn without_decay_answers_are_counted() {
    let scores = scores(strict(0.0));
    assert_eq!(scores[1].1, 3.0);
    assert_eq!((scores[2].1, scores[3].1), (1.0, 1.0));
    assert_eq!(scores[5].1, f64::NEG_INFINITY, "the fact of step 9 is not known yet");
}

#[test]
fn steep_decay_orders_by_the_latest_time() {
    assert_eq!(order(&scores(strict(1.0001))), [2, 3, 1]);
}

#[test]
fn facts_too_old_for_a_float_still_rank_above_facts_that_never_were() {
    // With λ = 1000 all but the newest answer decay to zero.
    assert_eq!(order(&scores(strict(1000.0))).len(), 3);
}

#[test]
fn popularity_is_the_share_among_all_subjects() {
    let scores = scores(Config { variant: Variant::Relaxed, ..Config::default() });
    // Six facts before step 6: object 1 three times, 3 twice, 2 once.
    let expected = [0.0, 3.0 / 6.0, 1.0 / 6.0, 2.0 / 6.0, 0.0, 0.0];
    assert_eq!(scores.iter().map(|s| s.1).collect::<Vec<_>>(), expected);
}

#[test]
fn the_combination_on_paper() {
    let config = |normaliser| Config {
        lambda: Tuned::Fixed(1.0),
        alpha: Tuned::Fixed(0.5),
        normaliser,
        ..Config::default()
    };
    // At t = 6: ψ(2) = 2^-1 / Z. The relation occurs from step 0 to step 5; the code's Z runs over k = 0..4, the
    // formula's over k = 0..5.
    let z = |last: i32| (0..=last).map(|k| 2_f64.powi(k - 6)).sum::<f64>();
    for (normaliser, last) in [(Normaliser::Code, 4), (Normaliser::Formula, 5)] {
        let scores = scores(config(normaliser));
        let expected = 0.5 * 0.5 / z(last) + 0.5 * (1.0 / 6.0);
        assert!((scores[2].1 - expected).abs() < 1e-12);
        assert_eq!(scores[4].1, 0.0);
    }
}

#[test]
fn the_explanation_names_facts_dates_and_weights() {
    let config = Config { lambda: Tuned::Fixed(1.0), alpha: Tuned::Fixed(0.5), ..Config::default() };
    let index = index();
    let model = fitted(config, &index);
    let reason = model.explain(&index.before(Step(6)), &QUERY, EntityId(1));
    let reason = reason.expect("a fitted model").expect("a reason");
    let steps: Vec<u32> = reason.evidence.iter().map(|e| e.fact.step.0).collect();
    assert_eq!(steps, [2, 1, 0], "the latest fact weighs most and comes first");
    assert_eq!(reason.evidence[0].weight, 2.0 * reason.evidence[1].weight);
    assert_eq!(reason.details["times"], serde_json::json!(["2", "1", "0"]));
    assert_eq!(reason.details["rel_object_count"], 3);
    assert_eq!(reason.details["rel_total"], 6);
}

#[test]
fn every_variant_explains_the_score_that_it_ranks_by() {
    let index = index();
    for variant in [Variant::Strict, Variant::Relaxed, Variant::Combined] {
        let (lambda, alpha) = (Tuned::Fixed(0.5), Tuned::Fixed(0.25));
        let config = Config { variant, lambda, alpha, ..Config::default() };
        let model = fitted(config.clone(), &index);
        for (answer, score) in scores(config) {
            let reason = model.explain(&index.before(Step(6)), &QUERY, EntityId(answer));
            let reason = reason.expect("a fitted model").expect("a reason");
            let close = (reason.score - score).abs() <= 1e-12 || reason.score == score;
            assert!(close, "{variant:?} {answer}: {} {score}", reason.score);
        }
    }
}

#[test]
fn directions_are_kept_apart() {
    let index = index();
    let inverse = DirectedRelation::new(RelationId(0), Direction::Subject, 1);
    let known = index.before(Step(6));
    assert_eq!(known.answers(EntityId(3), inverse).len(), 2);
    assert!(Recurrency::new(Config { alpha: Tuned::Fixed(2.0), ..Config::default() }).is_err());
}
