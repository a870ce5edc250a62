//! CyGNet: copy an earlier answer, or generate one from all entities.
//!
//! **Idea.** Two softmaxes are mixed: one over the answers that the same question had before (copy), one over all
//! entities (generate).
//!
//! **Paper.** Zhu, Chen, Fan, Cheng, Zhang: Learning from history: modeling temporal knowledge graphs with sequential
//! copy-generation networks. AAAI 2021.
//!
//! **Score.** With `m = [e_s ; p_r ; (τ+1)·v]`: `c = softmax(tanh(W_c m + b_c))` over the earlier answers to `(s, r)`,
//! or over all entities if there are none; `g = softmax(W_g m + b_g)`; score `log(α·c + (1−α)·g)`. Each direction of
//! question has its own network.
//!
//! **Training.** Facts in time order, the vocabulary of a fact being all earlier answers; negative log-likelihood plus a
//! small weight on the mean squared embeddings; Adam with `AMSGrad`. The best epoch is chosen on validation, for each
//! direction alone.
//!
//! **Differs from the paper.** As in the published code the time vector gets no gradient from the data, only from the
//! regulariser (`train_time = true` changes that). One step ahead, which the published code does not offer, the
//! vocabulary grows with every observed step. Facts of one time are taken in order of ids, not of the file.
//!
//! **Cost.** A training step scores all entities for every fact; logits are never kept. Memory is `6·N·d` numbers per
//! direction and four times that in training.

use quadcast_core::{
    Capabilities, Constant, Contribution, Direction, EntityId, Evidence, Explanation, Forecaster, History,
    ModelError, Query, Run, SavedModel, ScoreRow, ScoreSink, Setting, Step, Task, Tensors, Validation,
    ValidationReport, Weighing,
};
use quadcast_kernels::segment::Csr;
use serde::Deserialize;
use serde_json::json;

mod network;

use super::state::{Shape, StripSink, saved_state, saved_tensors, unfitted};
use crate::capacity::{self, DataSizes, MOST_DIMENSION, MOST_THINGS, NUMBER, TRAINED};
use crate::config::{self, ConfigError};
use crate::registry::{Build, Entry};
use crate::settings::Settings;
use crate::training::{Learning, Order, Schedule, Trainable, train};
use network::{Frozen, Network, NetworkQuery};

settings! {
    /// Configuration.
    pub struct Config {
        /// Size of embeddings.
        dimension: usize = 200, range at_least(1.0).at_most(MOST_DIMENSION), source "paper";
        /// Share of the copy mode.
        alpha: f64 = 0.8, range above(0.0).below(1.0), source "paper, on ICEWS; 0.5 on YAGO and WIKI";
        /// Learning rate of Adam.
        learning_rate: f64 = 1e-3, range above(0.0), source "paper";
        /// Facts per training step at most; a step never spans two times.
        batch: usize = 1024, range at_least(1.0).at_most(MOST_THINGS), source "published code";
        /// Weight of the mean squared embeddings in the loss.
        regulariser: f64 = 0.01, range at_least(0.0), source "published code";
        /// Whether the data loss trains the time vector.
        train_time: bool = false, source "published code, by accident";
        /// Epochs at most.
        epochs: u32 = 30, range at_least(1.0), source "paper";
        /// Epochs before the first validation counts.
        first_validation: u32 = 6, range at_least(1.0), source "published comparison";
        /// Validations without improvement before training stops.
        patience: u32 = 4, range at_least(1.0), source "published comparison";
    }
}

impl Config {
    /// Bytes that training takes: the network of the second direction in training next to that of the first, and the questions
    /// of a step.
    fn bytes(&self, shape: Shape, data: &DataSizes) -> f64 {
        let parameters = Network::outline(shape, self, Direction::Object).learned.parameters.estimate();
        let questions = self.batch.min(data.largest) as f64 * 3.0 * self.dimension as f64;
        NUMBER * ((TRAINED + 1.0) * parameters + questions)
    }

    fn schedule(&self) -> Schedule {
        Schedule {
            epochs: self.epochs,
            first_validation: self.first_validation.min(self.epochs),
            patience: Some(self.patience),
            order: Order::Fixed,
            ..Schedule::default()
        }
    }
}

/// The model: a network per direction, object first.
pub struct CyGNet {
    config: Config,
    networks: Vec<Network>,
    /// The parameters of the networks as plain numbers, for scoring.
    frozen: Vec<Frozen>,
}

impl CyGNet {
    /// An unfitted model.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check_ranges()?;
        Ok(Self { config, networks: Vec::new(), frozen: Vec::new() })
    }

    fn set_networks(&mut self, networks: Vec<Network>) {
        self.frozen = networks.iter().map(Network::frozen).collect();
        self.networks = networks;
    }
}

