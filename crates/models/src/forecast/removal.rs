//! Explanations of models that have none of their own: past facts are removed, one at a time, and the score is taken again.

use std::cmp::Reverse;

use quadcast_core::{EntityId, Evidence, Explanation, Quad, Query, Weighing};
use serde_json::json;

/// Most facts that are removed, one at a time: each removal reads the past again.
const MOST_REMOVALS: usize = 24;

/// Explains the score of an answer: removes past facts about the known entity or the answer, one at a time. `score` computes the
/// score of the answer with all facts, or without one.
pub(super) fn explain(
    query: &Query,
    answer: EntityId,
    past: impl Iterator<Item = Quad>,
    mut score: impl FnMut(Option<Quad>) -> f64,
) -> Explanation {
    let full = score(None);
    let about = |fact: &Quad, entity: EntityId| fact.subject == entity || fact.object == entity;
    let mut nearby: Vec<Quad> = past.filter(|fact| about(fact, query.known) || about(fact, answer)).collect();
    // Most relevant first: facts about both entities, of the relation of the question, the newest.
    nearby.sort_by_key(|fact| {
        let both = about(fact, query.known) && about(fact, answer);
        (Reverse((both, fact.relation == query.relation, fact.step)), *fact)
    });
    let found = nearby.len();
    nearby.truncate(MOST_REMOVALS);
    let mut weigh = |fact: Quad| Evidence { fact, weight: full - score(Some(fact)), group: None };
    let mut evidence: Vec<Evidence> = nearby.into_iter().map(&mut weigh).collect();
    evidence.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()).then(b.fact.step.cmp(&a.fact.step)));
    let tried = evidence.len();
    let details = [("facts_nearby", json!(found)), ("facts_removed_one_by_one", json!(tried))];
    Explanation {
        query: *query,
        answer,
        score: full,
        weighing: Weighing::Losses,
        evidence,
        also: Vec::new(),
        rules: Vec::new(),
        details: details.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}
