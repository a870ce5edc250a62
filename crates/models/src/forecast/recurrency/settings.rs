//! What can be set, with the paper's values as defaults.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;

/// Which score is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// ψ alone.
    Strict,
    /// ξ alone.
    Relaxed,
    /// α·ψ + (1−α)·ξ.
    #[default]
    Combined,
}

/// A number, or the wish to search for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Tuned {
    /// Used as given, for all relations.
    Fixed(f64),
    /// Chosen on the validation period.
    Search(SearchWord),
}

/// The word `search`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchWord {
    /// Chosen on the validation period.
    Search,
}

/// What the search chooses parameters for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Each relation in each direction.
    #[default]
    Relation,
    /// The whole dataset.
    Dataset,
}

/// What ψ is divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normaliser {
    /// Every time unit from the relation's first step to the one before its last, as the published code has it.
    #[default]
    Code,
    /// Every time unit from the relation's first step to its last, as the paper has it.
    Formula,
}

/// Configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Which score is used.
    pub variant: Variant,
    /// Decay rate per raster unit, or `"search"`. Paper: searched.
    pub lambda: Tuned,
    /// Share of ψ, or `"search"`. Paper: searched.
    pub alpha: Tuned,
    /// What the search chooses parameters for. Paper: per relation.
    pub scope: Scope,
    /// What ψ is divided by.
    pub normaliser: Normaliser,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            variant: Variant::default(),
            lambda: Tuned::Search(SearchWord::Search),
            alpha: Tuned::Search(SearchWord::Search),
            scope: Scope::default(),
            normaliser: Normaliser::default(),
        }
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        let range = |key: &str, value: Tuned, allowed: RangeInclusive<f64>| match value {
            Tuned::Fixed(number) if !allowed.contains(&number) => Err(ConfigError::Value(format!(
                "{key} = {number} is out of range: expected \"search\" or a number from {} to {}",
                allowed.start(),
                allowed.end()
            ))),
            _ => Ok(()),
        };
        range("lambda", self.lambda, 0.0..=1000.0)?;
        range("alpha", self.alpha, 0.0..=1.0)
    }
}
