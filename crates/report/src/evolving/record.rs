//! `metrics.json` of a run on a changing graph.

use std::fs;
use std::path::Path;

use quadcast_core::{EvolvingDataset, Fingerprint};
use quadcast_eval::evolving::{EvolvingOutcome, Learned, LinkProtocol, Procedure, StepResult};
use serde::{Deserialize, Serialize};

use crate::{FileError, ModelCard, RunRecord, Status, write_atomically};

/// What the run was about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvolvingCard {
    /// Name for people.
    pub name: String,
    /// Catalogue variant that the content equals.
    pub variant: Option<String>,
    /// Content hash.
    pub fingerprint: Fingerprint,
    /// Steps.
    pub steps: usize,
    /// Entities that ever occur.
    pub entities: usize,
    /// Relations that ever occur.
    pub relations: usize,
}

impl EvolvingCard {
    /// The card of a dataset.
    pub fn new(data: &EvolvingDataset, variant: Option<&str>, fingerprint: Fingerprint) -> Self {
        Self {
            name: data.name.clone(),
            variant: variant.map(str::to_owned),
            fingerprint,
            steps: data.steps.len(),
            entities: data.vocabulary.entities.len(),
            relations: data.vocabulary.relations.len(),
        }
    }
}

/// What a model was brought up to date with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpdateCard {
    /// The run that the model comes from.
    pub from: String,
    /// The file of operations.
    pub file: String,
    /// Its operations.
    pub operations: usize,
    /// Entities that were not there before.
    pub new_entities: usize,
    /// Relations that were not there before.
    pub new_relations: usize,
    /// How the model did on each earlier step right after it had learned it, as far as earlier records say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learned: Vec<Learned>,
}

/// Which held-out triples were asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AskedAbout {
    /// All that are true at a step.
    All,
    /// Those that the benchmark names or that were drawn.
    Sample,
    /// Those that came with the step.
    New,
}

impl AskedAbout {
    /// The word used in records.
    pub const fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Sample => "sample",
            Self::New => "new",
        }
    }

    /// What the test triples are, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::All => "all that are held out",
            Self::Sample => "a sample of those held out",
            Self::New => "those that came with the step",
        }
    }
}

/// Wall-clock seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EvolvingSeconds {
    /// Reading the data.
    pub load: f64,
    /// Training and validation, all steps.
    pub train: f64,
    /// Evaluation, all steps.
    pub evaluate: f64,
}

/// The word that tells these records from others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Task {
    #[default]
    Evolving,
}

/// The part of any record that says what it is of.
#[derive(Deserialize)]
struct Kind {
    #[serde(default)]
    task: serde_json::Value,
}

/// The record of a run on a changing graph. Numbers are fractions, not per cent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EvolvingRecord {
    /// Version of this layout.
    pub schema: u32,
    task: Task,
    /// How far the run has come.
    pub status: Status,
    /// What stopped it, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What it was about.
    pub dataset: EvolvingCard,
    /// Which model.
    pub model: ModelCard,
    /// How it got from step to step.
    pub procedure: Procedure,
    /// How links were ranked.
    pub protocol: LinkProtocol,
    /// Which held-out triples were asked about; records of earlier versions do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedAbout>,
    /// Seed of every random stream.
    pub seed: u64,
    /// Version of Quadcast.
    pub version: String,
    /// What the model was brought up to date with, if this is an update; its results are those after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdateCard>,
    /// Results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<EvolvingOutcome>,
    /// How training went, one entry per step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub training: Vec<serde_json::Value>,
    /// Wall-clock seconds.
    pub seconds: EvolvingSeconds,
    /// Peak memory of the process, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

impl EvolvingRecord {
    /// A record of a run that has just begun.
    pub fn begun(
        dataset: EvolvingCard,
        model: ModelCard,
        procedure: Procedure,
        protocol: LinkProtocol,
        seed: u64,
    ) -> Self {
        Self {
            schema: RunRecord::SCHEMA,
            task: Task::Evolving,
            status: Status::Incomplete,
            error: None,
            dataset,
            model,
            procedure,
            protocol,
            asked: None,
            seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            update: None,
            outcome: None,
            training: Vec::new(),
            seconds: EvolvingSeconds::default(),
            peak_memory_bytes: None,
        }
    }

    /// Takes the results; the record is complete then.
    pub fn complete(&mut self, outcome: EvolvingOutcome) {
        self.seconds.train = outcome.steps.iter().map(|step| step.seconds.train).sum();
        self.seconds.evaluate = outcome.steps.iter().map(|step| step.seconds.evaluate).sum();
        self.outcome = Some(outcome);
        self.status = Status::Complete;
    }

