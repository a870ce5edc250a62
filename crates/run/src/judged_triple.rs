//! Whether a triple of an evolving graph is plausible, and whether the graph contains it.

use quadcast_core::{EvolvingDataset, Procedure, Split, Triple};
use quadcast_eval::evolving::{Classification, StepGraph, walk};
use serde::Serialize;

use crate::answers::{expect_now, held_out};
use crate::session::TaskPart;
use crate::{AnswerOptions, Question, Record, RunError, Session};

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

impl Session {
    /// Whether a triple of an evolving graph is plausible, and whether it is there.
    pub(crate) fn judge_triple(
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
