//! The files in which a run folder keeps its model: the only place that knows them.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use quadcast_core::{Forecaster, SavedModel};
use quadcast_models::{Entry, find};
use quadcast_report::{FileError, RunRecord, write_atomically};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// File name inside a run folder.
const MODEL_FILE: &str = "model.json";

/// What `model.json` holds, on its way out.
#[derive(Serialize)]
struct Written<'a> {
    model: &'a str,
    state: &'a serde_json::Value,
}

/// What `model.json` holds.
#[derive(Deserialize)]
struct ModelFile {
    model: String,
    state: serde_json::Value,
}

/// Writes a learned state into a run folder. `entry_name` is the name of the model in the registry.
pub fn write_model(folder: &Path, entry_name: &str, saved: &SavedModel) -> Result<(), Failure> {
    let file = Written { model: entry_name, state: &saved.state };
    write_atomically(&folder.join(MODEL_FILE), |out| {
        serde_json::to_writer(&mut *out, &file)?;
        out.write_all(b"\n")
    })?;
    Ok(())
}

/// Reads the model of a run folder; the record says how it was configured.
pub fn read_model(
    folder: &Path,
    record: &RunRecord,
) -> Result<(&'static Entry, Box<dyn Forecaster>), Failure> {
    let path = folder.join(MODEL_FILE);
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

/// Removes the model of a run folder, if there is one.
pub fn remove_model(folder: &Path) -> Result<(), Failure> {
    let path = folder.join(MODEL_FILE);
    match fs::remove_file(&path) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(FileError::Write { path, source }.into()),
        _ => Ok(()),
    }
}
