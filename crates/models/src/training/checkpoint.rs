//! Where a training stands, kept so that it can go on.
//!
//! Two things are kept per training: the state at a position, and the best state so far under the number of its epoch.
//! A position knows which best state belongs to it, and that one is written first, so a kill between the two writes
//! leaves the older pair intact. Both stay when the training is over: whoever keeps the trained model clears them, so
//! that a kill in between does not cost the training.

use quadcast_core::{ModelError, Run};
use serde::{Deserialize, Serialize};

use super::epochs::Epoch;

/// A position in a training, with everything that later decisions depend on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Position {
    /// Names the schedule and the batches: a checkpoint of another training is not used.
    pub training: String,
    /// Epochs that are done.
    pub epoch: u32,
    /// Batches of the current epoch that are done.
    pub batch: usize,
    /// Sum of the losses of those batches.
    pub loss_sum: f64,
    /// Seconds spent so far.
    pub seconds: f64,
    /// What happened, epoch by epoch.
    pub history: Vec<Epoch>,
}

/// Keeps a position and its state: the length of the position, the position, the state.
pub(crate) fn keep(run: &Run, name: &str, position: &Position, state: &[u8]) -> Result<(), ModelError> {
    let head = serde_json::to_vec(position).map_err(|error| ModelError::Checkpoint(error.to_string()))?;
    run.checkpoints.save(&position_name(name), &[&(head.len() as u64).to_le_bytes(), &head, state])
}

/// The position and state that were kept for this training, if they are usable.
pub(crate) fn recall(
    run: &Run,
    name: &str,
    training: &str,
) -> Result<Option<(Position, Vec<u8>)>, ModelError> {
    let Some(bytes) = run.checkpoints.load(&position_name(name))? else { return Ok(None) };
    let parts = bytes.split_first_chunk::<8>().and_then(|(length, rest)| {
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        rest.split_at_checked(length)
    });
    let Some((head, state)) = parts else { return Ok(None) };
    let position = serde_json::from_slice::<Position>(head).ok().filter(|found| found.training == training);
    Ok(position.map(|position| (position, state.to_vec())))
}

/// Keeps the best state so far.
pub(crate) fn keep_best(run: &Run, name: &str, epoch: u32, state: &[u8]) -> Result<(), ModelError> {
    run.checkpoints.save(&best_name(name, epoch), &[state])
}

pub(crate) fn holds_best(run: &Run, name: &str, epoch: u32) -> Result<bool, ModelError> {
    run.checkpoints.contains(&best_name(name, epoch))
}

pub(crate) fn recall_best(run: &Run, name: &str, epoch: u32) -> Result<Option<Vec<u8>>, ModelError> {
    run.checkpoints.load(&best_name(name, epoch))
}

pub(crate) fn discard_best(run: &Run, name: &str, epoch: u32) -> Result<(), ModelError> {
    run.checkpoints.remove(&best_name(name, epoch))
}

fn position_name(name: &str) -> String {
    format!("{name}-position")
}

fn best_name(name: &str, epoch: u32) -> String {
    format!("{name}-best-{epoch}")
}
