//! What the naive rules reach on a dataset: how much of it needs no learning.

use quadcast_core::{
    Calendar, Dataset, Facts, Filter, Protocol, Quad, Run, Setting, StaticGraph, Step, TiePolicy, TimeAxis,
    Triple,
};
use quadcast_data::{Content, Loaded, ReferenceScore};
use quadcast_eval::{Outcome, fit, judge};
use quadcast_models::find;

use crate::failure::Failure;

/// The model that gives the score.
const MODEL: &str = "naive-rules";

/// The score on a dataset whose splits share their times, or that has no times; the rules are not for others.
pub fn reference_score(loaded: &Loaded) -> Result<Option<ReferenceScore>, Failure> {
    let timeless;
    let dataset = match &loaded.content {
        Content::Temporal(dataset) if shares_times(dataset) => dataset,
        Content::Static(graph) => {
            timeless = at_one_time(graph);
            &timeless
        }
        Content::Temporal(_) | Content::Intervals(_) | Content::Evolving(_) => return Ok(None),
    };
    let splits = &dataset.splits;
    if splits.iter().any(|(_, facts)| facts.is_empty()) {
        return Ok(None);
    }
    let entry = find(MODEL)?;
    let mut model = (entry.build)(&(entry.defaults)())?;
    let (protocol, run) = (Protocol::usual(Setting::Completion), Run::silent(1));
    fit(dataset, &protocol, model.as_mut(), &run)?;
    let judged = judge(dataset, &protocol, model.as_mut(), &run)?;
    let outcome = Outcome::new(&judged.ranked, dataset.entities(), TiePolicy::default(), run.seed);
    Ok(outcome.map(|outcome| {
        let metrics = outcome.filter(Filter::Time).metrics;
        ReferenceScore {
            name: MODEL.to_owned(),
            mrr: metrics.mrr,
            hits1: metrics.hits1,
            hits10: metrics.hits10,
        }
    }))
}

fn shares_times(dataset: &Dataset) -> bool {
    let (train, test) = (&dataset.splits.train, &dataset.splits.test);
    matches!((train.last_step(), test.first_step()), (Some(last), Some(first)) if first < last)
}

/// A graph without time as one at a single time.
fn at_one_time(graph: &StaticGraph) -> Dataset {
    let facts = |triples: &Vec<Triple>| {
        let quad =
            |t: &Triple| Quad { step: Step(0), subject: t.subject, relation: t.relation, object: t.object };
        Facts::new(triples.iter().map(quad).collect(), 1)
    };
    Dataset {
        name: graph.name.clone(),
        vocabulary: graph.vocabulary.clone(),
        axis: TimeAxis::new(vec![0], Calendar::UNKNOWN),
        splits: graph.splits.map(facts),
    }
}
