//! A finished run opened again: its record, its data and its model, ready to answer.

use std::path::Path;

use quadcast_core::{Dataset, Forecaster, History, HistoryIndex, Protocol, Setting, Step, ValidationUse};
use quadcast_data::{Content, LoadOptions};
use quadcast_models::Entry;
use quadcast_report::{EvolvingRecord, RunRecord, Status};

use crate::commands::data::{open, unrolled};
use crate::commands::run::read_run_file;
use crate::failure::Failure;
use crate::model_files::read_model;
use crate::record_folder::RunFile;

/// A fitted model and the data it was fitted to.
pub struct Trained {
    pub entry: &'static Entry,
    pub model: Box<dyn Forecaster>,
    pub dataset: Dataset,
    protocol: Protocol,
}

impl Trained {
    /// Opens a run folder. `data` replaces the dataset's place, not its content.
    pub fn open(folder: &Path, data: Option<&str>) -> Result<Self, Failure> {
        let record = read_complete(folder)?;
        let dataset = open_data(folder, &record, data)?;
        let (entry, model) = read_model(folder, &record, &dataset.vocabulary.relations)?;
        Ok(Self { entry, model, dataset, protocol: record.protocol })
    }

    /// Everything that is known: the facts of all splits, or, for completion, those that were known in the run.
    pub fn history(&self) -> HistoryIndex {
        let (data, splits) = (&self.dataset, &self.dataset.splits);
        let parts = match (self.protocol.setting, self.protocol.validation) {
            (Setting::Completion, ValidationUse::Withheld) => vec![&splits.train],
            (Setting::Completion, ValidationUse::Observed) => vec![&splits.train, &splits.valid],
            _ => vec![&splits.train, &splits.valid, &splits.test],
        };
        HistoryIndex::new(&data.axis, data.entities(), data.relations(), &parts).with_names(&data.vocabulary)
    }

    /// Why a question cannot be asked: whoever fills holes knows nothing of times that the data does not have.
    pub fn objection(&self, step: Step) -> Option<String> {
        let axis = &self.dataset.axis;
        if self.protocol.setting != Setting::Completion || step.index() < axis.len() {
            return None;
        }
        let last = Step(axis.len().saturating_sub(1) as u32);
        Some(format!(
            "{} completes facts at times of its data: give --at from {} to {}",
            self.entry.name,
            axis.label(Step(0)),
            axis.label(last)
        ))
    }

    /// What is known when a question is asked.
    pub fn view<'a>(&self, index: &'a HistoryIndex, step: Step) -> History<'a> {
        match self.protocol.setting {
            Setting::Completion => index.whole(),
            _ => index.before(step.min(Step(self.dataset.axis.len() as u32))),
        }
    }
}

/// Refuses a folder that holds no run, and says what it lacks.
pub fn expect_run(folder: &Path) -> Result<(), Failure> {
    if folder.join(RunRecord::FILE).is_file() {
        return Ok(());
    }
    let shown = folder.display();
    if !folder.exists() {
        return Err(Failure::input(format!("there is no folder {shown}")));
    }
    Err(Failure::input(format!(
        "{shown} is not a run folder: it has no {}. Name the folder that `quadcast run` or `quadcast evolve run` wrote",
        RunRecord::FILE
    )))
}

/// The record of a run of forecasting or completion. Runs on changing graphs have records of another kind: `advice` says what to
/// do with one.
pub fn read_record(folder: &Path, advice: &str) -> Result<RunRecord, Failure> {
    expect_run(folder)?;
    if EvolvingRecord::is_in(folder)? {
        let shown = folder.display();
        return Err(Failure::input(format!("{shown} holds a run on a changing graph: {advice}")));
    }
    Ok(RunRecord::read(folder)?)
}

/// The record of a run of forecasting or completion that is complete.
pub fn read_complete(folder: &Path) -> Result<RunRecord, Failure> {
    let advice = "this needs one of forecasting or completion, as `quadcast run` makes it. Runs on changing graphs are for \
                  `quadcast report`, `quadcast forecast` and `quadcast evolve update`";
    let record = read_record(folder, advice)?;
    if record.status != Status::Complete {
        return Err(Failure::input(format!(
            "{} holds a run that is not complete; run it again first",
            folder.display()
        )));
    }
    Ok(record)
}

/// The dataset that a run was made on. `data` replaces its place, not its content.
pub fn open_data(folder: &Path, record: &RunRecord, data: Option<&str>) -> Result<Dataset, Failure> {
    let file: RunFile = read_run_file(&folder.join("run.toml"))?;
    let place = data.or(file.data.as_deref()).unwrap_or(&record.dataset.name);
    let loaded = open(place, LoadOptions { format: file.format, ..LoadOptions::default() })?;
    let (loaded, _) = unrolled(loaded, record.protocol.intervals.unwrap_or_default());
    let Content::Temporal(dataset) = loaded.content else {
        return Err(Failure::input(format!("{place} holds no facts with time stamps")));
    };
    let (expected, found) = (record.dataset.fingerprint, dataset.fingerprint());
    if expected != found {
        return Err(Failure::input(format!(
            "{place} is not what the run was made on: expected fingerprint {expected}, found {found}. \
             Name the right folder with --data"
        )));
    }
    Ok(dataset)
}
