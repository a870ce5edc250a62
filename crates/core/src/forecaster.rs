//! What a model of facts with times is, and what it is given.

use serde::{Deserialize, Serialize};

use crate::{
    DirectedRelation, EntityId, FiredRule, History, Leak, ListedRule, ModelError, Quad, Query, Rule, Run,
    ScoreSink, Setting, Snapshot, Step, Task,
};

/// What a model can do.
#[expect(clippy::struct_excessive_bools, reason = "independent answers to independent questions")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// The task it solves.
    pub task: Task,
    /// Forecasting settings it supports.
    pub settings: &'static [Setting],
    /// Whether it gives reasons for its answers.
    pub explains: bool,
    /// Whether it can answer about entities that training never saw.
    pub inductive: bool,
    /// Whether two runs with different seeds can differ.
    pub random: bool,
    /// Whether what it learns are rules, which people can read, edit and take to other data.
    pub rules: bool,
    /// Whether it counts rules, which people can read but not edit.
    pub counts_rules: bool,
    /// Whether it can continue learning when an evolving graph changes.
    pub updates: bool,
    /// Whether deletions change what it learned.
    pub unlearns: bool,
    /// Whether it may abstain about a triple of known entities.
    pub partial: bool,
    /// Whether it can simulate whole graphs of later steps.
    pub simulates: bool,
    /// The setting that makes it read the names of entities, if it has one: its results then depend on them.
    pub reads_names: Option<&'static str>,
}

impl Capabilities {
    /// The least that a model of a task can do.
    pub const fn new(task: Task, settings: &'static [Setting]) -> Self {
        Self {
            task,
            settings,
            explains: false,
            inductive: false,
            random: false,
            rules: false,
            counts_rules: false,
            updates: false,
            unlearns: false,
            partial: false,
            simulates: false,
            reads_names: None,
        }
    }
}

/// A forecasting or completion model. The evaluator calls the verbs in this order: `fit` once; then for every step to be judged
/// `learn` (online only), `begin`, `score` (possibly on several threads), and, if the setting allows it, `observe`.
///
/// A completion model fills holes in facts of any time, knowing other facts of any time. Its history ends after the last step: it
/// holds the training facts, or the training and validation facts, and none that is asked about. There is one `begin` for all steps.
pub trait Forecaster: Send + Sync {
    /// What the model can do.
    fn capabilities(&self) -> Capabilities;

    /// Learns from the facts before the validation period; `validation` judges candidate models.
    fn fit(
        &mut self,
        history: &History<'_>,
        validation: &dyn Validation,
        run: &Run,
    ) -> Result<(), ModelError>;

    /// Goes on learning from everything before `step`; `rehearsal` judges on steps of the past. Called in the online
    /// setting only. What was learned here holds for the `begin` of the same step; a new evaluation, which starts at an
    /// earlier step, starts again from what `fit` left.
    fn learn(
        &mut self,
        _step: Step,
        _history: &History<'_>,
        _rehearsal: &dyn Rehearsal,
    ) -> Result<(), ModelError> {
        Ok(())
    }

    /// Prepares for queries about `step`, knowing `history`. Steps never go back within one evaluation, but a new
    /// evaluation may start at an earlier step.
    fn begin(&mut self, _step: Step, _history: &History<'_>) -> Result<(), ModelError> {
        Ok(())
    }

    /// Is shown all distinct queries of the step, after `begin` and before `score`. This exists for the demonstration of the
    /// query-set leak alone and is never called otherwise: a query must be answered without knowing the others.
    fn shown_queries(&mut self, _leak: Leak, _queries: &[Query]) {}

    /// Scores all candidates of each query; one row per query goes into the sink. Queries are about the step of the
    /// last `begin`, and `history` is the one given there.
    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError>;

    /// Is told the truth of a step after it was scored. Not called in multi-step evaluation.
    fn observe(&mut self, _snapshot: &Snapshot<'_>) -> Result<(), ModelError> {
        Ok(())
    }

    /// How plausible whole facts are, on one scale for all relations and times; `None` if the scores of the model cannot be
    /// compared so. Completion models have it.
    fn rate(&self, _history: &History<'_>, _facts: &[Quad]) -> Result<Option<Vec<f32>>, ModelError> {
        Ok(None)
    }

    /// The graph that the model expects at the step of the last `begin`: distinct facts, likeliest first, at most `most`; `None` if
    /// the model cannot simulate. It knows no facts of a later step than `history` does.
    fn simulate(
        &self,
        _history: &History<'_>,
        _step: Step,
        _most: usize,
    ) -> Result<Option<Vec<SimulatedFact>>, ModelError> {
        Ok(None)
    }

    /// Why `answer` has its score, or `None` if the model gives no reasons.
    fn explain(
        &self,
        _history: &History<'_>,
        _query: &Query,
        _answer: EntityId,
    ) -> Result<Option<Explanation>, ModelError> {
        Ok(None)
    }

