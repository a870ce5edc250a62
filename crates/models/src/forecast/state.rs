//! What networks are made for, and the state of a training as bytes: parameters, then their optimiser.

use quadcast_core::{History, ModelError};
use serde::{Deserialize, Serialize};

use crate::blocks::{Adam, Parameters, StoreError};

/// The numbers of entities and relations that a network is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub entities: usize,
    pub relations: usize,
}

impl Shape {
    pub fn of(history: &History<'_>) -> Self {
        Self { entities: history.entities(), relations: history.relations() }
    }

    /// Whether questions about this history can be answered.
    pub fn check(self, history: &History<'_>) -> Result<(), ModelError> {
        let data = Self::of(history);
        if self == data {
            return Ok(());
        }
        Err(ModelError::Unsupported(format!(
            "the model was fitted to {} entities and {} relations, the data has {} and {}",
            self.entities, self.relations, data.entities, data.relations
        )))
    }
}

/// The error of a model that is asked before it is fitted.
pub(crate) fn unfitted() -> ModelError {
    ModelError::Unsupported("the model is not fitted".to_owned())
}

/// What training changes, exactly.
pub(crate) fn state(parameters: &Parameters, adam: &Adam) -> Result<Vec<u8>, ModelError> {
    let values = parameters.to_bytes().map_err(|error| broken(&error))?;
    let mut bytes = (values.len() as u64).to_le_bytes().to_vec();
    bytes.extend(values);
    bytes.extend(adam.to_bytes(parameters).map_err(|error| broken(&error))?);
    Ok(bytes)
}

/// Takes a state that [`state`] gave.
pub(crate) fn restore(parameters: &mut Parameters, adam: &mut Adam, state: &[u8]) -> Result<(), ModelError> {
    let parts = state
        .split_first_chunk::<8>()
        .and_then(|(length, rest)| rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?));
    let (values, optimiser) =
        parts.ok_or_else(|| ModelError::Saved("a checkpoint is cut short".to_owned()))?;
    parameters.load_bytes(values).map_err(|error| broken(&error))?;
    adam.load_bytes(parameters, optimiser).map_err(|error| broken(&error))
}

/// Stored numbers that do not fit.
pub(crate) fn broken(error: &StoreError) -> ModelError {
    ModelError::Saved(error.to_string())
}
