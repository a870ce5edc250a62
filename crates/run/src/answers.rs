//! Questions to a fitted model, and its answers about a missing subject or object.

use std::collections::HashSet;

use quadcast_core::{
    Dataset, Direction, EntityId, EvolvingDataset, EvolvingStep, History, HistoryIndex, Names, Query,
    RelationId, SplitTriples, Step, Task, Triple,
};
use quadcast_eval::evolving::walk;
use serde::Serialize;

use crate::asker::{Asker, Candidates};
use crate::lookup::lookup;
use crate::session::TaskPart;
use crate::{Answer, Filled, Forecast, JudgedTriple, RunError, Session};

/// A question as a person writes it. The side that is asked for is left out.
#[derive(Clone, Debug, Default)]
pub struct Question {
    /// Where it is, for messages: `file:line`.
    pub place: Option<String>,
    /// The known subject.
    pub subject: Option<String>,
    /// The relation.
    pub relation: Option<String>,
    /// The known object.
    pub object: Option<String>,
    /// The time asked about; by default the time after the last fact.
    pub at: Option<String>,
}

/// How to answer.
#[derive(Clone, Copy, Debug)]
pub struct AnswerOptions {
    /// How many answers.
    pub top: usize,
    /// Whether reasons are given.
    pub explain: bool,
}

impl Default for AnswerOptions {
    fn default() -> Self {
        Self { top: 10, explain: false }
    }
}

/// What a model says to a question.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Answered {
    /// Entities for the side that is missing.
    Entities(Forecast),
    /// Relations or times, of completion models.
    Filled(Filled),
    /// Whether a whole triple is plausible, of models of evolving graphs.
    Triple(JudgedTriple),
}

impl Question {
    /// The error of a question that cannot be asked.
    fn refuse(&self, why: &str) -> RunError {
        let place = self.place.as_ref().map(|place| format!("{place}: ")).unwrap_or_default();
        RunError::input(format!("{place}{why}"))
    }

    /// The side that is given, and the direction of the query.
    fn known_side(&self) -> Result<(&str, Direction), RunError> {
        match (&self.subject, &self.object) {
            (Some(subject), None) => Ok((subject, Direction::Object)),
            (None, Some(object)) => Ok((object, Direction::Subject)),
            (Some(_), Some(_)) => {
                Err(self.refuse("both sides are given; leave the one that is asked for empty"))
            }
            (None, None) => Err(self.refuse("neither subject nor object is given")),
        }
    }

    pub(crate) fn entity(&self, names: &Names, name: &str) -> Result<EntityId, RunError> {
        lookup(names, name, "entity").map(EntityId).map_err(|why| self.refuse(&why))
    }

    pub(crate) fn relation(&self, names: &Names) -> Result<Option<RelationId>, RunError> {
        let found = self.relation.as_deref().map(|name| lookup(names, name, "relation")).transpose();
        Ok(found.map_err(|why| self.refuse(&why))?.map(RelationId))
    }

    /// The query about one side, at a step.
    fn query(&self, (entities, relations): (&Names, &Names), step: Step) -> Result<Query, RunError> {
        let (known, direction) = self.known_side()?;
        let known = self.entity(entities, known)?;
        let relation = self.relation(relations)?.ok_or_else(|| self.refuse("the relation is not given"))?;
        Ok(Query { step, known, relation, direction })
    }

    /// The step that the question is about; `None` if it does not say.
    pub(crate) fn step(&self, data: &Dataset) -> Result<Option<Step>, RunError> {
        let step = self.at.as_ref().map(|text| step_of(data, text)).transpose();
        step.map_err(|why| self.refuse(&why))
    }
}

/// The step of a time as a person writes it, or the next one after it.
pub(crate) fn step_of(data: &Dataset, text: &str) -> Result<Step, String> {
    let time = data.axis.calendar().parse(text).ok_or_else(|| {
        let last = data.axis.label(Step(data.axis.len().saturating_sub(1) as u32));
        format!("{text:?} is not a time of this dataset; write it like {last:?}")
    })?;
    Ok(data.axis.step_at_or_after(time))
}

impl Session {
    /// Answers one question of any kind.
    pub fn answer(&mut self, question: &Question, options: AnswerOptions) -> Result<Answered, RunError> {
        self.expect_honest()?;
        if let (Some(subject), Some(object)) = (&question.subject, &question.object) {
            return match &self.part {
                TaskPart::Timed(_) => self.fill(question, (subject, object), options).map(Answered::Filled),
                TaskPart::Evolving(_) => {
                    self.judge_triple(question, (subject, object), options).map(Answered::Triple)
                }
            };
        }
        let mut answers = self.answer_all(std::slice::from_ref(question), options)?;
        answers.pop().map(Answered::Entities).ok_or_else(|| RunError::internal("one question, one answer"))
    }

    /// Answers questions about a missing subject or object, in their order.
    pub fn answer_all(
        &mut self,
        questions: &[Question],
        options: AnswerOptions,
    ) -> Result<Vec<Forecast>, RunError> {
        self.expect_honest()?;
        match &self.part {
            TaskPart::Timed(_) => self.answer_timed(questions, options),
            TaskPart::Evolving(_) => self.answer_evolving(questions, options),
        }
    }

