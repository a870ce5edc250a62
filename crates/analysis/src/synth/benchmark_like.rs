//! Worlds of the size and shape of two benchmarks: heavy-tailed degrees, many relations, facts that come back, rules
//! between relations, habits, bursts, entities that appear late.

use std::sync::Arc;

use quadcast_core::{Calendar, RelationId, TimeUnit, Triple, stream};
use rand::Rng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::background::{Activity, Chance, Tempo, Weights};
use super::names::Namer;
use super::process::{Burst, Chain, Habit, NamedProcess, Periodic, Recurrence, Rule, named};
use super::world::{Clock, World};

/// Names of the rule processes; their number is the number of rules.
const RULES: [&str; 12] = [
    "rule 1", "rule 2", "rule 3", "rule 4", "rule 5", "rule 6", "rule 7", "rule 8", "rule 9", "rule 10",
    "rule 11", "rule 12",
];
/// Bodies and heads of rules are among this many most frequent relations.
const FREQUENT: u32 = 60;
/// Tables of shares that relations draw their subjects and objects from.
const ROLES: usize = 8;
/// Share of the entities that appear after the first step.
const LATE: f64 = 0.15;
/// So many of the most popular entities do not appear late.
const ALWAYS_THERE: usize = 500;
/// Who takes part in bursts.
const CROWD: usize = 40;

/// What distinguishes the worlds of this file.
struct Scale {
    name: &'static str,
    entities: usize,
    relations: usize,
    clock: Clock,
    /// New facts per step.
    activity: f64,
    noise: f64,
    /// Peak, half-life and memory of persistent, ordinary and fleeting relations.
    recurrence: [(f64, f64, u32); 3],
    /// Period of the habits and of the seasons.
    week: u32,
    habits: usize,
}

/// ICEWS14's size: 7128 entities, 230 relations, 365 days, about 90 730 facts.
pub(super) fn icews_like(seed: u64) -> World {
    // 2041-01-01 in days since 1970-01-01.
    let clock = Clock { steps: 365, first: 25_933, raster: 1, calendar: Calendar::UNIX_DAYS };
    let scale = Scale {
        name: "icews-like",
        entities: 7128,
        relations: 230,
        clock,
        activity: 71.5,
        noise: 6.0,
        recurrence: [(0.11, 8.0, 90), (0.09, 6.0, 60), (0.05, 4.0, 30)],
        week: 7,
        habits: 120,
    };
    build(seed, &scale)
}

/// GDELT's size: 7691 entities, 240 relations, 2976 quarters of an hour, about 2.3 million facts.
pub(super) fn gdelt_like(seed: u64) -> World {
    let calendar = Calendar { unit: TimeUnit::Minute, year_zero: None, day_zero: None };
    let clock = Clock { steps: 2976, first: 0, raster: 15, calendar };
    let scale = Scale {
        name: "gdelt-like",
        entities: 7691,
        relations: 240,
        clock,
        activity: 211.0,
        noise: 20.0,
        recurrence: [(0.015, 60.0, 400), (0.01, 70.0, 400), (0.006, 90.0, 400)],
        week: 96,
        habits: 600,
    };
    build(seed, &scale)
}

fn build(seed: u64, scale: &Scale) -> World {
    let mut random = stream(seed, "synth benchmark-like", 0);
    let mut namer = Namer::new(seed);
    let entities = (0..scale.entities).map(|id| match id % 7 {
        0 => namer.place(),
        1 | 2 => namer.body(),
        _ => namer.person(),
    });
    let entities: Vec<String> = entities.collect();
    let mut popularity: Vec<f64> = (0..scale.entities).map(weight_of).collect();
    popularity.shuffle(&mut random);
    let births = births(scale, &popularity, &mut random);
    let chance = chance(scale, &births, &popularity, &mut random);
    World {
        name: scale.name,
        seed,
        clock: scale.clock,
        entities,
        relations: Namer::relations(scale.relations),
        processes: processes(scale, &births, &popularity, &mut random),
        chance,
        rollouts: 0,
    }
}

/// The most popular are there from the start: the number of facts would depend on when they appear.
fn births(scale: &Scale, popularity: &[f64], random: &mut ChaCha8Rng) -> Arc<[u32]> {
    let birth = |&weight: &f64| {
        let late = random.random::<f64>() < LATE && weight < weight_of(ALWAYS_THERE);
        if late { random.random_range(1..scale.clock.steps) } else { 0 }
    };
    popularity.iter().map(birth).collect()
}

