//! What can keep a dataset from being divided.

use thiserror::Error;

/// Whatever can go wrong when a dataset is divided.
#[derive(Debug, Error)]
pub enum DivideError {
    /// Shares that leave a split without facts.
    #[error(
        "--valid {valid} --test {test}: expected two shares above 0 that leave something for train, such as 0.1 and 0.1"
    )]
    Shares {
        /// Share of the validation facts.
        valid: f64,
        /// Share of the test facts.
        test: f64,
    },
    /// Too little to divide.
    #[error(
        "{name}: found {facts} facts, too few for the shares asked for: {empty} would be empty; give more data or \
         larger shares with --valid and --test"
    )]
    TooFewFacts {
        /// The dataset.
        name: String,
        /// How many different facts it has.
        facts: usize,
        /// The split that gets none.
        empty: quadcast_core::Split,
    },
    /// Too few steps for three splits.
    #[error(
        "{name}: found {steps} time steps, expected at least 3: train, valid and test need one each; divide it with \
         --method random"
    )]
    TooFewSteps {
        /// The dataset.
        name: String,
        /// How many.
        steps: usize,
    },
    /// A method that needs time, and a graph without.
    #[error("{name} is a graph without time; it can be divided with --method random or leakage-free")]
    NoTime {
        /// The dataset.
        name: String,
    },
    /// Content that is not divided.
    #[error("{name} is {kind}; only facts with time stamps and graphs without time can be divided")]
    Unsupported {
        /// The dataset.
        name: String,
        /// What it holds.
        kind: &'static str,
    },
}
