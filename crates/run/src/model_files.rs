//! The files in which a run folder keeps its model: the only place that knows them.

use std::fmt::Display;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use quadcast_core::{Fingerprint, Names, Rule, SavedModel, Task, Tensors};
use quadcast_data::{read_rules, write_rules};
use quadcast_models::{Entry, find};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use toml::Table;

use crate::folder::remove_file;
use crate::{AnyModel, Record, RunError, write_atomically};

/// File name inside a run folder.
pub(crate) const MODEL_FILE: &str = "model.json";

/// File name of the rules, which people read and edit; `model.json` does not repeat them.
pub(crate) const RULES_FILE: &str = "rules.jsonl";

/// File name of the parameters of neural models.
pub(crate) const TENSORS_FILE: &str = "model.safetensors";

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

/// Writes a learned state into a run folder. `entry_name` is the name of the model in the registry, `relations` those
/// of the dataset. Rules and parameters come first: a folder with `model.json` has all of its model.
pub(crate) fn write_model(
    folder: &Path,
    entry_name: &str,
    saved: &SavedModel,
    relations: &Names,
) -> Result<(), RunError> {
    if let Some(tensors) = &saved.tensors {
        write_atomically(&folder.join(TENSORS_FILE), |out| out.write_all(&tensors.0))?;
    }
    if let Some(rules) = &saved.rules {
        write_atomically(&folder.join(RULES_FILE), |out| write_rules(out, rules, relations))?;
    }
    let file = Written { model: entry_name, state: &saved.state };
    write_atomically(&folder.join(MODEL_FILE), |out| {
        serde_json::to_writer(&mut *out, &file)?;
        out.write_all(b"\n")
    })?;
    Ok(())
}

/// Reads the model of a run folder; the record says how it was configured, `relations` are those of the dataset.
pub(crate) fn read_model(
    folder: &Path,
    record: &Record,
    relations: &Names,
) -> Result<(&'static Entry, AnyModel), RunError> {
    let files = Files::read(folder)?;
    let entry = find(&files.model)?;
    let config = match record.task {
        // A saved model of an evolving graph has its own settings, also some that a new model would refuse as idle.
        Task::Evolving => (entry.defaults)(),
        _ => Table::try_from(&record.model.config).map_err(|error| refuse(&files.path, &error))?,
    };
    let mut model = AnyModel::build(entry, &config)?;
    let rules =
        if (entry.capabilities)().rules { Some(read_own_rules(folder, entry, relations)?) } else { None };
    let path = files.path.clone();
    model.load(&files.saved(rules)).map_err(|error| refuse(&path, &error))?;
    Ok((entry, model))
}

/// Reads a model of an evolving graph to continue with other settings.
pub(crate) fn read_model_with(
    folder: &Path,
    entry: &'static Entry,
    config: &Table,
) -> Result<AnyModel, RunError> {
    let mut model = AnyModel::build(entry, config)?;
    let mut saved = Files::read(folder)?.saved(None);
    saved.state["config"] = serde_json::to_value(config).map_err(RunError::internal)?;
    model.load(&saved).map_err(|error| {
        RunError::input(format!(
            "these settings do not fit what was learned: {error}; an update keeps the sizes"
        ))
    })?;
    Ok(model)
}

/// What the files of a model hold, rules apart.
struct Files {
    path: PathBuf,
    model: String,
    state: serde_json::Value,
    tensors: Option<Tensors>,
}

impl Files {
    fn read(folder: &Path) -> Result<Self, RunError> {
        let path = folder.join(MODEL_FILE);
        let text = fs::read(&path).map_err(|error| refuse(&path, &format!("cannot be read: {error}")))?;
        let ModelFile { model, state } = serde_json::from_slice(&text)
            .map_err(|error| refuse(&path, &format!("is not a saved model: {error}")))?;
        let tensors = match fs::read(folder.join(TENSORS_FILE)) {
            Ok(bytes) => Some(Tensors(bytes)),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                return Err(refuse(&path, &format!("{TENSORS_FILE} beside it cannot be read: {error}")));
            }
        };
        Ok(Self { path, model, state, tensors })
    }

    fn saved(self, rules: Option<Vec<Rule>>) -> SavedModel {
        SavedModel { state: self.state, rules, tensors: self.tensors }
    }
}

fn refuse(path: &Path, why: &impl Display) -> RunError {
    RunError::input(format!("{}: {why}", path.display()))
}

/// The rules of a run folder, all of them: its dataset has every relation that they name.
pub fn read_own_rules(folder: &Path, entry: &Entry, relations: &Names) -> Result<Vec<Rule>, RunError> {
    let path = folder.join(RULES_FILE);
    if !path.exists() {
        return Err(RunError::input(format!(
            "{}: there is no such file, and {} answers with its rules; put it back, or run again",
            path.display(),
            entry.name
        )));
    }
    let read = read_rules(&path, relations)?;
    if read.dropped > 0 {
        return Err(RunError::input(format!(
            "{}: {} of its rules name relations that the dataset of the run does not have ({}); correct the names \
             or remove these rules",
            path.display(),
            read.dropped,
            quoted(&read.unknown_relations)
        )));
    }
    Ok(read.rules)
}

/// Some names for a message.
pub fn quoted(names: &[String]) -> String {
    const SHOWN: usize = 3;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("{name:?}")).collect();
    match names.len().saturating_sub(SHOWN) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Removes the model of a run folder, if there is one.
pub(crate) fn remove_model(folder: &Path) -> Result<(), RunError> {
    for name in [MODEL_FILE, RULES_FILE, TENSORS_FILE] {
        remove_file(folder, name)?;
    }
    Ok(())
}

/// Content hash of a learned state, whatever files it is saved in.
pub(crate) fn model_fingerprint(saved: &SavedModel) -> Result<Fingerprint, RunError> {
    let mut hash = Sha256::default();
    if let Some(tensors) = &saved.tensors {
        hash.update(&tensors.0);
    }
    let rest = SavedModel { state: saved.state.clone(), rules: saved.rules.clone(), tensors: None };
    serde_json::to_writer(&mut hash, &rest).map_err(RunError::internal)?;
    Ok(Fingerprint::from_hash(hash))
}
