//! RE-Net: the past of an entity as a sequence of neighbourhoods; later steps are simulated.
//!
//! **Idea.** A recurrent network reads the last snapshots in which the known entity took part: its neighbourhood there, and a vector
//! of the whole graph. Several steps ahead, the model draws the graphs in between from its own predictions.
//!
//! **Paper.** Jin, Qu, Jin, Ren: Recurrent event network: autoregressive structure inference over temporal knowledge graphs. EMNLP
//! 2020.
//!
//! **Score.** `W·[e_s; h; r] + b` with `h` the last state of a GRU over `[n_t; e_s; r; g_t]`: `n_t` is the row of the entity in
//! two graph layers over the snapshot of `t`, `g_t` the last state of a second GRU over the largest numbers in each of the last ten
//! snapshots. `h` is 0 for an entity without a past.
//!
//! **Training.** First the global network: it predicts which entities take part in a snapshot. Then the local one: cross entropy of
//! answers in both directions, and a tenth of that of relations, over facts in random order. Adam with coupled L2, gradients
//! clipped.
//!
//! **Differs from the paper.** Neighbourhoods are those of the whole snapshot, not of what a batch happens to need, and parts of an
//! input that many members of a batch share are dropped together. Validation facts are known where the protocol says so, and both
//! heads of the global network are trained; `compat` does both as the published code does. One step ahead, which the published
//! code does not offer, observed snapshots take the place of simulated ones.
//!
//! **Cost.** All entities are scored for each fact in both directions; a simulated step asks as many questions as can matter for
//! its likeliest facts. Memory does not grow with the number of snapshots but for two vectors each.

use quadcast_core::{
    Capabilities, Direction, EntityId, Explanation, Forecaster, History, ModelError, Quad, Query, Run,
    SavedModel, ScoreSink, Setting, SimulatedFact, Step, Task, Tensors, Validation,
};
use serde::Deserialize;
use serde_json::json;

mod memory;
mod network;
mod past;
mod plan;
mod simulation;
mod training;

use super::removal;
use super::state::{Shape, StripSink, saved_state, saved_tensors, unfitted};
use crate::capacity::{self, DataSizes, MOST_DIMENSION, MOST_THINGS, NUMBER, TRAINED};
use crate::config::{self, ConfigError};
use crate::registry::{Build, Entry};
use crate::settings::Settings;
use crate::training::{Judge, Order, Schedule, learn, train};
use memory::Memory;
use network::{Asked, GlobalVectors, Network};
use past::{Past, Simulated};
use simulation::Simulation;
use training::{GlobalTrainer, LocalTrainer};

settings! {
    /// Configuration.
    pub struct Config {
        /// Size of embeddings; even.
        dimension: usize = 200, range at_least(2.0).at_most(MOST_DIMENSION), source "paper";
        /// Snapshots of the past of an entity, and of the whole graph, that are read.
        history: usize = 10, range at_least(1.0).at_most(MOST_THINGS), source "paper";
        /// Probability to drop a number in training, everywhere.
        dropout: f64 = 0.5, range at_least(0.0).below(1.0), source "paper";
        /// Weight of the relation task.
        relation_weight: f64 = 0.1, range at_least(0.0), source "paper";
        /// Learning rate of Adam.
        learning_rate: f64 = 1e-3, range above(0.0), source "paper";
        /// Coupled L2.
        weight_decay: f64 = 1e-5, range at_least(0.0), source "published code";
        /// Largest norm of all gradients together.
        clip: f64 = 1.0, range above(0.0), source "published code";
        /// Facts per training step of the local network.
        batch: usize = 1024, range at_least(1.0).at_most(MOST_THINGS), source "published code";
        /// Epochs of the local network at most.
        epochs: u32 = 20, range at_least(1.0), source "published code";
        /// Epochs before the first validation.
        first_validation: u32 = 10, range at_least(1.0), source "published code";
        /// Validations without improvement before training stops; 0: never.
        patience: u32 = 0, source "published code";
        /// Epochs of the global network.
        global_epochs: u32 = 20, range at_least(1.0), source "published code";
        /// Snapshots per training step of the global network.
        global_batch: usize = 1024, range at_least(1.0).at_most(MOST_THINGS), source "published code";
        /// Entities that are drawn on each side of a simulated step, and facts that each side may add.
        simulated: usize = 1000, range at_least(1.0).at_most(1e6), source "published code";
        /// Do what the published code does, faults included.
        compat: bool = false;
    }
}

