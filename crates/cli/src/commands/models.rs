//! `quadcast models`: what there is.

use quadcast_models::{MODELS, find};
use quadcast_report::{model_text, models_text};

use crate::output::{Failure, Output};

/// Lists all models, or shows one in full.
pub fn execute(name: Option<&str>, output: &Output) -> Result<(), Failure> {
    if let Some(name) = name {
        let entry = find(name)?;
        return output.result(entry, || model_text(entry));
    }
    output.result(&MODELS, || models_text(MODELS))
}
