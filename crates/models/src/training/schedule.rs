//! How long to train, in which order, and when to look.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// In which order the batches of an epoch come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// A new random order every epoch.
    #[default]
    Shuffled,
    /// As they are numbered.
    Fixed,
}

/// How long to train, in which order, and when to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Epochs at most.
    pub epochs: u32,
    /// Epochs after which the model is validated for the first time: 1 is right after the first one.
    pub first_validation: u32,
    /// Validate after every so many epochs.
    pub validate_every: u32,
    /// Stop after this many validations in a row without an improvement; never, if absent.
    pub patience: Option<u32>,
    /// Order of batches.
    pub order: Order,
    /// Work in progress is kept at least this often, also within an epoch.
    pub keep_every: Duration,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            epochs: 1,
            first_validation: 1,
            validate_every: 1,
            patience: None,
            order: Order::default(),
            keep_every: Duration::from_mins(1),
        }
    }
}

impl Schedule {
    /// Whether the model is validated after `done` epochs.
    pub(crate) fn looks_after(&self, done: u32) -> bool {
        let since = done.checked_sub(self.first_validation.max(1));
        done == self.epochs || since.is_some_and(|since| since.is_multiple_of(self.validate_every.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_epoch_is_always_validated() {
        let schedule = Schedule { epochs: 10, first_validation: 3, validate_every: 2, ..Schedule::default() };
        let looks: Vec<u32> = (1..=10).filter(|&done| schedule.looks_after(done)).collect();
        assert_eq!(looks, [3, 5, 7, 9, 10]);
    }
}
