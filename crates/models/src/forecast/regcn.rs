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

use quadcast_core::{
    Capabilities, EntityId, Explanation, Forecaster, History, ModelError, Query, Run, SavedModel, ScoreSink,
    Setting, Step, Task, Tensors, Validation,
};
use serde::Deserialize;
use serde_json::json;

mod network;
mod static_graph;

use super::snapshot_network::{self, EncodedHistory, Trainer, footprint};
use super::state::{Shape, saved_state, saved_tensors, unfitted};
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
pub struct ReGcn {
    config: Config,
    words: Option<Arc<Words>>,
    network: Option<Network>,
    encoded: EncodedHistory<Network>,
}

impl ReGcn {
    /// An unfitted model.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self { config, words: None, network: None, encoded: EncodedHistory::default() })
    }

    fn fitted(&self) -> Result<&Network, ModelError> {
        self.network.as_ref().ok_or_else(unfitted)
    }
}

impl Forecaster for ReGcn {
    fn capabilities(&self) -> Capabilities {
        (ENTRY.capabilities)()
    }

    fn fit(
        &mut self,
        history: &History<'_>,
        validation: &dyn Validation,
        run: &Run,
    ) -> Result<(), ModelError> {
        self.words = match (self.config.static_graph, history.entity_names()) {
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
        capacity::check_settings(&self.config, &shape.training(), |config| {
            let outline = Network::outline(shape, config, self.words.clone());
            let read = config.history.min(data.steps);
            footprint(&outline, &data, (config.dimension, config.layers), (read, DECODERS))
        })?;
        let network = Network::new(shape, &self.config, self.words.clone(), run.seed);
        let mut trainer = Trainer::new(history, run.seed, network, self.config.history, 1);
        trainer.purpose = "re-gcn dropout".into();
        train(&mut trainer, "re-gcn", &self.config.schedule(), validation, run)?;
        self.network = Some(trainer.network);
        self.encoded = EncodedHistory::default();
        Ok(())
    }

    fn begin(&mut self, _: Step, history: &History<'_>) -> Result<(), ModelError> {
        let network = self.network.as_ref().ok_or_else(unfitted)?;
        network.shape.check(history)?;
        self.encoded.update(network, history, self.config.history);
        Ok(())
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        self.encoded.score(self.fitted()?, history, queries, sink)
    }

    fn explain(
        &self,
        history: &History<'_>,
        query: &Query,
        answer: EntityId,
    ) -> Result<Option<Explanation>, ModelError> {
        snapshot_network::explain(self.fitted()?, history, query, answer, self.config.history)
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        let network = self.fitted()?;
        let state = json!({ "config": self.config, "shape": network.shape, "words": self.words.as_deref() });
        Ok(SavedModel { state, rules: None, tensors: Some(Tensors(network.learned.to_bytes()?)) })
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        #[derive(Deserialize)]
        struct State {
            config: Config,
            shape: Shape,
            words: Option<Words>,
        }
        let state: State = saved_state(saved, "RE-GCN state")?;
        let tensors = saved_tensors(saved)?;
        *self = Self::new(state.config).map_err(|error| ModelError::Saved(error.to_string()))?;
        let shape = state.shape.check_saved()?;
        self.words = state.words.map(|words| words.check_saved(shape.entities)).transpose()?.map(Arc::new);
        let mut network = Network::outline(shape, &self.config, self.words.clone());
        network.learned.load_bytes(tensors)?;
        self.network = Some(network);
        Ok(())
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
