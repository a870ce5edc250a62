//! A graph that changes: triples are inserted, expire, are replaced and come back.
//!
//! Per step, an absent triple is inserted by chance (see [`Chance`]) or returns after a deletion with a probability that
//! decays; a present triple expires with a probability of its relation, and in relations that allow one object at a
//! time an older object gives way to a newer one. The split of a triple is drawn once and stays.

use std::collections::BTreeMap;

use quadcast_core::{
    EntityId, EvolvingDataset, EvolvingStep, Names, RelationId, Split, Triple, TripleOperation, Vocabulary,
    stream,
};
use rand::Rng;
use serde_json::{Value, json};

use super::background::{Activity, Chance, Tempo, Weights};
use super::names::Namer;
use super::world::{Truth, TruthRow, born_at_once, with_chance};
use crate::compile::sorted_out;

const ENTITIES: usize = 400;
const STEPS: u32 = 10;
/// New triples per step and relation.
const RATE: f64 = 40.0;
/// The first step gets as many triples as this many later ones.
const FOUNDING: u32 = 12;
const RETURN_PEAK: f64 = 0.3;
const RETURN_HALF_LIFE: f64 = 2.0;
const REPLACED: f64 = 0.8;

/// Name, probability to expire per step, and whether only one object holds at a time.
const RELATIONS: [(&str, f64, bool); 8] = [
    ("is led by", 0.05, true),
    ("is based in", 0.02, true),
    ("is a member of", 0.08, false),
    ("works with", 0.15, false),
    ("owns", 0.1, false),
    ("is married to", 0.03, true),
    ("was born in", 0.0, false),
    ("competes with", 0.2, false),
];

/// Causes, as bits of a truth row.
const CHANCE: u32 = 1;
const RETURN: u32 = 1 << 1;
const EXPIRY: u32 = 1 << 2;
const REPLACEMENT: u32 = 1 << 3;
const CAUSES: [&str; 4] = ["chance", "return", "expiry", "replacement"];

/// What has become of a triple that was present at least once.
#[derive(Clone, Copy)]
struct Life {
    split: Split,
    present: bool,
    /// Step of the last change.
    since: u32,
    insertions: u32,
}

type Lives = BTreeMap<Triple, Life>;

/// The graph and what is known about each operation, step by step in the order of the operations.
pub(super) fn grow(seed: u64) -> (EvolvingDataset, Truth) {
    let (chance, mut lives) = (chance(), Lives::new());
    let (mut steps, mut rows) = (Vec::new(), Vec::new());
    for step in 1..=STEPS {
        let (operations, truth) = draw(seed, step, &chance, &lives);
        apply(seed, step, &operations, &mut lives);
        steps.push(describe(step, operations, &lives));
        rows.extend(truth);
    }
    let mut namer = Namer::new(seed);
    let entities = (0..ENTITIES).map(|_| Some(namer.body())).collect();
    let relations = RELATIONS.iter().map(|(name, _, _)| Some((*name).to_owned())).collect();
    let vocabulary =
        Vocabulary { entities: Names::new(entities, None), relations: Names::new(relations, None) };
    let dataset = EvolvingDataset { name: "evolving".to_owned(), vocabulary, steps };
    (dataset, Truth { labels: CAUSES.map(str::to_owned).to_vec(), rows })
}

fn chance() -> Chance {
    let popularity: Vec<f64> = (0..ENTITIES).map(|rank| 1.0 / (rank as f64 + 10.0)).collect();
    let tables =
        vec![Weights::equal(ENTITIES, (0..ENTITIES as u32).map(EntityId)), Weights::new(&popularity)];
    let activities = (0..RELATIONS.len() as u32).map(|id| Activity {
        relation: RelationId(id),
        subjects: 0,
        objects: 1,
        rate: RATE,
        tempo: Tempo::default(),
    });
    Chance::new(born_at_once(ENTITIES), RELATIONS.len(), tables, activities.collect(), 1.0)
}

/// Draws the operations of a step, sorted by triple, with what is known about them.
fn draw(seed: u64, step: u32, chance: &Chance, lives: &Lives) -> (Vec<TripleOperation>, Vec<TruthRow>) {
    let times = if step == 1 { FOUNDING } else { 1 };
    let mut causes: BTreeMap<Triple, u32> = BTreeMap::new();
    for time in 0..times {
        let mut random = stream(seed, "synth evolving chance", u64::from(step) << 32 | u64::from(time));
        chance.fire(step, &mut random, &mut |triple, _| {
            if lives.get(&triple).is_none_or(|life| !life.present) {
                *causes.entry(triple).or_default() |= CHANCE;
            }
        });
    }
    let mut random = stream(seed, "synth evolving lives", step.into());
    for (&triple, life) in lives {
        let possible: &[(u32, f64)] = if life.present {
            &[(EXPIRY, expiry(triple)), (REPLACEMENT, replacement(triple, life, lives))]
        } else {
            &[(RETURN, comeback(step, life))]
        };
        for &(cause, probability) in possible {
            if random.random::<f64>() < probability {
                *causes.entry(triple).or_default() |= cause;
            }
        }
    }
    let probability = |triple: Triple| match lives.get(&triple) {
        Some(life) if life.present => 1.0 - (1.0 - expiry(triple)) * (1.0 - replacement(triple, life, lives)),
        life => {
            let hit = -(-f64::from(times) * chance.intensity(triple, step)).exp_m1();
            with_chance(1.0 - life.map_or(0.0, |life| comeback(step, life)), hit)
        }
    };
    let insert = |triple| lives.get(triple).is_none_or(|life| !life.present);
    causes
        .iter()
        .map(|(triple, &causes)| {
            let operation = TripleOperation { triple: *triple, insert: insert(triple) };
            (operation, TruthRow { causes, probability: probability(*triple) })
        })
        .unzip()
}