    /// A model that demonstrates the query-set leak has nothing to say about a query alone.
    fn expect_honest(&self) -> Result<(), RunError> {
        self.record.expect_honest("this run")
    }

    /// Questions about the same time are asked together, so that a model prepares for each time once.
    fn answer_timed(
        &mut self,
        questions: &[Question],
        options: AnswerOptions,
    ) -> Result<Vec<Forecast>, RunError> {
        let TaskPart::Timed(part) = &self.part else { return Ok(Vec::new()) };
        let (data, name, task) = (part.evaluator.dataset(), self.plan.entry.name, self.task());
        let query = |question: &Question| {
            let step = question.step(data)?.unwrap_or(Step(data.axis.len() as u32));
            if let Some(why) = objection(name, task, data, step) {
                return Err(question.refuse(&why));
            }
            question.query((&data.vocabulary.entities, &data.vocabulary.relations), step)
        };
        let queries: Vec<Query> = questions.iter().map(query).collect::<Result<_, _>>()?;
        let mut order: Vec<usize> = (0..queries.len()).collect();
        order.sort_by_key(|&i| queries[i].step);
        let mut forecasts: Vec<Option<Forecast>> = vec![None; queries.len()];
        let (index, model) = (part.evaluator.known_now(), self.model.timed()?);
        let mut prepared = None;
        for i in order {
            self.run.check_cancelled()?;
            let query = &queries[i];
            let history = view(index, task, data, query.step);
            if prepared != Some(query.step) {
                model.begin(query.step, &history)?;
                prepared = Some(query.step);
            }
            let asker = Asker { name, model, data };
            forecasts[i] = Some(asker.answer(&history, query, options)?);
        }
        Ok(forecasts.into_iter().flatten().collect())
    }

    /// Answers with the entities that the graph has after its last step. What is true already is marked.
    fn answer_evolving(
        &mut self,
        questions: &[Question],
        options: AnswerOptions,
    ) -> Result<Vec<Forecast>, RunError> {
        let TaskPart::Evolving(part) = &self.part else { return Ok(Vec::new()) };
        let (data, model) = (&part.graph.dataset, self.model.evolving()?);
        expect_now(data, options.explain || questions.iter().any(|question| question.at.is_some()))?;
        let now = walk(data).last().ok_or_else(|| RunError::input(format!("{} has no steps", data.name)))?;
        let held_out = data.steps.last().map(held_out);
        let held_out = held_out.into_iter().flat_map(|held_out| held_out.valid.iter().chain(&held_out.test));
        let known: HashSet<Triple> = now.train.iter().chain(held_out).copied().collect();
        model.begin(&now.present)?;
        let names = &data.vocabulary;
        let mut forecasts = Vec::with_capacity(questions.len());
        for question in questions {
            let query = question.query((&names.entities, &names.relations), now.step)?;
            let mut sink = Candidates::among(&now.present);
            model.score(&[query], &mut sink)?;
            let answers = sink.best(options.top).enumerate().map(|(i, (entity, score))| {
                let triple = query.fact(entity, now.step).triple();
                let (rank, known) = (i + 1, Some(known.contains(&triple)));
                let entity = names.entities.name(entity.0).into_owned();
                Answer { rank, entity, score, share: None, known, why: None }
            });
            forecasts.push(Forecast {
                model: self.plan.entry.name.to_owned(),
                dataset: data.name.clone(),
                subject: question.subject.clone(),
                relation: names.relations.name(query.relation.0).into_owned(),
                object: question.object.clone(),
                at: format!("after step {}", now.label),
                known_until: Some(format!("step {}", now.label)),
                answers: answers.collect(),
                reached: sink.reached,
                candidates: now.present.len(),
            });
        }
        Ok(forecasts)
    }
}

/// What is known when a question about a step is asked.
pub(crate) fn view<'a>(index: &'a HistoryIndex, task: Task, data: &Dataset, step: Step) -> History<'a> {
    match task {
        Task::Completion => index.whole(),
        _ => index.before(step.min(Step(data.axis.len() as u32))),
    }
}

/// Why a question cannot be asked: a completion model knows nothing of times that the data does not have.
fn objection(name: &str, task: Task, data: &Dataset, step: Step) -> Option<String> {
    let axis = &data.axis;
    if task != Task::Completion || step.index() < axis.len() {
        return None;
    }
    let last = Step(axis.len().saturating_sub(1) as u32);
    Some(format!(
        "{name} completes facts at times of its data: give --at from {} to {}",
        axis.label(Step(0)),
        axis.label(last)
    ))
}

/// An evolving graph is asked about as it is now, and its models give no reasons.
pub(crate) fn expect_now(data: &EvolvingDataset, more: bool) -> Result<(), RunError> {
    if more {
        return Err(RunError::input(format!(
            "{} is an evolving graph: questions are about the graph as it is, without --at and --explain",
            data.name
        )));
    }
    Ok(())
}

/// Everything that is held out and true at a step, whether it is asked about or not.
pub(crate) fn held_out(step: &EvolvingStep) -> &SplitTriples {
    step.evaluation_all.as_ref().unwrap_or(&step.evaluation)
}
