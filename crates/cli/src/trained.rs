//! A finished run opened again: its record, its data and its model, ready to answer.

use std::path::Path;

use quadcast_core::{Dataset, Forecaster, HistoryIndex};
use quadcast_data::{Content, LoadOptions};
use quadcast_models::Entry;
use quadcast_report::{RunRecord, Status};

use crate::commands::data::open;
use crate::commands::run::read_run_file;
use crate::failure::Failure;
use crate::model_files::read_model;

/// A fitted model and the data it was fitted to.
pub struct Trained {
    pub entry: &'static Entry,
    pub model: Box<dyn Forecaster>,
    pub dataset: Dataset,
}

impl Trained {
    /// Opens a run folder. `data` replaces the dataset's place, not its content.
    pub fn open(folder: &Path, data: Option<&str>) -> Result<Self, Failure> {
        let record = RunRecord::read(folder)?;
        if record.status != Status::Complete {
            return Err(Failure::input(format!(
                "{} holds a run that is not complete; run it again first",
                folder.display()
            )));
        }
        let (entry, model) = read_model(folder, &record)?;
        let file = read_run_file(&folder.join("run.toml"))?;
        let place = data.or(file.data.as_deref()).unwrap_or(&record.dataset.name);
        let loaded = open(place, LoadOptions { format: file.format })?;
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
        Ok(Self { entry, model, dataset })
    }

    /// Everything that is known: the facts of all splits.
    pub fn history(&self) -> HistoryIndex {
        let data = &self.dataset;
        let parts = [&data.splits.train, &data.splits.valid, &data.splits.test];
        HistoryIndex::new(&data.axis, data.entities(), data.relations(), &parts)
    }
}