/// Heavy-tailed: the weight of an entity by its rank.
fn weight_of(rank: usize) -> f64 {
    1.0 / (rank as f64 + 5.0)
}

fn chance(scale: &Scale, births: &Arc<[u32]>, popularity: &[f64], random: &mut ChaCha8Rng) -> Chance {
    // Each role knows the popular entities, but favours its own: factors from 1/8 to 8.
    let role = |random: &mut ChaCha8Rng| {
        let weights: Vec<f64> =
            popularity.iter().map(|weight| weight * random.random_range(-3.0..3.0_f64).exp2()).collect();
        Weights::new(&weights)
    };
    let tables: Vec<Weights> = (0..ROLES).map(|_| role(random)).collect();
    let frequency = |relation: u32| 1.0 / f64::from(relation + 3);
    let total: f64 = (0..scale.relations as u32).map(frequency).sum();
    let activities = (0..scale.relations as u32).map(|relation| Activity {
        relation: RelationId(relation),
        subjects: random.random_range(0..ROLES),
        objects: random.random_range(0..ROLES),
        rate: scale.activity * frequency(relation) / total,
        tempo: tempo(scale, relation),
    });
    let activities = activities.collect();
    Chance::new(Arc::clone(births), scale.relations, tables, activities, scale.noise)
}

/// Every third relation has seasons; of the others every second one drifts, half of them up and half of them down.
fn tempo(scale: &Scale, relation: u32) -> Tempo {
    let drift = 0.4 / f64::from(scale.clock.steps);
    match relation % 6 {
        0 | 3 => Tempo { swing: 0.5, season: scale.week, drift: 0.0 },
        1 => Tempo { drift, ..Tempo::default() },
        4 => Tempo { drift: -drift, ..Tempo::default() },
        _ => Tempo::default(),
    }
}

fn processes(
    scale: &Scale,
    births: &Arc<[u32]>,
    popularity: &[f64],
    random: &mut ChaCha8Rng,
) -> Vec<NamedProcess> {
    let classes = ["persistent", "ordinary", "fleeting"].into_iter().zip(scale.recurrence).zip(0..);
    let recurring = classes.map(|((name, (peak, half_life, memory)), class)| {
        let relations = (class..scale.relations as u32).step_by(3).map(RelationId).collect();
        named(name, Recurrence { relations, peak, half_life, memory })
    });
    let mut processes: Vec<NamedProcess> = recurring.collect();
    processes.extend(RULES.into_iter().zip(0..).map(|(name, number)| {
        // Distinct bodies of odd number and heads of even number: no rule feeds another. The rules do not depend on the
        // seed, so that the number of facts hardly does.
        let rule = Rule {
            body: RelationId(2 * number + 1),
            head: RelationId(2 * ((7 * number + 3) % (FREQUENT / 2))),
            swap: number.is_multiple_of(2),
            lag: 1 + number % 7,
            confidence: f64::from(3 + number % 6) / 10.0,
        };
        named(name, rule)
    }));
    let [first, second, head] = [3, 9, 26].map(RelationId);
    processes.push(named("introductions", Chain { first, second, head, lag: 1, confidence: 0.3 }));
    processes.push(named("habits", habits(scale, births, random)));
    // The most popular entities, sorted by id.
    let mut crowd = Weights::new(popularity).by_share();
    crowd.truncate(CROWD);
    crowd.sort_unstable();
    let burst = Burst {
        trigger: RelationId(scale.relations as u32 / 2),
        head: RelationId(32),
        subjects: crowd,
        births: Arc::clone(births),
        length: 2,
        probability: 0.15,
    };
    processes.push(named("crowds", burst));
    processes
}

fn habits(scale: &Scale, births: &Arc<[u32]>, random: &mut ChaCha8Rng) -> Periodic {
    let entities = scale.entities as u32;
    let habits = (0..scale.habits).map(|_| {
        let subject = random.random_range(0..entities);
        let object = (subject + random.random_range(1..entities)) % entities;
        let relation = random.random_range(0..scale.relations as u32);
        Habit {
            fact: Triple::new(subject, relation, object),
            period: scale.week,
            phase: random.random_range(0..scale.week),
            from: births[subject as usize].max(births[object as usize]),
        }
    });
    Periodic::new(habits.collect(), 0.8)
}
