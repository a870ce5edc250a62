//! What can be set of the models that keep one space.

use quadcast_kernels::triples::{Loss, LossKind, NegativesConfig, Norm, Optimiser, Replaced, Settings};
use quadcast_train::{Order, Schedule};
use serde::{Deserialize, Serialize};

use crate::config::{ConfigError, check_at_least_one, check_ranges};
use crate::registry::OptionInfo;

/// The loss of a triple and the false ones drawn for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LossName {
    /// max(0, margin + true − false)
    Margin,
    /// ln(1 + e^{∓s}) of true and false triples with s = margin − energy.
    Softplus,
}

/// Which end of a triple is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Sampling {
    /// Either, alike.
    Uniform,
    /// The one that is less likely to give a true triple.
    Bern,
    /// The head in one batch, the tail in the next.
    Cross,
}

/// Which triples an epoch goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Positives {
    /// Drawn ones, with repetition.
    Drawn,
    /// All, in random order.
    Shuffled,
}

/// The optimiser.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OptimiserName {
    /// Gradient descent.
    Sgd,
    /// Adagrad.
    Adagrad,
    /// Adam; rows without a gradient move on.
    Adam,
    /// Adam; rows without a gradient stay.
    LazyAdam,
}

/// The largest dimension: relations may have a matrix, and the square of this is still a number of the machine. Memory ends long
/// before.
const MOST_DIMENSION: usize = 1_000_000_000;
/// How often an epoch unlearns a deleted triple at most: beyond that it does little else, and its samples fill the memory.
const MOST_UNLEARN: f64 = 1000.0;

/// Configuration. The defaults are those of `TransE` in the study of evolving graphs.
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Numbers per entity; complex coordinates where rows are complex.
    pub dimension: usize,
    /// Numbers per relation, where that may differ (`TransD`, `TransR`); 0: as many as an entity has.
    pub relation_dimension: usize,
    /// 1 or 2: how distances are measured, in models that have them: `TransE` and its descendants.
    pub norm: u8,
    /// Whether these distances are those of rows divided by their lengths.
    pub normalise: bool,
    /// The loss.
    pub loss: LossName,
    /// Its margin.
    pub margin: f64,
    /// False triples weigh by the softmax of −this·energy; 0: alike.
    pub adversarial: f64,
    /// False triples per true one that differ in an end.
    pub negatives: usize,
    /// False triples per true one that differ in the relation.
    pub relation_negatives: usize,
    /// Which end is replaced.
    pub sampling: Sampling,
    /// Whether drawn triples are never training triples.
    pub filtered: bool,
    /// Which triples an epoch goes through.
    pub positives: Positives,
    /// The optimiser.
    pub optimiser: OptimiserName,
    /// Its learning rate. The loss is a mean: the step of a triple is this divided by the batch.
    pub learning_rate: f64,
    /// Weight of the mean square of the numbers that a batch uses.
    pub penalty: f64,
    /// Weight of the sum of |x|³ over all numbers of all entities and relations.
    pub cubes: f64,
    /// Weight of the wishes of `TransH`: entities no longer than 1, relations within their planes; 0: none.
    pub constraint: f64,
    /// How far out of its plane a relation of `TransH` may be, as a cosine.
    pub tolerance: f64,
    /// Rows for which the initial range of entities is made, `±√(6/(rows + dimension))`; 0: entities present at the first
    /// fit. Rows are divided by their lengths, so this decides how far a step turns them: a hidden learning rate.
    pub init_rows: usize,
    /// If above 0, initial values are within ±(margin + this)/dimension instead.
    pub epsilon: f64,
    /// Epochs of a `TransE` with whose rows the first fit begins; 0: rows are drawn.
    pub warm_epochs: u32,
    /// Batches per epoch.
    pub batches: usize,
    /// Epochs at most.
    pub epochs: u32,
    /// Epochs at most after a change of the graph; 0: as for the first fit.
    pub update_epochs: u32,
    /// Epochs between validations.
    pub validate_every: u32,
    /// Validations without improvement before training stops; 0: never.
    pub patience: u32,
    /// How much of the facts near a change an epoch of an update goes through; 1: all that is given.
    pub replay_near: f64,
    /// The same for all other facts.
    pub replay: f64,
    /// A fact is near a change if one of its entities is new or has at least this share of its facts changed.
    pub near: f64,
    /// How often an epoch of an update learns that a deleted triple is false, at most 1000 times.
    pub unlearn: f64,
    /// Whether entities of which no triple was learned yet begin where their neighbours say they should be (`TransE`).
    pub neighbour_start: bool,
    /// Same seed, same bytes. Without it, threads update rows at once, which only gradient descent can do.
    pub deterministic: bool,
    /// Draws as the published code does.
    pub compat: bool,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            dimension: 100,
            relation_dimension: 0,
            norm: 1,
            normalise: true,
            loss: LossName::Margin,
            margin: 5.0,
            adversarial: 0.0,
            negatives: 1,
            relation_negatives: 0,
            sampling: Sampling::Uniform,
            filtered: false,
            positives: Positives::Drawn,
            optimiser: OptimiserName::Sgd,
            learning_rate: 0.1,
            penalty: 0.0,
            cubes: 0.0,
            constraint: 0.0,
            tolerance: 0.1,
            init_rows: 0,
            epsilon: 0.0,
            warm_epochs: 0,
            batches: 100,
            epochs: 1000,
            update_epochs: 0,
            validate_every: 100,
            patience: 4,
            replay_near: 1.0,
            replay: 1.0,
            near: 0.1,
            unlearn: 0.0,
            neighbour_start: false,
            deterministic: true,
            compat: false,
        }
    }
}

