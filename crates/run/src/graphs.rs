//! Predicted graphs: what a model expects to happen in the next steps, as whole facts.

use std::collections::BTreeMap;

use quadcast_core::{
    Dataset, Direction, EntityId, Forecaster, History, Quad, Query, RelationId, ScoreError, ScoreRow,
    ScoreSink, Step, Task,
};
use serde::Serialize;

use crate::answers::{step_of, view};
use crate::asker::Candidates;
use crate::session::TaskPart;
use crate::{RunError, Session};

/// Steps for which graphs are predicted at most: each later one is harder to believe.
const MOST_STEPS: usize = 366;
/// Questions that are scored together.
const TOGETHER: usize = 256;

/// Which graphs to predict.
#[derive(Clone, Debug)]
pub struct GraphOptions {
    /// The first step, as a person writes it; by default the one after the last fact.
    pub at: Option<String>,
    /// Number of steps.
    pub steps: usize,
    /// Facts per step; by default twice as many as the last known steps have on average.
    pub facts: Option<usize>,
    /// Known steps that are looked at for the number of facts, and for the pairs of subject and relation that may act again.
    pub window: usize,
}

impl Default for GraphOptions {
    fn default() -> Self {
        Self { at: None, steps: 1, facts: None, window: 10 }
    }
}

/// The graph that a model expects at a step.
#[derive(Clone, Debug, Serialize)]
pub struct PredictedGraph {
    /// The model.
    pub model: String,
    /// The dataset.
    pub dataset: String,
    /// The step.
    pub at: String,
    /// The last known step.
    pub known_until: Option<String>,
    /// How the graph came about.
    pub made: Made,
    /// Facts that the step is expected to hold: the mean over the window.
    pub expected_facts: f64,
    /// The likeliest facts, likeliest first.
    pub facts: Vec<PredictedFact>,
}

/// How a predicted graph came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Made {
    /// The model simulates graphs.
    Simulated,
    /// The model was asked about every pair of subject and relation that acted in the window.
    Scored,
}

/// A fact of a predicted graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictedFact {
    /// Name of the subject.
    pub subject: String,
    /// Name of the relation.
    pub relation: String,
    /// Name of the object.
    pub object: String,
    /// Probability that the step holds the fact, if it holds as many facts as expected.
    pub probability: f64,
}

/// Facts with the share of all facts of their step that they are expected to be.
type Shares = Vec<(Quad, f64)>;

impl Session {
    /// Predicts the graphs of some steps from what is known before the first of them.
    pub fn predict_graphs(&mut self, options: &GraphOptions) -> Result<Vec<PredictedGraph>, RunError> {
        self.record.expect_honest("this run")?;
        let (name, task) = (self.plan.entry.name, self.task());
        let TaskPart::Timed(part) = &self.part else {
            return Err(RunError::input(format!(
                "{name} is a model of evolving graphs, which have no next step"
            )));
        };
        if task != Task::Forecasting {
            let task = task.word();
            return Err(RunError::input(format!(
                "the task of {name} is {task}: graphs of later steps need a forecasting model"
            )));
        }
        if !(1..=MOST_STEPS).contains(&options.steps) {
            let steps = options.steps;
            return Err(RunError::input(format!("{steps} steps: expected from 1 to {MOST_STEPS}")));
        }
        let data = part.evaluator.dataset();
        let first = match &options.at {
            Some(at) => step_of(data, at).map_err(RunError::input)?,
            None => Step(data.axis.len() as u32),
        };
        if first.index() > data.axis.len() + MOST_STEPS {
            return Err(RunError::input(format!(
                "{} is more than {MOST_STEPS} steps after the last fact",
                data.axis.label(first)
            )));
        }
        let (index, model) = (part.evaluator.known_now(), self.model.timed()?);
        let history = view(index, task, data, first);
        let window = Window::of(&history, options.window);
        let most = options.facts.unwrap_or((2.0 * window.facts_per_step).ceil() as usize);
        let mut graphs = Vec::new();
        for step in (first.0..).take(options.steps).map(Step) {
            self.run.check_cancelled()?;
            model.begin(step, &history)?;
            let (made, mut shares) = match model.simulate(&history, step, most)? {
                Some(graph) => {
                    let shares = graph.into_iter().map(|simulated| (simulated.fact, simulated.share));
                    (Made::Simulated, shares.collect())
                }
                None => (Made::Scored, scored(model, &history, (data, step), &window, most)?),
            };
            shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            shares.truncate(most);
            graphs.push(PredictedGraph {
                model: name.to_owned(),
                dataset: data.name.clone(),
                at: data.axis.label(step),
                known_until: history.ceiling().0.checked_sub(1).map(|last| data.axis.label(Step(last))),
                made,
                expected_facts: window.facts_per_step,
                facts: shares.into_iter().map(|fact| window.named(data, fact)).collect(),
            });
        }
        Ok(graphs)
    }
}

