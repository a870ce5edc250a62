//! Small graphs that change, and ranks counted candidate by candidate.

use std::collections::BTreeSet;

use quadcast_core::{
    Direction, EntityId, EvolvingModel, GraphSizes, GraphUpdate, GraphValidation, GraphView, LinkScore,
    ModelError, Query, RelationId, Step, Triple, stream,
};
use rand::Rng;

use crate::Collected;

/// A graph at one step.
pub struct Graph {
    /// Its step.
    pub step: Step,
    /// Its triples.
    pub triples: Vec<Triple>,
    /// Entities present, in order.
    pub present: Vec<EntityId>,
    /// Relations in use, in order.
    pub relations: Vec<RelationId>,
    /// Numbers of entities and relations.
    pub sizes: GraphSizes,
}

impl Graph {
    /// A graph of these triples, whose entities and relations are all that are present.
    pub fn new(step: u32, triples: Vec<Triple>, sizes: GraphSizes) -> Self {
        let present: BTreeSet<EntityId> = triples.iter().flat_map(|t| [t.subject, t.object]).collect();
        let relations: BTreeSet<RelationId> = triples.iter().map(|triple| triple.relation).collect();
        let (present, relations) = (present.into_iter().collect(), relations.into_iter().collect());
        Self { step: Step(step), triples, present, relations, sizes }
    }

    /// Distinct random triples of the first entities.
    pub fn random(seed: u64, count: usize, entities: u32, relations: u32, sizes: GraphSizes) -> Self {
        let mut stream = stream(seed, "graph", 0);
        let mut triples = Vec::new();
        while triples.len() < count {
            let mut entity = || stream.random_range(0..entities);
            let (subject, object) = (entity(), entity());
            let triple = Triple::new(subject, stream.random_range(0..relations), object);
            if subject != object && !triples.contains(&triple) {
                triples.push(triple);
            }
        }
        Self::new(0, triples, sizes)
    }

    /// What a model sees.
    pub fn view(&self) -> GraphView<'_> {
        let Self { step, triples, present, relations, sizes } = self;
        GraphView { step: *step, triples, present, relations, sizes: *sizes }
    }

    /// The graph after a change.
    #[must_use]
    pub fn after(&self, inserted: &[Triple], deleted: &[Triple]) -> Self {
        let kept = self.triples.iter().filter(|triple| !deleted.contains(triple));
        Self::new(self.step.0 + 1, kept.chain(inserted).copied().collect(), self.sizes)
    }

    /// What a model is told of the change that led here.
    pub fn update<'a>(&'a self, inserted: &'a [Triple], deleted: &'a [Triple]) -> GraphUpdate<'a> {
        GraphUpdate { graph: self.view(), inserted, deleted }
    }
}

/// Scores of all candidates for both questions of each triple, with the questions and the true answers.
pub fn scores(
    model: &mut dyn EvolvingModel,
    triples: &[Triple],
    candidates: &[EntityId],
) -> Vec<(Query, EntityId, Vec<f64>)> {
    model.begin(candidates).expect("a fitted model");
    let asked: Vec<(Query, EntityId)> = triples
        .iter()
        .flat_map(|triple| Direction::BOTH.map(|direction| Query::hide(triple.at(Step(0)), direction)))
        .collect();
    let queries: Vec<Query> = asked.iter().map(|(query, _)| *query).collect();
    let mut rows = Collected::among(candidates);
    model.score(&queries, &mut rows).expect("scores");
    let rows = rows.into_rows().into_iter();
    asked.into_iter().zip(rows).map(|((query, answer), row)| (query, answer, row)).collect()
}

/// Ranks of true answers among candidates that do not give a known triple; ties count half.
pub fn ranks(
    model: &mut dyn EvolvingModel,
    triples: &[Triple],
    known: &[Triple],
    candidates: &[EntityId],
) -> Vec<f64> {
    let rank = |(query, answer, row): (Query, EntityId, Vec<f64>)| {
        assert_eq!(row.len(), candidates.len(), "a score per candidate");
        let own = row[candidates.binary_search(&answer).expect("the answer is a candidate")];
        let others = candidates.iter().zip(&row).filter(|(candidate, _)| {
            **candidate != answer && !known.contains(&query.fact(**candidate, Step(0)).triple())
        });
        let weight = |score: f64| 0.5 * (f64::from(score > own) + f64::from(score >= own));
        1.0 + others.map(|(_, &score)| weight(score)).sum::<f64>()
    };
    scores(model, triples, candidates).into_iter().map(rank).collect()
}

/// Judges by ranking the graph's own triples.
pub struct OwnTriples<'a>(pub &'a Graph);

impl GraphValidation for OwnTriples<'_> {
    fn judge(&self, model: &mut dyn EvolvingModel) -> Result<LinkScore, ModelError> {
        let Graph { triples, present, .. } = self.0;
        let ranks = ranks(model, triples, triples, present);
        let mean = |f: fn(f64) -> f64| ranks.iter().map(|&rank| f(rank)).sum::<f64>() / ranks.len() as f64;
        Ok(LinkScore {
            queries: ranks.len() as u64,
            hits10: mean(|rank| if rank <= 10.0 { 1.0 } else { 0.0 }),
            mrr: mean(|rank| 1.0 / rank),
            mr: mean(|rank| rank),
        })
    }
}
