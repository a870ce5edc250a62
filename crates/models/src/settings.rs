//! Settings: what can be set of a model, each declared once.
//!
//! `settings!` makes a configuration from its fields with type, default, range, source, help and search range; `choices!`
//! makes an enum of words from which a setting chooses. Checks, help texts, the reference page, `--json` and the space of a
//! search are read from [`SettingInfo`].

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use toml::{Table, Value};

use crate::config::ConfigError;

/// What can be set of a model: one key of its configuration.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SettingInfo {
    /// The key.
    pub key: &'static str,
    /// What kind of value it takes.
    #[serde(rename = "type", serialize_with = "in_schema_words")]
    pub kind: Kind,
    /// Which numbers are allowed.
    #[serde(flatten)]
    pub range: Range,
    /// Which words are allowed.
    #[serde(skip_serializing_if = "<[Choice]>::is_empty")]
    pub choices: &'static [Choice],
    /// Where the default comes from.
    pub source: Option<&'static str>,
    /// What it does. Code words stand in backticks.
    pub help: &'static str,
    /// Where a search looks for better values.
    pub search: Option<Search>,
    /// When such a search has a reason to look.
    pub when: Option<Condition>,
}

/// What kind of value a setting takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// One of some words.
    Word,
    /// A list of whole numbers.
    Integers,
    /// A number, or one of some words.
    NumberOrWord,
}

impl Kind {
    /// The word for people.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Integer => "whole number",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Word => "word",
            Self::Integers => "list",
            Self::NumberOrWord => "number, word",
        }
    }
}

/// As JSON Schema calls them.
fn in_schema_words<S: Serializer>(kind: &Kind, serializer: S) -> Result<S::Ok, S::Error> {
    match kind {
        Kind::Integer => "integer".serialize(serializer),
        Kind::Number => "number".serialize(serializer),
        Kind::Boolean => "boolean".serialize(serializer),
        Kind::Word => "string".serialize(serializer),
        Kind::Integers => "array".serialize(serializer),
        Kind::NumberOrWord => ["number", "string"].serialize(serializer),
    }
}

/// A word that a setting allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Choice {
    /// The word.
    pub word: &'static str,
    /// What it means.
    pub about: &'static str,
}

/// Which numbers are allowed, with the names that JSON Schema has for bounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Range {
    /// The smallest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minimum: Option<f64>,
    /// All numbers are above this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclusive_minimum: Option<f64>,
    /// The largest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maximum: Option<f64>,
    /// All numbers are below this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclusive_maximum: Option<f64>,
}

/// Numbers that are this large or larger.
pub(crate) const fn at_least(minimum: f64) -> Range {
    Range { minimum: Some(minimum), ..Range::ANY }
}

/// Numbers that are larger than this.
pub(crate) const fn above(bound: f64) -> Range {
    Range { exclusive_minimum: Some(bound), ..Range::ANY }
}

impl Range {
    /// Every number.
    pub const ANY: Self =
        Self { minimum: None, exclusive_minimum: None, maximum: None, exclusive_maximum: None };

    pub(crate) const fn at_most(self, maximum: f64) -> Self {
        Self { maximum: Some(maximum), ..self }
    }

    pub(crate) const fn below(self, bound: f64) -> Self {
        Self { exclusive_maximum: Some(bound), ..self }
    }

    /// Whether a number is allowed. Infinity and NaN never are.
    pub fn contains(&self, number: f64) -> bool {
        number.is_finite()
            && self.minimum.is_none_or(|bound| number >= bound)
            && self.exclusive_minimum.is_none_or(|bound| number > bound)
            && self.maximum.is_none_or(|bound| number <= bound)
            && self.exclusive_maximum.is_none_or(|bound| number < bound)
    }

    fn of_numbers(&self) -> String {
        match (self.minimum, self.exclusive_minimum, self.maximum, self.exclusive_maximum) {
            (Some(low), _, Some(high), _) => format!("a number from {low} to {high}"),
            (Some(low), _, None, Some(high)) => format!("a number from {low} to below {high}"),
            (Some(low), _, None, None) => format!("a number ≥ {low}"),
            (None, Some(low), Some(high), _) => format!("a number above {low}, at most {high}"),
            (None, Some(low), None, Some(high)) => format!("a number between {low} and {high}"),
            (None, Some(low), None, None) => format!("a number above {low}"),
            (None, None, Some(high), _) => format!("a number ≤ {high}"),
            (None, None, None, Some(high)) => format!("a number below {high}"),
            (None, None, None, None) => "a number".to_owned(),
        }
    }

