//! Which relation or time completes a fact best.

use quadcast_core::{Quad, RelationId, Step};
use serde::Serialize;

use crate::answers::view;
use crate::session::TaskPart;
use crate::{AnswerOptions, Question, RunError, Session};

/// A fact without its relation or its time, and what fits best.
#[derive(Clone, Debug, Serialize)]
pub struct Filled {
    /// The model that was asked.
    pub model: String,
    /// The dataset it was fitted to.
    pub dataset: String,
    /// `relation` or `time`.
    pub asked_for: &'static str,
    /// The subject.
    pub subject: String,
    /// The relation, if the time is asked for.
    pub relation: Option<String>,
    /// The object.
    pub object: String,
    /// The time, if the relation is asked for.
    pub at: Option<String>,
    /// Best first.
    pub answers: Vec<Filling>,
    /// Number of candidates.
    pub candidates: usize,
}

/// A relation or a time that completes a fact.
#[derive(Clone, Debug, Serialize)]
pub struct Filling {
    /// Its place, from 1.
    pub rank: usize,
    /// Its name.
    pub answer: String,
    /// The model's own number.
    pub score: f32,
    /// Whether the completed fact is among the known ones.
    pub known: bool,
}

impl Session {
    /// Which relation or time completes a fact best.
    pub(crate) fn fill(
        &mut self,
        question: &Question,
        (subject, object): (&str, &str),
        options: AnswerOptions,
    ) -> Result<Filled, RunError> {
        if options.explain {
            return Err(RunError::input("--explain is for questions about a subject or an object"));
        }
        let TaskPart::Timed(part) = &self.part else {
            return Err(RunError::internal("facts with times are expected here"));
        };
        let evaluator = &part.evaluator;
        let (data, name, task) = (evaluator.dataset(), self.plan.entry.name, self.task());
        let names = &data.vocabulary;
        let subject = question.entity(&names.entities, subject)?;
        let object = question.entity(&names.entities, object)?;
        let (relation, at) = (question.relation(&names.relations)?, question.step(data)?);
        let fact = |relation, step| Quad { subject, relation, object, step };
        let (asked_for, facts): (_, Vec<Quad>) = match (relation, at) {
            (None, Some(at)) => {
                ("relation", (0..data.relations() as u32).map(|r| fact(RelationId(r), at)).collect())
            }
            (Some(relation), None) => {
                ("time", (0..data.axis.len() as u32).map(|t| fact(relation, Step(t))).collect())
            }
            (None, None) => {
                return Err(RunError::input("two things are missing: give --relation or --at as well"));
            }
            (Some(_), Some(_)) => {
                return Err(RunError::input(
                    "nothing is missing: leave out what is asked for, --subject, --relation, --object or --at",
                ));
            }
        };
        let step = facts.first().map_or(Step(0), |fact| fact.step);
        let known = view(evaluator.known_now(), task, data, step);
        let model = self.model.timed()?;
        model.begin(step, &known)?;
        let scores = model.rate(&known, &facts)?.ok_or_else(|| {
            RunError::input(format!(
                "{name} cannot tell which {asked_for} fits best: its scores are made for subjects and objects; \
                 embedding models of completion can (see `quadcast models`)"
            ))
        })?;
        let mut order: Vec<usize> = (0..facts.len()).collect();
        // Equal scores are in the order of ids, so that the table is the same every time.
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        let called = |fact: &Quad| match asked_for {
            "time" => data.axis.label(fact.step),
            _ => names.relations.name(fact.relation.0).into_owned(),
        };
        let held = |fact: &Quad| {
            let splits = [&data.splits.train, &data.splits.valid];
            splits.iter().any(|facts| facts.snapshot(fact.step).iter().any(|other| other == *fact))
        };
        let best = order.iter().take(options.top).enumerate();
        let answers = best.map(|(i, &which)| Filling {
            rank: i + 1,
            answer: called(&facts[which]),
            score: scores[which],
            known: held(&facts[which]),
        });
        Ok(Filled {
            model: name.to_owned(),
            dataset: data.name.clone(),
            asked_for,
            subject: names.entities.name(subject.0).into_owned(),
            relation: relation.map(|relation| names.relations.name(relation.0).into_owned()),
            object: names.entities.name(object.0).into_owned(),
            at: at.map(|at| data.axis.label(at)),
            answers: answers.collect(),
            candidates: facts.len(),
        })
    }
}
