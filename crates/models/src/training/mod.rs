//! The training loop, one for all models: epochs in random order, validation under the protocol of the run,
//! the best state kept, patience, a time budget, and checkpoints from which an interrupted training goes on as if
//! nothing had happened.
//!
//! Nothing random is kept in a checkpoint: every draw comes from a stream named by what it is for, the epoch and the
//! batch, so a position in the training is all that is needed.

mod epochs;
mod schedule;

pub use crate::capacity::{check_memory, limit_memory};
pub use epochs::{
    Ending, Epoch, InTraining, Judge, Learning, Trainable, Training, VALIDATIONS_BEFORE, learn, train,
};
pub use schedule::{Order, Schedule};
