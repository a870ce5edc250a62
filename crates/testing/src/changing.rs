//! An evolving graph small enough to check on paper, and a model whose scores are a formula.

use quadcast_core::{
    Capabilities, CategoryKind, CategoryTriples, Constant, EntityId, EvolvingDataset, EvolvingModel,
    EvolvingStep, GraphUpdate, GraphValidation, GraphView, LinkScore, ModelError, Names, Query, Run,
    SavedModel, ScoreRow, ScoreSink, Split, SplitTriples, Task, Triple, TripleOperation, Vocabulary,
};
use serde_json::json;

use crate::small::{minus, plus};

/// A triple.
pub fn t(subject: u32, relation: u32, object: u32) -> Triple {
    Triple::new(subject, relation, object)
}

/// Two steps: (2,0,1) is deleted, (4,0,1) inserted, (0,1,3) deleted and inserted again within a step. Entity 5 is never
/// present.
pub fn data() -> EvolvingDataset {
    let step = |label: &str, training: &[TripleOperation], test: &[Triple]| EvolvingStep {
        label: label.to_owned(),
        training: training.to_vec(),
        evaluation: SplitTriples { valid: vec![t(3, 0, 1)], test: test.to_vec() },
        ..EvolvingStep::default()
    };
    let second = [minus(2, 0, 1), plus(4, 0, 1), minus(0, 1, 3), plus(0, 1, 3)];
    let mut steps = vec![
        step("1", &[plus(0, 0, 1), plus(2, 0, 1), plus(0, 1, 3)], &[t(0, 0, 3)]),
        step("2", &second, &[t(0, 0, 3), t(4, 1, 3)]),
    ];
    steps[1].categories =
        vec![CategoryTriples { kind: CategoryKind::Deleted, split: Split::Train, triples: vec![t(2, 0, 1)] }];
    let vocabulary = Vocabulary { entities: Names::anonymous(6), relations: Names::anonymous(2) };
    EvolvingDataset { name: "paper".to_owned(), vocabulary, steps }
}

/// A number for each triple that looks random, with ties.
pub fn energy(triple: Triple) -> f32 {
    ((triple.subject.0 * 7 + triple.relation.0 * 5 + triple.object.0 * 3) % 4) as f32
}

/// Scores with the formula of [`energy`], and notes what it is shown.
#[expect(clippy::struct_excessive_bools, reason = "each is a weakness of its own")]
#[derive(Default)]
pub struct Formula {
    /// The current candidates.
    pub candidates: Vec<EntityId>,
    /// Whether its rows are sparse.
    pub sparse: bool,
    /// What it was shown, in words.
    pub shown: Vec<String>,
    /// Its validation scores.
    pub validated: Vec<LinkScore>,
    /// Whether it reverses its order from its first update on.
    pub turns: bool,
    /// Whether it has reversed its order.
    pub turned: bool,
    /// Whether it abstains from judging single triples.
    pub silent: bool,
    /// Whether its scores are NaN.
    pub broken: bool,
    /// The step at which learning fails.
    pub fails_at: Option<u32>,
}

impl Formula {
    fn look(&mut self, word: &str, graph: &GraphView<'_>) -> Result<(), ModelError> {
        if self.fails_at == Some(graph.step.0) {
            return Err(ModelError::Training("killed".to_owned()));
        }
        let triples: Vec<_> = graph.triples.iter().map(|t| (t.subject.0, t.relation.0, t.object.0)).collect();
        let present: Vec<u32> = graph.present.iter().map(|id| id.0).collect();
        self.shown.push(format!("{word} {triples:?} {present:?}"));
        Ok(())
    }
}

impl EvolvingModel for Formula {
    fn capabilities(&self) -> Capabilities {
        Capabilities { updates: true, partial: self.sparse, ..Capabilities::new(Task::Evolving, &[]) }
    }

    fn fit(
        &mut self,
        graph: &GraphView<'_>,
        validation: &dyn GraphValidation,
        _: &Run,
    ) -> Result<(), ModelError> {
        if !graph.triples.is_empty() {
            let score = validation.judge(self)?;
            assert_eq!(score.queries, 2);
            self.validated.push(score);
        }
        self.look("fit", graph)
    }

    fn update(
        &mut self,
        update: &GraphUpdate<'_>,
        _: &dyn GraphValidation,
        _: &Run,
    ) -> Result<(), ModelError> {
        self.look("update", &update.graph)?;
        self.turned = self.turns;
        self.shown.push(format!("{} came, {} went", update.inserted.len(), update.deleted.len()));
        Ok(())
    }

    fn begin(&mut self, candidates: &[EntityId]) -> Result<(), ModelError> {
        self.candidates = candidates.to_vec();
        Ok(())
    }

    fn score(&self, queries: &[Query], sink: &mut dyn ScoreSink) -> Result<(), ModelError> {
        let background = Constant::unreached(self.candidates.len());
        for (index, query) in queries.iter().enumerate() {
            let of = |&id: &EntityId| {
                let energy = energy(query.fact(id, query.step).triple());
                match (self.broken, self.turned) {
                    (true, _) => f32::NAN,
                    (_, true) => energy,
                    _ => -energy,
                }
            };
            if self.sparse {
                // Entities with an even id, also those that are no candidates.
                let ids: Vec<EntityId> = (0..6).step_by(2).map(EntityId).collect();
                let scores: Vec<f64> = ids.iter().map(|id| f64::from(of(id))).collect();
                sink.accept(index, ScoreRow::Sparse { ids: &ids, scores: &scores, background: &background })?;
            } else {
                let row: Vec<f32> = self.candidates.iter().map(of).collect();
                sink.accept(index, ScoreRow::Dense(&row))?;
            }
        }
        Ok(())
    }

    fn energies(&self, triples: &[Triple]) -> Result<Vec<f32>, ModelError> {
        assert!(
            triples.iter().all(|t| t.subject.0 < 6 && t.relation.0 < 2 && t.object.0 < 6),
            "ids are in range"
        );
        let of = |triple| if self.silent { f32::INFINITY } else { energy(triple) };
        Ok(triples.iter().copied().map(of).collect())
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        Ok(SavedModel::plain(json!(self.shown)))
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        self.shown =
            serde_json::from_value(saved.state.clone()).map_err(|e| ModelError::Saved(e.to_string()))?;
        Ok(())
    }
}
