//! The learned state as named arrays.

use quadcast_core::{ModelError, SavedModel, Step, Tensors};
use serde::{Deserialize, Serialize};

use super::chains::Chain;
use super::counts::NONE;
use super::features::FEATURES;
use super::names::{Kind, Labels};
use super::network::Weights;
use super::rules::{BINS, Chains, Tables};
use super::settings::MOST_HIDDEN;
use super::{Config, Learned};
use crate::blocks::store::{Arrays, StoreError};
use crate::forecast::state::{saved_state, saved_tensors};

#[derive(Serialize, Deserialize)]
struct State {
    config: Config,
    /// Directed relations.
    relations: usize,
    /// With one fact, and with two.
    rules: usize,
    chains: usize,
    hidden: [usize; 2],
    weights: usize,
    horizon: usize,
    until: Step,
    seed: u64,
    entities: usize,
    /// Countries and sectors, if names are read.
    labels: Option<[usize; 2]>,
}

fn broken(error: &StoreError) -> ModelError {
    ModelError::Saved(error.to_string())
}

/// Ids are whole numbers far below those that 32-bit floats skip; no id is −1.
fn numbers(ids: &[u32]) -> Vec<f32> {
    ids.iter().map(|&id| if id == NONE { -1.0 } else { id as f32 }).collect()
}

fn ids(numbers: Vec<f32>) -> Vec<u32> {
    numbers.into_iter().map(|number| if number < 0.0 { NONE } else { number as u32 }).collect()
}

pub(super) fn save(config: &Config, learned: &Learned) -> Result<SavedModel, ModelError> {
    let Learned { tables, labels, weights, horizon, until, seed } = learned;
    let (relations, all) = (tables.relations, tables.supports.len());
    let chains = tables.chains.all.len();
    let rules = all - chains;
    let mut arrays = Arrays::default();
    let mut insert = |name: &str, shape: Vec<usize>, values: Vec<f32>| arrays.insert(name, shape, values);
    insert("weights", vec![weights.values.len()], weights.values.clone());
    let mut places: Vec<(u32, usize)> = (0..)
        .zip(&tables.places)
        .filter(|(_, place)| **place != NONE)
        .map(|(i, place)| (*place, i))
        .collect();
    places.sort_unstable();
    let pairs = places.iter().flat_map(|(_, i)| [(i / relations) as f32, (i % relations) as f32]);
    insert("rule_relations", vec![rules, 2], pairs.collect());
    let of_chains = tables.chains.all.iter().flat_map(|chain| [chain.head, chain.first, chain.second]);
    insert("chain_relations", vec![chains, 3], of_chains.map(|relation| relation as f32).collect());
    insert("rule_supports", vec![all, 2], tables.supports.iter().flatten().copied().collect());
    insert("rule_confidences", vec![all, BINS], tables.confidences.clone());
    let bodies = tables.bodies.iter().map(|&bodies| bodies as f32);
    insert("rule_bodies", vec![all, BINS], bodies.collect());
    insert("recurrence", vec![relations], tables.recurrence.clone());
    insert("role_odds", vec![relations, relations], tables.role_odds.clone());
    let mut entities = 0;
    for (kind, labels) in labels.iter().flat_map(|labels| labels.kinds.iter().enumerate()) {
        entities = labels.of.len();
        insert(&format!("labels_{kind}"), vec![entities], numbers(&labels.of));
        insert(&format!("label_odds_{kind}"), vec![relations, labels.count], labels.odds.clone());
        insert(&format!("shared_odds_{kind}"), vec![relations], labels.shared_odds.clone());
    }
    let state = State {
        config: config.clone(),
        relations,
        rules,
        chains,
        hidden: weights.hidden,
        weights: weights.values.len(),
        horizon: *horizon,
        until: *until,
        seed: *seed,
        entities,
        labels: labels.as_ref().map(|labels| [labels.kinds[0].count, labels.kinds[1].count]),
    };
    let state = serde_json::to_value(state).map_err(|error| ModelError::Saved(error.to_string()))?;
    let bytes = arrays.to_bytes().map_err(|error| broken(&error))?;
    Ok(SavedModel { state, rules: None, tensors: Some(Tensors(bytes)) })
}

