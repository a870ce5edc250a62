//! Small worlds: the village, which can be read and has one process of every kind; and worlds of one kind of process each,
//! for tests of models: one that a recurrency baseline masters, and two that it cannot.

use std::sync::Arc;

use quadcast_core::{Calendar, EntityId, RelationId, Triple, stream};
use rand::Rng;

use super::background::{Activity, Chance, Tempo, Weights};
use super::names::Namer;
use super::process::{Burst, Chain, Habit, NamedProcess, Periodic, Recurrence, Rule, named};
use super::world::{Clock, World, born_at_once};

const PEOPLE: u32 = 36;
const PLACES: u32 = 10;
const BODIES: u32 = 6;
/// People who move in one after the other.
const LATE: u32 = 6;
const DAYS: u32 = 180;
/// 2031-03-01 in days since 1970-01-01.
const FIRST_DAY: i64 = 22_339;

const RELATIONS: [&str; 11] = [
    "consults",
    "advises",
    "greets",
    "lends to",
    "is repaid by",
    "works at",
    "calls at",
    "trades with",
    "announces a fair at",
    "attends",
    "visits",
];
const CONSULTS: RelationId = RelationId(0);
const ADVISES: RelationId = RelationId(1);
const GREETS: RelationId = RelationId(2);
const LENDS: RelationId = RelationId(3);
const REPAID: RelationId = RelationId(4);
const WORKS: RelationId = RelationId(5);
const CALLS: RelationId = RelationId(6);
const TRADES: RelationId = RelationId(7);
const ANNOUNCES: RelationId = RelationId(8);
const ATTENDS: RelationId = RelationId(9);
const VISITS: RelationId = RelationId(10);

/// Tables of shares: who is drawn.
const BY_STANDING: usize = 0;
const ANY_PERSON: usize = 1;
const ANY_PLACE: usize = 2;
const ANY_BODY: usize = 3;

pub(super) fn village(seed: u64) -> World {
    let mut namer = Namer::new(seed);
    let mut entities: Vec<String> = (0..PEOPLE).map(|_| namer.person()).collect();
    entities.extend((0..PLACES).map(|_| namer.place()));
    entities.extend((0..BODIES).map(|_| namer.body()));
    let births: Arc<[u32]> = (0..entities.len() as u32).map(birth).collect();
    World {
        name: "village",
        seed,
        clock: days(DAYS),
        processes: processes(seed, &births),
        chance: chance(&births),
        entities,
        relations: RELATIONS.map(str::to_owned).to_vec(),
        rollouts: 200,
    }
}

const fn days(steps: u32) -> Clock {
    Clock { steps, first: FIRST_DAY, raster: 1, calendar: Calendar::UNIX_DAYS }
}

/// The last people move in every 25 days.
const fn birth(entity: u32) -> u32 {
    if entity >= PEOPLE - LATE && entity < PEOPLE { 25 * (entity + 1 + LATE - PEOPLE) } else { 0 }
}

fn people() -> impl Iterator<Item = EntityId> {
    (0..PEOPLE).map(EntityId)
}

fn processes(seed: u64, births: &Arc<[u32]>) -> Vec<NamedProcess> {
    let rule = |body, head, swap, lag, confidence| Rule { body, head, swap, lag, confidence };
    let mut random = stream(seed, "synth village", 0);
    // Everyone but the last three of those who live there from the start works at one place, one day a week.
    let habits = (0..PEOPLE - LATE - 3).map(|person| Habit {
        fact: Triple::new(person, WORKS.0, PEOPLE + random.random_range(0..PLACES)),
        period: 7,
        phase: random.random_range(0..7),
        from: 0,
    });
    let recur = |relations: &[RelationId], peak, half_life, memory| Recurrence {
        relations: relations.to_vec(),
        peak,
        half_life,
        memory,
    };
    let fairs = Burst {
        trigger: ANNOUNCES,
        head: ATTENDS,
        subjects: people().collect(),
        births: Arc::clone(births),
        length: 2,
        probability: 0.25,
    };
    let introductions = Chain { first: CONSULTS, second: WORKS, head: CALLS, lag: 1, confidence: 0.8 };
    vec![
        named("trade goes on", recur(&[TRADES], 0.2, 5.0, 40)),
        named("talk goes on", recur(&[CONSULTS, VISITS], 0.12, 4.0, 30)),
        named("work week", Periodic::new(habits.collect(), 0.9)),
        named("greetings are returned", rule(GREETS, GREETS, true, 1, 0.6)),
        named("advice follows consultation", rule(CONSULTS, ADVISES, true, 2, 0.75)),
        named("loans are repaid", rule(LENDS, REPAID, false, 10, 0.85)),
        named("a loan leads to talk", rule(LENDS, CONSULTS, true, 3, 0.4)),
        named("introductions", introductions),
        named("fairs", fairs),
    ]
}

