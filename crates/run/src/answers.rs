//! Answers of a fitted model: to a question about a subject or an object, about a relation or a time, or about a whole triple.

use std::collections::HashSet;

use quadcast_core::{
    Dataset, Direction, EntityId, EvolvingDataset, EvolvingStep, Explanation, FiredRule, Forecaster, History,
    HistoryIndex, Names, Procedure, Quad, Query, RelationId, ScoreError, ScoreRow, ScoreSink, Split,
    SplitTriples, Step, Task, Triple, Weighing,
};
use quadcast_eval::evolving::{Classification, StepGraph, walk};
use serde::Serialize;

use crate::lookup::lookup;
use crate::rule_words::{card, told};
use crate::session::TaskPart;
use crate::{Addition, Answer, DatedFact, Fired, Forecast, Reason, Record, RunError, Session, Why};

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

/// What a model of an evolving graph says about a triple, and what the graph says.
#[derive(Clone, Debug, Serialize)]
pub struct JudgedTriple {
    /// The model that was asked.
    pub model: String,
    /// The graph.
    pub dataset: String,
    /// The subject.
    pub subject: String,
    /// The relation.
    pub relation: String,
    /// The object.
    pub object: String,
    /// After which step.
    pub at: String,
    /// Lower is more plausible; `None` where the model abstains.
    pub energy: Option<f32>,
    /// Triples below it are taken for true; `None` if the run has no threshold that fits.
    pub threshold: Option<f64>,
    /// Share of the test examples of the step that the threshold classified correctly.
    pub accuracy: Option<f64>,
    /// Whether the model takes the triple for true; `None` without a threshold.
    pub plausible: Option<bool>,
    /// Whether it is in the graph.
    pub known: bool,
    /// Which part of the graph it is in.
    pub split: Option<Split>,
    /// The last step with it in the graph, if there was one.
    pub last_known: Option<String>,
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

    fn entity(&self, names: &Names, name: &str) -> Result<EntityId, RunError> {
        lookup(names, name, "entity").map(EntityId).map_err(|why| self.refuse(&why))
    }

    fn relation(&self, names: &Names) -> Result<Option<RelationId>, RunError> {
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
    fn step(&self, data: &Dataset) -> Result<Option<Step>, RunError> {
        let step = |text: &String| {
            let time = data.axis.calendar().parse(text).ok_or_else(|| {
                let last = data.axis.label(Step(data.axis.len().saturating_sub(1) as u32));
                self.refuse(&format!("{text:?} is not a time of this dataset; write it like {last:?}"))
            })?;
            Ok(data.axis.step_at_or_after(time))
        };
        self.at.as_ref().map(step).transpose()
    }
}

impl Session {
    /// Answers one question of any kind.
    pub fn answer(&mut self, question: &Question, options: AnswerOptions) -> Result<Answered, RunError> {
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
        match &self.part {
            TaskPart::Timed(_) => self.answer_timed(questions, options),
            TaskPart::Evolving(_) => self.answer_evolving(questions, options),
        }
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

    /// Which relation or time completes a fact best.
    fn fill(
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

    /// Whether a triple of an evolving graph is plausible, and whether it is there.
    fn judge_triple(
        &mut self,
        question: &Question,
        (subject, object): (&str, &str),
        options: AnswerOptions,
    ) -> Result<JudgedTriple, RunError> {
        let TaskPart::Evolving(part) = &self.part else {
            return Err(RunError::internal("an evolving graph is expected here"));
        };
        let data = &part.graph.dataset;
        expect_now(data, options.explain || question.at.is_some())?;
        let names = &data.vocabulary;
        let relation = question.relation(&names.relations)?.ok_or_else(|| {
            RunError::input(
                "which relation? Give --relation as well: with both sides, a run on an evolving graph tells whether \
                 a triple is plausible",
            )
        })?;
        let subject = question.entity(&names.entities, subject)?;
        let triple = Triple { subject, relation, object: question.entity(&names.entities, object)? };
        let TriplePlace { now, split, last_known } = place_of(data, &triple)?;
        let model = self.model.evolving()?;
        model.begin(&now.present)?;
        let energies = model.energies(&[triple])?;
        let can_know = can_know(self.plan.protocol.procedure, &now, &triple);
        let energy = energies.first().copied().filter(|energy| can_know && energy.is_finite());
        let classification = classification(&self.record, model.capabilities().partial);
        let threshold = classification.map(|own| own.threshold);
        Ok(JudgedTriple {
            model: self.plan.entry.name.to_owned(),
            dataset: data.name.clone(),
            subject: names.entities.name(triple.subject.0).into_owned(),
            relation: names.relations.name(relation.0).into_owned(),
            object: names.entities.name(triple.object.0).into_owned(),
            at: format!("after step {}", now.label),
            energy,
            threshold,
            accuracy: classification.map(|own| own.accuracy),
            plausible: threshold.map(|limit| energy.is_some_and(|energy| f64::from(energy) < limit)),
            known: split.is_some(),
            split,
            last_known,
        })
    }
}

/// What is known when a question about a step is asked.
fn view<'a>(index: &'a HistoryIndex, task: Task, data: &Dataset, step: Step) -> History<'a> {
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
fn expect_now(data: &EvolvingDataset, more: bool) -> Result<(), RunError> {
    if more {
        return Err(RunError::input(format!(
            "{} is an evolving graph: questions are about the graph as it is, without --at and --explain",
            data.name
        )));
    }
    Ok(())
}

/// Everything that is held out and true at a step, whether it is asked about or not.
fn held_out(step: &EvolvingStep) -> &SplitTriples {
    step.evaluation_all.as_ref().unwrap_or(&step.evaluation)
}

/// Where a triple is, and where it was last.
struct TriplePlace {
    /// The graph after the last step.
    now: StepGraph,
    split: Option<Split>,
    last_known: Option<String>,
}

fn place_of(data: &EvolvingDataset, triple: &Triple) -> Result<TriplePlace, RunError> {
    let (mut found, mut last_known) = (None, None);
    for (now, step) in walk(data).zip(&data.steps) {
        let held_out = held_out(step);
        let parts =
            [(Split::Train, &now.train), (Split::Valid, &held_out.valid), (Split::Test, &held_out.test)];
        let split = parts.into_iter().find(|(_, triples)| triples.contains(triple)).map(|(split, _)| split);
        if split.is_some() {
            last_known = Some(now.label.clone());
        }
        found = Some((now, split));
    }
    let (now, split) = found.ok_or_else(|| RunError::input(format!("{} has no steps", data.name)))?;
    Ok(TriplePlace { now, split, last_known })
}

/// Whether the model can know a triple: a model that learned the last graph and nothing else abstains about entities that are not
/// in it.
fn can_know(procedure: Procedure, now: &StepGraph, triple: &Triple) -> bool {
    procedure != Procedure::Static || now.has_room_for(triple)
}

/// How triples were classified at the last step. Published artefacts ask models that may abstain for other triples than the one that
/// is meant, so that their thresholds say nothing about this one.
fn classification(record: &Record, partial: bool) -> Option<&Classification> {
    let last = record.evolving.as_ref()?.steps.last()?;
    last.classification.as_ref().filter(|_| !(record.protocol.compat && partial))
}

/// The scores of one question's candidates.
struct Candidates<'a> {
    /// The candidates, ascending; `None` if all of an id space are.
    listed: Option<&'a [EntityId]>,
    entities: usize,
    scores: Vec<(EntityId, f64)>,
    /// How many of them the model scored.
    reached: usize,
}

impl<'a> Candidates<'a> {
    fn all(entities: usize) -> Self {
        Self { listed: None, entities, scores: Vec::new(), reached: 0 }
    }

