//! What can be set, with the published values as defaults.

use quadcast_train::{Order, Schedule};
use serde::{Deserialize, Serialize};

use crate::config::{ConfigError, check_at_least_one, check_ranges};

/// Configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Size of embeddings. Paper: 200.
    pub dimension: usize,
    /// Share of the copy mode. Paper: 0.8 on ICEWS, 0.5 on YAGO and WIKI.
    pub alpha: f64,
    /// Learning rate. Paper: 0.001.
    pub learning_rate: f64,
    /// Facts per step at most; a step never spans two times. Code: 1024.
    pub batch: usize,
    /// Weight of the mean squared embeddings. Code: 0.01.
    pub regulariser: f64,
    /// Whether the data loss trains the time vector. Published code: no, by accident.
    pub train_time: bool,
    /// Epochs at most. Paper: 30.
    pub epochs: u32,
    /// Epochs before the first validation counts. Published comparison: 6.
    pub first_validation: u32,
    /// Validations without improvement before training stops. Published comparison: 4.
    pub patience: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            dimension: 200,
            alpha: 0.8,
            learning_rate: 1e-3,
            batch: 1024,
            regulariser: 0.01,
            train_time: false,
            epochs: 30,
            first_validation: 6,
            patience: 4,
        }
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check_at_least_one(&[
            ("dimension", self.dimension),
            ("batch", self.batch),
            ("epochs", self.epochs as usize),
            ("first_validation", self.first_validation as usize),
            ("patience", self.patience as usize),
        ])?;
        check_ranges(&[
            ("alpha", self.alpha, self.alpha > 0.0 && self.alpha < 1.0, "a number between 0 and 1"),
            ("learning_rate", self.learning_rate, self.learning_rate > 0.0, "a number above 0"),
            ("regulariser", self.regulariser, self.regulariser >= 0.0, "a number from 0 on"),
        ])
    }

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
