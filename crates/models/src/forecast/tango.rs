//! TANGO: vectors of entities and relations follow a differential equation from snapshot to snapshot.
//!
//! **Idea.** Between two snapshots the vectors move continuously; how they move is a graph network over the facts of the earlier
//! snapshot. The equation is solved up to the time that is asked about, which need not be the next step.
//!
//! **Paper.** Han, Ding, Ma, Gu, Tresp: Learning neural ordinary equations for forecasting future links on temporal knowledge
//! graphs. EMNLP 2021.
//!
//! **Score.** With `h`, `p` at the time of the question and `e` before the first snapshot: `⟨[e_s; h_s]∘[p; p], [e_o; h_o]⟩`
//! (`DistMult`), or `h_s·M_p·h_oᵀ` with a matrix made of the relation by a learned core (`TuckER`).
//!
//! **Training.** Every training snapshot is predicted from the four before it, in random order: cross entropy over the objects of
//! its distinct facts in both directions. Gradients are those of the Runge–Kutta steps themselves; the intervals are computed again
//! for them. Adam without decay.
//!
//! **Differs from the paper.** The published code reconstructs states between the nodes for its gradient; here it is exact. Times
//! are divided by the length of the training period, not by the last time of the test period. The mask of a relation's matrix
//! is shared by its questions, and an entity without facts in a snapshot draws one mask per interval.
//!
//! **Cost.** Per interval eight evaluations on the entities that have facts in the snapshot; `TuckER` forms a `d×d` matrix for
//! each relation that is asked about.

use quadcast_core::{Capabilities, History, ModelError, Run, Setting, Step, Task, Validation};
use serde::Deserialize;
use serde_json::{Value, json};

mod flow;
mod network;

use super::snapshot_network::{Design, SnapshotModel, Trainer};
use super::state::{Shape, read_extra};
use crate::capacity::{self, DataSizes, MOST_DIMENSION, MOST_THINGS, NUMBER, TRAINED};
use crate::config::{self, ConfigError};
use crate::registry::{Build, Entry};
use crate::settings::Settings;
use crate::training::{Schedule, train};
use network::Network;

choices! {
    /// How entities and relations become scores.
    pub enum Decoder {
        /// A learned core makes a matrix of each relation.
        TuckEr = "tucker",
        /// Products of three numbers, of the vectors before and after the snapshots.
        DistMult = "distmult",
    }
}

settings! {
    /// Configuration.
    pub struct Config {
        /// Size of embeddings.
        dimension: usize = 200, range at_least(1.0).at_most(MOST_DIMENSION), source "paper";
        /// How entities and relations become scores.
        decoder: Decoder = Decoder::TuckEr, source "published comparison, on ICEWS; distmult elsewhere";
        /// Snapshots that are read before a question.
        history: usize = 4, range at_least(1.0).at_most(MOST_THINGS), source "published comparison";
        /// Graph layers of the equation.
        layers: usize = 2, range at_least(1.0).at_most(2.0), source "paper; in effect 1 on YAGO";
        /// Length of the training period on the time scale of the equation.
        scale: f64 = 0.1, range above(0.0).at_most(1e6), source "published comparison; 0.01 on ICEWS14";
        /// Runge–Kutta steps between two snapshots.
        steps: usize = 2, range at_least(1.0).at_most(100.0), source "published code";
        /// Weight of the term for facts that appear and vanish; 0 leaves it out.
        jump: f64 = 0.0, range at_least(0.0).at_most(1e6), source "published comparison, by accident; paper: 0.01 or 1";
        /// Probability to drop a number in training, everywhere.
        dropout: f64 = 0.3, range at_least(0.0).below(1.0), source "published code";
        /// Learning rate of Adam.
        learning_rate: f64 = 1e-3, range above(0.0), source "paper";
        /// Epochs at most.
        epochs: u32 = 100, range at_least(1.0), source "published code";
        /// Validations without improvement before training stops; 0: never.
        patience: u32 = 31, source "published code";
    }
}

impl Config {
    fn schedule(&self) -> Schedule {
        let patience = (self.patience > 0).then_some(self.patience);
        Schedule { epochs: self.epochs, patience, ..Schedule::default() }
    }

    /// Bytes that training takes: parameters, the states between snapshots, and the matrices of the relations of a step.
    fn bytes(&self, shape: Shape, data: &DataSizes) -> f64 {
        let parameters = Network::outline(shape, self, 1.0).learned.parameters.estimate();
        let d = self.dimension as f64;
        let rows = (shape.entities + 2 * shape.relations) as f64;
        let states = (self.history.min(data.steps) + 2) as f64 * rows * d;
        let matrices = match self.decoder {
            Decoder::TuckEr => (2 * shape.relations.min(data.largest)) as f64 * d * d,
            Decoder::DistMult => 0.0,
        };
        NUMBER * (TRAINED * parameters + states + 2.0 * matrices)
    }
}

/// The model.
pub(crate) type Tango = SnapshotModel<Network>;

impl Design for Network {
    type Config = Config;

    const STATE: &'static str = "TANGO state";

    fn capabilities() -> Capabilities {
        (ENTRY.capabilities)()
    }

    fn check(config: &Config) -> Result<(), ConfigError> {
        config.check_ranges()
    }

    fn length(config: &Config) -> usize {
        config.history
    }

    fn shape(&self) -> Shape {
        self.shape
    }

    fn train(
        config: &Config,
        history: &History<'_>,
        validation: &dyn Validation,
        run: &Run,
    ) -> Result<Self, ModelError> {
        let (shape, data) = (Shape::of(history), DataSizes::of(history));
        capacity::check_settings(config, &shape.training(), |config| config.bytes(shape, &data))?;
        let last = Step(history.ceiling().0.saturating_sub(1));
        let span = (history.axis().ordinal(last) - history.axis().ordinal(Step(0))).max(1) as f64;
        let network = Self::new(shape, config, span, run.seed);
        let mut trainer = Trainer::new(history, run.seed, network, config.history, config.history);
        trainer.purpose = "tango dropout".into();
        train(&mut trainer, "tango", &config.schedule(), validation, run)?;
        Ok(trainer.network)
    }

    fn extra(&self) -> Value {
        json!({ "span": self.span })
    }

    fn saved(config: &Config, shape: Shape, extra: Value) -> Result<Self, ModelError> {
        #[derive(Deserialize)]
        struct Extra {
            span: f64,
        }
        let Extra { span } = read_extra(extra)?;
        if !(span.is_finite() && span >= 1.0) {
            return Err(ModelError::Saved(format!("span = {span} is out of range: expected at least 1")));
        }
        Ok(Self::outline(shape, config, span))
    }
}

/// Registry entry.
pub const ENTRY: Entry = Entry {
    name: "tango",
    aliases: &[],
    about: "Entities follow a differential equation over snapshots.",
    paper: "Learning neural ordinary equations for forecasting future links on temporal knowledge graphs",
    source: "Han et al., EMNLP 2021",
    capabilities: || Capabilities {
        explains: true,
        random: true,
        ..Capabilities::new(Task::Forecasting, &[Setting::SingleStep, Setting::MultiStep])
    },
    settings: Config::SETTINGS,
    base: None,
    quick: &["dimension=32", "epochs=3", "learning_rate=0.01", "decoder=distmult", "steps=1"],
    defaults: config::defaults::<Config>,
    build: Build::Forecaster(|table| Ok(Box::new(Tango::new(config::parse(table)?)?))),
};
