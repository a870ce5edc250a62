//! What can be set, with the paper's values as defaults.

use quadcast_core::ModelError;
use serde::{Deserialize, Serialize};

use crate::settings::{Choice, Kind, SettingType, Settings};

/// Decay rates that are tried, in this order.
pub(super) const LAMBDAS: [f64; 14] =
    [0.0, 1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.5, 0.9, 1.0001];
/// Shares of ψ that are tried, in this order.
pub(super) const ALPHAS: [f64; 13] =
    [0.0, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 1.0];

choices! {
    /// Which score is used.
    pub enum Variant {
        /// ψ alone: the same fact before.
        Strict = "strict",
        /// ξ alone: how popular an answer is.
        Relaxed = "relaxed",
        /// α·ψ + (1−α)·ξ.
        Combined = "combined",
    }
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

impl Tuned {
    const SEARCH: Self = Self::Search(SearchWord::Search);
}

impl SettingType for Tuned {
    const KIND: Kind = Kind::NumberOrWord;
    const CHOICES: &'static [Choice] = SearchWord::CHOICES;
}

choices! {
    /// The word `search`.
    pub enum SearchWord {
        /// Chosen on the validation period.
        Search = "search",
    }

    /// What the search chooses parameters for.
    pub enum Scope {
        /// Each relation in each direction.
        Relation = "relation",
        /// The whole dataset.
        Dataset = "dataset",
    }

    /// What ψ is divided by.
    pub enum Normaliser {
        /// Every time unit from the relation's first step to the one before its last, as the published code has it.
        Code = "code",
        /// Every time unit from the relation's first step to its last, as the paper has it.
        Formula = "formula",
    }
}

settings! {
    /// Configuration.
    pub struct Config {
        /// Which score is used.
        variant: Variant = Variant::Combined, source "paper";
        /// Decay rate per time unit, or `"search"` to choose it on validation.
        lambda: Tuned = Tuned::SEARCH, range at_least(0.0).at_most(1000.0), source "paper", search Numbers(&LAMBDAS);
        /// Share of ψ in `combined`, or `"search"` to choose it on validation.
        alpha: Tuned = Tuned::SEARCH, range at_least(0.0).at_most(1.0), source "paper", search Numbers(&ALPHAS);
        /// What the search chooses parameters for.
        scope: Scope = Scope::Relation, source "paper";
        /// What ψ is divided by.
        normaliser: Normaliser = Normaliser::Code, source "published code";
    }
}

/// The two numbers of a relation in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Parameters {
    pub lambda: f64,
    pub alpha: f64,
}

impl Parameters {
    /// Refuses saved numbers that the settings of the same names would not allow.
    pub fn check_saved(self) -> Result<(), ModelError> {
        for (key, value) in [("lambda", self.lambda), ("alpha", self.alpha)] {
            let setting = Config::SETTINGS.iter().find(|setting| setting.key == key);
            if let Some(setting) = setting.filter(|setting| !setting.range.contains(value)) {
                let allowed = setting.allowed();
                return Err(ModelError::Saved(format!("parameters: {key} = {value}: expected {allowed}")));
            }
        }
        Ok(())
    }
}
