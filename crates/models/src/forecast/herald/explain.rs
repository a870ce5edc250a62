//! Why an answer has its score: exact Shapley shares of the groups of evidence, and the facts and rules beneath them.

use quadcast_core::{
    Background, Contribution, DirectedRelation, Edge, EntityId, Evidence as FactEvidence, Explanation,
    FiredRule, History, ModelError, Quad, Query, Weighing,
};
use serde_json::{Value, json};

use super::background::Rest;
use super::chains::follow;
use super::counts::time_of;
use super::curves::plain_rule;
use super::evidence::Ask;
use super::features::{FEATURES, GROUP_NAMES, GROUPS, STARTS, row_without_evidence};
use super::moment::keep_best;
use super::rules::bin;
use super::{Herald, Worker};

/// Facts named per group, rules named, and bodies named per rule.
const FACTS: usize = 10;
const RULES: usize = 6;
const BODIES: usize = 3;
/// Third parties named.
const MIDDLES: usize = 3;
/// Groups, as [`GROUP_NAMES`] has them; the first ones consist of facts.
const FACT_GROUPS: usize = 2;
const POPULARITY: usize = 2;
const RULE_GROUP: usize = 3;
const PATHS: usize = 4;
const ROLES: usize = 5;
/// Half-life by which facts share the part of their group.
const HALF_LIFE: f64 = 16.0;

/// The values of all coalitions of groups for one candidate: bit `g` says whether group `g` has its evidence.
pub(super) fn coalitions(
    herald: &Herald,
    relation: u32,
    row: &[f32],
    worker: &mut Worker,
) -> Result<Vec<f64>, ModelError> {
    let mut absent = row_without_evidence(&worker.shared, herald.parts());
    for &group in &herald.config.without {
        absent[STARTS[usize::from(group)]..STARTS[usize::from(group) + 1]].fill(0.0);
    }
    let mut rows = Vec::with_capacity(FEATURES << GROUPS);
    for coalition in 0..1_usize << GROUPS {
        for group in 0..GROUPS {
            let from = if coalition >> group & 1 == 1 { row } else { &absent };
            rows.extend_from_slice(&from[STARTS[group]..STARTS[group + 1]]);
        }
    }
    worker.layers.forward(herald.weights()?, relation, &rows);
    Ok(worker.layers.scores.iter().map(|&score| f64::from(score)).collect())
}

/// Shapley shares: the mean gain of a group over all orders in which groups can join.
pub(super) fn shapley(values: &[f64]) -> [f64; GROUPS] {
    let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
    let mut shares = [0.0; GROUPS];
    for (group, share) in shares.iter_mut().enumerate() {
        for coalition in (0..values.len()).filter(|coalition| coalition >> group & 1 == 0) {
            let size = coalition.count_ones() as usize;
            let weight = factorial(size) * factorial(GROUPS - 1 - size) / factorial(GROUPS);
            *share += weight * (values[coalition | 1 << group] - values[coalition]);
        }
    }
    shares
}

pub(super) fn explain(
    herald: &Herald,
    history: &History<'_>,
    query: &Query,
    answer: EntityId,
    worker: &mut Worker,
) -> Result<Explanation, ModelError> {
    let relation = query.directed(history.relations());
    herald.score_candidates(query.known.0, relation.0, worker)?;
    let ask = herald.ask(query.known.0, relation.0)?;
    let rest = Rest { counts: ask.counts, moment: ask.moment, relation: relation.0 };
    let (answers, facts) = rest.numbers(answer.0);
    let popularity = format!(
        "popularity: {answers} of {} answers to this relation, {facts} facts",
        ask.counts.relations[relation.index()].n
    );
    let mut explanation = Explanation {
        query: *query,
        answer,
        score: rest.score(answer),
        weighing: Weighing::PartsOf(rest.score(answer)),
        evidence: Vec::new(),
        also: Vec::new(),
        rules: Vec::new(),
        details: serde_json::Map::new(),
    };
    let Some(place) = worker.ids.iter().position(|&id| id == answer) else {
        let text = format!("{popularity}; no candidate, below all of them");
        let group = Some(GROUP_NAMES[POPULARITY]);
        explanation.also.push(Contribution { text, weight: explanation.score, group });
        return Ok(explanation);
    };
    let score = worker.scores[place];
    (explanation.score, explanation.weighing) = (score, Weighing::PartsOf(score));
    let row = worker.rows[place * FEATURES..][..FEATURES].to_vec();
    let (shares, without) = divided(herald, relation.0, &row, score, worker)?;
    let edges: Vec<Edge> =
        history.edges(query.known).iter().copied().filter(|edge| edge.other == answer).collect();
    explanation.rules = fired_rules(herald, history, query, &edges, worker)?;
    explanation.rules.extend(fired_chains(&ask, history, query, answer));
    best_rules(&mut explanation.rules);
    let paths = third_parties(&ask, history, answer);
    add_parts(&mut explanation, history, &edges, &shares, [&popularity, &paths]);
    let text = "score without evidence".to_owned();
    explanation.also.push(Contribution { text, weight: without, group: None });
    explanation.details.insert("without_evidence".to_owned(), json!(without));
    explanation.details.insert("candidates".to_owned(), json!(worker.ids.len()));
    Ok(explanation)
}

