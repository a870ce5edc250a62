//! What can be set, with the published values as defaults where they hold for all datasets.

use crate::config::ConfigError;
use crate::settings::Settings;
use crate::training::Schedule;

settings! {
    /// Configuration.
    pub struct Config {
        /// Size of embeddings.
        dimension: usize = 200, range at_least(1.0), source "paper";
        /// Graph layers per snapshot.
        layers: usize = 2, range at_least(1.0), source "paper";
        /// Snapshots that the first stage of training reads.
        shortest: usize = 3, range at_least(1.0), source "paper, on ICEWS14, ICEWS18 and YAGO; 2 on GDELT and WIKI";
        /// Snapshots that later stages may come to; at least `shortest`.
        longest: usize = 10, source "paper";
        /// Probability to drop a number in training, everywhere.
        dropout: f64 = 0.2, range at_least(0.0).below(1.0), source "paper";
        /// Learning rate of the first stage.
        learning_rate: f64 = 1e-3, range above(0.0), source "paper";
        /// Learning rate of the later stages.
        curriculum_rate: f64 = 1e-4, range above(0.0), source "published code";
        /// Coupled L2.
        weight_decay: f64 = 1e-5, range at_least(0.0), source "published code";
        /// Largest norm of all gradients together.
        clip: f64 = 1.0, range above(0.0), source "published code";
        /// Epochs of a stage at most.
        epochs: u32 = 30, range at_least(1.0), source "published code";
        /// Validations without improvement before the first stage ends.
        patience: u32 = 6, range at_least(1.0), source "published code, which ends after more than 5";
        /// Validations without improvement before a later stage ends.
        curriculum_patience: u32 = 3, range at_least(1.0), source "published code, which ends after more than 2";
        /// Learning rate during online updates.
        online_rate: f64 = 1e-3, range above(0.0), source "paper";
        /// Epochs per step at most during online updates.
        online_epochs: u32 = 30, source "published code";
        /// Pull back to the parameters of the step before during online updates.
        online_pull: f64 = 1.0, range at_least(0.0), source "paper";
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        if self.longest < self.shortest {
            return Err(ConfigError::Value(format!(
                "longest = {} is out of range: expected at least shortest = {}",
                self.longest, self.shortest
            )));
        }
        Ok(())
    }

    /// The stage that reads histories of this length.
    pub(super) fn schedule(&self, length: usize) -> Schedule {
        let patience = if length == self.shortest { self.patience } else { self.curriculum_patience };
        Schedule { epochs: self.epochs, patience: Some(patience), ..Schedule::default() }
    }
}