    /// The rules that the model works with, to be read. Models that learn or count rules are asked for them.
    fn listed_rules(&self) -> Result<Vec<ListedRule>, ModelError> {
        let rules = self.save()?.rules.unwrap_or_default();
        Ok(rules.into_iter().map(|rule| ListedRule { rule, curve: None }).collect())
    }

    /// Takes rules as if it had learned them.
    fn take_rules(&mut self, _rules: Vec<Rule>) -> Result<(), ModelError> {
        Err(ModelError::Unsupported("the model uses no rules".to_owned()))
    }

    /// The learned state; an error for what only answers and learns nothing.
    fn save(&self) -> Result<SavedModel, ModelError> {
        Err(ModelError::Unsupported("it holds no learned state".to_owned()))
    }

    /// Takes a learned state that `save` gave.
    fn load(&mut self, _saved: &SavedModel) -> Result<(), ModelError> {
        Err(ModelError::Unsupported("it holds no learned state".to_owned()))
    }
}

/// A fact of a simulated graph.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SimulatedFact {
    /// The fact.
    pub fact: Quad,
    /// How likely one fact drawn from the simulated step is this one.
    pub share: f64,
}

/// Learned state in an open format.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SavedModel {
    /// Everything that is not listed below.
    pub state: serde_json::Value,
    /// The rules of a model that learns rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<Rule>>,
    /// The parameters of a model that has tensors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tensors: Option<Tensors>,
}

impl SavedModel {
    /// A model that is all state.
    pub fn plain(state: serde_json::Value) -> Self {
        Self { state, rules: None, tensors: None }
    }
}

/// Named arrays of numbers as the bytes of a safetensors file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensors(pub Vec<u8>);

/// Judges models on the validation period, under the protocol of the run. Test facts are out of reach.
pub trait Validation: Sync {
    /// Number of steps that one play goes through.
    fn steps(&self) -> u64;

    /// Plays the validation steps: `begin`, `score` and `observe` as in the setting that will be tested.
    fn play(&self, model: &mut dyn Forecaster) -> Result<ValidationReport, ModelError>;

    /// Whether all steps are asked about from what was known before the first one, as in multi-step.
    fn at_once(&self) -> bool {
        false
    }

    /// What the model will be shown of the other queries of a step: nothing, except to demonstrate the query-set leak.
    fn leak(&self) -> Option<Leak> {
        None
    }
}

/// Judges a model that goes on learning, on steps whose facts it knows already.
pub trait Rehearsal: Sync {
    /// Asks the questions of a past step, of which the model sees the history as it was then. A step that is not past has
    /// no questions.
    fn play(&self, step: Step, model: &mut dyn Forecaster) -> Result<LinkScore, ModelError>;
}

/// How a model did on the validation period: time-aware filter, tie policy of the protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidationReport {
    /// Over all queries.
    pub all: LinkScore,
    /// Per directed relation (`2R` entries).
    pub by_relation: Vec<LinkScore>,
}

impl ValidationReport {
    /// The score of one directed relation.
    pub fn relation(&self, relation: DirectedRelation) -> LinkScore {
        self.by_relation.get(relation.index()).copied().unwrap_or_default()
    }
}

/// How well a model found the missing ends of facts: time-aware filter, all zero without queries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinkScore {
    /// Number of queries.
    pub queries: u64,
    /// Share of queries whose answer is among the first ten.
    #[serde(rename = "hits@10")]
    pub hits10: f64,
    /// Mean reciprocal rank.
    pub mrr: f64,
    /// Mean rank.
    pub mr: f64,
}

/// Why an answer has its score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The question.
    pub query: Query,
    /// The answer.
    pub answer: EntityId,
    /// Its score as the model ranks it.
    pub score: f64,
    /// What the weights below are.
    pub weighing: Weighing,
    /// Past facts it rests on, most important first.
    pub evidence: Vec<Evidence>,
    /// What else adds to the score.
    pub also: Vec<Contribution>,
    /// Rules that speak for the answer, strongest first.
    pub rules: Vec<FiredRule>,
    /// Numbers of the model at hand, by name.
    pub details: serde_json::Map<String, serde_json::Value>,
}

/// What the weights of an explanation are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weighing {
    /// Parts that add up to this number: the score, or the probability that it stands for.
    PartsOf(f64),
    /// By how much the score falls without the fact; such numbers do not add up.
    Losses,
}

/// A part of a score that is not a single past fact.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contribution {
    /// What it is, in words.
    pub text: String,
    /// See [`Explanation::weighing`].
    pub weight: f64,
    /// See [`Evidence::group`].
    pub group: Option<&'static str>,
}

/// A past fact and its part in a score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Evidence {
    /// The fact.
    pub fact: Quad,
    /// See [`Explanation::weighing`].
    pub weight: f64,
    /// The kind of evidence that it belongs to, if the model has kinds; the weights of a kind add up to its share.
    pub group: Option<&'static str>,
}
