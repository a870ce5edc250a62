//! CEN: histories of several lengths answer together, and the model may go on learning.
//!
//! **Idea.** The graph encoder of RE-GCN reads the last snapshot, the last two, and so on; each length has a decoder of
//! its own, and their answers are added. Training begins with short histories and goes on to longer ones while that helps.
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
//! **Online.** Before each step the model learns from the step before it, pulled back to where it was; a past step judges
//! every epoch, and the model goes back to the best one. The validation period is gone through first.
//!
//! **Differs from the paper.** As in the published code the pull is the sum of the distances of all tensors, not squared,
//! and is measured from the parameters after the last epoch of the step before, not from those that were kept. Several
//! steps ahead, which the published code does not offer, the last known snapshots are read for every step.
//!
//! **Cost.** A history of `k` snapshots is read as `k·(k+1)/2` snapshots, and all entities are scored `k` times.

use quadcast_core::{
    Capabilities, EntityId, Explanation, Forecaster, History, ModelError, Query, Rehearsal, Run, SavedModel,
    ScoreSink, Setting, Step, Tensors, Validation,
};
use quadcast_train::{Ending, train};
use serde::Deserialize;
use serde_json::json;

mod network;
mod online;
mod settings;

use super::reader::{self, Reader};
use super::state::{Shape, unfitted};
use super::trainer::Trainer;
use crate::config::{self, ConfigError};
use crate::registry::{Entry, Family, OptionInfo};
use network::Network;
use online::{Tuned, Way};
pub use settings::Config;

/// The model.
pub struct Cen {
    config: Config,
    seed: u64,
    trained: Option<Trained>,
    /// What it became by going on to learn.
    tuned: Option<Tuned>,
    /// The step that `tuned` is to answer about.
    tuned_for: Option<Step>,
    reader: Reader<Network>,
}

/// What training left.
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
        Ok(Self { config, seed: 0, trained: None, tuned: None, tuned_for: None, reader: Reader::default() })
    }

    /// The network that answers, and the number of snapshots that it reads.
    fn answering(&self) -> Result<(&Network, usize), ModelError> {
        let Trained { network, length, .. } = self.trained.as_ref().ok_or_else(unfitted)?;
        let tuned = self.tuned.as_ref().filter(|_| self.tuned_for.is_some());
        Ok((tuned.map_or(network, Tuned::network), *length))
    }
}

impl Forecaster for Cen {
    fn capabilities(&self) -> Capabilities {
        ENTRY.capabilities
    }

    fn fit(
        &mut self,
        history: &History<'_>,
        validation: &dyn Validation,
        run: &Run,
    ) -> Result<(), ModelError> {
        let config = &self.config;
        let network = Network::new(Shape::of(history), config, run.seed);
        // The published code predicts all but the first two snapshots.
        let mut trainer = Trainer::new(history, run.seed, network, config.shortest, 2);
        let mut best: Option<(f64, Vec<u8>, usize)> = None;
        let mut spent = 0.0;
        for length in config.shortest..=config.longest {
            trainer.length = length;
            trainer.purpose = format!("cen dropout {length}");
            trainer.reader.forget();
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
        (self.tuned, self.tuned_for, self.reader) = (None, None, Reader::default());
        Ok(())
    }

    fn learn(
        &mut self,
        step: Step,
        history: &History<'_>,
        rehearsal: &dyn Rehearsal,
    ) -> Result<(), ModelError> {
        let Trained { network, length, until } = self.trained.as_ref().ok_or_else(unfitted)?;
        network.shape().check(history)?;
        let tuned = match self.tuned.take().filter(|tuned| tuned.can_go_on_to(step)) {
            Some(tuned) => tuned,
            None => Tuned::new(network, &self.config)?,
        };
        let way = Way { config: &self.config, length: *length, seed: self.seed, trained_until: *until };
        self.tuned = Some(tuned.go_on_to(step, history, rehearsal, &way)?);
        self.tuned_for = Some(step);
        self.reader.forget();
        Ok(())
    }

    fn begin(&mut self, step: Step, history: &History<'_>) -> Result<(), ModelError> {
        if self.tuned_for.is_some_and(|tuned_for| tuned_for != step) {
            self.tuned_for = None;
            self.reader.forget();
        }
        let mut reader = std::mem::take(&mut self.reader);
        let (network, length) = self.answering()?;
        network.shape().check(history)?;
        reader.read(network, history, length);
        self.reader = reader;
        Ok(())
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        self.reader.score(self.answering()?.0, history, queries, sink)
    }

    fn explain(
        &self,
        history: &History<'_>,
        query: &Query,
        answer: EntityId,
    ) -> Result<Option<Explanation>, ModelError> {
        let (network, length) = self.answering()?;
        reader::explain(network, history, query, answer, length)
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        // What was learned online belongs to an evaluation, not to the model.
        let Trained { network, length, until } = self.trained.as_ref().ok_or_else(unfitted)?;
        let state = json!({ "config": self.config, "seed": self.seed, "shape": network.shape(),
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
        let state: State = serde_json::from_value(saved.state.clone())
            .map_err(|error| ModelError::Saved(format!("{error} in the CEN state")))?;
        let tensors =
            saved.tensors.as_ref().ok_or_else(|| ModelError::Saved("it has no tensors".to_owned()))?;
        *self = Self::new(state.config).map_err(|error| ModelError::Saved(error.to_string()))?;
        let mut network = Network::new(state.shape, &self.config, 0);
        network.learned.load_bytes(&tensors.0)?;
        self.seed = state.seed;
        self.trained = Some(Trained { network, length: state.length, until: state.until });
        Ok(())
    }
}

/// Registry entry.
pub const ENTRY: Entry = Entry {
    name: "cen",
    aliases: &[],
    family: Family::Forecasting,
    about: "Reads histories of several lengths with a graph network, adds up their answers, and can go on learning",
    paper: "Complex evolutional pattern learning for temporal knowledge graph reasoning",
    source: "Li et al., ACL 2022",
    capabilities: Capabilities {
        settings: &[Setting::SingleStep, Setting::MultiStep, Setting::Online],
        explains: true,
        inductive: false,
        random: true,
        rules: false,
    },
    options: &[
        OptionInfo { key: "dimension", about: "size of embeddings" },
        OptionInfo { key: "layers", about: "graph layers per snapshot" },
        OptionInfo { key: "shortest", about: "snapshots that the first stage of training reads" },
        OptionInfo { key: "longest", about: "snapshots that later stages may come to" },
        OptionInfo { key: "dropout", about: "probability to drop a number in training" },
        OptionInfo { key: "learning_rate", about: "learning rate of the first stage" },
        OptionInfo { key: "curriculum_rate", about: "learning rate of later stages" },
        OptionInfo { key: "weight_decay", about: "coupled L2" },
        OptionInfo { key: "clip", about: "largest norm of all gradients together" },
        OptionInfo { key: "epochs", about: "epochs of a stage at most" },
        OptionInfo { key: "patience", about: "validations without improvement before the first stage ends" },
        OptionInfo { key: "curriculum_patience", about: "the same for later stages" },
        OptionInfo { key: "online_rate", about: "learning rate while going on to learn" },
        OptionInfo { key: "online_epochs", about: "epochs per step at most while going on to learn" },
        OptionInfo {
            key: "online_pull",
            about: "pull back to the parameters of the step before while going on to learn",
        },
    ],
    base: None,
    quick: &["dimension=16", "shortest=2", "longest=3", "epochs=3", "online_epochs=2"],
    defaults: config::defaults::<Config>,
    build: |table| Ok(Box::new(Cen::new(config::parse(table)?)?)),
};
