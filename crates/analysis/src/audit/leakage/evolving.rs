//! Leakage in a graph that changes in steps: the evaluation of every step, and the patterns of the last.

use quadcast_core::{Detection, EvolvingDataset, Quad, Triple};

use super::evidence::{Evidence, Grade, SplitKind};
use super::measure::Part;
use super::outcome::{Leakage, LeakageCheck};
use super::search::Sources;
use super::tally::{Head, Naming, Tally, Totals};
use crate::index::{Graph, at_once, graphs};
use quadcast_data::TripleSet;

/// Checks test triples and prepared negatives at every step, and the patterns of the last one.
pub(super) fn evolving(data: &EvolvingDataset, detection: &Detection) -> Leakage {
    let mut checks = Vec::new();
    let mut last = (Vec::new(), Vec::new(), Vec::new());
    graphs(data, |number, graph| {
        checks.extend(evaluation(data, graph));
        if number + 1 == data.steps.len() {
            let facts = |triples: &[Triple]| -> Vec<Quad> { triples.iter().map(at_once).collect() };
            let evaluation = graph.evaluation();
            last = (graph.training().collect(), facts(&evaluation.valid), facts(&evaluation.test));
        }
    });
    let (train, valid, test) = last;
    let part = Part {
        kind: SplitKind::Evolving,
        test: &test,
        distance: &|_| String::new(),
        naming: Naming { vocabulary: &data.vocabulary, time: &|_| None },
    };
    let sources =
        Sources { train, valid, test: &test, relations: data.vocabulary.relations.len(), axis: None };
    let label = data.steps.last().map_or("none", |step| step.label.as_str());
    let about = format!("patterns and counts without a step are those of the last step, {label}");
    let mut found = part.look(sources, detection, about);
    // Test triples in training were looked for above, at every step.
    checks.extend(found.checks.drain(..).filter(|check| check.id != Evidence::Exact.id()));
    found.checks = checks;
    found
}

/// Test triples that stand in training, and negatives that are true.
fn evaluation(data: &EvolvingDataset, graph: &Graph<'_>) -> Vec<LeakageCheck> {
    let naming = Naming { vocabulary: &data.vocabulary, time: &|_| None };
    let evaluation = graph.evaluation();
    let label = graph.step.label.as_str();
    let mut test: Vec<Quad> = evaluation.test.iter().map(at_once).collect();
    test.sort_unstable();
    test.dedup();
    let head = |id: &str, holds: &str| Head {
        id: id.to_owned(),
        step: Some(label.to_owned()),
        holds: format!("step {label}: {holds}"),
    };
    let in_train = |fact: Quad| graph.train.contains(&fact.triple()).then_some(fact);
    let mut checks = vec![Tally::of(&test, in_train).check(
        head("test-in-train", "(s, p, o), the test triple itself"),
        Grade::Leak,
        &Totals::of(&test),
        &naming,
    )];
    let negatives: Vec<Quad> = graph
        .step
        .classification
        .iter()
        .filter(|(_, label)| !label)
        .map(|(triple, _)| at_once(triple))
        .collect();
    if !negatives.is_empty() {
        let held_out: TripleSet = evaluation.valid.iter().chain(&evaluation.test).copied().collect();
        let holds = |fact: Quad| {
            let triple = fact.triple();
            (graph.train.contains(&triple) || held_out.contains(&triple)).then_some(fact)
        };
        checks.push(Tally::of(&negatives, holds).check(
            head("true-negatives", "negatives of triple classification that are true"),
            Grade::Leak,
            &Totals::of(&negatives),
            &naming,
        ));
    }
    checks
}