/// The earlier answers to each question, in order of ids, as far as the history reaches.
fn vocabulary(history: &History<'_>, queries: &[Query]) -> Csr {
    let mut lists = Csr { starts: vec![0], items: Vec::new() };
    for query in queries {
        let events = history.answers(query.known, query.directed(history.relations()));
        let mut answers: Vec<u32> = events.iter().map(|event| event.answer.0).collect();
        answers.sort_unstable();
        answers.dedup();
        lists.items.extend(answers);
        lists.starts.push(lists.items.len() as u32);
    }
    lists
}

/// A question as input of a network. Time counts from 1.
fn network_query(history: &History<'_>, query: &Query) -> NetworkQuery {
    let axis = history.axis();
    let time = (axis.ordinal(query.step) - axis.ordinal(Step(0)) + 1) as f32;
    NetworkQuery { known: query.known.0, relation: query.relation.0, time }
}

/// Scores the questions of one direction; `indices` are their positions in the sink.
fn score(
    frozen: &Frozen,
    history: &History<'_>,
    queries: &[Query],
    indices: &[usize],
    sink: &mut dyn ScoreSink,
) -> Result<(), ModelError> {
    let rows: Vec<NetworkQuery> = queries.iter().map(|query| network_query(history, query)).collect();
    let mut out = StripSink::new(sink, indices, history.entities());
    frozen.score(&rows, &vocabulary(history, queries), |rows, scores| out.accept(rows, scores));
    out.finish()
}

/// The questions of one direction and their positions.
fn of_direction(queries: &[Query], direction: Direction) -> (Vec<Query>, Vec<usize>) {
    let own = queries.iter().enumerate().filter(|(_, query)| query.direction == direction);
    own.map(|(index, query)| (*query, index)).unzip()
}

/// One network in training. It does not score questions of the other direction.
struct Trainer<'a> {
    history: History<'a>,
    config: &'a Config,
    direction: Direction,
    network: Network,
    frozen: Option<Frozen>,
    /// Questions and answers of each batch, in time order.
    batches: Vec<Vec<(Query, EntityId)>>,
}

impl<'a> Trainer<'a> {
    fn new(history: &History<'a>, config: &'a Config, direction: Direction, network: Network) -> Self {
        let mut batches = Vec::new();
        for snapshot in history.snapshots_from(Step(0)).filter(|snapshot| !snapshot.is_empty()) {
            let questions: Vec<(Query, EntityId)> =
                snapshot.iter().map(|fact| Query::hide(fact, direction)).collect();
            batches.extend(questions.chunks(config.batch).map(<[_]>::to_vec));
        }
        Self { history: *history, config, direction, network, frozen: None, batches }
    }
}

impl Trainable for Trainer<'_> {
    fn begin(&mut self, _: Step, _: &History<'_>) -> Result<(), ModelError> {
        if self.frozen.is_none() {
            self.frozen = Some(self.network.frozen());
        }
        Ok(())
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        let background = Constant::unreached(history.entities());
        for (index, _) in queries.iter().enumerate().filter(|(_, query)| query.direction != self.direction) {
            sink.accept(index, ScoreRow::Sparse { ids: &[], scores: &[], background: &background })?;
        }
        let (queries, indices) = of_direction(queries, self.direction);
        match &self.frozen {
            Some(frozen) => score(frozen, history, &queries, &indices, sink),
            None => Err(ModelError::Unsupported("scores were asked for before a step began".to_owned())),
        }
    }

    fn selection(&self, report: &ValidationReport) -> f64 {
        let relations = self.history.relations();
        let own = match self.direction {
            Direction::Object => 0..relations,
            Direction::Subject => relations..2 * relations,
        };
        let own = &report.by_relation[own];
        let total: f64 = own.iter().map(|score| score.queries as f64 * score.mrr).sum();
        total / own.iter().map(|score| score.queries).sum::<u64>().max(1) as f64
    }
}

impl Learning for Trainer<'_> {
    fn parameters(&self) -> usize {
        self.network.learned.parameters.count()
    }

    fn batches(&self) -> usize {
        self.batches.len()
    }

    fn step(&mut self, _: u32, batch: usize) -> Result<f64, ModelError> {
        let (queries, answers): (Vec<Query>, Vec<u32>) =
            self.batches[batch].iter().map(|(query, answer)| (*query, answer.0)).unzip();
        let Some(first) = queries.first() else { return Ok(0.0) };
        let earlier = self.history.until(first.step)?;
        let rows: Vec<NetworkQuery> =
            queries.iter().map(|query| network_query(&self.history, query)).collect();
        self.frozen = None;
        Ok(self.network.step(self.config, &rows, vocabulary(&earlier, &queries), answers))
    }

    fn state(&self) -> Result<Vec<u8>, ModelError> {
        self.network.learned.state()
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), ModelError> {
        self.frozen = None;
        self.network.learned.restore(state)
    }
}

