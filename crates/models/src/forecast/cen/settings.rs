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
    /// Graph layers per snapshot. Paper: 2.
    pub layers: usize,
    /// Snapshots that the first stage reads. Paper: 3 on ICEWS14, ICEWS18 and YAGO, 2 on GDELT and WIKI.
    pub shortest: usize,
    /// Snapshots that the curriculum may come to. Paper: 10.
    pub longest: usize,
    /// Probability to drop a number, everywhere. Paper: 0.2.
    pub dropout: f64,
    /// Learning rate of the first stage. Paper: 0.001.
    pub learning_rate: f64,
    /// Learning rate of the later stages. Code: 0.0001.
    pub curriculum_rate: f64,
    /// Coupled L2. Code: 1e-5.
    pub weight_decay: f64,
    /// Largest norm of all gradients together. Code: 1.
    pub clip: f64,
    /// Epochs of a stage at most. Code: 30.
    pub epochs: u32,
    /// Validations without improvement before the first stage ends. Code: it ends after more than 5.
    pub patience: u32,
    /// The same for the later stages. Code: after more than 2.
    pub curriculum_patience: u32,
    /// Learning rate while going on to learn. Paper: 0.001.
    pub online_rate: f64,
    /// Epochs per step while going on to learn. Code: 30.
    pub online_epochs: u32,
    /// Pull back to the parameters of the step before, while going on to learn. Paper: 1.
    pub online_pull: f64,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            dimension: 200,
            layers: 2,
            shortest: 3,
            longest: 10,
            dropout: 0.2,
            learning_rate: 1e-3,
            curriculum_rate: 1e-4,
            weight_decay: 1e-5,
            clip: 1.0,
            epochs: 30,
            patience: 6,
            curriculum_patience: 3,
            online_rate: 1e-3,
            online_epochs: 30,
            online_pull: 1.0,
        }
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check_at_least_one(&[
            ("dimension", self.dimension),
            ("layers", self.layers),
            ("shortest", self.shortest),
            ("epochs", self.epochs as usize),
            ("patience", self.patience as usize),
            ("curriculum_patience", self.curriculum_patience as usize),
        ])?;
        if self.longest < self.shortest {
            return Err(ConfigError::Value(format!(
                "longest = {} is out of range: expected at least shortest = {}",
                self.longest, self.shortest
            )));
        }
        let positive = |x: f64| x > 0.0;
        check_ranges(&[
            ("dropout", self.dropout, (0.0..1.0).contains(&self.dropout), "a number from 0 to below 1"),
            ("learning_rate", self.learning_rate, positive(self.learning_rate), "a number above 0"),
            ("curriculum_rate", self.curriculum_rate, positive(self.curriculum_rate), "a number above 0"),
            ("weight_decay", self.weight_decay, self.weight_decay >= 0.0, "a number from 0 on"),
            ("clip", self.clip, positive(self.clip), "a number above 0"),
            ("online_rate", self.online_rate, positive(self.online_rate), "a number above 0"),
            ("online_pull", self.online_pull, self.online_pull >= 0.0, "a number from 0 on"),
        ])
    }

    /// The stage that reads histories of this length.
    pub(super) fn schedule(&self, length: usize) -> Schedule {
        let patience = if length == self.shortest { self.patience } else { self.curriculum_patience };
        Schedule { epochs: self.epochs, patience: Some(patience), ..Schedule::default() }
    }
}