impl Config {
    fn check(&self) -> Result<(), ConfigError> {
        self.check_ranges()?;
        if !self.dimension.is_multiple_of(2) {
            let d = self.dimension;
            return Err(ConfigError::Value(format!(
                "dimension = {d} is odd: graph layers work on pairs of numbers, expected an even dimension"
            )));
        }
        Ok(())
    }

    fn schedule(&self) -> Schedule {
        Schedule {
            epochs: self.epochs,
            first_validation: self.first_validation.min(self.epochs),
            patience: (self.patience > 0).then_some(self.patience),
            order: Order::Fixed,
            ..Schedule::default()
        }
    }

    fn global_schedule(&self) -> Schedule {
        Schedule { epochs: self.global_epochs, order: Order::Fixed, ..Schedule::default() }
    }

    /// Bytes that training takes: parameters, the heads' gradients among them, and the members of the sequences of a batch.
    fn bytes(&self, shape: Shape, data: &DataSizes) -> f64 {
        let parameters = Network::outline(shape, self).learned.parameters.estimate();
        let members = (self.batch.min(data.facts) * self.history.min(data.steps)) as f64;
        NUMBER * (TRAINED * parameters + 2.0 * 6.0 * members * self.dimension as f64)
    }
}

/// The model.
pub struct ReNet {
    config: Config,
    seed: u64,
    trained: Option<Trained>,
    memory: Memory,
}

/// The result of training.
struct Trained {
    network: Network,
    /// The first step that it did not see.
    until: Step,
}

impl ReNet {
    /// An unfitted model.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self { config, seed: 0, trained: None, memory: Memory::default() })
    }

    fn fitted(&self) -> Result<&Trained, ModelError> {
        self.trained.as_ref().ok_or_else(unfitted)
    }

    fn simulation(&self) -> Simulation {
        Simulation { seed: self.seed, size: self.config.simulated, compat: self.config.compat }
    }
}

/// What counts as known: the published code goes on from the end of training, whatever is known by then.
fn known<'a>(simulation: &Simulation, history: &History<'a>, until: Step) -> Result<History<'a>, ModelError> {
    Ok(if simulation.compat { history.until(until.min(history.ceiling()))? } else { *history })
}

/// Scores questions of both directions.
fn score(
    network: &Network,
    past: &Past<'_>,
    vectors: &GlobalVectors,
    queries: &[Query],
    sink: &mut dyn ScoreSink,
) -> Result<(), ModelError> {
    let frozen = network.learned.parameters.frozen();
    for direction in Direction::BOTH {
        let own = queries.iter().enumerate().filter(|(_, query)| query.direction == direction);
        let (indices, asked): (Vec<usize>, Vec<Asked>) = own
            .map(|(i, &Query { step, known, relation, .. })| (i, Asked { step, known, relation: relation.0 }))
            .unzip();
        if asked.is_empty() {
            continue;
        }
        let mut out = StripSink::new(sink, &indices, network.shape.entities);
        let about = (direction, &asked[..]);
        simulation::score(network, &frozen, past, vectors, about, |rows, scores| out.accept(rows, scores));
        out.finish()?;
    }
    Ok(())
}

impl Forecaster for ReNet {
    fn capabilities(&self) -> Capabilities {
        (ENTRY.capabilities)()
    }

    fn fit(
        &mut self,
        history: &History<'_>,
        validation: &dyn Validation,
        run: &Run,
    ) -> Result<(), ModelError> {
        let (shape, data) = (Shape::of(history), DataSizes::of(history));
        capacity::check_settings(&self.config, &shape.training(), |config| config.bytes(shape, &data))?;
        self.seed = run.seed;
        let network = Network::new(shape, &self.config, run.seed);
        let nothing = Simulated::default();
        let mut global = GlobalTrainer::new(history, &nothing, &self.config, network, run.seed);
        let look = |trainer: &mut GlobalTrainer<'_>| Ok(-trainer.whole_loss());
        let judge = Judge { name: "negative loss", key: "negative_loss", look: &look };
        let training = learn(&mut global, "global", &self.config.global_schedule(), judge, run)?;
        let network = global.network;
        let mut local = LocalTrainer::new(history, &self.config, network, self.simulation());
        train(&mut local, "local", &self.config.schedule(), validation, &run.after(training.seconds))?;
        let network = local.network;
        self.trained = Some(Trained { network, until: history.ceiling() });
        self.memory = Memory::default();
        Ok(())
    }

