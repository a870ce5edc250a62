//! The files in which a run folder keeps its model: the only place that knows them.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use quadcast_core::{Forecaster, Names, Rule, SavedModel, Tensors};
use quadcast_data::{read_rules, write_rules};
use quadcast_models::{Entry, find};
use quadcast_report::{FileError, RunRecord, write_atomically};
use serde::{Deserialize, Serialize};

use crate::failure::Failure;

/// File name inside a run folder.
const MODEL_FILE: &str = "model.json";

/// File name of the rules, which people read and edit; `model.json` does not repeat them.
const RULES_FILE: &str = "rules.jsonl";

/// File name of the parameters of neural models.
const TENSORS_FILE: &str = "model.safetensors";

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
pub fn write_model(
    folder: &Path,
    entry_name: &str,
    saved: &SavedModel,
    relations: &Names,
) -> Result<(), Failure> {
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
pub fn read_model(
    folder: &Path,
    record: &RunRecord,
    relations: &Names,
) -> Result<(&'static Entry, Box<dyn Forecaster>), Failure> {
    let path = folder.join(MODEL_FILE);
    let refuse = |why: String| Failure::input(format!("{}: {why}", path.display()));
    let text = fs::read(&path).map_err(|error| refuse(format!("cannot be read: {error}")))?;
    let file: ModelFile =
        serde_json::from_slice(&text).map_err(|error| refuse(format!("is not a saved model: {error}")))?;
    let entry = find(&file.model)?;
    let config = toml::Table::try_from(&record.model.config).map_err(|error| refuse(error.to_string()))?;
    let mut model = (entry.build)(&config)?;
    let rules = if entry.capabilities.rules { Some(read_own_rules(folder, entry, relations)?) } else { None };
    let tensors = match fs::read(folder.join(TENSORS_FILE)) {
        Ok(bytes) => Some(Tensors(bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(refuse(format!("{TENSORS_FILE} beside it cannot be read: {error}"))),
    };
    model
        .load(&SavedModel { state: file.state, rules, tensors })
        .map_err(|error| refuse(error.to_string()))?;
    Ok((entry, model))
}

/// The rules of a run folder, all of them: its dataset has every relation that they name.
pub fn read_own_rules(folder: &Path, entry: &Entry, relations: &Names) -> Result<Vec<Rule>, Failure> {
    let path = folder.join(RULES_FILE);
    if !path.exists() {
        return Err(Failure::input(format!(
            "{}: there is no such file, and {} answers with its rules; put it back, or run again",
            path.display(),
            entry.name
        )));
    }
    let read = read_rules(&path, relations)?;
    if read.dropped > 0 {
        return Err(Failure::input(format!(
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
pub fn remove_model(folder: &Path) -> Result<(), Failure> {
    for name in [MODEL_FILE, RULES_FILE, TENSORS_FILE] {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != ErrorKind::NotFound => {
                return Err(FileError::Write { path, source }.into());
            }
            _ => {}
        }
    }
    Ok(())
}
