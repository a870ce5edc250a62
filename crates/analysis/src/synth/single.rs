//! Worlds of one kind of process each, for tests of models: one that a recurrency baseline masters, and two that it
//! cannot.

use quadcast_core::{Calendar, EntityId, RelationId};

use super::background::{Activity, Chance, Tempo, Weights};
use super::names::Namer;
use super::process::{Chain, Process, Recurrence, Rule};
use super::village::FIRST_DAY;
use super::world::{Clock, World, born_at_once};

const ENTITIES: usize = 60;
/// Enough that two facts share an entity by chance only now and then.
const CHAINED_ENTITIES: usize = 600;
const STEPS: u32 = 200;
const RELATIONS: [&str; 4] = ["asks", "answers", "sends for", "comes to"];
const CHAINED: [&str; 5] = ["writes to", "vouches for", "trusts", "asks", "answers"];

/// Facts come from nowhere and come back.
pub(super) fn recurrence_only(seed: u64) -> World {
    let relations = (0..RELATIONS.len() as u32).map(RelationId).collect();
    let process = Recurrence { relations, peak: 0.25, half_life: 4.0, memory: 60 };
    // Uniform activity: how often an answer was given before says nothing.
    let activities = (0..RELATIONS.len() as u32).map(|id| activity(RelationId(id), 1.0)).collect();
    world(
        "recurrence-only",
        seed,
        ENTITIES,
        &RELATIONS,
        vec![("recurrence", Process::Recurrence(process))],
        activities,
    )
}

/// Facts come from nowhere, and each is followed by a fact that need never have held before.
pub(super) fn rules_only(seed: u64) -> World {
    let rule = |body, head, lag, confidence| {
        Process::Rule(Rule { body: RelationId(body), head: RelationId(head), swap: true, lag, confidence })
    };
    let processes = vec![("answers follow", rule(0, 1, 1, 0.9)), ("summons are obeyed", rule(2, 3, 3, 0.8))];
    let activities = vec![activity(RelationId(0), 5.0), activity(RelationId(2), 5.0)];
    world("rules-only", seed, ENTITIES, &RELATIONS, processes, activities)
}

/// Facts come from nowhere; some follow from one fact of the day before, some from two that share an entity.
pub(super) fn chains_only(seed: u64) -> World {
    let chain =
        Chain { first: RelationId(0), second: RelationId(1), head: RelationId(2), lag: 1, confidence: 0.9 };
    let rule = Rule { body: RelationId(3), head: RelationId(4), swap: true, lag: 1, confidence: 0.8 };
    let processes = vec![("trust follows", Process::Chain(chain)), ("answers follow", Process::Rule(rule))];
    let activities =
        vec![activity(RelationId(0), 40.0), activity(RelationId(1), 40.0), activity(RelationId(3), 10.0)];
    world("chains-only", seed, CHAINED_ENTITIES, &CHAINED, processes, activities)
}

const fn activity(relation: RelationId, rate: f64) -> Activity {
    Activity { relation, subjects: 0, objects: 0, rate, tempo: Tempo { drift: 0.0, swing: 0.0, season: 0 } }
}

fn world(
    name: &'static str,
    seed: u64,
    entities: usize,
    relations: &[&str],
    processes: Vec<(&'static str, Process)>,
    activities: Vec<Activity>,
) -> World {
    let mut namer = Namer::new(seed);
    let everyone = Weights::equal(entities, (0..entities as u32).map(EntityId));
    World {
        name,
        seed,
        clock: Clock { steps: STEPS, first: FIRST_DAY, raster: 1, calendar: Calendar::UNIX_DAYS },
        entities: (0..entities).map(|_| namer.person()).collect(),
        relations: relations.iter().map(|&name| name.to_owned()).collect(),
        processes,
        chance: Chance::new(born_at_once(entities), relations.len(), vec![everyone], activities, 0.5),
        rollouts: 200,
    }
}
