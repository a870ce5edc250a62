//! What can be set of models of parallel universes.

use quadcast_core::ModelError;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::surroundings::Plan;
use crate::config::{ConfigError, check_at_least_one, check_ranges};
use crate::evolving::settings::check_dimensions;
use crate::evolving::{self, LossName, OptimiserName};
use crate::registry::OptionInfo;

/// What an answer counts that no universe knows together with the question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Missing {
    /// The worst energy there is.
    #[default]
    Infinity,
    /// The lowest energy that the question has with the zero vector as its answer.
    Null,
}

/// What becomes of universes when triples are deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deletion {
    /// Nothing. A minimum never forgets: a universe that fits a deleted triple keeps its low energy.
    #[default]
    Keep,
    /// A universe that was trained on a triple that is gone is not asked any more.
    Contains,
    /// A universe that knows all three parts of a triple that is gone is not asked any more; discards many.
    Coexist,
    /// A universe is asked for `keep_steps` steps and then no more, whatever it was trained on.
    Age,
    /// All universes are asked, but energies of each are the worse the more of what it was trained on is gone: see
    /// `deletion_weight`.
    Weight,
}

/// The largest margin: far beyond any distance of unit vectors.
const MOST_MARGIN: f64 = 1000.0;
/// The largest weight of deletions: energies remain far below the largest number.
const MOST_WEIGHT: f64 = 1e6;

/// Configuration. The defaults are what the published code used on `WikidataEvolve`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Numbers per entity. Published: 20.
    pub dimension: usize,
    /// 1 or 2: how distances are measured.
    pub norm: u8,
    /// Whether rows are divided by their lengths in the energy, as published. `TransD` divides projections in any case; without
    /// this, its relations have the lengths that training gives them.
    pub normalise: bool,
    /// New universes at most, at each step. Published: 6000.
    pub universes: usize,
    /// Universes between validations.
    pub validate_every: usize,
    /// Validations without improvement before a step ends; 0: never.
    pub patience: u32,
    /// Triples of a universe, from.
    pub least_triples: usize,
    /// Triples of a universe, to.
    pub most_triples: usize,
    /// Share of the triples of a universe that may be entities which its walk starts from, from.
    pub least_balance: f64,
    /// The same, to.
    pub most_balance: f64,
    /// Margins, from.
    pub least_margin: f64,
    /// Margins, to.
    pub most_margin: f64,
    /// Whether margins are whole numbers: so in the published code, and not in the text.
    pub whole_margins: bool,
    /// Learning rates, from.
    pub least_rate: f64,
    /// Learning rates, to.
    pub most_rate: f64,
    /// Epochs of a universe, from.
    pub least_epochs: u32,
    /// Epochs of a universe, to.
    pub most_epochs: u32,
    /// Batches per epoch.
    pub batches: usize,
    /// What unknown answers count.
    pub missing: Missing,
    /// What deletions do.
    pub deletion: Deletion,
    /// With `deletion = "age"`: steps at which a universe is asked, the one that brought it included; 1: only the newest are.
    /// Steps that bring no universes, as those of a graph without training triples, do not count.
    pub keep_steps: usize,
    /// With `deletion = "weight"`: energies are multiplied by 1 + this · gone / trained, the numbers of training triples of a
    /// universe that are gone, and of all.
    pub deletion_weight: f64,
    /// Whether walks, false triples and the energy of nobody are those of the published code.
    pub compat: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            dimension: 20,
            norm: 1,
            normalise: true,
            universes: 6000,
            validate_every: 200,
            patience: 5,
            least_triples: 500,
            most_triples: 1499,
            least_balance: 0.25,
            most_balance: 0.5,
            least_margin: 1.0,
            most_margin: 4.0,
            whole_margins: true,
            least_rate: 0.001,
            most_rate: 0.1,
            least_epochs: 50,
            most_epochs: 199,
            batches: 20,
            missing: Missing::Infinity,
            deletion: Deletion::Keep,
            keep_steps: 2,
            deletion_weight: 10.0,
            compat: false,
        }
    }
}

const fn option(key: &'static str, about: &'static str) -> OptionInfo {
    OptionInfo { key, about }
}

