//! What can be set, with the paper's values as defaults.

use crate::capacity::MOST_THINGS;
use crate::config::ConfigError;
use crate::settings::Settings;

/// Rules have at most this many body facts.
pub(super) const LONGEST: usize = 3;

/// Most walks, and most bodies per rule: thousands of times the published numbers, and already days on a large dataset.
const MOST_SAMPLES: f64 = 1e6;

choices! {
    /// How a random walk chooses among past facts.
    pub enum Transition {
        /// With probability proportional to `exp` of minus the time that lies between.
        Exponential = "exponential",
        /// All alike.
        Uniform = "uniform",
    }

    /// What becomes of a query for which no rule finds an answer.
    pub enum Fallback {
        /// All candidates tie.
        None = "none",
        /// Candidates score by how often they answered the relation before.
        Popularity = "popularity",
    }
}

settings! {
    /// Configuration.
    pub struct Config {
        /// How many facts a rule body may have: distinct lengths.
        lengths: Vec<usize> = vec![1, 2, 3], range at_least(1.0).at_most(LONGEST as f64), source "paper";
        /// Random walks per relation, direction and length.
        walks: u32 = 200, range at_least(1.0).at_most(MOST_SAMPLES), source "paper";
        /// How walks choose among past facts.
        transition: Transition = Transition::Exponential, source "paper";
        /// Bodies that are sampled to estimate the confidence of a rule.
        body_samples: u32 = 500, range at_least(1.0).at_most(MOST_SAMPLES), source "paper";
        /// How many time units back from the last known fact rules look; 0 for all.
        window: u32 = 0, source "paper, on ICEWS14";
        /// Weight of the confidence; the rest weighs recency.
        confidence_weight: f64 = 0.5, range at_least(0.0).at_most(1.0), source "paper";
        /// How fast recency fades, per time unit.
        decay: f64 = 0.1, range at_least(0.0), source "paper";
        /// Rules are applied until this many best candidates are told apart.
        top_k: usize = 20, range at_least(1.0).at_most(MOST_THINGS), source "paper";
        /// Rules below this confidence are not applied.
        min_confidence: f64 = 0.01, range at_least(0.0).at_most(1.0), source "paper";
        /// Rules with fewer sampled bodies are not applied.
        min_body_support: u32 = 2, source "paper";
        /// Queries that no rule answers.
        fallback: Fallback = Fallback::None, source "published comparison; original code: popularity";
        /// Learn no rules for the relations that the published runs lost (see `--compat`).
        compat: bool = false;
        /// Processes of the published run, which decide what it lost. Used with `compat` only.
        processes: usize = 15, range at_least(1.0).at_most(MOST_THINGS), source "published comparison: 15 or 16";
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        let mut lengths = self.lengths.clone();
        lengths.sort_unstable();
        lengths.dedup();
        if lengths.is_empty() || lengths.len() < self.lengths.len() {
            return Err(ConfigError::Value(format!(
                "lengths = {:?} is out of range: expected distinct lengths from 1 to 3, for example [1, 2, 3]",
                self.lengths
            )));
        }
        Ok(())
    }
}