    fn of_integers(&self) -> String {
        match (self.minimum.unwrap_or(0.0), self.maximum) {
            (low, Some(high)) if high == low + 1.0 => format!("{low} or {high}"),
            (low, Some(high)) => format!("at least {low}, at most {high}"),
            (low, None) => format!("at least {low}"),
        }
    }
}

/// Where a search looks for values of a setting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Search {
    /// Any number from the first to the second, all alike.
    Linear(f64, f64),
    /// Any number from the first to the second, all orders of magnitude alike.
    Log(f64, f64),
    /// One of these numbers.
    Numbers(&'static [f64]),
    /// One of these words, as they are written after `--set KEY=`.
    Words(&'static [&'static str]),
}

/// A setting is of use only if another one has one of these values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// The key of the other setting.
    pub key: &'static str,
    /// Its values, as they are written after `--set KEY=`.
    pub values: &'static [&'static str],
}

impl SettingInfo {
    /// Which values are allowed, for people.
    pub fn allowed(&self) -> String {
        let words = || self.choices.iter().map(|choice| choice.word).collect::<Vec<_>>().join(", ");
        match self.kind {
            Kind::Integer => self.range.of_integers(),
            Kind::Number => self.range.of_numbers(),
            Kind::Boolean => "true, false".to_owned(),
            Kind::Word => words(),
            Kind::Integers => format!("each {}", self.range.of_integers()),
            Kind::NumberOrWord => format!("\"{}\" or {}", words(), self.range.of_numbers()),
        }
    }

    /// Refuses a number that is out of range.
    fn check(&self, value: &Value) -> Result<(), ConfigError> {
        if self.fits(value) {
            return Ok(());
        }
        // TOML would print the number 2 as 2.0 and 1e9 with a decimal point.
        let value = value.as_float().map_or_else(|| value.to_string(), |number| number.to_string());
        let (key, allowed) = (self.key, self.allowed());
        Err(ConfigError::Value(format!("{key} = {value} is out of range: expected {allowed}")))
    }

    fn fits(&self, value: &Value) -> bool {
        match value {
            Value::Integer(number) => self.range.contains(*number as f64),
            Value::Float(number) => self.range.contains(*number),
            Value::Array(values) => values.iter().all(|value| self.fits(value)),
            _ => true,
        }
    }
}

/// A configuration whose keys are declared with `settings!`.
pub(crate) trait Settings: Serialize + DeserializeOwned + Default {
    /// Its keys, in the order of the documentation.
    const SETTINGS: &'static [SettingInfo];

    /// The configuration as a table.
    fn table(&self) -> Table {
        Table::try_from(self).expect("a configuration is a table of plain values")
    }

    /// Refuses numbers that are out of range.
    fn check_ranges(&self) -> Result<(), ConfigError> {
        // Not `table`: a number of the machine may be too large for TOML.
        let table = Table::try_from(self).map_err(|error| ConfigError::Value(error.to_string()))?;
        let declared = |setting: &&SettingInfo| table.contains_key(setting.key);
        Self::SETTINGS.iter().filter(declared).try_for_each(|setting| setting.check(&table[setting.key]))
    }
}

/// What a setting of this type takes.
pub(crate) trait SettingType {
    const KIND: Kind;
    const CHOICES: &'static [Choice] = &[];
}

macro_rules! kinds {
    ($($type:ty: $kind:ident),+ $(,)?) => {
        $(impl SettingType for $type {
            const KIND: Kind = Kind::$kind;
        })+
    };
}

kinds! {
    u8: Integer, u32: Integer, u64: Integer, usize: Integer, f64: Number, bool: Boolean, Vec<u8>: Integers,
    Vec<usize>: Integers,
}

/// The first of two, or the second if there is no first.
macro_rules! or {
    (; $other:expr) => {
        $other
    };
    ($given:expr; $other:expr) => {
        $given
    };
}

/// A configuration: each field with its help (the doc comment), type and default, and as far as there are: range, source of
/// the default, search range, and the condition under which a search looks.
macro_rules! settings {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[doc = $help:literal])+ $field:ident: $type:ty = $default:expr
            $(, range $range:expr)? $(, source $source:literal)?
            $(, search $search:expr)? $(, when $key:ident in $values:expr)?;)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        $vis struct $name {
            $($(#[doc = $help])+ pub $field: $type,)+
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $($field: $default,)+ }
            }
        }

        impl $crate::settings::Settings for $name {
            const SETTINGS: &'static [$crate::settings::SettingInfo] = {
                #[allow(unused_imports, reason = "not every configuration has all kinds of ranges")]
                use $crate::settings::{Condition, Range, Search::*, SettingInfo, SettingType, above, at_least};
                &[$(SettingInfo {
                    key: stringify!($field),
                    kind: <$type as SettingType>::KIND,
                    range: or!($($range)?; Range::ANY),
                    choices: <$type as SettingType>::CHOICES,
                    source: or!($(Some($source))?; None),
                    help: concat!($($help),+).trim_ascii(),
                    search: or!($(Some($search))?; None),
                    when: or!($(Some(Condition { key: stringify!($key), values: $values }))?; None),
                }),+]
            };
        }
    };
}