impl Config {
    /// Numbers per relation.
    pub(crate) fn relation_width(&self) -> usize {
        if self.relation_dimension == 0 { self.dimension } else { self.relation_dimension }
    }

    pub(crate) fn distance(&self) -> Norm {
        if self.norm == 1 { Norm::L1 } else { Norm::L2 }
    }

    pub(crate) fn drawing(&self) -> NegativesConfig {
        NegativesConfig {
            replaced: match self.sampling {
                Sampling::Uniform => Replaced::Either,
                Sampling::Bern => Replaced::Bern,
                Sampling::Cross => Replaced::InTurn,
            },
            filtered: self.filtered,
            relations: self.relation_negatives > 0,
            compat: self.compat,
        }
    }

    pub(crate) fn settings(&self) -> Settings {
        let rate = self.learning_rate;
        Settings {
            loss: Loss {
                kind: match self.loss {
                    LossName::Margin => LossKind::Margin,
                    LossName::Softplus => LossKind::Softplus,
                },
                margin: self.margin,
                temperature: (self.adversarial > 0.0).then_some(self.adversarial),
            },
            negatives: self.negatives,
            relation_negatives: self.relation_negatives,
            optimiser: match self.optimiser {
                OptimiserName::Sgd => Optimiser::Sgd { rate },
                OptimiserName::Adagrad => Optimiser::Adagrad { rate },
                OptimiserName::Adam => Optimiser::Adam { rate, lazy: false },
                OptimiserName::LazyAdam => Optimiser::Adam { rate, lazy: true },
            },
            penalty: self.penalty,
            cubes: self.cubes,
        }
    }

    /// The `TransE` whose rows this model begins with. Margin and rate are those that were published for that.
    pub(crate) fn warm_start(&self) -> Self {
        Self {
            margin: 5.0,
            learning_rate: 0.5,
            epochs: self.warm_epochs,
            validate_every: self.warm_epochs,
            warm_epochs: 0,
            ..self.clone()
        }
    }

    /// How long to learn a graph, or what changed in it.
    pub(crate) fn schedule(&self, update: bool) -> Schedule {
        let epochs = if update && self.update_epochs > 0 { self.update_epochs } else { self.epochs };
        Schedule {
            epochs,
            first_validation: self.validate_every,
            validate_every: self.validate_every,
            patience: (self.patience > 0).then_some(self.patience),
            // The triples of an epoch are drawn in an order of their own.
            order: Order::Fixed,
            ..Schedule::default()
        }
    }

    /// Refuses numbers out of range, and settings that do not go together.
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        check_at_least_one(&[
            ("dimension", self.dimension),
            ("negatives", self.negatives),
            ("batches", self.batches),
            ("epochs", self.epochs as usize),
            ("validate_every", self.validate_every as usize),
        ])?;
        let weight = "a number from 0 on";
        let share = |x: f64| (0.0..=1.0).contains(&x);
        check_dimensions(&[("dimension", self.dimension), ("relation_dimension", self.relation_dimension)])?;
        check_ranges(&[
            ("norm", f64::from(self.norm), self.norm == 1 || self.norm == 2, "1 or 2"),
            ("margin", self.margin, self.margin >= 0.0, weight),
            ("adversarial", self.adversarial, self.adversarial >= 0.0, weight),
            ("learning_rate", self.learning_rate, self.learning_rate > 0.0, "a number above 0"),
            ("penalty", self.penalty, self.penalty >= 0.0, weight),
            ("cubes", self.cubes, self.cubes >= 0.0, weight),
            ("constraint", self.constraint, self.constraint >= 0.0, weight),
            ("tolerance", self.tolerance, share(self.tolerance), "a number from 0 to 1"),
            ("epsilon", self.epsilon, self.epsilon >= 0.0, weight),
            ("replay_near", self.replay_near, share(self.replay_near), "a number from 0 to 1"),
            ("replay", self.replay, share(self.replay), "a number from 0 to 1"),
            ("near", self.near, share(self.near), "a number from 0 to 1"),
            (
                "unlearn",
                self.unlearn,
                (0.0..=MOST_UNLEARN).contains(&self.unlearn),
                "a number from 0 to 1000",
            ),
        ])?;
        let adam = matches!(self.optimiser, OptimiserName::Adam | OptimiserName::LazyAdam);
        if adam && !self.deterministic {
            return Err(ConfigError::Value(
                "deterministic = false updates rows triple by triple, and Adam's means belong to whole batches: set \
                 optimiser = \"sgd\", or deterministic = true"
                    .to_owned(),
            ));
        }
        if self.cubes > 0.0 && !self.deterministic {
            return Err(ConfigError::Value(
                "deterministic = false updates rows triple by triple, and cubes are of all rows at once: set cubes = 0, \
                 or deterministic = true"
                    .to_owned(),
            ));
        }
        Ok(())
    }

    /// Refuses what is accepted of a saved model only, whose training is over. Adagrad divides by the root of all squared
    /// gradients, and so the share that a triple has of the step of its batch cancels out: triple by triple it is another
    /// optimiser, in which every triple takes a step as large as one of a batch.
    pub(crate) fn check_threads(&self) -> Result<(), ConfigError> {
        if self.deterministic || self.optimiser != OptimiserName::Adagrad {
            return Ok(());
        }
        Err(ConfigError::Value(
            "deterministic = false updates rows triple by triple, and Adagrad's steps are those of whole batches: set \
             optimiser = \"sgd\", or deterministic = true"
                .to_owned(),
        ))
    }
}

