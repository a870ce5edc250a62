//! RE-GCN: entities and relations evolve over the last snapshots.
//!
//! **Idea.** A graph network reads the last few snapshots one after the other; a gate decides how much each changes the
//! entities, a recurrent cell how it changes the relations. A convolution turns entity and relation of a question
//! into a vector that is compared with all entities.
//!
//! **Paper.** Li, Jin, Li, Guan, Guo, Shen, Wang, Cheng: Temporal knowledge graph reasoning based on evolutional
//! representation learning. SIGIR 2021.
//!
//! **Score.** `ConvTransE(tanh(h_s), p_r) · tanh(H)ᵀ` with `H`, `P` after the last known snapshot.
//!
//! **Training.** Every training snapshot is predicted from the ones before it, in random order: cross entropy of entities
//! (weight 0.7) and of relations (0.3), and, with a static graph, a penalty on entities that turn away from the words of
//! their names faster than 10° a snapshot. Adam with coupled L2, gradients clipped to norm 1.
//!
//! **Differs from the paper.** The best epoch is chosen by time-aware MRR in the setting of the run, not by raw MRR. Several
//! steps ahead, the last known snapshots are read again for every step, as in the published runs. The angle is not
//! capped at 90°, as in the code.
//!
//! **Cost.** Per training step `2·k·layers` products of all entities with a `d×d` matrix, and one score of all
//! entities for each fact in both directions; logits are never kept.

use std::sync::Arc;

use quadcast_core::{Capabilities, History, ModelError, Run, Setting, Task, Validation};
use serde::Deserialize;
use serde_json::{Value, json};

mod network;
mod static_graph;

use super::snapshot_network::{Design, SnapshotModel, Trainer, footprint};
use super::state::{Shape, read_extra};
use crate::capacity::{self, DataSizes, MOST_DIMENSION, MOST_LAYERS, MOST_THINGS};
use crate::config::{self, ConfigError};
use crate::registry::{Build, Entry};
use crate::settings::Settings;
use crate::training::{Schedule, train};
use network::Network;
use static_graph::Words;

/// Decoders: of entities and of relations.
const DECODERS: usize = 2;

settings! {
    /// Configuration.
    pub struct Config {
        /// Size of embeddings.
        dimension: usize = 200, range at_least(1.0).at_most(MOST_DIMENSION), source "paper";
        /// Snapshots that are read before a question.
        history: usize = 3, range at_least(1.0).at_most(MOST_THINGS), source "paper, on ICEWS14; 1 to 10 elsewhere";
        /// Graph layers per snapshot.
        layers: usize = 2, range at_least(1.0).at_most(MOST_LAYERS), source "paper; 1 on YAGO";
        /// Start from the words of entity names.
        static_graph: bool = false, source "paper; true on the ICEWS datasets";
        /// Probability to drop a number in training, everywhere.
        dropout: f64 = 0.2, range at_least(0.0).below(1.0), source "paper";
        /// Degrees by which entities may turn away from their words with every snapshot.
        angle: f64 = 10.0, range at_least(0.0).at_most(180.0), source "paper";
        /// Weight of that constraint.
        static_weight: f64 = 0.5, range at_least(0.0), source "published code";
        /// Weight of the entity task; the rest weighs the relation task.
        task_weight: f64 = 0.7, range at_least(0.0).at_most(1.0), source "paper";
        /// Learning rate of Adam.
        learning_rate: f64 = 1e-3, range above(0.0), source "paper";
        /// Coupled L2.
        weight_decay: f64 = 1e-5, range at_least(0.0), source "published code";
        /// Largest norm of all gradients together.
        clip: f64 = 1.0, range above(0.0), source "published code";
        /// Epochs at most.
        epochs: u32 = 500, range at_least(1.0), source "published code";
        /// Validations without improvement before training stops; 0: never.
        patience: u32 = 20, source "ours; published code: never";
    }
}

impl Config {
    fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        if self.static_graph && !self.dimension.is_multiple_of(2) {
            return Err(ConfigError::Value(format!(
                "dimension = {} is odd: the static graph works on pairs of numbers, expected an even dimension",
                self.dimension
            )));
        }
        Ok(())
    }

    fn schedule(&self) -> Schedule {
        let patience = (self.patience > 0).then_some(self.patience);
        Schedule { epochs: self.epochs, patience, ..Schedule::default() }
    }
}

/// The model.
pub(crate) type ReGcn = SnapshotModel<Network>;

impl Design for Network {
    type Config = Config;

    const STATE: &'static str = "RE-GCN state";

    fn capabilities() -> Capabilities {
        (ENTRY.capabilities)()
    }

    fn check(config: &Config) -> Result<(), ConfigError> {
        config.check()
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
        let words = match (config.static_graph, history.entity_names()) {
            (false, _) => None,
            (true, Some(names)) => Some(Arc::new(Words::of(names))),
            (true, None) => {
                return Err(ModelError::Unsupported(
                    "the static graph is made of entity names, and this data has none; set static_graph=false"
                        .to_owned(),
                ));
            }
        };
        let (shape, data) = (Shape::of(history), DataSizes::of(history));
        capacity::check_settings(config, &shape.training(), |config| {
            let outline = Self::outline(shape, config, words.clone());
            let read = config.history.min(data.steps);
            footprint(&outline, &data, (config.dimension, config.layers), (read, DECODERS))
        })?;
        let network = Self::new(shape, config, words, run.seed);
        let mut trainer = Trainer::new(history, run.seed, network, config.history, 1);
        trainer.purpose = "re-gcn dropout".into();
        train(&mut trainer, "re-gcn", &config.schedule(), validation, run)?;
        Ok(trainer.network)
    }

    fn extra(&self) -> Value {
        json!({ "words": self.words.as_deref() })
    }

    fn saved(config: &Config, shape: Shape, extra: Value) -> Result<Self, ModelError> {
        #[derive(Deserialize)]
        struct Extra {
            words: Option<Words>,
        }
        let Extra { words } = read_extra(extra)?;
        let words = words.map(|words| words.check_saved(shape.entities)).transpose()?.map(Arc::new);
        Ok(Self::outline(shape, config, words))
    }
}

/// Registry entry.
pub const ENTRY: Entry = Entry {
    name: "re-gcn",
    aliases: &["regcn"],
    about: "Graph network over the last snapshots; entities evolve.",
    paper: "Temporal knowledge graph reasoning based on evolutional representation learning",
    source: "Li et al., SIGIR 2021",
    capabilities: || Capabilities {
        explains: true,
        random: true,
        reads_names: Some("static_graph"),
        ..Capabilities::new(Task::Forecasting, &[Setting::SingleStep, Setting::MultiStep])
    },
    settings: Config::SETTINGS,
    base: None,
    quick: &["dimension=32", "epochs=4"],
    defaults: config::defaults::<Config>,
    build: Build::Forecaster(|table| Ok(Box::new(ReGcn::new(config::parse(table)?)?))),
};