/// What can be set.
pub(super) const OPTIONS: &[OptionInfo] = &[
    option("dimension", "Numbers per entity."),
    option("norm", "1 or 2: how distances are measured."),
    option(
        "normalise",
        "Whether rows are divided by their lengths in the energy; putransd divides projections in any case.",
    ),
    option("universes", "New universes at most, at each step."),
    option("validate_every", "Universes between validations."),
    option("patience", "Validations without improvement before a step ends; 0: never."),
    option("least_triples", "Triples of a universe, from."),
    option("most_triples", "Triples of a universe, to."),
    option("least_balance", "Share of a universe's triples that may be entities its walk starts from, from."),
    option("most_balance", "The same, to."),
    option("least_margin", "Margins, from."),
    option("most_margin", "Margins, to."),
    option("whole_margins", "Draws margins that are whole numbers."),
    option("least_rate", "Learning rates, from."),
    option("most_rate", "Learning rates, to."),
    option("least_epochs", "Epochs of a universe, from."),
    option("most_epochs", "Epochs of a universe, to."),
    option("batches", "Batches per epoch."),
    option("missing", "What an answer counts that no universe knows with the question: infinity or null."),
    option(
        "deletion",
        "What deletions do: keep (nothing), contains or coexist (universes that were trained on a triple that is \
         gone, or know its parts, are not asked), age (old ones are not), weight (energies get worse).",
    ),
    option("keep_steps", "With deletion = age: steps at which a universe is asked, its own included."),
    option(
        "deletion_weight",
        "With deletion = weight: energies are multiplied by 1 + this · the share of a universe's triples that is \
         gone.",
    ),
    option("compat", "Walks, draws false triples and rates nobody as the published code does."),
];

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check_at_least_one(&[
            ("dimension", self.dimension),
            ("universes", self.universes),
            ("validate_every", self.validate_every),
            ("least_triples", self.least_triples),
            ("least_epochs", self.least_epochs as usize),
            ("batches", self.batches),
        ])?;
        check_dimensions(&[("dimension", self.dimension)])?;
        let share = |x: f64| (0.0..=1.0).contains(&x);
        let is_margin =
            |x: f64| (0.0..=MOST_MARGIN).contains(&x) && (!self.whole_margins || x.fract() == 0.0);
        let margin = if self.whole_margins {
            "a whole number from 0 to 1000, or whole_margins = false"
        } else {
            "a number from 0 to 1000"
        };
        check_ranges(&[
            ("norm", f64::from(self.norm), self.norm == 1 || self.norm == 2, "1 or 2"),
            (
                "most_triples",
                self.most_triples as f64,
                self.most_triples >= self.least_triples,
                "least_triples or more",
            ),
            ("least_balance", self.least_balance, share(self.least_balance), "a number from 0 to 1"),
            (
                "most_balance",
                self.most_balance,
                share(self.most_balance) && self.most_balance >= self.least_balance,
                "a number from least_balance to 1",
            ),
            ("least_margin", self.least_margin, is_margin(self.least_margin), margin),
            ("most_margin", self.most_margin, is_margin(self.most_margin), margin),
            ("most_margin", self.most_margin, self.most_margin >= self.least_margin, "least_margin or more"),
            ("least_rate", self.least_rate, self.least_rate > 0.0, "a number above 0"),
            ("most_rate", self.most_rate, self.most_rate >= self.least_rate, "least_rate or more"),
            (
                "most_epochs",
                f64::from(self.most_epochs),
                self.most_epochs >= self.least_epochs,
                "least_epochs or more",
            ),
        ])?;
        self.check_deletion()
    }

    /// Refuses what is said about deletions if it is out of range or would change nothing.
    fn check_deletion(&self) -> Result<(), ConfigError> {
        let Self { deletion, keep_steps, deletion_weight: weight, .. } = *self;
        check_at_least_one(&[("keep_steps", keep_steps)])?;
        let is_weight = weight > 0.0 && weight <= MOST_WEIGHT;
        check_ranges(&[("deletion_weight", weight, is_weight, "a number above 0, at most 1000000")])?;
        let usual = Self::default();
        let idle = if keep_steps != usual.keep_steps && deletion != Deletion::Age {
            format!(
                "keep_steps = {keep_steps} is for deletion = \"age\": set that, or keep_steps = {}",
                usual.keep_steps
            )
        } else if weight != usual.deletion_weight && deletion != Deletion::Weight {
            format!(
                "deletion_weight = {weight} is for deletion = \"weight\": set that, or deletion_weight = {}",
                usual.deletion_weight
            )
        } else {
            return Ok(());
        };
        Err(ConfigError::Value(idle))
    }

    /// What is drawn before a walk.
    pub(super) fn draw_plan(&self, random: &mut impl Rng) -> Plan {
        Plan {
            budget: random.random_range(self.least_triples..=self.most_triples),
            balance: rounded(random.random_range(self.least_balance..=self.most_balance), 100.0),
            published: self.compat,
        }
    }

    /// What is drawn before training. Published code: whole margins, rates of three decimals.
    pub(super) fn draw_settings(&self, random: &mut impl Rng) -> evolving::Config {
        let margin = if self.whole_margins {
            f64::from(random.random_range(self.least_margin as u32..=self.most_margin as u32))
        } else {
            random.random_range(self.least_margin..=self.most_margin)
        };
        let epochs = random.random_range(self.least_epochs..=self.most_epochs);
        let rate = random.random_range(self.least_rate..=self.most_rate);
        evolving::Config {
            margin,
            epochs,
            learning_rate: rounded(rate, 1000.0).max(self.least_rate),
            ..self.space_config()
        }
    }

    /// What all universes share.
    pub(super) fn space_config(&self) -> evolving::Config {
        evolving::Config {
            dimension: self.dimension,
            norm: self.norm,
            normalise: self.normalise,
            batches: self.batches,
            loss: LossName::Margin,
            optimiser: OptimiserName::Adagrad,
            compat: self.compat,
            ..evolving::Config::default()
        }
    }
}

fn rounded(x: f64, parts: f64) -> f64 {
    (x * parts).round() / parts
}

/// A saved model that does not fit.
pub(super) fn unreadable(problem: impl std::fmt::Display) -> ModelError {
    ModelError::Saved(format!("{problem} in a model of universes"))
}