    fn among(listed: &'a [EntityId]) -> Self {
        Self { listed: Some(listed), entities: listed.len(), scores: Vec::new(), reached: 0 }
    }

    /// The best candidates that were scored. "Not a number" ranks last; equal scores are in the order of ids, so that a table is the
    /// same every time.
    fn best(&mut self, top: usize) -> impl Iterator<Item = (EntityId, f64)> {
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
        let by_rules = self.model.capabilities().rules;
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
                .map(|e| Reason { fact: self.dated(e.fact), weight: e.weight })
                .collect(),
            also: explanation.also.into_iter().map(|c| Addition { text: c.text, weight: c.weight }).collect(),
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

#[cfg(test)]
mod tests {
    use quadcast_core::{TripleOperation, Vocabulary};

    use super::*;

    /// (0, 0, 1) stays, (2, 0, 1) goes with the second step, (1, 0, 0) is held out, and entity 3 is never there.
    fn graph() -> EvolvingDataset {
        let step = |label: &str, operations: &[(Triple, bool)]| EvolvingStep {
            label: label.to_owned(),
            training: operations.iter().map(|&(triple, insert)| TripleOperation { triple, insert }).collect(),
            evaluation: SplitTriples { valid: Vec::new(), test: vec![Triple::new(1, 0, 0)] },
            ..EvolvingStep::default()
        };
        let first = [(Triple::new(0, 0, 1), true), (Triple::new(2, 0, 1), true)];
        let steps = vec![step("a", &first), step("b", &[(Triple::new(2, 0, 1), false)])];
        let vocabulary = Vocabulary { entities: Names::anonymous(4), relations: Names::anonymous(1) };
        EvolvingDataset { name: "graph".to_owned(), vocabulary, steps }
    }

    #[test]
    fn the_graph_knows_what_is_in_it_and_what_was() {
        let data = graph();
        let of = |triple: Triple| {
            let TriplePlace { now, split, last_known } = place_of(&data, &triple).expect("steps");
            let known = [Procedure::Static, Procedure::Incremental].map(|p| can_know(p, &now, &triple));
            (split, last_known, known)
        };
        let at = |label: &str| Some(label.to_owned());
        assert_eq!(of(Triple::new(0, 0, 1)), (Some(Split::Train), at("b"), [true, true]));
        assert_eq!(of(Triple::new(1, 0, 0)), (Some(Split::Test), at("b"), [true, true]));
        assert_eq!(of(Triple::new(2, 0, 1)), (None, at("a"), [false, true]), "entity 2 has left");
        assert_eq!(of(Triple::new(1, 0, 1)), (None, None, [true, true]));
        assert_eq!(of(Triple::new(0, 0, 3)), (None, None, [false, true]));
    }
}
