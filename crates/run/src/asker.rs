//! Asks a fitted model of facts with times, and turns its scores and reasons into names and dates.

use quadcast_core::{
    Dataset, Direction, EntityId, Explanation, FiredRule, Forecaster, History, Quad, Query, ScoreError,
    ScoreRow, ScoreSink, Step, Weighing,
};

use crate::rule_words::{card, told};
use crate::{Addition, Answer, AnswerOptions, DatedFact, Fired, Forecast, Reason, RunError, Why};

/// A model that can be asked, and the names and times to answer with.
#[derive(Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub name: &'a str,
    pub model: &'a dyn Forecaster,
    pub data: &'a Dataset,
}

impl Asker<'_> {
    /// Asks the model, which has begun the step of the query.
    pub fn answer(
        self,
        history: &History<'_>,
        query: &Query,
        options: AnswerOptions,
    ) -> Result<Forecast, RunError> {
        let data = self.data;
        let mut sink = Candidates::all(data.entities());
        self.model.score(history, &[*query], &mut sink)?;
        let total: f64 = sink.scores.iter().map(|(_, score)| *score).sum();
        let additive = total > 0.0 && total.is_finite() && sink.scores.iter().all(|(_, score)| *score >= 0.0);
        let best: Vec<(EntityId, f64)> = sink.best(options.top).collect();
        let answers = best.into_iter().enumerate().map(|(i, (id, score))| {
            let why = if options.explain { self.reasons(history, query, id)? } else { None };
            let entity = data.vocabulary.entities.name(id.0).into_owned();
            let share = additive.then(|| score / total);
            Ok(Answer { rank: i + 1, entity, score, share, known: None, why })
        });
        let answers = answers.collect::<Result<_, RunError>>()?;
        let known = Some(data.vocabulary.entities.name(query.known.0).into_owned());
        let (subject, object) = match query.direction {
            Direction::Object => (known, None),
            Direction::Subject => (None, known),
        };
        let last = history.ceiling().0.checked_sub(1).map(Step);
        Ok(Forecast {
            model: self.name.to_owned(),
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
        self,
        history: &History<'_>,
        query: &Query,
        answer: EntityId,
    ) -> Result<Option<Why>, RunError> {
        let explanation = self.model.explain(history, query, answer)?;
        // The list of rules is left out only for a model without rules; an empty one says that none fired.
        let capabilities = self.model.capabilities();
        let by_rules = capabilities.rules || capabilities.counts_rules;
        Ok(explanation.map(|explanation| Why {
            parts_of: match explanation.weighing {
                Weighing::PartsOf(whole) => Some(whole).filter(|whole| *whole != explanation.score),
                Weighing::Losses => None,
            },
            losses: explanation.weighing == Weighing::Losses,
            rules: by_rules
                .then(|| explanation.rules.iter().map(|rule| self.fired(&explanation, rule)).collect()),
            facts: explanation
                .evidence
                .iter()
                .map(|e| Reason {
                    fact: self.dated(e.fact),
                    weight: e.weight,
                    group: e.group.map(str::to_owned),
                })
                .collect(),
            also: explanation
                .also
                .into_iter()
                .map(|c| Addition { text: c.text, weight: c.weight, group: c.group.map(str::to_owned) })
                .collect(),
            details: explanation.details,
        }))
    }

    fn fired(self, explanation: &Explanation, fired: &FiredRule) -> Fired {
        let names = (&self.data.vocabulary.entities, &self.data.vocabulary.relations);
        let ends = (explanation.query.known, explanation.answer);
        let chain = fired.groundings.first().map(Vec::as_slice);
        let facts = |chain: &Vec<Quad>| chain.iter().map(|fact| self.dated(*fact)).collect();
        Fired {
            rule: card(&fired.rule, names.1),
            sentence: told(&fired.rule, names, ends, chain),
            score: fired.score,
            // A rule that is certain leaves nothing to share; JSON has no word for that.
            share: if fired.share.is_finite() { fired.share } else { 0.0 },
            confidence_part: fired.confidence_part,
            recency_part: fired.recency_part,
            latest: self.data.axis.label(fired.latest),
            groundings: fired.groundings.iter().map(facts).collect(),
            grounding_count: fired.grounding_count,
            groundings_cut: fired.groundings_cut,
        }
    }

    fn dated(self, fact: Quad) -> DatedFact {
        let (names, axis) = (&self.data.vocabulary, &self.data.axis);
        DatedFact {
            subject: names.entities.name(fact.subject.0).into_owned(),
            relation: names.relations.name(fact.relation.0).into_owned(),
            object: names.entities.name(fact.object.0).into_owned(),
            time: axis.label(fact.step),
        }
    }
}

/// The scores of one question's candidates.
pub(crate) struct Candidates<'a> {
    /// The candidates, ascending; `None` if all of an id space are.
    listed: Option<&'a [EntityId]>,
    entities: usize,
    pub scores: Vec<(EntityId, f64)>,
    /// How many of them the model scored.
    pub reached: usize,
}

impl<'a> Candidates<'a> {
    pub fn all(entities: usize) -> Self {
        Self { listed: None, entities, scores: Vec::new(), reached: 0 }
    }

    pub fn among(listed: &'a [EntityId]) -> Self {
        Self { listed: Some(listed), entities: listed.len(), scores: Vec::new(), reached: 0 }
    }

    /// The best candidates that were scored. "Not a number" ranks last; equal scores are in the order of ids, so that a table is the
    /// same every time.
    pub fn best(&mut self, top: usize) -> impl Iterator<Item = (EntityId, f64)> {
        let key = |score: f64| if score.is_nan() { f64::NEG_INFINITY } else { score };
        self.scores.sort_by(|a, b| key(b.1).total_cmp(&key(a.1)).then(a.0.cmp(&b.0)));
        self.scores.iter().copied().take(top.min(self.reached))
    }
}

impl ScoreSink for Candidates<'_> {
    fn accept(&mut self, _: usize, row: ScoreRow<'_>) -> Result<(), ScoreError> {
        let all = || (0..self.entities as u32).map(EntityId);
        match (row, self.listed) {
            (ScoreRow::Dense(scores), None) => {
                self.scores = all().zip(scores.iter().copied().map(f64::from)).collect();
                self.reached = self.entities;
            }
            (ScoreRow::Dense(scores), Some(listed)) => {
                self.scores = listed.iter().copied().zip(scores.iter().copied().map(f64::from)).collect();
                self.reached = listed.len();
            }
            (ScoreRow::Sparse { ids, scores, background }, None) => {
                let mut row: Vec<(EntityId, f64)> = all().map(|id| (id, background.score(id))).collect();
                let mut reached: Vec<bool> = row.iter().map(|(id, _)| background.reaches(*id)).collect();
                for (id, &score) in ids.iter().zip(scores) {
                    row[id.index()].1 = score;
                    reached[id.index()] = true;
                }
                self.reached = reached.iter().filter(|reached| **reached).count();
                self.scores = row;
            }
            (ScoreRow::Sparse { ids, scores, .. }, Some(listed)) => {
                let pairs = ids.iter().copied().zip(scores.iter().copied());
                self.scores = pairs.filter(|(id, _)| listed.binary_search(id).is_ok()).collect();
                self.reached = self.scores.len();
            }
        }
        Ok(())
    }
}
