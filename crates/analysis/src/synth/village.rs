//! The village: small enough to read, with one process of every kind.

use std::sync::Arc;

use quadcast_core::{Calendar, EntityId, RelationId, Triple, stream};
use rand::Rng;

use super::background::{Activity, Chance, Tempo, Weights};
use super::names::Namer;
use super::process::{Burst, Chain, Habit, Periodic, Process, Recurrence, Rule};
use super::world::{Clock, World};

const PEOPLE: u32 = 36;
const PLACES: u32 = 10;
const BODIES: u32 = 6;
/// People who move in one after the other.
const LATE: u32 = 6;
const STEPS: u32 = 180;
/// 2031-03-01 in days since 1970-01-01.
pub(super) const FIRST_DAY: i64 = 22_339;

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

pub(super) fn build(seed: u64) -> World {
    let mut namer = Namer::new(seed);
    let mut entities: Vec<String> = (0..PEOPLE).map(|_| namer.person()).collect();
    entities.extend((0..PLACES).map(|_| namer.place()));
    entities.extend((0..BODIES).map(|_| namer.body()));
    let births: Arc<[u32]> = (0..entities.len() as u32).map(birth).collect();
    World {
        name: "village",
        seed,
        clock: Clock { steps: STEPS, first: FIRST_DAY, raster: 1, calendar: Calendar::UNIX_DAYS },
        processes: processes(seed, &births),
        chance: chance(&births),
        entities,
        relations: RELATIONS.map(str::to_owned).to_vec(),
        rollouts: 200,
    }
}

/// The last people move in every 25 days.
const fn birth(entity: u32) -> u32 {
    if entity >= PEOPLE - LATE && entity < PEOPLE { 25 * (entity + 1 + LATE - PEOPLE) } else { 0 }
}

fn people() -> impl Iterator<Item = EntityId> {
    (0..PEOPLE).map(EntityId)
}

fn processes(seed: u64, births: &Arc<[u32]>) -> Vec<(&'static str, Process)> {
    let rule = |body, head, swap, lag, confidence| Process::Rule(Rule { body, head, swap, lag, confidence });
    let mut random = stream(seed, "synth village", 0);
    // Everyone but the last three of those who live there from the start works at one place, one day a week.
    let habits = (0..PEOPLE - LATE - 3).map(|person| Habit {
        fact: Triple::new(person, WORKS.0, PEOPLE + random.random_range(0..PLACES)),
        period: 7,
        phase: random.random_range(0..7),
        from: 0,
    });
    let habits = Periodic::new(habits.collect(), 0.9);
    let recur = |relations: &[RelationId], peak, half_life, memory| {
        Process::Recurrence(Recurrence { relations: relations.to_vec(), peak, half_life, memory })
    };
    vec![
        ("trade goes on", recur(&[TRADES], 0.2, 5.0, 40)),
        ("talk goes on", recur(&[CONSULTS, VISITS], 0.12, 4.0, 30)),
        ("work week", Process::Periodic(habits)),
        ("greetings are returned", rule(GREETS, GREETS, true, 1, 0.6)),
        ("advice follows consultation", rule(CONSULTS, ADVISES, true, 2, 0.75)),
        ("loans are repaid", rule(LENDS, REPAID, false, 10, 0.85)),
        ("a loan leads to talk", rule(LENDS, CONSULTS, true, 3, 0.4)),
        (
            "introductions",
            Process::Chain(Chain { first: CONSULTS, second: WORKS, head: CALLS, lag: 1, confidence: 0.8 }),
        ),
        (
            "fairs",
            Process::Burst(Burst {
                trigger: ANNOUNCES,
                head: ATTENDS,
                subjects: people().collect(),
                births: Arc::clone(births),
                length: 2,
                probability: 0.25,
            }),
        ),
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
