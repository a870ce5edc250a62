//! Runs on evolving graphs: a model goes through the steps and is judged after each.

use std::path::Path;

use quadcast_core::{EvolvingModel, Protocol};
use quadcast_data::{OperationStream, StreamFormat, write_operations};
use quadcast_eval::evolving::{Learned, Played, Playing, StepExamples, StepResult, play};
use quadcast_eval::{Journal, RankedQuery};

use crate::checkpoints::{self, FolderCheckpoints};
use crate::folder::{RunFolder, remove_file};
use crate::held_out::{QUESTIONS_FILE, SavedQuestions, ask_about_all, asked_about, restore};
use crate::model_files::write_model;
use crate::plan::CheckedPlan;
use crate::ranks::{self, StepTimes};
use crate::session::TaskPart;
use crate::source::Graph;
use crate::{AnyModel, AskedAbout, DatasetCard, RankJournal, RunError, Session, examples};

/// The file in which a version of a run saves its graph.
pub(crate) const GRAPH_FILE: &str = "graph.qops";

/// An evolving graph, and what is asked about it.
pub(crate) struct EvolvingPart {
    pub graph: Graph,
    examples: Vec<StepExamples>,
    /// The first step that is played; before it, the model is as an earlier run left it.
    pub first: usize,
    transfer: bool,
    /// How the model did on steps before the first right after learning them.
    pub earlier: Vec<Learned>,
    /// What a version saves besides, if this is an update.
    pub version: Option<VersionFiles>,
    pub played: Option<Played>,
}

/// The graph as it is now, and what is asked about it.
pub(crate) struct VersionFiles {
    pub stream: OperationStream,
    pub questions: SavedQuestions,
}

impl EvolvingPart {
    /// The part of a session on a graph, and the card of the graph.
    pub fn new(mut graph: Graph, plan: &CheckedPlan) -> (Self, DatasetCard) {
        let data = &mut graph.dataset;
        if plan.plan.all {
            ask_about_all(data);
        }
        let Protocol { compat, procedure, .. } = plan.protocol;
        let examples = if compat { examples::published(data, procedure) } else { examples::fair(data) };
        let card = DatasetCard::evolving(data, graph.variant, graph.fingerprint);
        let transfer = plan.plan.transfer.unwrap_or(true);
        let part =
            Self { graph, examples, first: 0, transfer, earlier: Vec::new(), version: None, played: None };
        (part, card)
    }

    /// The graph that a version saved in its folder, as a place of data.
    pub fn own_graph(folder: &Path) -> Option<String> {
        let own = folder.join(GRAPH_FILE);
        own.is_file().then(|| own.to_string_lossy().into_owned())
    }

    /// Makes the graph ask what the version in a folder was asked.
    pub fn restore_questions(&mut self, folder: &Path) -> Result<(), RunError> {
        restore(folder, &mut self.graph.dataset)
    }

    /// Which held-out triples are asked about.
    pub fn asked_about(&self) -> AskedAbout {
        asked_about(&self.graph.dataset.steps, self.first)
    }
}

impl AnyModel {
    /// The model of an evolving graph.
    pub(crate) fn evolving(&mut self) -> Result<&mut dyn EvolvingModel, RunError> {
        match self {
            Self::Evolving(model) => Ok(model.as_mut()),
            Self::Timed(_) => Err(RunError::internal("a model of evolving graphs is expected here")),
        }
    }
}

impl Session {
    /// Plays the model through the steps; the record is complete then.
    pub(crate) fn play(&mut self, journal: &mut dyn Journal) -> Result<(), RunError> {
        let TaskPart::Evolving(part) = &mut self.part else { return Ok(()) };
        // Training operations say all that is played; what the source says besides is for checks, and as large as they are.
        for step in &mut part.graph.dataset.steps {
            (step.operations, step.increment) = (None, None);
        }
        let playing = Playing {
            data: &part.graph.dataset,
            protocol: self.plan.protocol,
            examples: &part.examples,
            first: part.first,
            transfer: part.transfer,
            earlier: &part.earlier,
        };
        let played = play(&playing, self.model.evolving()?, &self.run, journal)?;
        part.played = Some(played);
        Ok(())
    }

    /// Takes the results into the record.
    pub(crate) fn complete_evolving(&mut self, training: Vec<serde_json::Value>) -> Result<(), RunError> {
        let TaskPart::Evolving(part) = &mut self.part else { return Ok(()) };
        let Some(mut played) = part.played.clone() else { return Ok(()) };
        count_interrupted(&mut played.outcome.steps, &training);
        self.record.training = training;
        self.record
            .complete_evolving(&part.graph.dataset, played)
            .ok_or_else(|| RunError::input("no step has test triples"))
    }

    pub(crate) fn perform_evolving(
        &mut self,
        folder: &RunFolder,
        owner: &str,
        stored: &FolderCheckpoints,
    ) -> Result<(), RunError> {
        let TaskPart::Evolving(part) = &mut self.part else { return Ok(()) };
        let version = part.version.take();
        save_version(folder.path(), version)?;
        let possible = |row: &RankedQuery| ranks::check(row, &self.record).is_ok();
        let mut journal = RankJournal::open(folder.path(), owner, StepTimes::Numbers, possible)?;
        self.play(&mut journal)?;
        let saved = self.model.save()?;
        let TaskPart::Evolving(part) = &self.part else { return Ok(()) };
        write_model(folder.path(), self.plan.entry.name, &saved, &part.graph.dataset.vocabulary.relations)?;
        drop(saved);
        self.complete_evolving(stored.trained())?;
        let TaskPart::Evolving(part) = &self.part else { return Ok(()) };
        let ranked = part.played.as_ref().map_or(&[][..], |played| &played.ranked);
        folder.finish(&mut self.record, &self.plan.plan, ranked, StepTimes::Numbers)?;
        checkpoints::clear(folder.path())
    }
}

/// A training that was interrupted knows how long all its parts took; a step only knows the last of them.
fn count_interrupted(steps: &mut [StepResult], trained: &[serde_json::Value]) {
    for step in steps {
        let own = trained.iter().filter(|training| training["part"] == step.label.as_str());
        let seconds: f64 = own.filter_map(|training| training["seconds"].as_f64()).sum();
        step.seconds.train = step.seconds.train.max(seconds);
    }
}

/// Saves what belongs to a version; a run that is none removes what another one has left. The record that says complete is gone by
/// now.
fn save_version(folder: &Path, version: Option<VersionFiles>) -> Result<(), RunError> {
    let Some(VersionFiles { stream, questions }) = version else {
        return Ok([GRAPH_FILE, QUESTIONS_FILE].iter().try_for_each(|name| remove_file(folder, name))?);
    };
    write_operations(&folder.join(GRAPH_FILE), &stream, StreamFormat::Binary)?;
    questions.write(folder)
}
