//! Questions to a model of a changing graph: who else belongs there now?

use std::collections::HashSet;

use quadcast_core::{
    EntityId, EvolvingDataset, EvolvingStep, Names, Query, RelationId, ScoreError, ScoreRow, ScoreSink,
    SplitTriples, Step, Triple,
};
use quadcast_eval::evolving::walk;
use quadcast_report::{Answer, Forecast};

use super::Options;
use super::question::Asked;
use crate::commands::evolve::trained::TrainedGraph;
use crate::failure::Failure;
use crate::lookup::lookup;

/// The scores of one question's candidates.
struct Scores<'a> {
    candidates: &'a [EntityId],
    found: Vec<(EntityId, f64)>,
}

impl ScoreSink for Scores<'_> {
    fn accept(&mut self, _: usize, row: ScoreRow<'_>) -> Result<(), ScoreError> {
        self.found = match row {
            ScoreRow::Dense(scores) => {
                self.candidates.iter().copied().zip(scores.iter().map(|&score| f64::from(score))).collect()
            }
            ScoreRow::Sparse { ids, scores, .. } => {
                let listed = ids.iter().copied().zip(scores.iter().copied());
                listed.filter(|(id, _)| self.candidates.binary_search(id).is_ok()).collect()
            }
        };
        Ok(())
    }
}

/// Answers questions with the entities that the graph has after its last step. What is true already is marked.
pub fn answers(trained: TrainedGraph, asked: &[Asked], options: &Options) -> Result<Vec<Forecast>, Failure> {
    let TrainedGraph { mut model, graph, entry, .. } = trained;
    let data = &graph.dataset;
    expect_now(data, options.explain || asked.iter().any(|asked| asked.at.is_some()))?;
    let now = walk(data).last().ok_or_else(|| Failure::input(format!("{} has no steps", data.name)))?;
    let held_out = data.steps.last().map(held_out);
    let held_out = held_out.into_iter().flat_map(|held_out| held_out.valid.iter().chain(&held_out.test));
    let known: HashSet<Triple> = now.train.iter().chain(held_out).copied().collect();
    model.begin(&now.present).map_err(Failure::internal)?;
    let names = &data.vocabulary;
    let mut forecasts = Vec::with_capacity(asked.len());
    for asked in asked {
        let query = query(asked, &names.entities, &names.relations, now.step)?;
        let mut sink = Scores { candidates: &now.present, found: Vec::new() };
        model.score(&[query], &mut sink).map_err(Failure::internal)?;
        let mut found = sink.found;
        let reached = found.len();
        // Equal scores stand in the order of ids, so that the table is the same every time.
        found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let answers = found.iter().take(options.top).zip(1..).map(|(&(entity, score), rank)| {
            let triple = query.fact(entity, now.step).triple();
            let entity = names.entities.name(entity.0).into_owned();
            Answer { rank, entity, score, share: None, known: Some(known.contains(&triple)), why: None }
        });
        forecasts.push(Forecast {
            model: entry.name.to_owned(),
            dataset: data.name.clone(),
            subject: asked.subject.clone(),
            relation: names.relations.name(query.relation.0).into_owned(),
            object: asked.object.clone(),
            at: format!("after step {}", now.label),
            known_until: Some(format!("step {}", now.label)),
            answers: answers.collect(),
            reached,
            candidates: now.present.len(),
        });
    }
    Ok(forecasts)
}

/// A graph that changes is asked about as it is now, and gives no reasons.
pub fn expect_now(data: &EvolvingDataset, more: bool) -> Result<(), Failure> {
    if more {
        return Err(Failure::input(format!(
            "{} is a graph that changes: questions are about the graph as it is, without --at and --explain",
            data.name
        )));
    }
    Ok(())
}

/// Everything that is held out and true at a step, whether it is asked about or not.
pub fn held_out(step: &EvolvingStep) -> &SplitTriples {
    step.evaluation_all.as_ref().unwrap_or(&step.evaluation)
}

fn query(asked: &Asked, entities: &Names, relations: &Names, step: Step) -> Result<Query, Failure> {
    let (known, direction) = asked.known_side()?;
    let known = lookup(entities, known, "entity").map_err(|why| asked.refuse(&why))?;
    let relation = lookup(relations, &asked.relation, "relation").map_err(|why| asked.refuse(&why))?;
    Ok(Query { step, known: EntityId(known), relation: RelationId(relation), direction })
}
