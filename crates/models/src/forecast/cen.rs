//! CEN: an ensemble over histories of several lengths, with optional online updates.
//!
//! **Idea.** The graph encoder of RE-GCN reads the last snapshot, the last two, and so on; each length has a decoder of
//! its own, and their answers are added. Training starts with short histories and continues with longer ones while that helps.
//!
//! **Paper.** Li, Guan, Jin, Peng, Lyu, Zhu, Bai, Li, Guo, Cheng: Complex evolutional pattern learning for temporal
//! knowledge graph reasoning. ACL 2022.
//!
//! **Score.** `Σ_j softmax(ConvTransE_j(tanh(h_s), p_r) · tanh(H_j)ᵀ)` with `H_j` after the last `j` snapshots.
//!
//! **Training.** Every training snapshot but the first two is predicted from the ones before it, in random order: the sum
//! over lengths of the cross entropies. A first stage reads `shortest` snapshots; each later one reads one more, starts
//! from the best state of the one before, and is dropped, with all that would follow, when it does not reach the best
//! validation score so far. Adam with coupled L2, gradients clipped to norm 1.
//!
//! **Online.** Before each step the model learns from the step before it, with a pull towards its old parameters; every epoch is
//! validated on an earlier step, and the best one is kept. Updates start with the validation period.
//!
//! **Differs from the paper.** As in the published code the pull is the sum of the distances of all tensors, not squared,
//! and is measured from the parameters after the last epoch of the step before, not from those that were kept. Several
//! steps ahead, which the published code does not offer, the last known snapshots are read for every step.
//!
//! **Cost.** A history of `k` snapshots is read as `k·(k+1)/2` snapshots, and all entities are scored `k` times.

use quadcast_core::{
    Capabilities, EntityId, Explanation, Forecaster, History, ModelError, Query, Rehearsal, Run, SavedModel,
    ScoreSink, Setting, Step, Task, Tensors, Validation,
};
use serde::Deserialize;
use serde_json::json;

mod network;
mod online;

use super::snapshot_network::{self, EncodedHistory, Trainer, footprint};
use super::state::{Shape, saved_state, saved_tensors, unfitted};
use crate::capacity::{self, DataSizes, MOST_DIMENSION, MOST_LAYERS};
use crate::config::{self, ConfigError};
use crate::registry::{Build, Entry};
use crate::settings::Settings;
use crate::training::{Ending, Schedule, train};
use network::Network;
use online::OnlineNetwork;

/// The longest history: one of `k` snapshots is read as `k·(k+1)/2`, and has `k` decoders.
const MOST_LENGTH: f64 = 128.0;

settings! {
    /// Configuration.
    pub struct Config {
        /// Size of embeddings.
        dimension: usize = 200, range at_least(1.0).at_most(MOST_DIMENSION), source "paper";
        /// Graph layers per snapshot.
        layers: usize = 2, range at_least(1.0).at_most(MOST_LAYERS), source "paper";
        /// Snapshots that the first stage of training reads.
        shortest: usize = 3, range at_least(1.0).at_most(MOST_LENGTH),
            source "paper, on ICEWS14, ICEWS18 and YAGO; 2 on GDELT and WIKI";
        /// Snapshots that later stages may come to; at least `shortest`.
        longest: usize = 10, range at_least(1.0).at_most(MOST_LENGTH), source "paper";
        /// Probability to drop a number in training, everywhere.
        dropout: f64 = 0.2, range at_least(0.0).below(1.0), source "paper";
        /// Learning rate of the first stage.
        learning_rate: f64 = 1e-3, range above(0.0), source "paper";
        /// Learning rate of the later stages.
        curriculum_rate: f64 = 1e-4, range above(0.0), source "published code";
        /// Coupled L2.
        weight_decay: f64 = 1e-5, range at_least(0.0), source "published code";
        /// Largest norm of all gradients together.
        clip: f64 = 1.0, range above(0.0), source "published code";
        /// Epochs of a stage at most.
        epochs: u32 = 30, range at_least(1.0), source "published code";
        /// Validations without improvement before the first stage ends.
        patience: u32 = 6, range at_least(1.0), source "published code, which ends after more than 5";
        /// Validations without improvement before a later stage ends.
        curriculum_patience: u32 = 3, range at_least(1.0), source "published code, which ends after more than 2";
        /// Learning rate during online updates.
        online_rate: f64 = 1e-3, range above(0.0), source "paper";
        /// Epochs per step at most during online updates.
        online_epochs: u32 = 30, source "published code";
        /// Pull back to the parameters of the step before during online updates.
        online_pull: f64 = 1.0, range at_least(0.0), source "paper";
    }
}

