//! A whole triple put to a model of a changing graph: is it plausible, and is it there?

use quadcast_core::{EntityId, EvolvingDataset, RelationId, Split, Triple};
use quadcast_eval::evolving::{Classification, Procedure, StepGraph, walk};
use quadcast_report::{EvolvingRecord, percent, wrapped};
use serde::Serialize;

use super::Options;
use super::growing::{expect_now, held_out};
use crate::commands::evolve::trained::TrainedGraph;
use crate::failure::Failure;
use crate::lookup::lookup;
use crate::output::Output;

/// What a model says about a triple, and what the graph says.
#[derive(Debug, Serialize)]
struct Judged {
    model: String,
    dataset: String,
    subject: String,
    relation: String,
    object: String,
    /// After which step.
    at: String,
    /// Lower is more plausible; `None` where the model has nothing to say.
    energy: Option<f32>,
    /// Triples below it are taken for true; `None` if the run has none that fits.
    threshold: Option<f64>,
    /// Share of the test examples of the step that the threshold got right.
    accuracy: Option<f64>,
    /// Whether the model takes it for true; `None` without a threshold.
    plausible: Option<bool>,
    /// Whether it is in the graph.
    known: bool,
    /// Which part of the graph it is in.
    split: Option<Split>,
    /// The last step with it in the graph, if there was one.
    last_known: Option<String>,
}

pub fn execute(
    trained: TrainedGraph,
    options: &Options,
    (subject, object): (&str, &str),
    output: &Output,
) -> Result<(), Failure> {
    let TrainedGraph { record, graph, entry, mut model, .. } = trained;
    let data = &graph.dataset;
    expect_now(data, options.explain || options.at.is_some())?;
    let relation = options.relation.as_deref().ok_or_else(|| {
        Failure::input(
            "which relation? Give --relation as well: with both sides, a run on a changing graph tells whether \
             a triple is plausible",
        )
    })?;
    let names = &data.vocabulary;
    let entity = |name: &str| lookup(&names.entities, name, "entity").map(EntityId).map_err(Failure::input);
    let relation = lookup(&names.relations, relation, "relation").map(RelationId).map_err(Failure::input)?;
    let triple = Triple { subject: entity(subject)?, relation, object: entity(object)? };

    let Place { now, split, last_known } = place(data, &triple)?;
    model.begin(&now.present).map_err(Failure::internal)?;
    let energies = model.energies(&[triple]).map_err(Failure::internal)?;
    let is_heard = is_heard(record.procedure, &now, &triple);
    let energy = energies.first().copied().filter(|energy| is_heard && energy.is_finite());
    let classification = threshold(&record, model.capabilities().partial);
    let threshold = classification.map(|own| own.threshold);
    let judged = Judged {
        model: entry.name.to_owned(),
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
    };
    output.result(&judged, || text(&judged))
}

/// Where a triple is, and where it was last.
struct Place {
    /// The graph after the last step.
    now: StepGraph,
    split: Option<Split>,
    last_known: Option<String>,
}

fn place(data: &EvolvingDataset, triple: &Triple) -> Result<Place, Failure> {
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
    let (now, split) = found.ok_or_else(|| Failure::input(format!("{} has no steps", data.name)))?;
    Ok(Place { now, split, last_known })
}

/// Whether the model can know a triple: one that learned the last graph and nothing else has nothing to say about whoever is not
/// in it.
fn is_heard(procedure: Procedure, now: &StepGraph, triple: &Triple) -> bool {
    procedure != Procedure::Static || now.has_room_for(triple)
}

/// How triples were classified at the last step. Published artefacts ask models that may have nothing to say for other triples
/// than the one that is meant, so that their thresholds say nothing about this one.
fn threshold(record: &EvolvingRecord, partial: bool) -> Option<&Classification> {
    let last = record.outcome.as_ref()?.steps.last()?;
    last.classification.as_ref().filter(|_| !(record.protocol.compat && partial))
}

