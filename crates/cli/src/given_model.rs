//! The trained model of another run, used instead of training: one training serves several settings.

use std::path::Path;

use quadcast_core::{Dataset, Forecaster};
use quadcast_models::Entry;
use quadcast_report::RunRecord;

use crate::failure::Failure;
use crate::model_files::read_model;
use crate::output::Output;
use crate::trained::read_complete;

/// A model that another run has trained, and the record of that run.
pub struct GivenModel {
    pub model: Box<dyn Forecaster>,
    pub record: RunRecord,
}

/// Reads the model of a complete run on the same data.
pub fn read(run: &str, entry: &Entry, dataset: &Dataset, output: &Output) -> Result<GivenModel, Failure> {
    let folder = Path::new(run);
    let record = read_complete(folder)?;
    let refuse = |why: String| Err(Failure::input(format!("{run}: {why}")));
    if record.model.name != entry.name {
        return refuse(format!("holds a model of {}, expected {}", record.model.name, entry.name));
    }
    let (expected, found) = (dataset.fingerprint(), record.dataset.fingerprint);
    if expected != found {
        return refuse(format!(
            "its model was trained on data with fingerprint {found}, this is {expected}; train a model on this data"
        ));
    }
    let (_, model) = read_model(folder, &record, &dataset.vocabulary.relations)?;
    output.detail(&format!("the model of {run}, chosen under {}", record.protocol.setting.word()));
    Ok(GivenModel { model, record })
}
