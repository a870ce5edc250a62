//! Every process alone, against numbers on paper and against the other ways in which it speaks about the same
//! probabilities.

use std::sync::Arc;

use quadcast_core::{
    Background, Direction, EntityId, Facts, HistoryIndex, Query, RelationId, Step, Triple, stream,
};
use rand_chacha::ChaCha8Rng;
use rustc_hash::{FxHashMap, FxHashSet};

use super::background::{Activity, Chance, Tempo, Weights};
use super::process::{Burst, Chain, Habit, Periodic, Process, Recurrence, Rule};
use super::small;
use super::state::State;
use super::world::{Clock, born_at_once, with_chance};

const ENTITIES: usize = 6;
const RELATIONS: usize = 3;

/// Facts by step, each `[subject, relation, object]`.
fn state(steps: &[&[[u32; 3]]]) -> State {
    let mut state = State::default();
    for facts in steps {
        state.push(facts.iter().map(|&[s, r, o]| Triple::new(s, r, o)).collect());
    }
    state
}

/// The same facts as a history that ends before the next step.
fn index(state: &State) -> HistoryIndex {
    let steps = state.now();
    let clock = Clock { steps: steps + 1, first: 0, raster: 1, calendar: quadcast_core::Calendar::UNKNOWN };
    let quads =
        (0..steps).flat_map(|step| state.ago(steps - step).iter().map(move |fact| fact.at(Step(step))));
    let facts = Facts::new(quads.collect(), steps as usize + 1);
    HistoryIndex::new(&clock.axis(), ENTITIES, RELATIONS, &[&facts])
}

fn all_facts() -> impl Iterator<Item = Triple> {
    let ids = || 0..ENTITIES as u32;
    ids().flat_map(move |s| (0..RELATIONS as u32).flat_map(move |r| ids().map(move |o| Triple::new(s, r, o))))
}

/// Asserts that a process gives these probabilities, in all four ways, and nothing else.
fn assert_gives(process: &dyn Process, state: &State, expected: &[([u32; 3], f64)]) {
    let expected: FxHashMap<Triple, f64> =
        expected.iter().map(|&([s, r, o], p)| (Triple::new(s, r, o), p)).collect();
    let mut listed = FxHashMap::default();
    process.candidates(state, &mut |fact, p| assert!(listed.insert(fact, p).is_none(), "{fact:?} twice"));
    assert_eq!(listed, expected);
    for fact in all_facts() {
        assert_eq!(process.probability(state, fact), expected.get(&fact).copied().unwrap_or(0.0), "{fact:?}");
    }
    assert_answers(process, state, &expected);
    let probability = |fact: Triple| expected.get(&fact).copied().unwrap_or(0.0);
    assert_frequencies((4000, 4.0), |random, take| process.fire(state, random, take), probability);
}

fn assert_answers(process: &dyn Process, state: &State, expected: &FxHashMap<Triple, f64>) {
    let (index, now) = (index(state), Step(state.now()));
    let history = index.before(now);
    for known in (0..ENTITIES as u32).map(EntityId) {
        for relation in (0..RELATIONS as u32).map(RelationId) {
            for direction in Direction::BOTH {
                let query = Query { step: now, known, relation, direction };
                let mut found = FxHashMap::default();
                process.answers(&history, &query, &mut |answer, p| {
                    assert!(found.insert(answer, p).is_none(), "{answer:?} twice");
                });
                let wanted: FxHashMap<EntityId, f64> = expected
                    .iter()
                    .map(|(fact, &p)| (Query::hide(fact.at(now), direction), fact, p))
                    .filter(|((asked, _), fact, _)| asked.known == known && fact.relation == relation)
                    .map(|((_, answer), _, p)| (answer, p))
                    .collect();
                assert_eq!(found, wanted, "{query:?}");
            }
        }
    }
}

