//! What can be set, with the paper's values as defaults.

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;

/// Rules have at most this many body facts.
pub(super) const LONGEST: usize = 3;

/// How a random walk chooses among past facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transition {
    /// With probability proportional to `exp` of minus the time that lies between.
    #[default]
    Exponential,
    /// All alike.
    Uniform,
}

/// What becomes of a query for which no rule finds an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Fallback {
    /// All candidates tie.
    #[default]
    None,
    /// Candidates score by how often they answered the relation before.
    Popularity,
}

/// Configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Lengths of rule bodies. Paper: 1, 2, 3.
    pub lengths: Vec<usize>,
    /// Random walks per relation, direction and length. Paper: 200.
    pub walks: u32,
    /// How walks choose. Paper: exponential.
    pub transition: Transition,
    /// Bodies that are sampled to estimate the confidence of a rule. Paper: 500.
    pub body_samples: u32,
    /// How many time units back from the end of the known facts rules look; 0 for all. Paper: 0 on ICEWS14.
    pub window: u32,
    /// Weight of the confidence; the rest weighs recency. Paper: 0.5.
    pub confidence_weight: f64,
    /// How fast recency fades, per time unit. Paper: 0.1.
    pub decay: f64,
    /// Rules are applied until this many best candidates are told apart. Paper: 20.
    pub top_k: usize,
    /// Rules below this confidence are not applied. Paper: 0.01.
    pub min_confidence: f64,
    /// Rules with fewer sampled bodies are not applied. Paper: 2.
    pub min_body_support: u32,
    /// Queries without an answer. Published comparison: none. Original code: popularity.
    pub fallback: Fallback,
    /// Learn no rules for the relations that the published runs lost.
    pub compat: bool,
    /// Processes of the published run, which decide what it lost. Published comparison: 15 or 16.
    pub processes: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            lengths: vec![1, 2, 3],
            walks: 200,
            transition: Transition::default(),
            body_samples: 500,
            window: 0,
            confidence_weight: 0.5,
            decay: 0.1,
            top_k: 20,
            min_confidence: 0.01,
            min_body_support: 2,
            fallback: Fallback::default(),
            compat: false,
            processes: 15,
        }
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let refuse = |key: &str, value: &dyn std::fmt::Display, expected: &str| {
            Err(ConfigError::Value(format!("{key} = {value} is out of range: expected {expected}")))
        };
        let mut lengths = self.lengths.clone();
        lengths.sort_unstable();
        lengths.dedup();
        if lengths.is_empty()
            || lengths.len() < self.lengths.len()
            || lengths[0] == 0
            || lengths.last() > Some(&LONGEST)
        {
            let given = format!("{:?}", self.lengths);
            return refuse("lengths", &given, "distinct lengths from 1 to 3, for example [1, 2, 3]");
        }
        if self.walks == 0 {
            return refuse("walks", &self.walks, "at least one walk");
        }
        if self.body_samples == 0 {
            return refuse("body_samples", &self.body_samples, "at least one sample");
        }
        if !(0.0..=1.0).contains(&self.confidence_weight) {
            return refuse("confidence_weight", &self.confidence_weight, "a number from 0 to 1");
        }
        if !(self.decay.is_finite() && self.decay >= 0.0) {
            return refuse("decay", &self.decay, "a number from 0 on");
        }
        if self.top_k == 0 {
            return refuse("top_k", &self.top_k, "at least 1");
        }
        if !(0.0..=1.0).contains(&self.min_confidence) {
            return refuse("min_confidence", &self.min_confidence, "a number from 0 to 1");
        }
        if self.processes == 0 {
            return refuse("processes", &self.processes, "at least 1");
        }
        Ok(())
    }
}
