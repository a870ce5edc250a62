//! Worlds of one kind of process each, for tests of models: one that a recurrency baseline masters, and one that it
//! cannot.

use quadcast_core::{Calendar, EntityId, RelationId};

use super::background::{Activity, Chance, Tempo, Weights};
use super::names::Namer;
use super::process::{Process, Recurrence, Rule};
use super::village::FIRST_DAY;
use super::world::{Clock, World, born_at_once};

const ENTITIES: usize = 60;
const STEPS: u32 = 200;
const RELATIONS: [&str; 4] = ["asks", "answers", "sends for", "comes to"];

/// Facts come from nowhere and come back.
pub(super) fn recurrence_only(seed: u64) -> World {
    let relations = (0..RELATIONS.len() as u32).map(RelationId).collect();
    let process = Recurrence { relations, peak: 0.25, half_life: 4.0, memory: 60 };
    // Uniform activity: how often an answer was given before says nothing.
    let activities = (0..RELATIONS.len() as u32).map(|id| activity(RelationId(id), 1.0)).collect();
    world("recurrence-only", seed, vec![("recurrence", Process::Recurrence(process))], activities)
}

/// Facts come from nowhere, and each is followed by a fact that need never have held before.
pub(super) fn rules_only(seed: u64) -> World {
    let rule = |body, head, lag, confidence| {
        Process::Rule(Rule { body: RelationId(body), head: RelationId(head), swap: true, lag, confidence })
    };
    let processes = vec![("answers follow", rule(0, 1, 1, 0.9)), ("summons are obeyed", rule(2, 3, 3, 0.8))];
    world("rules-only", seed, processes, vec![activity(RelationId(0), 5.0), activity(RelationId(2), 5.0)])
}

const fn activity(relation: RelationId, rate: f64) -> Activity {
    Activity { relation, subjects: 0, objects: 0, rate, tempo: Tempo { drift: 0.0, swing: 0.0, season: 0 } }
}

fn world(
    name: &'static str,
    seed: u64,
    processes: Vec<(&'static str, Process)>,
    activities: Vec<Activity>,
) -> World {
    let mut namer = Namer::new(seed);
    let everyone = Weights::equal(ENTITIES, (0..ENTITIES as u32).map(EntityId));
    World {
        name,
        seed,
        clock: Clock { steps: STEPS, first: FIRST_DAY, raster: 1, calendar: Calendar::UNIX_DAYS },
        entities: (0..ENTITIES).map(|_| namer.person()).collect(),
        relations: RELATIONS.map(str::to_owned).to_vec(),
        processes,
        chance: Chance::new(born_at_once(ENTITIES), RELATIONS.len(), vec![everyone], activities, 0.5),
        rollouts: 200,
    }
}