/// Draws many times; frequencies of the facts lie within so many standard errors.
fn assert_frequencies(
    (draws, errors): (u32, f64),
    mut draw: impl FnMut(&mut ChaCha8Rng, &mut dyn FnMut(Triple)),
    expected: impl Fn(Triple) -> f64,
) {
    let mut counts: FxHashMap<Triple, u32> = FxHashMap::default();
    let mut random = stream(1, "test", 0);
    for _ in 0..draws {
        draw(&mut random, &mut |fact| *counts.entry(fact).or_default() += 1);
    }
    assert!(counts.keys().all(|&fact| expected(fact) > 0.0));
    for fact in all_facts() {
        let p = expected(fact);
        let share = f64::from(counts.get(&fact).copied().unwrap_or(0)) / f64::from(draws);
        let error = (p * (1.0 - p) / f64::from(draws)).sqrt();
        assert!((share - p).abs() <= errors * error, "{fact:?}: {share} for {p}");
    }
}

#[test]
fn recurrence_halves_with_time_and_forgets() {
    let process = Recurrence { relations: vec![RelationId(0)], peak: 0.4, half_life: 2.0, memory: 3 };
    // [0 0 1] held 4 and 1 steps ago, [2 0 3] 3 steps ago, [4 0 5] 4 steps ago; relation 1 does not recur.
    let state = state(&[&[[0, 0, 1], [4, 0, 5]], &[[2, 0, 3]], &[[0, 1, 1]], &[[0, 0, 1]]]);
    assert_gives(&process, &state, &[([0, 0, 1], 0.4), ([2, 0, 3], 0.2)]);
}

#[test]
fn habits_hold_at_their_turn() {
    let habit = |object, phase, from| Habit { fact: Triple::new(0, 2, object), period: 3, phase, from };
    let habits = vec![habit(1, 2, 0), habit(2, 1, 0), habit(3, 2, 9)];
    // The next step is 2: the second has another turn, the third has not begun.
    let process = Periodic::new(habits, 0.75);
    assert_gives(&process, &state(&[&[[0, 0, 1]], &[[0, 0, 1]]]), &[([0, 2, 1], 0.75)]);
}

#[test]
fn rules_follow_after_their_lag() {
    let past = state(&[&[[0, 0, 1], [2, 1, 3]], &[[4, 0, 5]]]);
    let rule =
        |head, swap, lag| Rule { body: RelationId(0), head: RelationId(head), swap, lag, confidence: 0.6 };
    assert_gives(&rule(1, false, 2), &past, &[([0, 1, 1], 0.6)]);
    // Inverse to another relation, symmetric within one, and before the world began.
    assert_gives(&rule(1, true, 2), &past, &[([1, 1, 0], 0.6)]);
    assert_gives(&rule(0, true, 1), &past, &[([5, 0, 4], 0.6)]);
    assert_gives(&rule(1, true, 3), &past, &[]);
}

#[test]
fn chains_join_two_facts_of_one_step() {
    let [first, second, head] = [0, 1, 2].map(RelationId);
    let process = Chain { first, second, head, lag: 1, confidence: 0.5 };
    // Two ways from 0 to 4 count once; the way back to 0 itself counts for nothing; step 0 is too early.
    let past = state(&[
        &[[1, 1, 4], [5, 0, 1]],
        &[[0, 0, 1], [0, 0, 2], [1, 1, 0], [1, 1, 4], [2, 1, 3], [2, 1, 4]],
    ]);
    assert_gives(&process, &past, &[([0, 2, 3], 0.5), ([0, 2, 4], 0.5)]);
}

#[test]
fn bursts_draw_everyone_who_is_there() {
    let process = Burst {
        trigger: RelationId(0),
        head: RelationId(1),
        subjects: vec![EntityId(0), EntityId(1), EntityId(4)],
        births: vec![0, 0, 0, 0, 9, 0].into(),
        length: 2,
        probability: 0.3,
    };
    // 5 was announced three steps ago, 3 twice since; 4 has not appeared yet.
    let past = state(&[&[[2, 0, 5]], &[[2, 0, 3]], &[[5, 0, 3]]]);
    assert_gives(&process, &past, &[([0, 1, 3], 0.3), ([1, 1, 3], 0.3)]);
}