fn chance(births: &Arc<[u32]>) -> Chance {
    let entities = births.len();
    let standing: Vec<f64> =
        (0..entities as u32).map(|id| if id < PEOPLE { 1.0 / f64::from(id + 3) } else { 0.0 }).collect();
    let places = (PEOPLE..PEOPLE + PLACES).map(EntityId);
    let bodies = (PEOPLE + PLACES..PEOPLE + PLACES + BODIES).map(EntityId);
    let tables = vec![
        Weights::new(&standing),
        Weights::equal(entities, people()),
        Weights::equal(entities, places),
        Weights::equal(entities, bodies),
    ];
    let steady = Tempo::default();
    let weekly = Tempo { swing: 0.6, season: 7, ..steady };
    let activity =
        |relation, subjects, objects, rate, tempo| Activity { relation, subjects, objects, rate, tempo };
    let activities = vec![
        activity(CONSULTS, ANY_PERSON, BY_STANDING, 2.0, steady),
        activity(GREETS, ANY_PERSON, ANY_PERSON, 2.5, weekly),
        // Lending grows by half and visits fade by half over the 180 days.
        activity(LENDS, BY_STANDING, ANY_PERSON, 1.6, Tempo { drift: 0.5 / 180.0, ..steady }),
        activity(TRADES, BY_STANDING, BY_STANDING, 0.9, steady),
        activity(ANNOUNCES, ANY_BODY, ANY_PLACE, 0.12, steady),
        activity(VISITS, ANY_PERSON, ANY_PLACE, 3.0, Tempo { drift: -0.5 / 180.0, ..steady }),
    ];
    Chance::new(Arc::clone(births), RELATIONS.len(), tables, activities, 0.4)
}

/// Entities of a world of one kind of process.
const ENTITIES: usize = 60;
/// Enough that two facts share an entity by chance only now and then.
const CHAINED_ENTITIES: usize = 600;
const QUESTIONS: [&str; 4] = ["asks", "answers", "sends for", "comes to"];
const LETTERS: [&str; 5] = ["writes to", "vouches for", "trusts", "asks", "answers"];

/// Facts come from nowhere and come back.
pub(super) fn recurrence_only(seed: u64) -> World {
    let relations = (0..4).map(RelationId).collect();
    let process = Recurrence { relations, peak: 0.25, half_life: 4.0, memory: 60 };
    // Uniform activity: how often an answer was given before says nothing.
    let rates = [(0, 1.0), (1, 1.0), (2, 1.0), (3, 1.0)];
    single("recurrence-only", seed, ENTITIES, &QUESTIONS, vec![named("recurrence", process)], &rates)
}

/// Facts come from nowhere, and each is followed by a fact that need never have held before.
pub(super) fn rules_only(seed: u64) -> World {
    let processes = vec![
        named("answers follow", follows(0, 1, 1, 0.9)),
        named("summons are obeyed", follows(2, 3, 3, 0.8)),
    ];
    single("rules-only", seed, ENTITIES, &QUESTIONS, processes, &[(0, 5.0), (2, 5.0)])
}

/// Facts come from nowhere; some follow from one fact of the day before, some from two that share an entity.
pub(super) fn chains_only(seed: u64) -> World {
    let [first, second, head] = [0, 1, 2].map(RelationId);
    let processes = vec![
        named("trust follows", Chain { first, second, head, lag: 1, confidence: 0.9 }),
        named("answers follow", follows(3, 4, 1, 0.8)),
    ];
    let rates = [(0, 40.0), (1, 40.0), (3, 10.0)];
    single("chains-only", seed, CHAINED_ENTITIES, &LETTERS, processes, &rates)
}

const fn follows(body: u32, head: u32, lag: u32, confidence: f64) -> Rule {
    Rule { body: RelationId(body), head: RelationId(head), swap: true, lag, confidence }
}

/// A world in which the relations with a rate have uniform activity.
fn single(
    name: &'static str,
    seed: u64,
    entities: usize,
    relations: &[&str],
    processes: Vec<NamedProcess>,
    rates: &[(u32, f64)],
) -> World {
    let mut namer = Namer::new(seed);
    let everyone = Weights::equal(entities, (0..entities as u32).map(EntityId));
    let activity = |&(id, rate): &(u32, f64)| Activity {
        relation: RelationId(id),
        subjects: 0,
        objects: 0,
        rate,
        tempo: Tempo::default(),
    };
    let activities = rates.iter().map(activity).collect();
    World {
        name,
        seed,
        clock: days(200),
        entities: (0..entities).map(|_| namer.person()).collect(),
        relations: relations.iter().map(|&name| name.to_owned()).collect(),
        processes,
        chance: Chance::new(born_at_once(entities), relations.len(), vec![everyone], activities, 0.5),
        rollouts: 200,
    }
}
