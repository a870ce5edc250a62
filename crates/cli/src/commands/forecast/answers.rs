//! The best answers to a question, with names, shares and reasons.

use quadcast_core::{Contribution, Direction, EntityId, History, Quad, ScoreError, ScoreRow, ScoreSink};
use serde::Serialize;

use super::question::Question;
use crate::failure::Failure;
use crate::trained::Trained;

/// A question and its best answers.
#[derive(Clone, Debug, Serialize)]
pub struct Forecast {
    pub model: &'static str,
    pub dataset: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    pub relation: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The time asked about.
    pub at: String,
    /// The time of the latest fact that could be used.
    pub known_until: Option<String>,
    pub answers: Vec<Answer>,
    /// Candidates that the model has something to say about.
    pub reached: usize,
    pub candidates: usize,
}

/// One answer.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    pub rank: usize,
    pub entity: String,
    pub score: f64,
    /// Part of the sum of all scores; absent where scores are not additive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
}

/// What an answer rests on.
#[derive(Clone, Debug, Serialize)]
pub struct Why {
    pub facts: Vec<Reason>,
    /// What else adds to the score.
    pub also: Vec<Contribution>,
    /// Numbers of the model.
    pub details: serde_json::Map<String, serde_json::Value>,
}

/// A past fact and its part in the score.
#[derive(Clone, Debug, Serialize)]
pub struct Reason {
    pub subject: String,
    pub relation: String,
    pub object: String,
    pub time: String,
    pub weight: f64,
}

/// Scores every candidate of one question.
struct Candidates {
    entities: usize,
    scores: Vec<(EntityId, f64)>,
    reached: usize,
}

impl ScoreSink for Candidates {
    fn accept(&mut self, _: usize, row: ScoreRow<'_>) -> Result<(), ScoreError> {
        let all = (0..self.entities as u32).map(EntityId);
        match row {
            ScoreRow::Dense(scores) => {
                self.scores = all.zip(scores.iter().copied().map(f64::from)).collect();
                self.reached = self.entities;
            }
            ScoreRow::Sparse { ids, scores, background } => {
                let mut row: Vec<(EntityId, f64)> = all.map(|id| (id, background.score(id))).collect();
                let mut reached: Vec<bool> = row.iter().map(|(id, _)| background.reaches(*id)).collect();
                for (id, &score) in ids.iter().zip(scores) {
                    row[id.index()].1 = score;
                    reached[id.index()] = true;
                }
                self.reached = reached.iter().filter(|reached| **reached).count();
                self.scores = row;
            }
        }
        Ok(())
    }
}

/// Asks the model, which has begun the step of the question.
pub fn answer(
    trained: &Trained,
    history: &History<'_>,
    question: &Question,
    top: usize,
    explain: bool,
) -> Result<Forecast, Failure> {
    let (data, query) = (&trained.dataset, &question.query);
    let mut sink = Candidates { entities: data.entities(), scores: Vec::new(), reached: 0 };
    trained.model.score(history, &[*query], &mut sink).map_err(Failure::internal)?;
    let total: f64 = sink.scores.iter().map(|(_, score)| *score).sum();
    let additive = total > 0.0 && total.is_finite() && sink.scores.iter().all(|(_, score)| *score >= 0.0);
    // Not a number ranks last; equal scores stand in the order of ids so that the table is the same every time.
    let key = |score: f64| if score.is_nan() { f64::NEG_INFINITY } else { score };
    sink.scores.sort_by(|a, b| key(b.1).total_cmp(&key(a.1)).then(a.0.cmp(&b.0)));
    let best = sink.scores.iter().take(top.min(sink.reached)).enumerate();
    let answers = best
        .map(|(i, &(id, score))| {
            let why = if explain { reasons(trained, history, question, id)? } else { None };
            let entity = data.vocabulary.entities.name(id.0).into_owned();
            Ok(Answer { rank: i + 1, entity, score, share: additive.then(|| score / total), why })
        })
        .collect::<Result<_, Failure>>()?;
    let known = Some(data.vocabulary.entities.name(query.known.0).into_owned());
    let (subject, object) = match query.direction {
        Direction::Object => (known, None),
        Direction::Subject => (None, known),
    };
    let last = history.ceiling().0.checked_sub(1).map(quadcast_core::Step);
    Ok(Forecast {
        model: trained.entry.name,
        dataset: data.name.clone(),
        subject,
        relation: data.vocabulary.relations.name(query.relation.0).into_owned(),
        object,
        at: data.axis.label(query.step),
        known_until: last.map(|step| data.axis.label(step)),
        answers,
        reached: sink.reached,
        candidates: data.entities(),
    })
}

fn reasons(
    trained: &Trained,
    history: &History<'_>,
    question: &Question,
    answer: EntityId,
) -> Result<Option<Why>, Failure> {
    let explanation = trained.model.explain(history, &question.query, answer).map_err(Failure::internal)?;
    Ok(explanation.map(|explanation| Why {
        facts: explanation.evidence.iter().map(|e| reason(trained, e.fact, e.weight)).collect(),
        also: explanation.also,
        details: explanation.details,
    }))
}

fn reason(trained: &Trained, fact: Quad, weight: f64) -> Reason {
    let (names, axis) = (&trained.dataset.vocabulary, &trained.dataset.axis);
    Reason {
        subject: names.entities.name(fact.subject.0).into_owned(),
        relation: names.relations.name(fact.relation.0).into_owned(),
        object: names.entities.name(fact.object.0).into_owned(),
        time: axis.label(fact.step),
        weight,
    }
}
