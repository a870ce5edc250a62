//! Reasons of models that read recent snapshots: what the score would be if a fact had not happened.

use std::cmp::Reverse;
use std::sync::Arc;

use quadcast_core::{EntityId, Evidence, Explanation, History, ModelError, Quad, Query, Step, Weighing};
use serde_json::json;

use super::snapshots::{Arranged, last_steps};

/// Facts that are taken away at most, one at a time: each needs the snapshots to be read again.
const TRIED: usize = 24;

/// Takes away, one at a time, the facts about the known entity or the answer in the last `length` snapshots. `score` is
/// the score of the answer after reading some snapshots, oldest first.
pub(crate) fn explain(
    history: &History<'_>,
    query: &Query,
    answer: EntityId,
    length: usize,
    score: impl Fn(&[Arc<Arranged>]) -> f64,
) -> Result<Explanation, ModelError> {
    let mut steps: Vec<Step> = last_steps(history, length).collect();
    steps.reverse();
    let snapshots = steps.iter().map(|&step| Ok(history.snapshot(step)?.iter().collect()));
    let snapshots: Vec<Vec<Quad>> = snapshots.collect::<Result<_, ModelError>>()?;
    let arranged = |facts: &[Quad]| Arc::new(Arranged::new(history, &facts.iter().copied()));
    let whole: Vec<Arc<Arranged>> = snapshots.iter().map(|facts| arranged(facts)).collect();
    let full = score(&whole);

    let about = |fact: &Quad, entity: EntityId| fact.subject == entity || fact.object == entity;
    let near = |fact: &Quad| about(fact, query.known) || about(fact, answer);
    let mut nearby: Vec<Quad> = snapshots.iter().flatten().copied().filter(near).collect();
    // What is most likely to matter first: facts about both, of the relation asked about, the newest.
    nearby.sort_by_key(|fact| {
        let both = about(fact, query.known) && about(fact, answer);
        (Reverse((both, fact.relation == query.relation, fact.step)), *fact)
    });
    let found = nearby.len();
    nearby.truncate(TRIED);
    let mut evidence = Vec::with_capacity(nearby.len());
    for fact in nearby {
        let mut snapshots_without = whole.clone();
        for ((&step, facts), place) in steps.iter().zip(&snapshots).zip(&mut snapshots_without) {
            if step == fact.step {
                let rest: Vec<Quad> = facts.iter().copied().filter(|other| *other != fact).collect();
                *place = arranged(&rest);
            }
        }
        evidence.push(Evidence { fact, weight: full - score(&snapshots_without) });
    }
    evidence.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()).then(b.fact.step.cmp(&a.fact.step)));
    let tried = evidence.len();
    let details = [("facts_nearby", json!(found)), ("facts_removed_one_by_one", json!(tried))];
    Ok(Explanation {
        query: *query,
        answer,
        score: full,
        weighing: Weighing::Losses,
        evidence,
        also: Vec::new(),
        rules: Vec::new(),
        details: details.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    })
}
