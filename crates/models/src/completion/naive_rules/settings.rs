//! Settings of the rules.

use quadcast_core::Detection;
use serde::{Deserialize, Serialize};

use crate::config::{ConfigError, check_ranges};

/// Where the patterns come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Lists {
    /// Found in the training facts.
    #[default]
    Detected,
    /// The lists that the published runs on ICEWS14 had.
    Icews14,
    /// The lists that the published runs on ICEWS05-15 had.
    #[serde(rename = "icews05-15")]
    Icews0515,
}

/// Which patterns rule 2 is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Those that hold at the same time, as for rule 1 and as in the published code.
    #[default]
    SameTime,
    /// Those that hold at any time, as printed.
    AnyTime,
}

/// Who counts as connected in rule 4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Connected {
    /// Whoever stood on the other side of any fact, as in the published code.
    #[default]
    Undirected,
    /// Whoever stood on the side that is asked for, as printed.
    Directed,
}

/// Where answers go that no rule gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Miss {
    /// Together behind all others: tied, so that their rank is its expectation.
    #[default]
    Expected,
    /// In an order drawn for each question.
    Random,
}

/// Settings of the rules.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The rules that are used, a subset of 1, 2, 3 and 4.
    pub rules: Vec<u8>,
    /// Where the patterns come from.
    pub lists: Lists,
    /// A share of facts that makes a pattern must be larger. Paper: 0.5.
    pub threshold: f64,
    /// Relations with fewer training facts have no pattern. The published lists point to a value between 9 and 23.
    pub min_support: u64,
    /// Whether inverses must hold in both directions.
    pub mutual: bool,
    /// Which detected patterns rule 2 is for.
    pub rule2: When,
    /// Who counts as connected in rule 4.
    pub rule4: Connected,
    /// Where answers go that no rule gives.
    pub miss: Miss,
    /// Published lists, and equal counts in the order of names.
    pub compat: bool,
}

impl Default for Config {
    fn default() -> Self {
        let Detection { threshold, min_support, mutual } = Detection::default();
        Self {
            rules: vec![1, 2, 3, 4],
            lists: Lists::default(),
            threshold,
            min_support,
            mutual,
            rule2: When::default(),
            rule4: Connected::default(),
            miss: Miss::default(),
            compat: false,
        }
    }
}

impl Config {
    /// Refuses settings that make no sense.
    pub fn check(&self) -> Result<(), ConfigError> {
        let known = |rule: &u8| (1..=4).contains(rule);
        if self.rules.is_empty() || !self.rules.iter().all(known) {
            let text =
                format!("rules = {:?}: expected some of 1, 2, 3 and 4, for example [3, 4]", self.rules);
            return Err(ConfigError::Value(text));
        }
        let threshold = self.threshold;
        check_ranges(&[("threshold", threshold, (0.0..1.0).contains(&threshold), "at least 0, below 1")])
    }

    /// When shares make a pattern.
    pub fn detection(&self) -> Detection {
        Detection { threshold: self.threshold, min_support: self.min_support, mutual: self.mutual }
    }

    /// Whether a rule is used.
    pub fn uses(&self, rule: u8) -> bool {
        self.rules.contains(&rule)
    }
}