impl Forecaster for CyGNet {
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
        let mut networks = Vec::new();
        // The first direction may take half of the time budget; the second gets the rest.
        let mut own = run.after(run.time_budget.unwrap_or_default().as_secs_f64() / 2.0);
        for direction in Direction::BOTH {
            let network = Network::new(shape, &self.config, direction, run.seed);
            let mut trainer = Trainer::new(history, &self.config, direction, network);
            let training = train(&mut trainer, direction.word(), &self.config.schedule(), validation, &own)?;
            own = run.after(training.seconds);
            networks.push(trainer.network);
        }
        self.set_networks(networks);
        Ok(())
    }

    fn begin(&mut self, _: Step, history: &History<'_>) -> Result<(), ModelError> {
        self.networks.first().ok_or_else(unfitted)?.shape.check(history)
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        for (frozen, direction) in self.frozen.iter().zip(Direction::BOTH) {
            let (queries, indices) = of_direction(queries, direction);
            score(frozen, history, &queries, &indices, sink)?;
        }
        Ok(())
    }

    fn explain(
        &self,
        history: &History<'_>,
        query: &Query,
        answer: EntityId,
    ) -> Result<Option<Explanation>, ModelError> {
        let side = usize::from(query.direction == Direction::Subject);
        let Some(frozen) = self.frozen.get(side) else { return Ok(None) };
        let lists = vocabulary(history, &[*query]);
        let share = frozen.shares(&network_query(history, query), &lists, answer.0);
        let events = history.answers(query.known, query.directed(history.relations()));
        let mut times: Vec<Step> =
            events.iter().filter(|event| event.answer == answer).map(|event| event.step).collect();
        times.dedup();
        times.reverse();
        // The copy mode knows that an answer occurred before, not how often: all times share its weight equally.
        let copied = if times.is_empty() { 0.0 } else { share.copy / times.len() as f64 };
        let evidence: Vec<Evidence> = times
            .iter()
            .map(|&step| Evidence { fact: query.fact(answer, step), weight: copied, group: None })
            .collect();
        let mut also = vec![Contribution {
            text: "learned from all facts (generation)".to_owned(),
            weight: share.generate,
            group: None,
        }];
        if times.is_empty() && share.copy > 0.0 {
            let text = "copy mode without any earlier answer".to_owned();
            also.push(Contribution { text, weight: share.copy, group: None });
        }
        let labels: Vec<String> = times.iter().map(|&step| history.axis().label(step)).collect();
        let details = [
            ("copy_prob", json!(share.copy)),
            ("generate_prob", json!(share.generate)),
            ("history", json!(labels)),
        ];
        let details = details.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let score = share.score;
        Ok(Some(Explanation {
            query: *query,
            answer,
            score,
            weighing: Weighing::PartsOf(share.copy + share.generate),
            evidence,
            also,
            rules: Vec::new(),
            details,
        }))
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        let shape = self.networks.first().map(|network| network.shape);
        let tensors = network::to_bytes(&self.networks)?;
        Ok(SavedModel {
            state: json!({ "config": self.config, "shape": shape }),
            rules: None,
            tensors: Some(Tensors(tensors)),
        })
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        #[derive(Deserialize)]
        struct State {
            config: Config,
            shape: Shape,
        }
        let state: State = saved_state(saved, "CyGNet state")?;
        let tensors = saved_tensors(saved)?;
        *self = Self::new(state.config).map_err(|error| ModelError::Saved(error.to_string()))?;
        let networks = network::from_bytes(state.shape.check_saved()?, &self.config, tensors)?;
        self.set_networks(networks);
        Ok(())
    }
}

/// Registry entry.
pub const ENTRY: Entry = Entry {
    name: "cygnet",
    aliases: &[],
    about: "Copies an earlier answer or generates one; small network.",
    paper: "Learning from history: modeling temporal knowledge graphs with sequential copy-generation networks",
    source: "Zhu et al., AAAI 2021",
    capabilities: || Capabilities {
        explains: true,
        random: true,
        ..Capabilities::new(Task::Forecasting, &[Setting::SingleStep, Setting::MultiStep])
    },
    settings: Config::SETTINGS,
    base: None,
    quick: &["dimension=16", "epochs=3", "first_validation=1"],
    defaults: config::defaults::<Config>,
    build: Build::Forecaster(|table| Ok(Box::new(CyGNet::new(config::parse(table)?)?))),
};
