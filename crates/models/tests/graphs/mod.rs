//! Small graphs that change, and a ranking of every candidate one by one.

use quadcast_core::{
    Direction, EntityId, EvolvingModel, GraphSizes, GraphUpdate, GraphValidation, GraphView, LinkScore,
    ModelError, Query, RelationId, ScoreError, ScoreRow, ScoreSink, Step, Triple, stream,
};
use rand::Rng;

/// A graph and what it was before.
pub struct Graph {
    pub step: Step,
    pub triples: Vec<Triple>,
    pub present: Vec<EntityId>,
    pub relations: Vec<RelationId>,
    pub sizes: GraphSizes,
}

impl Graph {
    /// A graph of these triples, whose entities and relations are all that are present.
    pub fn new(step: u32, triples: Vec<Triple>, sizes: GraphSizes) -> Self {
        let mut present: Vec<EntityId> = triples.iter().flat_map(|t| [t.subject, t.object]).collect();
        present.sort_unstable();
        present.dedup();
        let mut relations: Vec<RelationId> = triples.iter().map(|triple| triple.relation).collect();
        relations.sort_unstable();
        relations.dedup();
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

    pub fn view(&self) -> GraphView<'_> {
        let Self { step, triples, present, relations, sizes } = self;
        GraphView { step: *step, triples, present, relations, sizes: *sizes }
    }

    /// The graph after a change.
    pub fn after(&self, inserted: &[Triple], deleted: &[Triple]) -> Self {
        let kept = self.triples.iter().filter(|triple| !deleted.contains(triple));
        Self::new(self.step.0 + 1, kept.chain(inserted).copied().collect(), self.sizes)
    }

    pub fn update<'a>(&'a self, inserted: &'a [Triple], deleted: &'a [Triple]) -> GraphUpdate<'a> {
        GraphUpdate { graph: self.view(), inserted, deleted }
    }
}

/// Rows with a score per candidate, whatever form they come in.
struct Rows<'a> {
    rows: Vec<Vec<f32>>,
    candidates: &'a [EntityId],
}

impl ScoreSink for Rows<'_> {
    fn accept(&mut self, index: usize, row: ScoreRow<'_>) -> Result<(), ScoreError> {
        self.rows[index] = match row {
            ScoreRow::Dense(scores) => scores.to_vec(),
            ScoreRow::Sparse { ids, scores, background } => {
                let of = |&id: &EntityId| {
                    let listed = ids.iter().position(|&other| other == id);
                    listed.map_or_else(|| background.score(id), |place| scores[place]) as f32
                };
                self.candidates.iter().map(of).collect()
            }
        };
        Ok(())
    }
}

/// Scores of all candidates for both questions of each triple, with the questions and the true answers.
pub fn scores(
    model: &mut dyn EvolvingModel,
    triples: &[Triple],
    candidates: &[EntityId],
) -> Vec<(Query, EntityId, Vec<f32>)> {
    model.begin(candidates).expect("a fitted model");
    let asked: Vec<(Query, EntityId)> = triples
        .iter()
        .flat_map(|triple| Direction::BOTH.map(|direction| Query::hide(triple.at(Step(0)), direction)))
        .collect();
    let queries: Vec<Query> = asked.iter().map(|(query, _)| *query).collect();
    let mut rows = Rows { rows: vec![Vec::new(); queries.len()], candidates };
    model.score(&queries, &mut rows).expect("scores");
    asked.into_iter().zip(rows.rows).map(|((query, answer), row)| (query, answer, row)).collect()
}

/// Ranks of true answers among candidates that do not give a known triple; ties count half.
pub fn ranks(
    model: &mut dyn EvolvingModel,
    triples: &[Triple],
    known: &[Triple],
    candidates: &[EntityId],
) -> Vec<f64> {
    let rank = |(query, answer, row): (Query, EntityId, Vec<f32>)| {
        assert_eq!(row.len(), candidates.len(), "a score per candidate");
        let own = row[candidates.binary_search(&answer).expect("the answer is a candidate")];
        let others = candidates.iter().zip(&row).filter(|(candidate, _)| {
            **candidate != answer && !known.contains(&query.fact(**candidate, Step(0)).triple())
        });
        let weight = |score: f32| {
            if score > own {
                1.0
            } else if score == own {
                0.5
            } else {
                0.0
            }
        };
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