/// Refuses widths of rows that nothing could be computed with.
pub(super) fn check_dimensions(dimensions: &[(&str, usize)]) -> Result<(), ConfigError> {
    match dimensions.iter().find(|(_, value)| *value > MOST_DIMENSION) {
        Some((key, value)) => Err(ConfigError::Value(format!(
            "{key} = {value} is out of range: expected at most {MOST_DIMENSION}"
        ))),
        None => Ok(()),
    }
}

const fn option(key: &'static str, about: &'static str) -> OptionInfo {
    OptionInfo { key, about }
}

/// What can be set, in the order of the configuration.
pub(crate) const OPTIONS: &[OptionInfo] = &[
    option("dimension", "Numbers per entity; complex coordinates where rows are complex."),
    option("relation_dimension", "Numbers per relation (transd, transr); 0: as many as an entity has."),
    option(
        "norm",
        "How distances are measured (transe, incremental-transe, transh, transd, transr): 1 (absolute values) or 2 \
         (squares).",
    ),
    option("normalise", "Whether these distances are those of rows divided by their lengths."),
    option("loss", "margin or softplus."),
    option("margin", "Margin of the loss; with softplus, what an energy is subtracted from."),
    option(
        "adversarial",
        "Temperature at which false triples weigh by their own plausibility; 0: all alike.",
    ),
    option("negatives", "False triples per true one that differ in an end."),
    option("relation_negatives", "False triples per true one that differ in the relation."),
    option(
        "sampling",
        "Which end is replaced: uniform, bern (the one less likely to give a truth), or cross (heads in \
         one batch, tails in the next).",
    ),
    option("filtered", "Whether drawn triples are never training triples."),
    option("positives", "Triples of an epoch: drawn (with repetition) or shuffled (all, in random order)."),
    option("optimiser", "sgd, adagrad, adam, or lazy-adam (rows without a gradient stay)."),
    option(
        "learning_rate",
        "Learning rate of a mean loss: the step of a triple is this divided by the batch.",
    ),
    option("penalty", "Weight of the mean square of the numbers that a batch uses."),
    option("cubes", "Weight of the sum of cubes of all numbers, those that a batch does not use included."),
    option("constraint", "Weight of the soft constraints of transh on lengths and planes; 0: none."),
    option("tolerance", "How far out of its plane a relation of transh may be, as a cosine."),
    option("init_rows", "Rows for which the initial range is made; 0: entities present at the first fit."),
    option("epsilon", "If above 0, initial values are within ±(margin + epsilon)/dimension."),
    option("warm_epochs", "Epochs of a TransE with whose rows the first fit begins; 0: rows are drawn."),
    option("batches", "Batches per epoch."),
    option("epochs", "Epochs at most."),
    option("update_epochs", "Epochs at most after a change of the graph; 0: as many as for the first fit."),
    option("validate_every", "Epochs between validations."),
    option("patience", "Validations without improvement before training stops; 0: never."),
    option("replay_near", "Share of the facts near a change that an epoch of an update goes through."),
    option("replay", "Share of all other facts that an epoch of an update goes through."),
    option("near", "A fact is near a change if an entity of it is new or this share of its facts changed."),
    option("unlearn", "How often an epoch of an update learns that a deleted triple is false, at most 1000."),
    option(
        "neighbour_start",
        "Whether new entities begin where their neighbours say they should be (transe, incremental-transe).",
    ),
    option("deterministic", "Same seed, same bytes; without it threads update rows at once (sgd only)."),
    option("compat", "Draws false triples as the published code does."),
];