const fn expiry(triple: Triple) -> f64 {
    RELATIONS[triple.relation.index()].1
}

/// An older object of a relation that allows one gives way.
fn replacement(triple: Triple, life: &Life, lives: &Lives) -> f64 {
    if !RELATIONS[triple.relation.index()].2 {
        return 0.0;
    }
    let siblings = Triple { object: EntityId(0), ..triple }..=Triple { object: EntityId(u32::MAX), ..triple };
    let newer = |other: &Life| other.present && other.since > life.since;
    if lives.range(siblings).any(|(_, other)| newer(other)) { REPLACED } else { 0.0 }
}

fn comeback(step: u32, life: &Life) -> f64 {
    RETURN_PEAK * (-f64::from(step - life.since - 1) / RETURN_HALF_LIFE).exp2()
}

fn apply(seed: u64, step: u32, operations: &[TripleOperation], lives: &mut Lives) {
    let mut random = stream(seed, "synth evolving splits", step.into());
    for operation in operations {
        // Drawn for every operation, so that the draws do not depend on what was there before.
        let split = match random.random::<f64>() {
            draw if draw < 0.8 => Split::Train,
            draw if draw < 0.9 => Split::Valid,
            _ => Split::Test,
        };
        let new = Life { split, present: false, since: step, insertions: 0 };
        let life = lives.entry(operation.triple).or_insert(new);
        life.present = operation.insert;
        life.since = step;
        life.insertions += u32::from(operation.insert);
    }
}

fn describe(step: u32, operations: Vec<TripleOperation>, lives: &Lives) -> EvolvingStep {
    let training: Vec<TripleOperation> =
        operations.iter().filter(|o| lives[&o.triple].split == Split::Train).copied().collect();
    let increment = training.iter().filter(|o| o.insert).map(|o| o.triple).collect();
    let sorted = lives.iter().map(|(&triple, life)| (triple, life.split, life.present, life.insertions > 1));
    let (evaluation, categories) = sorted_out(sorted, true);
    EvolvingStep {
        label: step.to_string(),
        training,
        operations: Some(operations),
        increment: Some(increment),
        evaluation,
        categories,
        ..EvolvingStep::default()
    }
}

/// The processes in words.
pub(super) fn words() -> Vec<Value> {
    let expiries: Vec<String> = RELATIONS.iter().map(|(name, p, _)| format!("{name} {p}")).collect();
    let single: Vec<&str> =
        RELATIONS.iter().filter(|(_, _, single)| *single).map(|(name, _, _)| *name).collect();
    let rules = [
        format!(
            "Per step about {RATE} new triples of each relation, objects by a heavy-tailed share, and 1 of any kind; \
             {FOUNDING} times as many at the first step."
        ),
        format!(
            "A triple deleted a steps ago returns with probability {RETURN_PEAK} · 2^(-(a-1)/{RETURN_HALF_LIFE})."
        ),
        format!("A present triple is deleted with a probability of its relation: {}.", expiries.join(", ")),
        format!(
            "In {}, a triple is deleted with probability {REPLACED} when a newer object of its subject is present.",
            single.join(", ")
        ),
    ];
    CAUSES.into_iter().zip(rules).map(|(name, rule)| json!({ "name": name, "rule": rule })).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn triples_expire_at_the_rate_of_their_relation() {
        let (dataset, truth) = grow(1);
        let mut present: BTreeSet<Triple> = BTreeSet::new();
        let (mut chances, mut deletions) = ([0_u32; RELATIONS.len()], [0_u32; RELATIONS.len()]);
        for step in &dataset.steps {
            for triple in &present {
                chances[triple.relation.index()] += 1;
            }
            for operation in step.operations.iter().flatten() {
                if operation.insert {
                    assert!(present.insert(operation.triple));
                } else {
                    assert!(present.remove(&operation.triple));
                    deletions[operation.triple.relation.index()] += 1;
                }
            }
        }
        for (id, (name, expected, single)) in RELATIONS.iter().enumerate() {
            let share = f64::from(deletions[id]) / f64::from(chances[id]);
            let error = (expected * (1.0 - expected) / f64::from(chances[id])).sqrt();
            if *single {
                assert!(share > *expected, "{name}: replacements come on top of {expected}, found {share}");
            } else {
                assert!((share - expected).abs() <= 4.0 * error, "{name}: {share} for {expected}");
            }
        }
        let operations = dataset.steps.iter().flat_map(|step| step.operations.iter().flatten());
        for (operation, row) in operations.zip(&truth.rows) {
            let cause_of_deletion = row.causes & (EXPIRY | REPLACEMENT) != 0;
            assert!(row.probability > 0.0 && cause_of_deletion != operation.insert, "{operation:?} {row:?}");
        }
    }

    #[test]
    fn a_deleted_triple_returns_less_and_less() {
        let life = Life { split: Split::Train, present: false, since: 3, insertions: 1 };
        assert_eq!((comeback(4, &life), comeback(6, &life)), (0.3, 0.15));
    }
}