/// The shares of the groups, and the score of a candidate without evidence.
fn divided(
    herald: &Herald,
    relation: u32,
    row: &[f32],
    score: f64,
    worker: &mut Worker,
) -> Result<([f64; GROUPS], f64), ModelError> {
    let mut values = coalitions(herald, relation, row, worker)?;
    // The last bits of a product can depend on the number of rows; the score is the one that ranks.
    if let Some(whole) = values.last_mut() {
        *whole = score;
    }
    Ok((shapley(&values), values[0]))
}

/// Whom the strongest paths of two facts lead over, in words.
fn third_parties(ask: &Ask<'_>, history: &History<'_>, answer: EntityId) -> String {
    let neighbours = |entity: u32| &ask.moment.neighbours(ask.counts, entity).all;
    let mut over: Vec<(u32, f32)> = Vec::new();
    for &(middle, weight) in neighbours(ask.known).iter().filter(|(middle, _)| *middle != answer.0) {
        let last = neighbours(middle).iter().find(|(other, _)| *other == answer.0);
        over.extend(last.map(|(_, further)| (middle, weight * further)));
    }
    keep_best(&mut over, MIDDLES);
    let names = history.entity_names().filter(|_| !over.is_empty());
    names.map_or_else(
        || "paths: over third parties".to_owned(),
        |names| {
            let over: Vec<_> = over.iter().map(|(middle, _)| names.name(*middle)).collect();
            format!("paths: over {}", over.join(", "))
        },
    )
}

/// The fact that an edge of the known entity stands for.
fn fact(history: &History<'_>, query: &Query, edge: &Edge) -> Quad {
    let (relation, direction) = edge.relation.split(history.relations());
    Query { relation, direction, ..*query }.fact(edge.other, edge.step)
}

/// Facts of the same relation, and of the same pair, divide the shares of their groups by age; other shares stay whole.
fn add_parts(
    explanation: &mut Explanation,
    history: &History<'_>,
    edges: &[Edge],
    shares: &[f64; GROUPS],
    [popularity, paths]: [&str; 2],
) {
    let query = explanation.query;
    let (relation, now) = (query.directed(history.relations()), time_of(history, query.step));
    let mut counted = serde_json::Map::new();
    for (group, (&share, name)) in shares.iter().zip(GROUP_NAMES).enumerate() {
        let belongs = |edge: &&Edge| group < FACT_GROUPS && (edge.relation == relation) == (group == 0);
        let facts: Vec<&Edge> = edges.iter().rev().filter(belongs).collect();
        if facts.is_empty() {
            let text = match group {
                1 if !edges.is_empty() => format!("{name}: the same facts, whatever their relation"),
                0 | 1 => format!("{name}: never before"),
                POPULARITY => popularity.to_owned(),
                RULE_GROUP if explanation.rules.is_empty() => "rules: none leads to the answer".to_owned(),
                PATHS => paths.to_owned(),
                ROLES => "roles: compared with usual answers to this relation".to_owned(),
                _ => name.to_owned(),
            };
            explanation.also.push(Contribution { text, weight: share, group: Some(name) });
            continue;
        }
        counted.insert(name.to_owned(), json!(facts.len()));
        let recent = &facts[..facts.len().min(FACTS)];
        // Relative to the latest fact: a weight of 0 divides nothing.
        let latest = time_of(history, recent[0].step).min(now);
        let weight =
            |edge: &Edge| (-f64::from(latest.saturating_sub(time_of(history, edge.step))) / HALF_LIFE).exp2();
        let total: f64 = recent.iter().map(|edge| weight(edge)).sum();
        explanation.evidence.extend(recent.iter().map(|edge| FactEvidence {
            fact: fact(history, &query, edge),
            weight: share * weight(edge) / total,
            group: Some(name),
        }));
    }
    let by_group = GROUP_NAMES.iter().zip(shares).map(|(name, share)| ((*name).to_owned(), json!(share)));
    explanation.details.insert("shares".to_owned(), Value::Object(by_group.collect()));
    explanation.details.insert("facts".to_owned(), Value::Object(counted));
    explanation.evidence.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
    explanation.also.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
}