    /// How the model did on each step right after it had learned it, with what it was made from.
    pub fn learned(&self) -> Vec<Learned> {
        let earlier = self.update.iter().flat_map(|update| update.learned.iter().copied());
        let own =
            self.outcome.iter().flat_map(|outcome| outcome.steps.iter().filter_map(StepResult::learned));
        earlier.chain(own).collect()
    }

    /// The record of a run that an error stopped.
    #[must_use]
    pub fn failed(&self, error: String) -> Self {
        Self { status: Status::Failed, error: Some(error), ..self.clone() }
    }

    /// Writes the record into a run folder.
    pub fn write(&self, folder: &Path) -> Result<(), FileError> {
        let path = folder.join(RunRecord::FILE);
        let text = serde_json::to_string_pretty(self)
            .map_err(|error| FileError::Content { path: path.clone(), message: error.to_string() })?;
        write_atomically(&path, |out| out.write_all(text.as_bytes()))
    }

    /// Whether the record of a run folder is one of these, whatever else it holds.
    pub fn is_in(folder: &Path) -> Result<bool, FileError> {
        let path = folder.join(RunRecord::FILE);
        let text = fs::read(&path).map_err(|source| FileError::Read { path: path.clone(), source })?;
        let Kind { task } = serde_json::from_slice(&text)
            .map_err(|error| FileError::Content { path, message: error.to_string() })?;
        Ok(task == "evolving")
    }

    /// Reads the record of a run folder; `None` if the run was on something else than a changing graph.
    pub fn read(folder: &Path) -> Result<Option<Self>, FileError> {
        let path = folder.join(RunRecord::FILE);
        let text =
            fs::read_to_string(&path).map_err(|source| FileError::Read { path: path.clone(), source })?;
        let problem = |message: String| FileError::Content { path: path.clone(), message };
        let value: serde_json::Value = serde_json::from_str(&text).map_err(|e| problem(e.to_string()))?;
        if value["task"] != "evolving" {
            return Ok(None);
        }
        serde_json::from_value(value).map(Some).map_err(|error| problem(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::changing;

    #[test]
    fn records_of_earlier_versions_do_not_say_what_was_asked() {
        let record = EvolvingRecord { asked: Some(AskedAbout::New), ..changing("transe", 20, 1) };
        let mut value = serde_json::to_value(&record).expect("a record");
        assert_eq!(value["asked"], "new");
        value.as_object_mut().expect("an object").remove("asked");
        let old: EvolvingRecord = serde_json::from_value(value).expect("an old record");
        assert_eq!(old, EvolvingRecord { asked: None, ..record });
    }

    #[test]
    fn words_are_those_of_records() {
        for asked in [AskedAbout::All, AskedAbout::Sample, AskedAbout::New] {
            assert_eq!(serde_json::to_value(asked).expect("a word"), asked.word());
        }
    }

    #[test]
    fn a_record_with_a_threshold_beyond_all_numbers_can_be_read_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join(RunRecord::FILE);
        let mut record = changing("transe", 20, 1);
        let steps = &mut record.outcome.as_mut().expect("results").steps;
        steps[1].classification.as_mut().expect("classified").threshold = f64::MAX;
        record.write(folder.path()).expect("a writable folder");
        assert_eq!(EvolvingRecord::read(folder.path()).expect("a record").as_ref(), Some(&record));
        // As earlier versions wrote it: an infinite number is null in JSON.
        let text = fs::read_to_string(&path).expect("a record");
        let number = serde_json::to_string(&f64::MAX).expect("a number");
        let old = text.replacen(&format!("\"threshold\": {number}"), "\"threshold\": null", 1);
        assert_ne!(old, text);
        fs::write(&path, old).expect("a writable folder");
        assert_eq!(EvolvingRecord::read(folder.path()).expect("an old record"), Some(record));
    }

    #[test]
    fn records_say_what_they_are_of() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let is_one = || EvolvingRecord::is_in(folder.path());
        assert!(is_one().expect_err("nothing is there").to_string().starts_with("cannot read "));
        changing("transe", 20, 1).write(folder.path()).expect("a writable folder");
        assert!(is_one().expect("a record"));
        crate::samples::run("a", |_| 0).record.write(folder.path()).expect("a writable folder");
        assert!(!is_one().expect("a record") && EvolvingRecord::read(folder.path()).expect("one").is_none());
    }
}