fn chance() -> Chance {
    let tables =
        vec![Weights::new(&[3.0, 1.0, 0.0, 0.0, 0.0, 0.0]), Weights::new(&[0.0, 0.0, 2.0, 1.0, 1.0, 0.0])];
    let tempo = Tempo { drift: 0.1, ..Tempo::default() };
    let activity = Activity { relation: RelationId(1), subjects: 0, objects: 1, rate: 2.0, tempo };
    let births: Arc<[u32]> = vec![0, 0, 0, 0, 5, 0].into();
    Chance::new(births, RELATIONS, tables, vec![activity], 1.08)
}

#[test]
fn activity_and_noise_add_up() {
    let chance = chance();
    // Noise: 1.08 over 6 · 6 · 3 facts is 0.01 each. Activity at step 2: 2 · 1.2 · 3/4 · 2/4 = 0.9.
    let close = |fact, step, expected: f64| {
        let found = chance.intensity(fact, step);
        assert!((found - expected).abs() < 1e-12, "{fact:?}: {found}");
    };
    close(Triple::new(0, 1, 2), 2, 0.91);
    close(Triple::new(0, 0, 2), 2, 0.01);
    close(Triple::new(0, 1, 4), 2, 0.0);
    close(Triple::new(0, 1, 4), 5, 0.01 + 2.0 * 1.5 * 0.75 * 0.25);
    close(Triple::new(3, 0, 3), 2, 0.0);
}

#[test]
fn the_background_fires_as_often_as_it_says() {
    let chance = chance();
    let draw = |random: &mut ChaCha8Rng, take: &mut dyn FnMut(Triple)| {
        let mut hit = FxHashSet::default();
        chance.fire(2, random, &mut |fact, _| {
            if hit.insert(fact) {
                take(fact);
            }
        });
    };
    assert_frequencies((20_000, 5.0), draw, |fact| -(-chance.intensity(fact, 2)).exp_m1());
}

#[test]
fn the_background_counts_as_if_every_candidate_were_read() {
    let chance = chance();
    let standing = chance.standing(2);
    for relation in (0..RELATIONS as u32).map(RelationId) {
        for known in (0..ENTITIES as u32).map(EntityId) {
            let query = Query { step: Step(2), known, relation, direction: Direction::Object };
            let answers = chance.answers(&standing, &query);
            let scores: Vec<f64> = (0..ENTITIES as u32).map(|id| answers.score(EntityId(id))).collect();
            for (id, &score) in scores.iter().enumerate() {
                let count = |wanted: &dyn Fn(&f64) -> bool| scores.iter().filter(|s| wanted(s)).count();
                assert_eq!(answers.above(score), count(&|&s| s > score));
                assert_eq!(answers.tied(score), count(&|&s| s == score));
                let before = scores[..id].iter().filter(|&&s| s == score).count();
                assert_eq!(answers.tied_before(score, EntityId(id as u32)), before);
            }
        }
    }
}

#[test]
fn processes_combine_as_a_noisy_or() {
    assert!((with_chance(0.5 * 0.8, 0.1) - (1.0 - 0.5 * 0.8 * 0.9)).abs() < 1e-15);
    assert_eq!(with_chance(1.0, 1e-12), 1e-12);
}

#[test]
fn equal_shares_and_births() {
    assert_eq!(born_at_once(3).as_ref(), [0, 0, 0]);
    let weights = Weights::equal(4, [EntityId(1), EntityId(3)]);
    assert_eq!([0, 1, 2, 3].map(|id| weights.share(EntityId(id))), [0.0, 0.5, 0.0, 0.5]);
    assert_eq!(weights.by_share()[..2], [EntityId(1), EntityId(3)]);
}

#[test]
fn nobody_is_seen_before_moving_in() {
    let world = small::village(3);
    let (dataset, _) = world.grow();
    let facts = dataset.splits.iter().flat_map(|(_, facts)| facts.iter().collect::<Vec<_>>());
    let first: FxHashMap<EntityId, u32> = facts.fold(FxHashMap::default(), |mut first, fact| {
        for entity in [fact.subject, fact.object] {
            first.entry(entity).or_insert(fact.step.0);
        }
        first
    });
    assert!((30..36).all(|id| first[&EntityId(id)] >= 25 * (id - 29)), "{first:?}");
    assert!(first.values().filter(|&&step| step >= 25).count() >= 6);
}