/// The last known steps with facts.
struct Window {
    facts_per_step: f64,
    /// Share of the facts by pair of subject and relation.
    pairs: BTreeMap<(EntityId, RelationId), f64>,
}

impl Window {
    fn of(history: &History<'_>, steps: usize) -> Self {
        let end = history.ceiling().0.min(history.axis().len() as u32);
        let snapshots = (0..end).rev().filter_map(|step| history.snapshot(Step(step)).ok());
        let (mut pairs, mut facts, mut read) = (BTreeMap::new(), 0_usize, 0_usize);
        for snapshot in snapshots.filter(|snapshot| !snapshot.is_empty()).take(steps.max(1)) {
            read += 1;
            let mut own: Vec<Quad> = snapshot.iter().collect();
            own.sort_unstable();
            own.dedup();
            facts += own.len();
            for fact in own {
                *pairs.entry((fact.subject, fact.relation)).or_insert(0.0) += 1.0;
            }
        }
        for count in pairs.values_mut() {
            *count /= facts as f64;
        }
        Self { facts_per_step: facts as f64 / read.max(1) as f64, pairs }
    }

    /// A fact that is drawn with this share is among so many facts with this probability.
    fn named(&self, data: &Dataset, (fact, share): (Quad, f64)) -> PredictedFact {
        let (entities, relations) = (&data.vocabulary.entities, &data.vocabulary.relations);
        PredictedFact {
            subject: entities.name(fact.subject.0).into_owned(),
            relation: relations.name(fact.relation.0).into_owned(),
            object: entities.name(fact.object.0).into_owned(),
            probability: -(-self.facts_per_step * share).exp_m1(),
        }
    }
}

/// The likeliest facts of pairs that acted in the window: the share of the pair times that of the object. Scores that are not shares
/// of something count as logits.
fn scored(
    model: &dyn Forecaster,
    history: &History<'_>,
    (data, step): (&Dataset, Step),
    window: &Window,
    most: usize,
) -> Result<Shares, RunError> {
    let pairs: Vec<(Query, f64)> = window
        .pairs
        .iter()
        .map(|(&(known, relation), &share)| {
            (Query { step, known, relation, direction: Direction::Object }, share)
        })
        .collect();
    let mut found: Shares = Vec::new();
    for pairs in pairs.chunks(TOGETHER) {
        let queries: Vec<Query> = pairs.iter().map(|(query, _)| *query).collect();
        let mut sink = FactSink { pairs, entities: data.entities(), most, found: std::mem::take(&mut found) };
        model.score(history, &queries, &mut sink)?;
        found = sink.found;
        keep_best(&mut found, most);
    }
    Ok(found)
}

/// Takes the scores of answers as shares of facts.
struct FactSink<'a> {
    /// The queries and their shares.
    pairs: &'a [(Query, f64)],
    entities: usize,
    most: usize,
    found: Shares,
}

impl ScoreSink for FactSink<'_> {
    fn accept(&mut self, index: usize, row: ScoreRow<'_>) -> Result<(), ScoreError> {
        let Some((query, share)) = self.pairs.get(index) else { return Ok(()) };
        let mut candidates = Candidates::all(self.entities);
        candidates.accept(0, row)?;
        let answers = shares_of(&mut candidates, self.most);
        self.found
            .extend(answers.into_iter().map(|(object, own)| (query.fact(object, query.step), share * own)));
        Ok(())
    }
}

fn keep_best(found: &mut Shares, most: usize) {
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    found.truncate(most);
}

/// The best candidates of a question with their shares of the whole. Candidates that a model does not reach may have no finite score.
fn shares_of(sink: &mut Candidates<'_>, most: usize) -> Vec<(EntityId, f64)> {
    let finite = || sink.scores.iter().map(|(_, score)| *score).filter(|score| score.is_finite());
    let is_share = finite().all(|score| score >= 0.0);
    let peak = finite().fold(f64::NEG_INFINITY, f64::max);
    let part = |score: f64| match (score.is_finite(), is_share) {
        (false, _) => 0.0,
        (true, true) => score,
        (true, false) => (score - peak).exp(),
    };
    let whole: f64 = finite().map(part).sum();
    if whole <= 0.0 || !whole.is_finite() {
        return Vec::new();
    }
    let best = sink.best(most).map(|(entity, score)| (entity, part(score) / whole));
    best.filter(|(_, share)| *share > 0.0).collect()
}
