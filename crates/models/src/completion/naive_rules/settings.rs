//! Settings of the rules.

use quadcast_core::Detection;

use crate::config::ConfigError;
use crate::settings::Settings;

choices! {
    /// Where the patterns come from.
    pub enum Lists {
        /// Found in the training facts.
        Detected = "detected",
        /// The lists that the published runs on ICEWS14 had.
        Icews14 = "icews14",
        /// The lists that the published runs on ICEWS05-15 had.
        Icews0515 = "icews05-15",
    }

    /// Which patterns rule 2 is for.
    pub enum When {
        /// Those that hold at the same time, as for rule 1 and as in the published code.
        SameTime = "same-time",
        /// Those that hold at any time, as printed.
        AnyTime = "any-time",
    }

    /// Who counts as connected in rule 4.
    pub enum Connected {
        /// Whoever stood on the other side of any fact, as in the published code.
        Undirected = "undirected",
        /// Whoever stood on the side that is asked for, as printed.
        Directed = "directed",
    }

    /// Where answers go that no rule gives.
    pub enum Miss {
        /// Together behind all others: tied, so that their rank is its expectation.
        Expected = "expected",
        /// In an order drawn for each question.
        Random = "random",
    }
}

settings! {
    /// Settings of the rules.
    pub struct Config {
        /// The rules that are used, some of 1, 2, 3 and 4.
        rules: Vec<u8> = vec![1, 2, 3, 4], range at_least(1.0).at_most(4.0), source "paper";
        /// Where the patterns come from.
        lists: Lists = Lists::Detected, source "paper";
        /// A share of facts that makes a pattern must be larger.
        threshold: f64 = Detection::default().threshold, range at_least(0.0).below(1.0), source "paper";
        /// Relations with fewer training facts have no pattern.
        min_support: u64 = Detection::default().min_support, source "the published lists point to a value from 9 to 23";
        /// Whether inverses must hold in both directions.
        mutual: bool = Detection::default().mutual;
        /// Which detected patterns rule 2 is for.
        rule2: When = When::SameTime, source "published code";
        /// Who counts as connected in rule 4.
        rule4: Connected = Connected::Undirected, source "published code";
        /// Where answers go that no rule gives.
        miss: Miss = Miss::Expected;
        /// Published lists, and equal counts in the order of names.
        compat: bool = false;
    }
}

impl Config {
    /// Refuses settings that make no sense.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.rules.is_empty() {
            let text = "rules = []: expected some of 1, 2, 3 and 4, for example [3, 4]";
            return Err(ConfigError::Value(text.to_owned()));
        }
        self.check_ranges()
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
