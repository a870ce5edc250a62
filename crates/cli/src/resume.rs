//! What an interrupted run left, for the same run to go on with.

use std::path::Path;

use quadcast_core::{Fingerprint, Forecaster, Names, SavedModel};
use quadcast_report::{RunRecord, Status};
use sha2::{Digest, Sha256};

use crate::commands::run::read_run_file;
use crate::failure::Failure;
use crate::model_files::read_model;
use crate::record_folder::RunFile;

/// A run that stopped after its fit.
pub struct Interrupted {
    pub record: RunRecord,
    pub model: Box<dyn Forecaster>,
}

impl Interrupted {
    /// Looks for one in a folder. Another run, another version, a file that is damaged or missing: whatever the reason
    /// why it cannot be used, the remedy is to start afresh, so it is not told.
    pub fn find(folder: &Path, file: &RunFile, relations: &Names) -> Option<Self> {
        let record = RunRecord::read(folder).ok()?;
        if record.status == Status::Complete || record.fitted.is_none() {
            return None;
        }
        let written =
            read_run_file::<RunFile>(&folder.join("run.toml")).ok()?.identity(&record.version).ok()?;
        if written != file.identity(env!("CARGO_PKG_VERSION")).ok()? {
            return None;
        }
        let (entry, model) = read_model(folder, &record, relations).ok()?;
        // Files that can be read may still not be what was written; a model that saves itself in the same way is.
        let same = record.fitted == model_fingerprint(&model.save().ok()?).ok();
        (same && file.model.as_deref() == Some(entry.name)).then_some(Self { record, model })
    }
}

/// Content hash of a learned state, whatever files it is kept in.
pub fn model_fingerprint(saved: &SavedModel) -> Result<Fingerprint, Failure> {
    let mut hash = Sha256::default();
    if let Some(tensors) = &saved.tensors {
        hash.update(&tensors.0);
    }
    let rest = SavedModel { tensors: None, ..saved.clone() };
    serde_json::to_writer(&mut hash, &rest).map_err(Failure::internal)?;
    Ok(Fingerprint::from_hash(hash))
}
