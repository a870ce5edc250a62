//! What can be set, with the published values as defaults.

use crate::training::{Order, Schedule};

settings! {
    /// Configuration.
    pub struct Config {
        /// Size of embeddings.
        dimension: usize = 200, range at_least(1.0), source "paper";
        /// Share of the copy mode.
        alpha: f64 = 0.8, range above(0.0).below(1.0), source "paper, on ICEWS; 0.5 on YAGO and WIKI";
        /// Learning rate of Adam.
        learning_rate: f64 = 1e-3, range above(0.0), source "paper";
        /// Facts per training step at most; a step never spans two times.
        batch: usize = 1024, range at_least(1.0), source "published code";
        /// Weight of the mean squared embeddings in the loss.
        regulariser: f64 = 0.01, range at_least(0.0), source "published code";
        /// Whether the data loss trains the time vector.
        train_time: bool = false, source "published code, by accident";
        /// Epochs at most.
        epochs: u32 = 30, range at_least(1.0), source "paper";
        /// Epochs before the first validation counts.
        first_validation: u32 = 6, range at_least(1.0), source "published comparison";
        /// Validations without improvement before training stops.
        patience: u32 = 4, range at_least(1.0), source "published comparison";
    }
}

impl Config {
    pub(super) fn schedule(&self) -> Schedule {
        Schedule {
            epochs: self.epochs,
            first_validation: self.first_validation.min(self.epochs),
            patience: Some(self.patience),
            order: Order::Fixed,
            ..Schedule::default()
        }
    }
}
