//! What can be set of the models that keep one space.

use quadcast_kernels::triples::{Loss, LossKind, NegativesConfig, Norm, Optimiser, Replaced, Settings};

use crate::capacity::{MOST_DIMENSION, MOST_THINGS};
use crate::config::ConfigError;
use crate::settings::Settings as _;
use crate::training::{Order, Schedule};

choices! {
    /// The loss of a triple and the false ones drawn for it.
    pub enum LossName {
        /// max(0, margin + true − false)
        Margin = "margin",
        /// ln(1 + e^{∓s}) of true and false triples with s = margin − energy.
        Softplus = "softplus",
    }

    /// Which end of a triple is replaced.
    pub enum Sampling {
        /// Either, alike.
        Uniform = "uniform",
        /// The one that is less likely to give a true triple.
        Bern = "bern",
        /// The head in one batch, the tail in the next.
        Cross = "cross",
    }

    /// Which triples an epoch goes through.
    pub enum Positives {
        /// Drawn ones, with repetition.
        Drawn = "drawn",
        /// All, in random order.
        Shuffled = "shuffled",
    }

    /// The optimiser.
    pub enum OptimiserName {
        /// Gradient descent.
        Sgd = "sgd",
        /// Adagrad.
        Adagrad = "adagrad",
        /// Adam; rows without a gradient move on.
        Adam = "adam",
        /// Adam; rows without a gradient stay.
        LazyAdam = "lazy-adam",
    }
}

/// How often an epoch unlearns a deleted triple at most: beyond that it does little else, and its samples fill the memory.
const MOST_UNLEARN: f64 = 1000.0;

settings! {
    /// Configuration. The defaults are those of `TransE` in Lafraie's study of evolving graphs (2020); search ranges are those of
    /// its grid.
    pub struct Config {
        /// Numbers per entity; complex coordinates where rows are complex.
        dimension: usize = 100, range at_least(1.0).at_most(MOST_DIMENSION), source "study",
            search Numbers(&[20.0, 50.0, 100.0]);
        /// Numbers per relation, where that may differ (`transd`, `transr`); 0: as many as an entity has.
        relation_dimension: usize = 0, range at_least(0.0).at_most(MOST_DIMENSION);
        /// How distances are measured: 1 or 2, in models that have them: `transe` and its descendants.
        norm: u8 = 1, range at_least(1.0).at_most(2.0), source "study", search Numbers(&[1.0, 2.0]);
        /// Whether these distances are those of rows divided by their lengths.
        normalise: bool = true, source "study";
        /// The loss.
        loss: LossName = LossName::Margin, source "study";
        /// Margin of the loss; with `softplus`, what an energy is subtracted from.
        margin: f64 = 5.0, range at_least(0.0), source "study", search Numbers(&[1.0, 2.0, 5.0, 10.0]);
        /// Temperature at which false triples weigh by the softmax of their own plausibility; 0: all alike.
        adversarial: f64 = 0.0, range at_least(0.0), source "study";
        /// False triples per true one that differ in an end.
        negatives: usize = 1, range at_least(1.0).at_most(MOST_THINGS), source "study";
        /// False triples per true one that differ in the relation.
        relation_negatives: usize = 0, range at_least(0.0).at_most(MOST_THINGS), source "study";
        /// Which end is replaced.
        sampling: Sampling = Sampling::Uniform, source "study";
        /// Whether drawn triples are never training triples.
        filtered: bool = false, source "study";
        /// Which triples an epoch goes through.
        positives: Positives = Positives::Drawn, source "study";
        /// The optimiser.
        optimiser: OptimiserName = OptimiserName::Sgd, source "study";
        /// Learning rate of a mean loss: the step of a triple is this divided by the batch.
        learning_rate: f64 = 0.1, range above(0.0), source "study", search Numbers(&[0.1, 0.01, 0.001]);
        /// Weight of the mean square of the numbers that a batch uses.
        penalty: f64 = 0.0, range at_least(0.0);
        /// Weight of the sum of |x|³ over all numbers, those that a batch does not use included.
        cubes: f64 = 0.0, range at_least(0.0);
        /// Weight of the soft constraints of `transh`: entities no longer than 1, relations within their planes; 0: none.
        constraint: f64 = 0.0, range at_least(0.0);
        /// How far out of its plane a relation of `transh` may be, as a cosine.
        tolerance: f64 = 0.1, range at_least(0.0).at_most(1.0);
        /// Rows for which the initial range of entities is made, `±√(6/(rows + dimension))`; 0: entities present at the first
        /// fit. Rows are divided by their lengths, so this decides how far a step turns them: a hidden learning rate.
        init_rows: usize = 0, range at_least(0.0).at_most(MOST_THINGS);
        /// If above 0, initial values are within ±(margin + this)/dimension instead.
        epsilon: f64 = 0.0, range at_least(0.0);
        /// Epochs of a `TransE` with whose rows the first fit begins; 0: rows are drawn.
        warm_epochs: u32 = 0;
        /// Batches per epoch.
        batches: usize = 100, range at_least(1.0).at_most(MOST_THINGS), source "study";
        /// Epochs at most.
        epochs: u32 = 1000, range at_least(1.0), source "study";
        /// Epochs at most after a change of the graph; 0: as many as for the first fit.
        update_epochs: u32 = 0;
        /// Epochs between validations.
        validate_every: u32 = 100, range at_least(1.0);
        /// Validations without improvement before training stops; 0: never.
        patience: u32 = 4;
        /// Share of the facts near a change that an epoch of an update goes through.
        replay_near: f64 = 1.0, range at_least(0.0).at_most(1.0);
        /// Share of all other facts that an epoch of an update goes through.
        replay: f64 = 1.0, range at_least(0.0).at_most(1.0);
        /// A fact is near a change if one of its entities is new or has at least this share of its facts changed.
        near: f64 = 0.1, range at_least(0.0).at_most(1.0);
        /// How often an epoch of an update learns that a deleted triple is false.
        unlearn: f64 = 0.0, range at_least(0.0).at_most(MOST_UNLEARN);
        /// Whether new entities begin where their neighbours say they should be (`transe`, `incremental-transe`).
        neighbour_start: bool = false;
        /// Same seed, same bytes. Without it, threads update rows at once, which only gradient descent can do.
        deterministic: bool = true;
        /// Draws false triples as the published code does.
        compat: bool = false;
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
        self.check_ranges()?;
        let adam = matches!(self.optimiser, OptimiserName::Adam | OptimiserName::LazyAdam);
        self.check_threads(adam, "Adam's means belong to whole batches", "optimiser = \"sgd\"")?;
        self.check_threads(self.cubes > 0.0, "cubes are of all rows at once", "cubes = 0")
    }

    /// Refuses what is accepted of a saved model only, whose training is over. Adagrad divides by the root of all squared
    /// gradients, and so the share that a triple has of the step of its batch cancels out: triple by triple it is another
    /// optimiser, in which every triple takes a step as large as one of a batch.
    pub(crate) fn check_training(&self) -> Result<(), ConfigError> {
        let adagrad = self.optimiser == OptimiserName::Adagrad;
        self.check_threads(adagrad, "Adagrad's steps are those of whole batches", "optimiser = \"sgd\"")
    }

    /// Refuses threads that update rows at once, if that does not go together with something.
    fn check_threads(&self, clashes: bool, why: &str, remedy: &str) -> Result<(), ConfigError> {
        if self.deterministic || !clashes {
            return Ok(());
        }
        Err(ConfigError::Value(format!(
            "deterministic = false updates rows triple by triple, and {why}: set {remedy}, or deterministic = true"
        )))
    }
}
