//! What can be set, with the published values as defaults where they hold for all datasets.

use crate::config::ConfigError;
use crate::settings::Settings;
use crate::training::Schedule;

settings! {
    /// Configuration.
    pub struct Config {
        /// Size of embeddings.
        dimension: usize = 200, range at_least(1.0), source "paper";
        /// Snapshots that are read before a question.
        history: usize = 3, range at_least(1.0), source "paper, on ICEWS14; 1 to 10 elsewhere";
        /// Graph layers per snapshot.
        layers: usize = 2, range at_least(1.0), source "paper; 1 on YAGO";
        /// Start from the words of entity names.
        static_graph: bool = false, source "paper; true on the ICEWS datasets";
        /// Probability to drop a number in training, everywhere.
        dropout: f64 = 0.2, range at_least(0.0).below(1.0), source "paper";
        /// Degrees by which entities may turn away from their words with every snapshot.
        angle: f64 = 10.0, range at_least(0.0).at_most(180.0), source "paper";
        /// Weight of that constraint.
        static_weight: f64 = 0.5, range at_least(0.0), source "published code";
        /// Weight of the entity task; the rest weighs the relation task.
        task_weight: f64 = 0.7, range at_least(0.0).at_most(1.0), source "paper";
        /// Learning rate of Adam.
        learning_rate: f64 = 1e-3, range above(0.0), source "paper";
        /// Coupled L2.
        weight_decay: f64 = 1e-5, range at_least(0.0), source "published code";
        /// Largest norm of all gradients together.
        clip: f64 = 1.0, range above(0.0), source "published code";
        /// Epochs at most.
        epochs: u32 = 500, range at_least(1.0), source "published code";
        /// Validations without improvement before training stops; 0: never.
        patience: u32 = 20, source "ours; published code: never";
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        if self.static_graph && !self.dimension.is_multiple_of(2) {
            return Err(ConfigError::Value(format!(
                "dimension = {} is odd: the static graph works on pairs of numbers, expected an even dimension",
                self.dimension
            )));
        }
        Ok(())
    }

    pub(super) fn schedule(&self) -> Schedule {
        let patience = (self.patience > 0).then_some(self.patience);
        Schedule { epochs: self.epochs, patience, ..Schedule::default() }
    }
}
