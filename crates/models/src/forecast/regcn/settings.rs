//! What can be set, with the published values as defaults where they hold for all datasets.

use quadcast_train::Schedule;
use serde::{Deserialize, Serialize};

use crate::config::{ConfigError, check_at_least_one, check_ranges};

/// Configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Size of embeddings. Paper: 200.
    pub dimension: usize,
    /// Snapshots that are read before a question. Paper: 3 on ICEWS14, 1 to 10 elsewhere.
    pub history: usize,
    /// Graph layers per snapshot. Paper: 2, on YAGO 1.
    pub layers: usize,
    /// Start from the words of entity names. Paper: on the ICEWS datasets.
    pub static_graph: bool,
    /// Probability to drop a number, everywhere. Paper: 0.2.
    pub dropout: f64,
    /// Degrees by which entities may turn away from their words with every snapshot. Paper: 10.
    pub angle: f64,
    /// Weight of that constraint. Code: 0.5.
    pub static_weight: f64,
    /// Weight of the entity task; the rest weighs the relation task. Paper: 0.7.
    pub task_weight: f64,
    /// Learning rate. Paper: 0.001.
    pub learning_rate: f64,
    /// Coupled L2. Code: 1e-5.
    pub weight_decay: f64,
    /// Largest norm of all gradients together. Code: 1.
    pub clip: f64,
    /// Epochs at most. Code: 500.
    pub epochs: u32,
    /// Validations without improvement before training stops; 0 for never. Code: never.
    pub patience: u32,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            dimension: 200,
            history: 3,
            layers: 2,
            static_graph: false,
            dropout: 0.2,
            angle: 10.0,
            static_weight: 0.5,
            task_weight: 0.7,
            learning_rate: 1e-3,
            weight_decay: 1e-5,
            clip: 1.0,
            epochs: 500,
            patience: 20,
        }
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check_at_least_one(&[
            ("dimension", self.dimension),
            ("history", self.history),
            ("layers", self.layers),
            ("epochs", self.epochs as usize),
        ])?;
        if self.static_graph && !self.dimension.is_multiple_of(2) {
            return Err(ConfigError::Value(format!(
                "dimension = {} is odd: the static graph works on pairs of numbers, expected an even dimension",
                self.dimension
            )));
        }
        let positive = |x: f64| x > 0.0;
        check_ranges(&[
            ("dropout", self.dropout, (0.0..1.0).contains(&self.dropout), "a number from 0 to below 1"),
            ("angle", self.angle, (0.0..=180.0).contains(&self.angle), "degrees from 0 to 180"),
            ("static_weight", self.static_weight, self.static_weight >= 0.0, "a number from 0 on"),
            (
                "task_weight",
                self.task_weight,
                (0.0..=1.0).contains(&self.task_weight),
                "a number from 0 to 1",
            ),
            ("learning_rate", self.learning_rate, positive(self.learning_rate), "a number above 0"),
            ("weight_decay", self.weight_decay, self.weight_decay >= 0.0, "a number from 0 on"),
            ("clip", self.clip, positive(self.clip), "a number above 0"),
        ])
    }

    pub(super) fn schedule(&self) -> Schedule {
        let patience = (self.patience > 0).then_some(self.patience);
        Schedule { epochs: self.epochs, patience, ..Schedule::default() }
    }
}