/// Enums from which settings choose: each variant with its meaning (the doc comment) and its word.
macro_rules! choices {
    ($($(#[$meta:meta])* $vis:vis enum $name:ident {
        $($(#[doc = $about:literal])+ $variant:ident = $word:tt,)+
    })+) => {
        $($(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        $vis enum $name {
            $($(#[doc = $about])+ #[serde(rename = $word)] $variant,)+
        }

        impl $crate::settings::SettingType for $name {
            const KIND: $crate::settings::Kind = $crate::settings::Kind::Word;
            const CHOICES: &'static [$crate::settings::Choice] =
                &[$($crate::settings::Choice { word: $word, about: concat!($($about),+).trim_ascii() },)+];
        })+
    };
}

#[cfg(test)]
mod tests {
    use super::{Settings, above, at_least};

    choices! {
        /// A word.
        pub enum Word {
            /// The first
            /// one.
            First = "first",
            /// The second one.
            SecondOne = "second-one",
        }
    }

    settings! {
        /// One setting of each kind.
        pub struct Config {
            /// How many,
            /// in words.
            count: u32 = 3, range at_least(1.0), source "paper", search Log(1.0, 10.0), when word in &["first"];
            /// A share.
            share: f64 = 0.5, range at_least(0.0).below(1.0);
            /// Any number.
            any: f64 = -1.0;
            /// One or two.
            norm: u8 = 1, range at_least(1.0).at_most(2.0), search Numbers(&[1.0, 2.0]);
            /// A list.
            list: Vec<usize> = vec![1, 2], range at_least(1.0).at_most(3.0);
            /// A word.
            word: Word = Word::SecondOne;
            /// A switch.
            switch: bool = true, search Words(&["true", "false"]);
        }
    }

    #[test]
    fn a_declaration_says_everything() {
        let table = Config::default().table();
        let keys: Vec<&str> = Config::SETTINGS.iter().map(|setting| setting.key).collect();
        assert_eq!(keys, ["count", "share", "any", "norm", "list", "word", "switch"]);
        assert_eq!(table["word"].as_str(), Some("second-one"));
        assert_eq!(table["count"].as_integer(), Some(3));
        let count = &Config::SETTINGS[0];
        assert_eq!((count.help, count.source), ("How many, in words.", Some("paper")));
        let word = &Config::SETTINGS[5];
        assert_eq!(word.allowed(), "first, second-one");
        assert_eq!(word.choices[0].about, "The first one.");
        assert_eq!(
            serde_json::to_value(count).expect("plain values"),
            serde_json::json!({
                "key": "count", "type": "integer", "minimum": 1.0, "source": "paper", "help": "How many, in words.",
                "search": {"log": [1.0, 10.0]}, "when": {"key": "word", "values": ["first"]}
            })
        );
    }

    #[test]
    fn numbers_out_of_range_are_refused_with_what_is_allowed() {
        assert_eq!(Config::default().check_ranges(), Ok(()));
        let refused = |change: fn(&mut Config)| {
            let mut config = Config::default();
            change(&mut config);
            config.check_ranges().expect_err("out of range").to_string()
        };
        assert_eq!(refused(|c| c.count = 0), "count = 0 is out of range: expected at least 1");
        assert_eq!(
            refused(|c| c.share = 1.0),
            "share = 1 is out of range: expected a number from 0 to below 1"
        );
        assert_eq!(refused(|c| c.any = f64::NAN), "any = NaN is out of range: expected a number");
        assert_eq!(refused(|c| c.norm = 3), "norm = 3 is out of range: expected 1 or 2");
        assert_eq!(
            refused(|c| c.list = vec![4]),
            "list = [4] is out of range: expected each at least 1, at most 3"
        );
        assert!(above(0.0).at_most(1.0).contains(1.0) && !above(0.0).contains(0.0));
        assert!(!at_least(0.0).contains(f64::INFINITY));
    }
}