fn text(judged: &Judged) -> String {
    let Judged { model, dataset, subject, relation, object, at, .. } = judged;
    let mut text = format!("{subject} – {relation} – {object}, {at}\n{model} on {dataset}\n\n");
    text.push_str(&wrapped(&verdict(judged), "", "  "));
    if let Some(accuracy) = judged.accuracy {
        let share = percent(accuracy);
        text.push_str(&wrapped(
            &format!("the threshold is right about {share} % of the test examples of the step"),
            "",
            "  ",
        ));
    }
    text.push_str(&format!("{}\n", whereabouts(judged)));
    text
}

fn verdict(judged: &Judged) -> String {
    let said = judged.energy.map_or_else(
        || "the model has nothing to say about it".to_owned(),
        |energy| format!("energy {energy:.4} (lower is more plausible)"),
    );
    let word = |plausible: bool| if plausible { "true" } else { "false" };
    match (judged.threshold, judged.plausible, judged.energy) {
        (Some(limit), Some(plausible), Some(_)) => {
            let side = if plausible { "below" } else { "not below" };
            // A threshold above all energies is the largest number there is.
            let limit =
                if limit == f64::MAX { "that everything is below".to_owned() } else { format!("{limit:.4}") };
            format!("{said}, {side} the threshold {limit}: taken for {}", word(plausible))
        }
        (Some(_), Some(plausible), None) => format!("{said}: taken for {}", word(plausible)),
        _ => format!("{said}; the run has no threshold to tell true from false by"),
    }
}

fn whereabouts(judged: &Judged) -> String {
    match (judged.split, &judged.last_known) {
        (Some(Split::Train), _) => "it is in the graph, and was learned from".to_owned(),
        (Some(Split::Valid), _) => "it is in the graph, held out for validation".to_owned(),
        (Some(Split::Test), _) => "it is in the graph, held out for tests".to_owned(),
        (None, Some(last)) => format!("it is not in the graph any more: step {last} was the last with it"),
        (None, None) => "it is not in the graph, and never was".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use quadcast_core::{EvolvingStep, Names, SplitTriples, TripleOperation, Vocabulary};

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
            let Place { now, split, last_known } = place(&data, &triple).expect("steps");
            let heard = [Procedure::Static, Procedure::Incremental].map(|p| is_heard(p, &now, &triple));
            (split, last_known, heard)
        };
        let at = |label: &str| Some(label.to_owned());
        assert_eq!(of(Triple::new(0, 0, 1)), (Some(Split::Train), at("b"), [true, true]));
        assert_eq!(of(Triple::new(1, 0, 0)), (Some(Split::Test), at("b"), [true, true]));
        assert_eq!(of(Triple::new(2, 0, 1)), (None, at("a"), [false, true]), "entity 2 has left");
        assert_eq!(of(Triple::new(1, 0, 1)), (None, None, [true, true]));
        assert_eq!(of(Triple::new(0, 0, 3)), (None, None, [false, true]));
    }

    fn judged(energy: Option<f32>, threshold: Option<f64>) -> Judged {
        Judged {
            model: "transe".to_owned(),
            dataset: "circles".to_owned(),
            subject: "Ann".to_owned(),
            relation: "likes".to_owned(),
            object: "Bob".to_owned(),
            at: "after step 2".to_owned(),
            energy,
            threshold,
            accuracy: threshold.map(|_| 0.95),
            plausible: threshold.map(|limit| energy.is_some_and(|energy| f64::from(energy) < limit)),
            known: false,
            split: None,
            last_known: Some("1".to_owned()),
        }
    }

    #[test]
    fn verdicts_in_words() {
        assert_eq!(
            text(&judged(Some(1.5), Some(2.0))),
            "Ann – likes – Bob, after step 2\ntranse on circles\n\n\
             energy 1.5000 (lower is more plausible), below the threshold 2.0000: taken for true\n\
             the threshold is right about 95.00 % of the test examples of the step\n\
             it is not in the graph any more: step 1 was the last with it\n"
        );
        let said = |energy, threshold| verdict(&judged(energy, threshold));
        assert!(said(Some(2.0), Some(2.0)).ends_with("not below the threshold 2.0000: taken for false"));
        assert!(said(Some(9.0), Some(f64::MAX)).ends_with("that everything is below: taken for true"));
        assert_eq!(said(None, Some(2.0)), "the model has nothing to say about it: taken for false");
        assert!(said(Some(1.0), None).ends_with("the run has no threshold to tell true from false by"));
    }
}
