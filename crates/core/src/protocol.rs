//! The protocol: everything that decides how a result came about, in one value that is written into every record.

use serde::{Deserialize, Serialize};

/// What a model may see of the test period.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// The true facts of every earlier step, also test steps; parameters stay frozen.
    #[default]
    SingleStep,
    /// Nothing of the test period.
    MultiStep,
    /// As single-step, and the parameters are updated with every observed step.
    Online,
    /// No clock: facts of all times are known, those that are asked about are not. The task is completion.
    Completion,
}

impl Setting {
    /// The word used on the command line and in records.
    pub const fn word(self) -> &'static str {
        match self {
            Self::SingleStep => "single-step",
            Self::MultiStep => "multi-step",
            Self::Online => "online",
            Self::Completion => "completion",
        }
    }
}

/// Whether the validation facts are history at test time. They never train parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValidationUse {
    /// Option (a): only training facts precede the test period.
    Withheld,
    /// Option (b), the field's choice: validation facts are history.
    #[default]
    Observed,
}

/// Which true answers leave the candidate list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Filter {
    /// Those that are true at the same step. The primary filter.
    Time,
    /// Those that are true at any step of any split.
    Static,
    /// None.
    Raw,
}

impl Filter {
    /// All filters; the order of tables and records.
    pub const ALL: [Self; 3] = [Self::Time, Self::Static, Self::Raw];

    /// The word used in records.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Static => "static",
            Self::Raw => "raw",
        }
    }
}

/// What happens to candidates that score exactly as the gold answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TiePolicy {
    /// The exact expectation of each metric under random order.
    #[default]
    Expected,
    /// One random order, drawn from the run's seed.
    Random,
    /// The mean of the best and the worst rank.
    Mean,
    /// The gold answer first.
    Optimistic,
    /// The gold answer last.
    Pessimistic,
    /// By entity id, as a stable sort does. Flatters sparse models: small ids are frequent entities.
    Ordinal,
}

impl TiePolicy {
    /// All policies.
    pub const ALL: [Self; 6] =
        [Self::Expected, Self::Random, Self::Mean, Self::Optimistic, Self::Pessimistic, Self::Ordinal];

    /// The word used on the command line and in records.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Expected => "expected",
            Self::Random => "random",
            Self::Mean => "mean",
            Self::Optimistic => "optimistic",
            Self::Pessimistic => "pessimistic",
            Self::Ordinal => "ordinal",
        }
    }
}

/// Who is ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Candidates {
    /// Every entity of the id space, seen or unseen, the known entity included.
    #[default]
    All,
}

/// What happens to facts that stand twice in the test split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    /// Asked once.
    #[default]
    Drop,
    /// Asked as often as they stand there.
    Keep,
}

/// When facts that hold over an interval are asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IntervalUse {
    /// At the first time at which they hold.
    #[default]
    Start,
    /// At one time at which they hold, drawn at random and the same for every model and seed.
    Drawn,
    /// At every time at which they hold.
    Every,
}

/// How results come about. Results are comparable only when their protocols are equal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Protocol {
    /// What a model may see of the test period.
    pub setting: Setting,
    /// Whether validation facts are history at test time.
    pub validation: ValidationUse,
    /// The headline tie policy.
    pub ties: TiePolicy,
    /// Who is ranked.
    pub candidates: Candidates,
    /// Repeated test facts.
    pub duplicates: Duplicates,
    /// When facts with an interval are asked about; absent where facts have a time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intervals: Option<IntervalUse>,
}

impl Protocol {
    /// What the field does in a setting: validation facts precede the test period when there is a clock, and are not known
    /// to completion models.
    pub fn usual(setting: Setting) -> Self {
        let validation = match setting {
            Setting::Completion => ValidationUse::Withheld,
            Setting::SingleStep | Setting::MultiStep | Setting::Online => ValidationUse::Observed,
        };
        Self { setting, validation, ..Self::default() }
    }
}
