//! The folder that an evaluation leaves, whoever made the scores.

use std::fs;
use std::path::{Path, PathBuf};

use quadcast_core::{Dataset, Fingerprint, Names, Protocol, SavedModel};
use quadcast_data::Format;
use quadcast_eval::{Judged, Outcome};
use quadcast_report::{PartialRanks, RunRecord, Sample, Status, summary, write_atomically, write_ranks};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;
use crate::memory;
use crate::model_files::{remove_model, write_model};
use crate::output::Output;
use crate::resume::model_fingerprint;

/// A configuration file: everything that is needed to repeat a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RunFile {
    pub model: Option<String>,
    pub data: Option<String>,
    /// Layout of the dataset, where it was named and not detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Content hash of the dataset; a repetition on other data is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Fingerprint>,
    pub seed: Option<u64>,
    /// How long training may take. Decides when it stops, not what it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_budget: Option<String>,
    /// A file of rules that are used instead of learning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// A run whose trained model is used instead of training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trained_by: Option<String>,
    /// How results come about.
    pub protocol: Protocol,
    /// Settings of the model.
    pub config: toml::Table,
}

impl RunFile {
    /// Everything that decides results, and the version that makes them, as text. Where the data lies does not: its
    /// content is named by the fingerprint.
    pub fn identity(&self, version: &str) -> Result<String, Failure> {
        let deciding = Self { data: None, format: None, time_budget: None, ..self.clone() };
        identity(&deciding, version)
    }
}

/// What decides results, and the version that makes them, as text.
pub fn identity(deciding: &impl Serialize, version: &str) -> Result<String, Failure> {
    let text = toml::to_string(deciding).map_err(Failure::internal)?;
    Ok(format!("# quadcast {version}\n{text}"))
}

/// What `--json` prints: the record, and where it lies.
#[derive(Serialize)]
struct Finished<'a> {
    record: &'a Path,
    #[serde(flatten)]
    metrics: &'a RunRecord,
}

/// Summarises the ranks; the record is complete then.
pub fn take_results(record: &mut RunRecord, dataset: &Dataset, judged: &Judged) -> Result<(), Failure> {
    let outcome = Outcome::new(&judged.ranked, dataset.entities(), record.protocol.ties, record.seed)
        .ok_or_else(|| Failure::input("the test split holds no facts"))?;
    record.complete(dataset, judged, outcome);
    record.peak_memory_bytes = record.peak_memory_bytes.max(memory::peak_bytes());
    Ok(())
}

/// A folder that may be written to.
#[derive(Debug)]
pub struct RecordFolder(PathBuf);

impl RecordFolder {
    /// The folder that the user names, or `runs/NAME`, numbered if that holds a complete run. A complete record is not
    /// overwritten by accident.
    pub fn choose(out: Option<&Path>, overwrite: bool, name: &str) -> Result<Self, Failure> {
        match out {
            Some(folder) if is_complete(folder) && !overwrite => Err(Failure::input(format!(
                "{} holds a complete run already; choose another --out, or replace it with --overwrite",
                folder.display()
            ))),
            Some(folder) => Ok(Self(folder.to_owned())),
            None => Ok(Self(default_folder(overwrite, name))),
        }
    }

    /// Creates the folder and writes what is known before there are results. The record first: a complete one that is
    /// being replaced must not stand beside the new configuration. A run that starts afresh has no use for what
    /// another one has left.
    pub fn begin(&self, record: &RunRecord, file: &RunFile) -> Result<(), Failure> {
        fs::create_dir_all(&self.0).map_err(|error| {
            let path = self.0.display();
            Failure::internal(format!(
                "cannot create the output folder {path}: {error}. Choose another one with --out"
            ))
        })?;
        record.write(&self.0)?;
        if record.fitted.is_none() {
            PartialRanks::remove(&self.0)?;
            remove_model(&self.0)?;
        }
        Sample::remove_all(&self.0)?;
        let text = toml::to_string(file).map_err(Failure::internal)?;
        write_atomically(&self.0.join("run.toml"), |out| out.write_all(text.as_bytes()))?;
        Ok(())
    }

    /// Notes what went wrong.
    pub fn fail(&self, record: &RunRecord, failure: Failure, output: &Output) -> Failure {
        let error = Some(failure.error.to_string());
        let record = RunRecord { status: Status::Failed, error, ..record.clone() };
        // What went wrong first is what the user needs to know.
        if let Err(error) = record.write(&self.0) {
            output.detail(&error.to_string());
        }
        failure
    }

    /// Notes that the model is fitted, and keeps it: from here on, an interruption does not cost the fit.
    pub fn keep_fit(
        &self,
        record: &mut RunRecord,
        name: &str,
        saved: &SavedModel,
        relations: &Names,
    ) -> Result<(), Failure> {
        write_model(&self.0, name, saved, relations)?;
        record.fitted = Some(model_fingerprint(saved)?);
        record.peak_memory_bytes = memory::peak_bytes();
        Ok(record.write(&self.0)?)
    }

    /// Writes what a complete run leaves; the record comes last, so that "complete" means all of it is there. Only then
    /// the ranks are not needed a second time.
    pub fn finish(&self, record: &RunRecord, judged: &Judged, dataset: &Dataset) -> Result<(), Failure> {
        write_ranks(&self.0, &judged.ranked, &dataset.axis)?;
        record.write(&self.0)?;
        Ok(PartialRanks::remove(&self.0)?)
    }

    /// Where the record lies.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Shows a complete run.
    pub fn show(&self, record: &RunRecord, output: &Output) -> Result<(), Failure> {
        let result = Finished { record: &self.0, metrics: record };
        output.result(&result, || format!("{}record: {}\n", summary(record), self.0.display()))
    }
}

fn default_folder(overwrite: bool, name: &str) -> PathBuf {
    let numbered = (2..).map(|n| PathBuf::from("runs").join(format!("{name}.{n}")));
    std::iter::once(PathBuf::from("runs").join(name))
        .chain(numbered)
        .find(|folder| overwrite || !is_complete(folder))
        .expect("there are infinitely many numbers")
}

fn is_complete(folder: &Path) -> bool {
    // Of any kind of run: all of them say so in the same place.
    let text = fs::read(folder.join(RunRecord::FILE)).unwrap_or_default();
    let record: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    record["status"] == "complete"
}