/// Where the rules of a list of two relations each are.
fn places(pairs: &[f32], relations: usize) -> Result<Vec<u32>, ModelError> {
    let mut places = vec![NONE; relations * relations];
    for (rule, pair) in (0..).zip(pairs.chunks_exact(2)) {
        let [head, body] = [pair[0] as usize, pair[1] as usize];
        if head >= relations || body >= relations {
            return Err(ModelError::Saved("a rule is about an unknown relation".to_owned()));
        }
        places[head * relations + body] = rule;
    }
    Ok(places)
}

/// Chains of a list of three relations each, which must be in order.
fn chains_of(numbers: &[f32], relations: usize) -> Result<Vec<Chain>, ModelError> {
    let chain = |relations: &[f32]| {
        let [head, first, second] = [0, 1, 2].map(|place| relations[place] as u32);
        Chain { head, first, second }
    };
    let chains: Vec<Chain> = numbers.chunks_exact(3).map(chain).collect();
    let known = |chain: &Chain| {
        [chain.head, chain.first, chain.second].iter().all(|&relation| (relation as usize) < relations)
    };
    if chains.iter().all(known) && chains.is_sorted() {
        return Ok(chains);
    }
    Err(ModelError::Saved("rules with two facts are about unknown relations, or not in order".to_owned()))
}

pub(super) fn load(saved: &SavedModel) -> Result<(Config, Learned), ModelError> {
    let state: State = saved_state(saved, "Herald state")?;
    let mut arrays = Arrays::from_bytes(saved_tensors(saved)?).map_err(|error| broken(&error))?;
    let mut take = |name: &str, shape: &[usize]| arrays.take(name, shape).map_err(|error| broken(&error));
    let State { relations, rules, chains, .. } = state;
    // Sizes that arrays have are small enough to compute with.
    let recurrence = take("recurrence", &[relations])?;
    let role_odds = take("role_odds", &[relations, relations])?;
    if state.hidden.iter().any(|&width| width > MOST_HIDDEN) {
        return Err(ModelError::Saved(format!("a layer is wider than {MOST_HIDDEN}")));
    }
    let weights = Weights { values: take("weights", &[state.weights])?, hidden: state.hidden };
    if weights.shared() + relations * FEATURES != state.weights {
        return Err(ModelError::Saved("it has another number of weights".to_owned()));
    }
    let places = places(&take("rule_relations", &[rules, 2])?, relations)?;
    let of_chains = chains_of(&take("chain_relations", &[chains, 3])?, relations)?;
    // Arrays of these sizes were found: their sum is small.
    let all = rules + chains;
    let supports = take("rule_supports", &[all, 2])?;
    let tables = Tables {
        relations,
        places,
        chains: Chains::new(of_chains, relations, rules),
        confidences: take("rule_confidences", &[all, BINS])?,
        bodies: take("rule_bodies", &[all, BINS])?.into_iter().map(|bodies| bodies as u32).collect(),
        supports: supports.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect(),
        recurrence,
        role_odds,
        ..Tables::default()
    };
    let mut kind = |kind: usize, count: usize| -> Result<Kind, ModelError> {
        let of = ids(take(&format!("labels_{kind}"), &[state.entities])?);
        if of.iter().any(|&label| label != NONE && label as usize >= count) {
            return Err(ModelError::Saved("an entity has an unknown label".to_owned()));
        }
        Ok(Kind {
            of,
            count,
            odds: take(&format!("label_odds_{kind}"), &[relations, count])?,
            shared_odds: take(&format!("shared_odds_{kind}"), &[relations])?,
        })
    };
    let labels = match state.labels {
        Some([countries, sectors]) => Some(Labels { kinds: [kind(0, countries)?, kind(1, sectors)?] }),
        None => None,
    };
    arrays.finish().map_err(|error| broken(&error))?;
    let State { config, horizon, until, seed, .. } = state;
    Ok((config, Learned { tables: tables.with_log_odds(), labels, weights, horizon, until, seed }))
}