    fn begin(&mut self, step: Step, history: &History<'_>) -> Result<(), ModelError> {
        let simulation = self.simulation();
        let Trained { network, until } = self.trained.as_ref().ok_or_else(unfitted)?;
        network.shape.check(history)?;
        self.memory.update(network, &known(&simulation, history, *until)?, step, &simulation);
        Ok(())
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        let Trained { network, until } = self.fitted()?;
        let simulation = self.simulation();
        let past = self.memory.past(&known(&simulation, history, *until)?, &simulation);
        score(network, &past, &self.memory.vectors, queries, sink)
    }

    fn simulate(
        &self,
        history: &History<'_>,
        step: Step,
        most: usize,
    ) -> Result<Option<Vec<SimulatedFact>>, ModelError> {
        let Trained { network, until } = self.fitted()?;
        let simulation = Simulation { compat: false, ..self.simulation() };
        let frozen = network.learned.parameters.frozen();
        let known = known(&self.simulation(), history, *until)?;
        let mut graph = self.memory.simulate(network, &frozen, &known, step, &simulation);
        graph.truncate(most);
        Ok(Some(graph))
    }

    fn explain(
        &self,
        history: &History<'_>,
        query: &Query,
        answer: EntityId,
    ) -> Result<Option<Explanation>, ModelError> {
        let Trained { network, until } = self.fitted()?;
        let simulation = self.simulation();
        let known = known(&simulation, history, *until)?;
        let past = self.memory.past(&known, &simulation);
        let frozen = network.learned.parameters.frozen();
        let asked = [Asked { step: query.step, known: query.known, relation: query.relation.0 }];
        let about = (query.direction, &asked[..]);
        let scored = |without: Option<Quad>| {
            let (past, mut own) = (Past { without, ..past }, 0.0);
            simulation::score(network, &frozen, &past, &self.memory.vectors, about, |rows, scores| {
                if rows.start == 0 {
                    own = f64::from(scores[answer.index()]);
                }
            });
            own
        };
        let steps = past.last_steps(query.known, query.direction, query.step, self.config.history);
        let snapshots: Vec<Quad> = steps
            .into_iter()
            .filter_map(|step| known.snapshot(step).ok())
            .flat_map(|snapshot| snapshot.iter().collect::<Vec<_>>())
            .collect();
        Ok(Some(removal::explain(query, answer, snapshots.into_iter(), scored)))
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        let Trained { network, until } = self.fitted()?;
        let state =
            json!({ "config": self.config, "seed": self.seed, "shape": network.shape, "until": until });
        Ok(SavedModel { state, rules: None, tensors: Some(Tensors(network.learned.to_bytes()?)) })
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        #[derive(Deserialize)]
        struct State {
            config: Config,
            seed: u64,
            shape: Shape,
            until: Step,
        }
        let state: State = saved_state(saved, "RE-Net state")?;
        let tensors = saved_tensors(saved)?;
        *self = Self::new(state.config).map_err(|error| ModelError::Saved(error.to_string()))?;
        let mut network = Network::outline(state.shape.check_saved()?, &self.config);
        network.learned.load_bytes(tensors)?;
        self.seed = state.seed;
        self.trained = Some(Trained { network, until: state.until });
        Ok(())
    }
}

/// Registry entry.
pub const ENTRY: Entry = Entry {
    name: "re-net",
    aliases: &["renet"],
    about: "Reads an entity's past neighbourhoods; simulates graphs.",
    paper: "Recurrent event network: autoregressive structure inference over temporal knowledge graphs",
    source: "Jin et al., EMNLP 2020",
    capabilities: || Capabilities {
        explains: true,
        random: true,
        simulates: true,
        ..Capabilities::new(Task::Forecasting, &[Setting::SingleStep, Setting::MultiStep])
    },
    settings: Config::SETTINGS,
    base: None,
    quick: &[
        "dimension=32",
        "epochs=3",
        "batch=64",
        "learning_rate=0.003",
        "first_validation=1",
        "global_epochs=3",
        "simulated=20",
    ],
    defaults: config::defaults::<Config>,
    build: Build::Forecaster(|table| Ok(Box::new(ReNet::new(config::parse(table)?)?))),
};
