//! What can be set of models of parallel universes.

use quadcast_core::ModelError;
use rand::Rng;

use super::walk::WalkPlan;
use crate::capacity::{MOST_DIMENSION, MOST_THINGS};
use crate::config::ConfigError;
use crate::evolving::{self, LossName, OptimiserName};
use crate::settings::Settings;

choices! {
    /// What an answer counts that no universe knows together with the question.
    pub enum Missing {
        /// The worst energy there is.
        Infinity = "infinity",
        /// The lowest energy that the question has with the zero vector as its answer.
        Null = "null",
    }

    /// What becomes of universes when triples are deleted.
    pub enum Deletion {
        /// Nothing. A minimum never forgets: a universe that fits a deleted triple keeps its low energy.
        Keep = "keep",
        /// A universe that was trained on a triple that is gone is not asked any more.
        Contains = "contains",
        /// A universe that knows all three parts of a triple that is gone is not asked any more; discards many.
        Coexist = "coexist",
        /// A universe is asked for `keep_steps` steps and then no more, whatever it was trained on.
        Age = "age",
        /// All universes are asked, but energies of each are the worse the more of what it was trained on is gone: see
        /// `deletion_weight`.
        Weight = "weight",
    }
}

/// The largest margin: far beyond any distance of unit vectors.
const MOST_MARGIN: f64 = 1000.0;
/// The largest weight of deletions: energies remain far below the largest number.
const MOST_WEIGHT: f64 = 1e6;

settings! {
    /// Configuration. The defaults are what the published code used on `WikidataEvolve`.
    pub struct Config {
        /// Numbers per entity.
        dimension: usize = 20, range at_least(1.0).at_most(MOST_DIMENSION), source "published code";
        /// How distances are measured: 1 or 2.
        norm: u8 = 1, range at_least(1.0).at_most(2.0), source "published code";
        /// Whether rows are divided by their lengths in the energy. `putransd` divides projections in any case; without
        /// this, its relations have the lengths that training gives them.
        normalise: bool = true, source "published code";
        /// New universes at most, at each step.
        universes: usize = 6000, range at_least(1.0).at_most(MOST_THINGS), source "published code";
        /// Universes between validations.
        validate_every: usize = 200, range at_least(1.0).at_most(MOST_THINGS);
        /// Validations without improvement before a step ends; 0: never.
        patience: u32 = 5;
        /// Fewest triples of a universe.
        least_triples: usize = 500, range at_least(1.0).at_most(MOST_THINGS), source "published code";
        /// Most triples of a universe.
        most_triples: usize = 1499, range at_least(1.0).at_most(MOST_THINGS), source "published code";
        /// Smallest share of the triples of a universe that may be entities which its walk starts from.
        least_balance: f64 = 0.25, range at_least(0.0).at_most(1.0), source "published code";
        /// Largest share of the triples of a universe that may be entities which its walk starts from.
        most_balance: f64 = 0.5, range at_least(0.0).at_most(1.0), source "published code";
        /// Smallest margin.
        least_margin: f64 = 1.0, range at_least(0.0).at_most(MOST_MARGIN), source "published code";
        /// Largest margin.
        most_margin: f64 = 4.0, range at_least(0.0).at_most(MOST_MARGIN), source "published code";
        /// Whether margins are whole numbers.
        whole_margins: bool = true, source "published code, not the text";
        /// Smallest learning rate.
        least_rate: f64 = 0.001, range above(0.0), source "published code";
        /// Largest learning rate.
        most_rate: f64 = 0.1, range above(0.0), source "published code";
        /// Fewest epochs of a universe.
        least_epochs: u32 = 50, range at_least(1.0), source "published code";
        /// Most epochs of a universe.
        most_epochs: u32 = 199, source "published code";
        /// Batches per epoch.
        batches: usize = 20, range at_least(1.0).at_most(MOST_THINGS), source "published code";
        /// What an answer counts that no universe knows together with the question.
        missing: Missing = Missing::Infinity;
        /// What deletions do.
        deletion: Deletion = Deletion::Keep, source "taken to be the published code";
        /// With `deletion = "age"`: steps at which a universe is asked, the one that brought it included; 1: only the newest
        /// are. Steps that bring no universes, as those of a graph without training triples, do not count.
        keep_steps: usize = 2, range at_least(1.0).at_most(MOST_THINGS);
        /// With `deletion = "weight"`: energies are multiplied by 1 + this · gone / trained, the numbers of training triples
        /// of a universe that are gone, and of all.
        deletion_weight: f64 = 10.0, range above(0.0).at_most(MOST_WEIGHT);
        /// Whether walks, false triples and the energy of unknown answers are those of the published code.
        compat: bool = false;
    }
}

impl Config {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        let refuse = |key: &str, value: f64, expected: &str| {
            Err(ConfigError::Value(format!("{key} = {value} is out of range: expected {expected}")))
        };
        let (least_triples, most_triples) = (self.least_triples as f64, self.most_triples as f64);
        let (least_epochs, most_epochs) = (f64::from(self.least_epochs), f64::from(self.most_epochs));
        for (least, most, least_key, most_key) in [
            (least_triples, most_triples, "least_triples", "most_triples"),
            (self.least_balance, self.most_balance, "least_balance", "most_balance"),
            (self.least_margin, self.most_margin, "least_margin", "most_margin"),
            (self.least_rate, self.most_rate, "least_rate", "most_rate"),
            (least_epochs, most_epochs, "least_epochs", "most_epochs"),
        ] {
            if most < least {
                return refuse(most_key, most, &format!("{least_key} or more"));
            }
        }
        let margins = [("least_margin", self.least_margin), ("most_margin", self.most_margin)];
        let broken = margins.into_iter().find(|(_, margin)| margin.fract() != 0.0);
        if let Some((key, value)) = broken.filter(|_| self.whole_margins) {
            return refuse(key, value, "a whole number from 0 to 1000, or whole_margins = false");
        }
        self.check_deletion()
    }

    /// Refuses what is said about deletions if it would change nothing.
    fn check_deletion(&self) -> Result<(), ConfigError> {
        let Self { deletion, keep_steps, deletion_weight: weight, .. } = *self;
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
    pub(super) fn draw_plan(&self, random: &mut impl Rng) -> WalkPlan {
        WalkPlan {
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
