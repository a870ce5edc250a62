//! The training loop, one for all models: epochs in random order, validation under the protocol of the run,
//! the best state kept, patience, a time budget, and checkpoints from which an interrupted training goes on as if
//! nothing had happened.
//!
//! Nothing random is kept in a checkpoint: every draw comes from a stream named by what it is for, the epoch and the
//! batch, so a position in the training is all that is needed.

mod epochs;
mod memory;
mod schedule;

pub use epochs::{Ending, Epoch, InTraining, Judge, Learning, Trainable, Training, learn, train};
pub use memory::check_memory;
pub use schedule::{Order, Schedule};
