//! Parts that models share: sizes, trained parameters with their optimiser, saved state, and handing scores to a sink.

use std::ops::Range;

use burn::tensor::Tensor;
use quadcast_core::{History, ModelError, SavedModel, ScoreError, ScoreRow, ScoreSink};
use quadcast_kernels::matrix::FEWEST_ROWS;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::blocks::{Adam, Parameters, StoreError};

/// The numbers of entities and relations of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub entities: usize,
    pub relations: usize,
}

impl Shape {
    pub fn of(history: &History<'_>) -> Self {
        Self { entities: history.entities(), relations: history.relations() }
    }

    /// Refuses saved sizes whose ids would not fit into 32 bits.
    pub fn check_saved(self) -> Result<Self, ModelError> {
        let most = u32::MAX as usize / 2;
        for (field, size) in [("entities", self.entities), ("relations", self.relations)] {
            if size > most {
                return Err(ModelError::Saved(format!(
                    "shape.{field} = {size} is out of range: expected at most {most}"
                )));
            }
        }
        Ok(self)
    }

    /// What a check of memory is about, in words.
    pub fn training(self) -> String {
        format!("training with {} entities and {} relations", self.entities, self.relations)
    }

    /// Refuses a history of another size.
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

/// Repeats the last row up to [`FEWEST_ROWS`]: a score must not depend on the other questions of a batch.
pub(crate) fn pad_rows<T: Copy>(rows: &[T]) -> Vec<T> {
    let mut rows = rows.to_vec();
    if let Some(&last) = rows.last() {
        rows.resize(rows.len().max(FEWEST_ROWS), last);
    }
    rows
}

/// Turns scores into probabilities.
pub(crate) fn softmax(scores: &mut [f32]) {
    let largest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0_f64;
    for score in scores.iter_mut() {
        *score = (*score - largest).exp();
        sum += f64::from(*score);
    }
    let share = (1.0 / sum) as f32;
    for score in scores {
        *score *= share;
    }
}

/// The error of a model that is used before it is fitted.
pub(crate) fn unfitted() -> ModelError {
    ModelError::Unsupported("the model is not fitted".to_owned())
}

/// Hands strips of score rows to a sink without copying them, and keeps the first error.
pub(crate) struct StripSink<'a> {
    sink: &'a mut dyn ScoreSink,
    /// By row: the query that it belongs to. Rows beyond are padding.
    indices: &'a [usize],
    /// Scores of a row.
    width: usize,
    result: Result<(), ScoreError>,
}

impl<'a> StripSink<'a> {
    pub fn new(sink: &'a mut dyn ScoreSink, indices: &'a [usize], width: usize) -> Self {
        Self { sink, indices, width, result: Ok(()) }
    }

    /// Takes `scores[rows, width]`.
    pub fn accept(&mut self, rows: Range<usize>, scores: &[f32]) {
        let indices = self.indices.get(rows.start..).unwrap_or_default();
        for (scores, &index) in scores.chunks(self.width.max(1)).zip(indices) {
            if self.result.is_ok() {
                self.result = self.sink.accept(index, ScoreRow::Dense(scores));
            }
        }
    }

    pub fn finish(self) -> Result<(), ModelError> {
        Ok(self.result?)
    }
}

/// The JSON state of a saved model; `what` names it in an error.
pub(crate) fn saved_state<S: DeserializeOwned>(saved: &SavedModel, what: &str) -> Result<S, ModelError> {
    serde_json::from_value(saved.state.clone())
        .map_err(|error| ModelError::Saved(format!("{error} in the {what}")))
}

/// Fields of a saved state that are a model's own.
pub(crate) fn read_extra<S: DeserializeOwned>(state: serde_json::Value) -> Result<S, ModelError> {
    serde_json::from_value(state).map_err(|error| ModelError::Saved(error.to_string()))
}

/// The tensors of a saved model.
pub(crate) fn saved_tensors(saved: &SavedModel) -> Result<&[u8], ModelError> {
    let tensors = saved.tensors.as_ref().ok_or_else(|| ModelError::Saved("it has no tensors".to_owned()))?;
    Ok(&tensors.0)
}

/// The parameters of a network and their optimiser.
pub(crate) struct Learned {
    pub parameters: Parameters,
    pub adam: Adam,
}

impl Learned {
    /// One step of the optimiser on a loss; returns its value.
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

    /// Loads parameters from [`to_bytes`](Self::to_bytes).
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

    /// Restores [`state`](Self::state).
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

/// The error of stored numbers that do not fit.
fn broken(error: &StoreError) -> ModelError {
    ModelError::Saved(error.to_string())
}
