//! Predicted graphs from a file, judged by the facts that came.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Display;
use std::path::Path;

use quadcast_core::{Dataset, EntityId, HistoryIndex, Quad, RelationId, Step, Triple};
use quadcast_data::{LoadOptions, read_lines};
use quadcast_eval::{GraphScore, ProbabilityRange, calibration, distinct, score_graph};
use serde::Serialize;

use crate::lookup::lookup;
use crate::source::{forecasting_dataset, open};
use crate::{PredictedGraph, RunError};

/// Columns of a file of predicted graphs.
pub const GRAPH_COLUMNS: [&str; 5] = ["at", "subject", "relation", "object", "probability"];

/// Predicted graphs beside the true ones.
#[derive(Clone, Debug, Serialize)]
pub struct JudgedGraphs {
    /// The dataset.
    pub dataset: String,
    /// The last step before the first prediction, which counts as the last known one.
    pub known_until: Option<String>,
    /// Each predicted step.
    pub steps: Vec<JudgedGraph>,
    /// Predictions of all steps by probability.
    pub calibration: Vec<ProbabilityRange>,
}

/// A predicted graph beside the true one.
#[derive(Clone, Debug, Serialize)]
pub struct JudgedGraph {
    /// The step.
    pub at: String,
    /// How they compare.
    #[serde(flatten)]
    pub score: GraphScore,
}

/// The rows of predicted graphs as CSV, with a header. `written` marks names for spreadsheets, or does not.
pub fn graph_rows(graphs: &[PredictedGraph]) -> impl Iterator<Item = [String; 5]> {
    graphs.iter().flat_map(|graph| {
        graph.facts.iter().map(|fact| {
            let [subject, relation, object] =
                [&fact.subject, &fact.relation, &fact.object].map(String::clone);
            [graph.at.clone(), subject, relation, object, fact.probability.to_string()]
        })
    })
}

/// Judges the predicted graphs of a CSV file with a header: at, subject, relation, object, probability. `called` is what messages
/// call the file.
pub fn judge_graphs(path: &Path, called: impl Display, data: &str) -> Result<JudgedGraphs, RunError> {
    let loaded = open(data, LoadOptions::default())?;
    let data = forecasting_dataset(&loaded)?;
    let predictions = read_graphs(path, &called, data)?;
    let splits = &data.splits;
    let parts = [&splits.train, &splits.valid, &splits.test];
    let index = HistoryIndex::new(&data.axis, data.entities(), data.relations(), &parts);
    let facts = index.whole();
    let graph = |step: Step| -> BTreeSet<Triple> {
        facts.snapshot(step).map(|snapshot| distinct(snapshot.iter())).unwrap_or_default()
    };
    let first = predictions.keys().next().copied().unwrap_or_default();
    let before = (0..first.0).rev().map(Step).find(|&step| !graph(step).is_empty());
    let last = before.map(&graph).unwrap_or_default();
    let (mut steps, mut all) = (Vec::new(), Vec::new());
    for (&step, facts) in &predictions {
        let truth = graph(step);
        if truth.is_empty() {
            let at = data.axis.label(step);
            return Err(RunError::input(format!(
                "{called}: {} holds no facts at {at} to compare with",
                data.name
            )));
        }
        let predicted: Vec<Triple> = facts.iter().map(|(fact, _)| *fact).collect();
        all.extend(facts.iter().map(|(fact, probability)| (*probability, truth.contains(fact))));
        steps.push(JudgedGraph { at: data.axis.label(step), score: score_graph(&predicted, &truth, &last) });
    }
    Ok(JudgedGraphs {
        dataset: data.name.clone(),
        known_until: before.map(|step| data.axis.label(step)),
        steps,
        calibration: calibration(&all),
    })
}

/// By step: distinct facts, likeliest first.
type Predictions = BTreeMap<Step, Vec<(Triple, f64)>>;

fn read_graphs(path: &Path, called: &impl Display, data: &Dataset) -> Result<Predictions, RunError> {
    let text = read_lines(path)?;
    let refuse = |line: u64, why: String| RunError::input(format!("{called}:{line}: {why}"));
    let mut reader =
        csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_slice());
    let header = reader.headers().map_err(|error| refuse(1, error.to_string()))?.clone();
    let columns = GRAPH_COLUMNS.map(|name| header.iter().position(|found| found == name));
    let [Some(at), Some(subject), Some(relation), Some(object), Some(probability)] = columns else {
        return Err(refuse(1, format!("expected a header with: {}", GRAPH_COLUMNS.join(", "))));
    };
    let mut predictions = Predictions::new();
    let mut seen: HashSet<Quad> = HashSet::new();
    for row in reader.records() {
        let row =
            row.map_err(|error| refuse(error.position().map_or(0, csv::Position::line), error.to_string()))?;
        let line = row.position().map_or(0, csv::Position::line);
        let field = |column: usize| row.get(column).unwrap_or_default();
        let (entities, relations) = (&data.vocabulary.entities, &data.vocabulary.relations);
        let named = |names, column, kind| lookup(names, field(column), kind).map_err(|why| refuse(line, why));
        let time = data.axis.calendar().parse(field(at)).and_then(|time| data.axis.step(time));
        let step = time.ok_or_else(|| {
            let (found, name) = (field(at), &data.name);
            refuse(line, format!("{found:?} is not a time at which {name} has facts to compare with"))
        })?;
        let number = field(probability).parse::<f64>().ok().filter(|p| (0.0..=1.0).contains(p));
        let number = number.ok_or_else(|| {
            let found = field(probability);
            refuse(line, format!("the probability is {found:?}, expected a number from 0 to 1"))
        })?;
        let fact = Quad {
            subject: EntityId(named(entities, subject, "entity")?),
            relation: RelationId(named(relations, relation, "relation")?),
            object: EntityId(named(entities, object, "entity")?),
            step,
        };
        if !seen.insert(fact) {
            return Err(refuse(
                line,
                "this fact is predicted twice for its time; expected each fact once".to_owned(),
            ));
        }
        predictions.entry(step).or_default().push((fact.triple(), number));
    }
    if predictions.is_empty() {
        return Err(refuse(1, "the file holds no fact; expected one per line below the header".to_owned()));
    }
    for facts in predictions.values_mut() {
        facts.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    }
    Ok(predictions)
}
