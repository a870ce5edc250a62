//! What the networks of all models have: sizes, parameters, an optimiser, and their state as bytes.

use burn::tensor::Tensor;
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

/// Rows from which on a product adds up in the same order for any number of rows: products of a few rows take other ways.
const FEW: usize = 16;

/// The same rows, and the last one again until there are not few: a score must not depend on what else is asked.
pub(crate) fn at_least_a_few<T: Copy>(rows: &[T]) -> Vec<T> {
    let mut rows = rows.to_vec();
    if let Some(&last) = rows.last() {
        rows.resize(rows.len().max(FEW), last);
    }
    rows
}

/// The error of a model that is asked before it is fitted.
pub(crate) fn unfitted() -> ModelError {
    ModelError::Unsupported("the model is not fitted".to_owned())
}

/// The parameters of a network and their optimiser.
pub(crate) struct Learned {
    pub parameters: Parameters,
    pub adam: Adam,
}

impl Learned {
    /// One step of the optimiser down a loss; returns its value.
    pub fn descend(&mut self, loss: Tensor<1>) -> f64 {
        let gradients = self.parameters.backward(&loss);
        let value = f64::from(loss.into_scalar::<f32>());
        self.adam.step(&mut self.parameters, gradients);
        value
    }

    /// The parameters as a safetensors file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ModelError> {
        self.parameters.to_bytes().map_err(|error| broken(&error))
    }

    /// Takes parameters that `to_bytes` gave.
    pub fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        self.parameters.load_bytes(bytes).map_err(|error| broken(&error))
    }

    /// Everything that training changes, exactly: parameters, then their optimiser.
    pub fn state(&self) -> Result<Vec<u8>, ModelError> {
        let values = self.to_bytes()?;
        let mut bytes = (values.len() as u64).to_le_bytes().to_vec();
        bytes.extend(values);
        bytes.extend(self.adam.to_bytes(&self.parameters).map_err(|error| broken(&error))?);
        Ok(bytes)
    }

    /// Takes what `state` gave.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), ModelError> {
        let parts = state.split_first_chunk::<8>().and_then(|(length, rest)| {
            rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
        });
        let (values, optimiser) =
            parts.ok_or_else(|| ModelError::Saved("a checkpoint is cut short".to_owned()))?;
        self.load_bytes(values)?;
        self.adam.load_bytes(&self.parameters, optimiser).map_err(|error| broken(&error))
    }
}

/// Stored numbers that do not fit.
fn broken(error: &StoreError) -> ModelError {
    ModelError::Saved(error.to_string())
}
