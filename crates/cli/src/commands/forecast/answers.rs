//! The best answers to a question, with names, shares and reasons.

use quadcast_core::{
    Dataset, Direction, EntityId, Explanation, FiredRule, Forecaster, History, Quad, Query, ScoreError,
    ScoreRow, ScoreSink, Step, Weighing,
};
use quadcast_report::{Addition, Answer, DatedFact, Fired, Forecast, Reason, Why};

use crate::failure::Failure;
use crate::rule_words::{card, told};

/// A model that can be asked, and the names and times to answer with.
#[derive(Clone, Copy)]
pub struct Asker<'a> {
    pub name: &'a str,
    pub model: &'a dyn Forecaster,
    pub dataset: &'a Dataset,
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

/// Asks the model, which has begun the step of the query.
pub fn answer(
    asker: Asker<'_>,
    history: &History<'_>,
    query: &Query,
    top: usize,
    explain: bool,
) -> Result<Forecast, Failure> {
    let data = asker.dataset;
    let mut sink = Candidates { entities: data.entities(), scores: Vec::new(), reached: 0 };
    asker.model.score(history, &[*query], &mut sink).map_err(Failure::internal)?;
    let total: f64 = sink.scores.iter().map(|(_, score)| *score).sum();
    let additive = total > 0.0 && total.is_finite() && sink.scores.iter().all(|(_, score)| *score >= 0.0);
    // Not a number ranks last; equal scores stand in the order of ids so that the table is the same every time.
    let key = |score: f64| if score.is_nan() { f64::NEG_INFINITY } else { score };
    sink.scores.sort_by(|a, b| key(b.1).total_cmp(&key(a.1)).then(a.0.cmp(&b.0)));
    let best = sink.scores.iter().take(top.min(sink.reached)).enumerate();
    let answers = best
        .map(|(i, &(id, score))| {
            let why = if explain { reasons(asker, history, query, id)? } else { None };
            let entity = data.vocabulary.entities.name(id.0).into_owned();
            Ok(Answer {
                rank: i + 1,
                entity,
                score,
                share: additive.then(|| score / total),
                known: None,
                why,
            })
        })
        .collect::<Result<_, Failure>>()?;
    let known = Some(data.vocabulary.entities.name(query.known.0).into_owned());
    let (subject, object) = match query.direction {
        Direction::Object => (known, None),
        Direction::Subject => (None, known),
    };
    let last = history.ceiling().0.checked_sub(1).map(Step);
    Ok(Forecast {
        model: asker.name.to_owned(),
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
    asker: Asker<'_>,
    history: &History<'_>,
    query: &Query,
    answer: EntityId,
) -> Result<Option<Why>, Failure> {
    let explanation = asker.model.explain(history, query, answer).map_err(Failure::internal)?;
    // The list of rules is left out only where a model has none to show; an empty one says that none fired.
    let by_rules = asker.model.capabilities().rules;
    Ok(explanation.map(|explanation| Why {
        parts_of: match explanation.weighing {
            Weighing::PartsOf(whole) => Some(whole).filter(|whole| *whole != explanation.score),
            Weighing::Losses => None,
        },
        losses: explanation.weighing == Weighing::Losses,
        rules: by_rules
            .then(|| explanation.rules.iter().map(|rule| fired(asker, &explanation, rule)).collect()),
        facts: explanation
            .evidence
            .iter()
            .map(|e| Reason { fact: dated(asker.dataset, e.fact), weight: e.weight })
            .collect(),
        also: explanation.also.into_iter().map(|c| Addition { text: c.text, weight: c.weight }).collect(),
        details: explanation.details,
    }))
}

fn fired(asker: Asker<'_>, explanation: &Explanation, fired: &FiredRule) -> Fired {
    let data = asker.dataset;
    let names = (&data.vocabulary.entities, &data.vocabulary.relations);
    let ends = (explanation.query.known, explanation.answer);
    let chain = fired.groundings.first().map(Vec::as_slice);
    let facts = |chain: &Vec<Quad>| chain.iter().map(|fact| dated(data, *fact)).collect();
    Fired {
        rule: card(&fired.rule, names.1),
        sentence: told(&fired.rule, names, ends, chain),
        score: fired.score,
        // A rule that is certain leaves nothing to share; JSON has no word for that.
        share: if fired.share.is_finite() { fired.share } else { 0.0 },
        confidence_part: fired.confidence_part,
        recency_part: fired.recency_part,
        latest: data.axis.label(fired.latest),
        groundings: fired.groundings.iter().map(facts).collect(),
        grounding_count: fired.grounding_count,
        groundings_cut: fired.groundings_cut,
    }
}

fn dated(dataset: &Dataset, fact: Quad) -> DatedFact {
    let (names, axis) = (&dataset.vocabulary, &dataset.axis);
    DatedFact {
        subject: names.entities.name(fact.subject.0).into_owned(),
        relation: names.relations.name(fact.relation.0).into_owned(),
        object: names.entities.name(fact.object.0).into_owned(),
        time: axis.label(fact.step),
    }
}