impl Config {
    fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        if self.longest < self.shortest {
            return Err(ConfigError::Value(format!(
                "longest = {} is out of range: expected at least shortest = {}",
                self.longest, self.shortest
            )));
        }
        Ok(())
    }

    /// Refuses a stage that reads histories of this length, if it cannot fit into memory.
    fn check_memory(&self, shape: Shape, data: &DataSizes, length: usize) -> Result<(), ModelError> {
        let longer = length - self.shortest;
        capacity::check_settings(self, &shape.training(), |config| {
            let length = (config.shortest + longer).min(data.steps);
            let sizes = (config.dimension, config.layers);
            footprint(&Network::outline(shape, config), data, sizes, (length * (length + 1) / 2, length))
        })
    }

    /// The stage that reads histories of this length.
    fn schedule(&self, length: usize) -> Schedule {
        let patience = if length == self.shortest { self.patience } else { self.curriculum_patience };
        Schedule { epochs: self.epochs, patience: Some(patience), ..Schedule::default() }
    }
}

/// The model.
pub struct Cen {
    config: Config,
    seed: u64,
    trained: Option<Trained>,
    /// The network with online updates.
    online: Option<OnlineNetwork>,
    /// The step that `online` is to answer about.
    online_for: Option<Step>,
    encoded: EncodedHistory<Network>,
}

/// The result of training.
struct Trained {
    network: Network,
    /// Snapshots that it reads.
    length: usize,
    /// The first step that it did not see.
    until: Step,
}

impl Cen {
    /// An unfitted model.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            config,
            seed: 0,
            trained: None,
            online: None,
            online_for: None,
            encoded: EncodedHistory::default(),
        })
    }

    /// The network in use, and the number of snapshots that it reads.
    fn current(&self) -> Result<(&Network, usize), ModelError> {
        let Trained { network, length, .. } = self.trained.as_ref().ok_or_else(unfitted)?;
        let online = self.online.as_ref().filter(|_| self.online_for.is_some());
        Ok((online.map_or(network, |online| &online.network), *length))
    }
}

impl Forecaster for Cen {
    fn capabilities(&self) -> Capabilities {
        (ENTRY.capabilities)()
    }

    fn fit(
        &mut self,
        history: &History<'_>,
        validation: &dyn Validation,
        run: &Run,
    ) -> Result<(), ModelError> {
        let config = &self.config;
        let (shape, data) = (Shape::of(history), DataSizes::of(history));
        config.check_memory(shape, &data, config.shortest)?;
        let network = Network::new(shape, config, run.seed);
        // The published code predicts all but the first two snapshots.
        let mut trainer = Trainer::new(history, run.seed, network, config.shortest, 2);
        let mut best: Option<(f64, Vec<u8>, usize)> = None;
        let mut spent = 0.0;
        for length in config.shortest..=config.longest {
            config.check_memory(shape, &data, length)?;
            trainer.length = length;
            trainer.purpose = format!("cen dropout {length}");
            trainer.encoded.invalidate();
            if length > config.shortest {
                trainer.network.restart_optimiser(config.curriculum_rate, config.weight_decay, config);
            }
            let name = format!("length-{length}");
            let schedule = config.schedule(length);
            let training = train(&mut trainer, &name, &schedule, validation, &run.after(spent))?;
            spent += training.seconds;
            if best.as_ref().is_some_and(|(mrr, ..)| training.best_score < *mrr) {
                break;
            }
            best = Some((training.best_score, trainer.network.learned.state()?, length));
            if training.ending == Ending::TimeBudget {
                break;
            }
        }
        if let Some((_, state, length)) = best {
            trainer.network.learned.restore(&state)?;
            self.trained = Some(Trained { network: trainer.network, length, until: history.ceiling() });
        }
        self.seed = run.seed;
        (self.online, self.online_for, self.encoded) = (None, None, EncodedHistory::default());
        Ok(())
    }

