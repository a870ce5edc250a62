//! What the naive rules reach on a dataset: how much of it needs no learning, in ranks.

use quadcast_analysis::{ReferenceScore, SplitKind};
use quadcast_core::{Calendar, Dataset, Facts, Protocol, Run, StaticGraph, Step, TimeAxis, Triple};
use quadcast_data::{Content, Loaded};
use quadcast_eval::{Evaluator, Harmonic, Tally};
use quadcast_models::{find, set};

use crate::RunError;

/// The model that gives the scores.
const MODEL: &str = "naive-rules";

/// Parts of it that show what a single kind of evidence is worth, and all of it.
const PARTS: [(&str, &str); 3] = [
    ("mirrored facts at the same time (rule 1)", "rules=[1]"),
    ("the same fact at any time (rule 3)", "rules=[3]"),
    ("naive-rules, all four", "rules=[1, 2, 3, 4]"),
];

/// The scores on a dataset whose splits share times, or that has no times; the rules are not for others.
pub fn reference_scores(loaded: &Loaded, kind: SplitKind) -> Result<Vec<ReferenceScore>, RunError> {
    let timeless;
    let dataset = match (&loaded.content, kind) {
        (Content::Temporal(dataset), SplitKind::Completion | SplitKind::Mixed) => dataset,
        (Content::Static(graph), _) => {
            timeless = at_one_time(graph);
            &timeless
        }
        _ => return Ok(Vec::new()),
    };
    if dataset.splits.iter().any(|(_, facts)| facts.is_empty()) {
        return Ok(Vec::new());
    }
    PARTS.iter().map(|(name, rules)| score(dataset, name, rules)).collect()
}

fn score(dataset: &Dataset, name: &str, rules: &str) -> Result<ReferenceScore, RunError> {
    let entry = find(MODEL)?;
    let mut config = (entry.defaults)();
    set(&mut config, rules)?;
    let mut model = entry.forecaster(&config)?;
    let (protocol, run) = (Protocol::completion(), Run::silent(1));
    let evaluator = Evaluator::new(dataset, &protocol);
    evaluator.fit(model.as_mut(), &run)?;
    let judged = evaluator.judge(model.as_mut(), &run)?;
    let (harmonic, mut random) = (Harmonic::up_to(dataset.entities()), run.stream("ties", 0));
    let mut tally = Tally::default();
    for query in &judged.ranked {
        tally.add(query.ranks.time, protocol.ties, &harmonic, &mut random);
    }
    let metrics = tally.metrics().ok_or_else(|| RunError::internal("no question was asked"))?;
    let (mrr, hits1, hits10) = (metrics.mrr, metrics.hits1, metrics.hits10);
    Ok(ReferenceScore { name: name.to_owned(), mrr, hits1, hits10 })
}

/// A graph without time as one at a single time.
fn at_one_time(graph: &StaticGraph) -> Dataset {
    let facts =
        |triples: &Vec<Triple>| Facts::new(triples.iter().map(|triple| triple.at(Step(0))).collect(), 1);
    Dataset {
        beyond: Facts::default(),
        name: graph.name.clone(),
        vocabulary: graph.vocabulary.clone(),
        axis: TimeAxis::new(vec![0], Calendar::UNKNOWN),
        splits: graph.splits.map(facts),
    }
}
