//! A model of any task.

use quadcast_core::{EvolvingModel, Forecaster, ModelError, SavedModel, Task};
use quadcast_models::Entry;
use toml::Table;

use crate::RunError;

/// A model of facts with times, or one of an evolving graph.
pub(crate) enum AnyModel {
    /// Forecasting and completion.
    Timed(Box<dyn Forecaster>),
    /// Evolving graphs.
    Evolving(Box<dyn EvolvingModel>),
}

impl AnyModel {
    /// An unfitted model.
    pub fn build(entry: &Entry, config: &Table) -> Result<Self, RunError> {
        Ok(match entry.task() {
            Task::Evolving => Self::Evolving(entry.evolving(config)?),
            _ => Self::Timed(entry.forecaster(config)?),
        })
    }

    pub fn save(&self) -> Result<SavedModel, ModelError> {
        match self {
            Self::Timed(model) => model.save(),
            Self::Evolving(model) => model.save(),
        }
    }

    pub fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        match self {
            Self::Timed(model) => model.load(saved),
            Self::Evolving(model) => model.load(saved),
        }
    }
}