/// The rules with one fact, between the two entities.
fn fired_rules(
    herald: &Herald,
    history: &History<'_>,
    query: &Query,
    edges: &[Edge],
    worker: &Worker,
) -> Result<Vec<FiredRule>, ModelError> {
    let head = query.directed(history.relations());
    let ask = herald.ask(query.known.0, head.0)?;
    let entity = ask.entity();
    let found = edges.first().and_then(|edge| worker.evidence.of(edge.other.0));
    let Some(partner) = found.and_then(|found| entity.partners.get(found.partner as usize)) else {
        return Ok(Vec::new());
    };
    let mut fired = Vec::new();
    for (_, link) in entity.links_of_partner(partner) {
        let place = ask.tables.rules_of(head.0)[link.relation as usize];
        let score = f64::from(ask.tables.confidence(place, bin(&link.cell, ask.moment.time)));
        if score <= 0.0 {
            continue;
        }
        let body = DirectedRelation(link.relation);
        let own: Vec<&Edge> = edges.iter().rev().filter(|edge| edge.relation == body).collect();
        let Some(latest) = own.first() else { continue };
        let rule = plain_rule(ask.tables, head.0, &[link.relation], place as usize);
        let confidence = rule.confidence;
        fired.push(FiredRule {
            rule,
            score,
            share: 0.0,
            confidence_part: confidence,
            recency_part: score - confidence,
            latest: latest.step,
            groundings: own.iter().take(BODIES).map(|edge| vec![fact(history, query, edge)]).collect(),
            grounding_count: own.len() as u64,
            groundings_cut: false,
        });
    }
    Ok(fired)
}

/// Leaves the most confident rules, which divide the whole among them.
fn best_rules(fired: &mut Vec<FiredRule>) {
    fired.sort_by(|a, b| b.score.total_cmp(&a.score));
    fired.truncate(RULES);
    let total: f64 = fired.iter().map(|rule| rule.score).sum();
    for rule in fired {
        rule.share = rule.score / total;
    }
}

/// The rules with two facts that lead to the answer, each with its best bodies.
fn fired_chains(ask: &Ask<'_>, history: &History<'_>, query: &Query, answer: EntityId) -> Vec<FiredRule> {
    let (chains, first_place) = ask.tables.chains.of(ask.relation);
    let mut bodies: Vec<(usize, f32, u32)> = Vec::new();
    follow(chains, ask.counts, ask.moment, ask.known, |place, [middle, end], bin| {
        if end == answer.0 {
            bodies.push((place, ask.tables.confidence(first_place + place as u32, bin), middle));
        }
    });
    bodies.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
    let latest = |from: EntityId, relation: u32, to: EntityId| {
        let edge =
            history.edges(from).iter().rev().find(|edge| (edge.other, edge.relation.0) == (to, relation))?;
        let (relation, direction) = edge.relation.split(history.relations());
        Some(Query { known: from, relation, direction, ..*query }.fact(to, edge.step))
    };
    let fired = |group: &[(usize, f32, u32)]| {
        let (place, confidence, _) = group[0];
        let chain = chains[place];
        let body = |middle: u32| {
            let first = latest(query.known, chain.first, EntityId(middle))?;
            Some(vec![first, latest(EntityId(middle), chain.second, answer)?])
        };
        let groundings: Vec<Vec<Quad>> =
            group.iter().take(BODIES).filter_map(|entry| body(entry.2)).collect();
        let score = f64::from(confidence);
        let rule =
            plain_rule(ask.tables, ask.relation, &[chain.first, chain.second], first_place as usize + place);
        let overall = rule.confidence;
        let step = groundings.first()?.iter().map(|fact| fact.step).max()?;
        (score > 0.0).then_some(FiredRule {
            rule,
            score,
            share: 0.0,
            confidence_part: overall,
            recency_part: score - overall,
            latest: step,
            grounding_count: group.len() as u64,
            groundings_cut: false,
            groundings,
        })
    };
    bodies.chunk_by(|a, b| a.0 == b.0).filter_map(fired).collect()
}