    fn learn(
        &mut self,
        step: Step,
        history: &History<'_>,
        rehearsal: &dyn Rehearsal,
    ) -> Result<(), ModelError> {
        let trained = self.trained.as_ref().ok_or_else(unfitted)?;
        trained.network.shape.check(history)?;
        let online = match self.online.take().filter(|online| online.can_advance_to(step)) {
            Some(online) => online,
            None => OnlineNetwork::new(&trained.network, &self.config)?,
        };
        self.online = Some(online.advance_to(step, history, rehearsal, &self.config, trained, self.seed)?);
        self.online_for = Some(step);
        self.encoded.invalidate();
        Ok(())
    }

    fn begin(&mut self, step: Step, history: &History<'_>) -> Result<(), ModelError> {
        if self.online_for.is_some_and(|online_for| online_for != step) {
            self.online_for = None;
            self.encoded.invalidate();
        }
        let mut encoded = std::mem::take(&mut self.encoded);
        let (network, length) = self.current()?;
        network.shape.check(history)?;
        encoded.update(network, history, step, length);
        self.encoded = encoded;
        Ok(())
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        self.encoded.score(self.current()?.0, history, queries, sink)
    }

    fn explain(
        &self,
        history: &History<'_>,
        query: &Query,
        answer: EntityId,
    ) -> Result<Option<Explanation>, ModelError> {
        let (network, length) = self.current()?;
        snapshot_network::explain(network, history, query, answer, length)
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        // Online updates belong to an evaluation, not to the model.
        let Trained { network, length, until } = self.trained.as_ref().ok_or_else(unfitted)?;
        let state = json!({ "config": self.config, "seed": self.seed, "shape": network.shape,
            "length": length, "until": until });
        Ok(SavedModel { state, rules: None, tensors: Some(Tensors(network.learned.to_bytes()?)) })
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        #[derive(Deserialize)]
        struct State {
            config: Config,
            seed: u64,
            shape: Shape,
            length: usize,
            until: Step,
        }
        let state: State = saved_state(saved, "CEN state")?;
        let tensors = saved_tensors(saved)?;
        *self = Self::new(state.config).map_err(|error| ModelError::Saved(error.to_string()))?;
        if state.length == 0 || state.length > self.config.longest {
            return Err(ModelError::Saved(format!(
                "length = {} is out of range: expected at least 1, at most longest = {}",
                state.length, self.config.longest
            )));
        }
        let mut network = Network::outline(state.shape.check_saved()?, &self.config);
        network.learned.load_bytes(tensors)?;
        self.seed = state.seed;
        self.trained = Some(Trained { network, length: state.length, until: state.until });
        Ok(())
    }
}

/// Registry entry.
pub const ENTRY: Entry = Entry {
    name: "cen",
    aliases: &[],
    about: "Graph network over several history lengths; learns online.",
    paper: "Complex evolutional pattern learning for temporal knowledge graph reasoning",
    source: "Li et al., ACL 2022",
    capabilities: || Capabilities {
        explains: true,
        random: true,
        ..Capabilities::new(Task::Forecasting, &[Setting::SingleStep, Setting::MultiStep, Setting::Online])
    },
    settings: Config::SETTINGS,
    base: None,
    quick: &["dimension=16", "shortest=2", "longest=3", "epochs=3", "online_epochs=2"],
    defaults: config::defaults::<Config>,
    build: Build::Forecaster(|table| Ok(Box::new(Cen::new(config::parse(table)?)?))),
};
