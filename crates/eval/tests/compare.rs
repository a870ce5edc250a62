//! Paired comparison: p-values say what they promise, differences that are there are found.

use quadcast_core::{Direction, EntityId, Protocol, Query, RelationId, Step, TiePolicy, stream};
use quadcast_eval::{ByMetric, Comparison, Difference, EvalError, Outcome, Rank, RankedQuery, Ranks};
use rand::Rng;

const ENTITIES: usize = 100;
const STEPS: u32 = 42;
const QUERIES_PER_STEP: u32 = 12;

fn protocol(ties: TiePolicy) -> Protocol {
    Protocol { ties, ..Protocol::default() }
}

/// The ranks of a model that guesses: some questions and some days are harder than others, for every seed alike.
/// A model with `skill` ranks the gold answer that much better.
fn guesses(world: u64, seed: u64, skill: f64) -> Vec<RankedQuery> {
    let mut difficulty = stream(world, "difficulty", 0);
    let mut luck = stream(world, "luck", seed);
    let mut ranked = Vec::new();
    for step in 0..STEPS {
        let day: f64 = difficulty.random_range(0.5..1.5);
        for known in 0..QUERIES_PER_STEP {
            let hardness: f64 = difficulty.random_range(2.0..30.0);
            let greater = (luck.random::<f64>() * hardness * day * (1.0 - skill)) as u32;
            let rank = Rank { greater, tied: 1, tied_before: 0 };
            ranked.push(RankedQuery {
                query: Query {
                    step: Step(step),
                    known: EntityId(known),
                    relation: RelationId(0),
                    direction: Direction::Object,
                },
                gold: EntityId(known + 1),
                ranks: Ranks { time: rank, fixed: rank, raw: rank, reached: true, not_a_number: false },
                seen: false,
            });
        }
    }
    ranked
}

fn compare(first: &[RankedQuery], second: &[RankedQuery]) -> Comparison {
    Comparison::new([first, second], ENTITIES, &Protocol::default(), [1, 2]).expect("paired runs")
}

/// Largest distance between the share of values below x and x itself.
fn kolmogorov_smirnov(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let n = values.len() as f64;
    let gap = |(i, value): (usize, &f64)| {
        let (below, up_to) = (i as f64 / n, (i + 1) as f64 / n);
        (value - below).abs().max((up_to - value).abs())
    };
    values.iter().enumerate().map(gap).fold(0.0, f64::max)
}

#[test]
fn p_values_of_two_seeds_are_uniform() {
    const PAIRS: u64 = 200;
    let of_pair = |world| compare(&guesses(world, 1, 0.0), &guesses(world, 2, 0.0)).filters[0];
    let differences: Vec<_> = (0..PAIRS).map(of_pair).collect();
    for p in [|d: &ByMetric<Difference>| d.mrr.p, |d: &ByMetric<Difference>| d.hits10.p] {
        let values: Vec<f64> = differences.iter().map(p).collect();
        // 5 % of 200 is 10 with a deviation of 3.1: within 2.6 deviations.
        let small = values.iter().filter(|&&p| p < 0.05).count();
        assert!((2..=18).contains(&small), "{small} of {PAIRS} p-values are below 0.05");
        // The critical distance at the 1 % level is 1.63 / √200.
        let distance = kolmogorov_smirnov(values);
        assert!(distance < 1.63 / (PAIRS as f64).sqrt(), "{distance}");
    }
    let holds_zero = |d: &&ByMetric<Difference>| d.mrr.ci95.is_some_and(|[l, h]| l <= 0.0 && 0.0 <= h);
    let covered = differences.iter().filter(holds_zero).count();
    assert!((176..=199).contains(&covered), "{covered} of {PAIRS} intervals hold the true difference");
}

#[test]
fn a_better_model_is_found_in_both_orders() {
    let (plain, skilled) = (guesses(1, 1, 0.0), guesses(1, 2, 0.4));
    let there = compare(&plain, &skilled).filters[0].mrr;
    let back = compare(&skilled, &plain).filters[0].mrr;
    assert!(there.is_clear() && there.difference > 0.05 && there.p < 0.001, "{there:?}");
    assert!(back.is_clear() && (back.difference + there.difference).abs() < 1e-12, "{back:?}");
    assert_eq!((there.p, there.first), (back.p, back.second));
}

#[test]
fn means_are_those_of_the_runs() {
    let runs = [guesses(3, 1, 0.0), guesses(3, 2, 0.1)];
    for ties in TiePolicy::ALL {
        let compared =
            Comparison::new([&runs[0], &runs[1]], ENTITIES, &protocol(ties), [7, 8]).expect("paired runs");
        for (i, difference) in compared.filters.iter().enumerate() {
            let mrr = |run: usize, seed| {
                Outcome::new(&runs[run], ENTITIES, &protocol(ties), seed).expect("queries").filters[i]
                    .metrics
                    .mrr
            };
            assert!((difference.mrr.first - mrr(0, 7)).abs() < 1e-12);
            assert!((difference.mrr.second - mrr(1, 8)).abs() < 1e-12);
        }
    }
}

#[test]
fn a_run_does_not_differ_from_itself() {
    let run = guesses(5, 1, 0.0);
    let same = compare(&run, &run).filters[2].hits3;
    assert_eq!((same.difference, same.ci95, same.p), (0.0, Some([0.0, 0.0]), 1.0));
    assert!(!same.is_clear());
}

#[test]
fn other_questions_cannot_be_paired() {
    let run = guesses(5, 1, 0.0);
    let mut other = run.clone();
    other[17].gold = EntityId(60);
    let refused = |second: &[RankedQuery]| {
        let result = Comparison::new([&run, second], ENTITIES, &Protocol::default(), [1, 1]);
        match result.expect_err("different questions") {
            EvalError::Unpaired(reason) => reason,
            error => panic!("{error}"),
        }
    };
    assert_eq!(refused(&other), "they differ from row 18 of their rank files on");
    assert_eq!(refused(&run[1..]), "the first answers 504 queries, the second 503");
}
