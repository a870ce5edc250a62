//! A finished run opened again: its record, its data and its model, ready to answer.

use std::fs;
use std::path::Path;

use quadcast_core::{Dataset, Forecaster, HistoryIndex, SavedModel};
use quadcast_data::{Content, LoadOptions};
use quadcast_models::{Entry, find};
use quadcast_report::{RunRecord, Status};
use serde::Deserialize;

use crate::commands::data::open;
use crate::commands::run::read_run_file;
use crate::failure::Failure;

/// What `model.json` holds.
#[derive(Deserialize)]
struct ModelFile {
    model: String,
    state: serde_json::Value,
}

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
        let (entry, model) = load_model(folder, &record)?;
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

fn load_model(folder: &Path, record: &RunRecord) -> Result<(&'static Entry, Box<dyn Forecaster>), Failure> {
    let path = folder.join("model.json");
    let refuse = |why: String| Failure::input(format!("{}: {why}", path.display()));
    let text = fs::read(&path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
    let file: ModelFile =
        serde_json::from_slice(&text).map_err(|error| refuse(format!("is not a saved model: {error}")))?;
    let entry = find(&file.model)?;
    let config = toml::Table::try_from(&record.model.config).map_err(|error| refuse(error.to_string()))?;
    let mut model = (entry.build)(&config)?;
    model.load(&SavedModel::plain(file.state)).map_err(|error| refuse(error.to_string()))?;
    Ok((entry, model))
}
