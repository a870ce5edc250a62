//! Herald: counted evidence, weighed.
//!
//! **Idea.** The past is read as counted evidence: the same fact before, other facts of the same pair, popular answers, rules,
//! paths over third parties, and the roles that entities usually have. How much each kind of evidence is worth, for each relation
//! and in which combination, is learned on a CPU in minutes, and every score can be taken apart again.
//!
//! **Paper.** None; a model of this project. Rules by age and number are related to `CountTRuCoLa` (Gastinger et al. 2025).
//!
//! **Score.** `f(o) = (v + u_q)·φ + MLP(φ)` for a few hundred candidates with features φ; everyone else ranks below them by the
//! number of answers to the relation, then by the number of facts. The additive form has no network.
//!
//! **Training.** Facts are played in time order: features from the facts before a step, a softmax over each answer and all
//! candidates that are no answers, Adam; then the facts of the step are counted. Rules are counted on training facts only. In
//! multi-step the counts are brought up to date only every so many steps, as in the test. Which rules with two facts are counted
//! is sampled from all training facts, as TLogic does; what they are worth is not. The epoch is chosen on validation.
//!
//! **Differs from the paper.** –
//!
//! **Cost.** Counting a fact takes constant time. A query costs the partners of its known entity, a few hundred short lists and
//! about 500 rows of 104 features. Memory is proportional to the distinct triples.

use std::sync::{Mutex, PoisonError};

use quadcast_core::{
    Capabilities, EntityId, Explanation, Forecaster, History, Leak, ListedRule, ModelError, Query, Rehearsal,
    Run, SavedModel, ScoreRow, ScoreSink, Setting, Step, Task, Validation,
};

mod background;
mod chains;
mod counts;
mod curves;
mod evidence;
mod explain;
mod features;
mod leaked;
mod moment;
mod names;
mod network;
mod online;
mod rules;
mod saved;
mod settings;
#[cfg(test)]
mod tests;
mod training;

use super::state::unfitted;
use crate::config::{self, ConfigError};
use crate::registry::{Build, Entry};
use crate::settings::Settings;
use crate::training::train;
use background::Rest;
use counts::{Counts, time_of};
use evidence::{Ask, Evidence};
use features::{FEATURES, Parts, STARTS, Shared, write_rows};
use leaked::LeakedQueries;
use moment::Moment;
use names::Labels;
use network::{Layers, Weights};
use online::Online;
use rules::Tables;
pub use settings::{Config, Form};

/// The model. What it learned are tables and weights; counts follow from the history.
pub struct Herald {
    config: Config,
    learned: Option<Learned>,
    counts: Counts,
    moment: Option<Moment>,
    /// Weights that go on learning, in the online setting.
    online: Option<Online>,
    /// The other queries of the step: only while the query-set leak is demonstrated.
    leaked: Option<LeakedQueries>,
    /// Buffers that no thread uses.
    idle: Mutex<Vec<Worker>>,
}

/// What is learned from training facts.
struct Learned {
    tables: Tables,
    labels: Option<Labels>,
    weights: Weights,
    /// Steps between two updates of the counts in training.
    horizon: usize,
    /// The first step that training did not see.
    until: Step,
    seed: u64,
}

/// The buffers of one thread.
struct Worker {
    evidence: Evidence,
    shared: Shared,
    rows: Vec<f32>,
    layers: Layers,
    is_gold: Vec<bool>,
    ids: Vec<EntityId>,
    scores: Vec<f64>,
}

impl Herald {
    /// An unfitted model.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check_ranges()?;
        let (learned, moment, idle) = (None, None, Mutex::new(Vec::new()));
        Ok(Self { config, learned, counts: Counts::new(), moment, online: None, leaked: None, idle })
    }

    fn learned(&self) -> Result<&Learned, ModelError> {
        self.learned.as_ref().ok_or_else(unfitted)
    }

    /// The weights in use: those that went on learning, or those that training left.
    fn weights(&self) -> Result<&Weights, ModelError> {
        let fitted = &self.learned()?.weights;
        Ok(self.online.as_ref().filter(|online| online.in_use).map_or(fitted, |online| &online.weights))
    }

    fn weights_mut(&mut self) -> Result<&mut Weights, ModelError> {
        let fitted = &mut self.learned.as_mut().ok_or_else(unfitted)?.weights;
        Ok(self.online.as_mut().filter(|online| online.in_use).map_or(fitted, |online| &mut online.weights))
    }

    fn parts(&self) -> Parts {
        Parts { ranks: self.config.ranks, roles: self.config.roles }
    }

    fn check_relations(&self, history: &History<'_>) -> Result<(), ModelError> {
        let fitted = self.learned()?.tables.relations;
        if fitted == 2 * history.relations() {
            return Ok(());
        }
        Err(ModelError::Unsupported(format!(
            "the model was fitted to {} relations, the data has {}",
            fitted / 2,
            history.relations()
        )))
    }

    /// Counts the facts of a history and looks at them from a step.
    fn begin_at(&mut self, step: Step, history: &History<'_>) {
        self.counts.follow(history);
        self.leaked = None;
        self.moment = Some(Moment::new(&self.counts, time_of(history, step)));
    }

    fn with_worker<T>(&self, work: impl FnOnce(&mut Worker) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let (entities, relations) = (self.counts.entities.len(), self.counts.relations.len());
        let kept = idle().pop().filter(|worker| worker.evidence.entities() == entities);
        let mut worker = kept.unwrap_or_else(|| Worker {
            evidence: Evidence::new(entities),
            shared: Shared::new(relations),
            rows: Vec::new(),
            layers: Layers::default(),
            is_gold: Vec::new(),
            ids: Vec::new(),
            scores: Vec::new(),
        });
        let result = work(&mut worker);
        idle().push(worker);
        result
    }

    fn ask(&self, known: u32, relation: u32) -> Result<Ask<'_>, ModelError> {
        let moment = self.moment.as_ref().ok_or_else(unfitted)?;
        let (tables, propagation) = (&self.learned()?.tables, self.config.propagation);
        Ok(Ask { counts: &self.counts, tables, moment, known, relation, propagation })
    }

    /// Chooses the candidates of a query and writes their features.
    fn prepare(&self, known: u32, relation: u32, worker: &mut Worker) -> Result<(), ModelError> {
        let ask = self.ask(known, relation)?;
        let labels = self.learned()?.labels.as_ref();
        let Worker { evidence, shared, rows, .. } = worker;
        evidence.gather(&ask);
        shared.prepare(&ask, evidence);
        write_rows(&ask, evidence, shared, labels, self.parts(), rows);
        for &group in &self.config.without {
            let group = usize::from(group);
            for row in rows.chunks_exact_mut(FEATURES) {
                row[STARTS[group]..STARTS[group + 1]].fill(0.0);
            }
        }
        if let Some(leaked) = &self.leaked {
            leaked.write(relation, evidence, rows);
        }
        Ok(())
    }

    /// Scores the candidates of a query.
    fn score_candidates(&self, known: u32, relation: u32, worker: &mut Worker) -> Result<(), ModelError> {
        self.prepare(known, relation, worker)?;
        let Worker { evidence, rows, layers, ids, scores, .. } = worker;
        layers.forward(self.weights()?, relation, rows);
        ids.clear();
        ids.extend(evidence.candidates.iter().map(|&place| EntityId(evidence.found[place as usize].id)));
        scores.clear();
        scores.extend(layers.scores.iter().map(|&score| f64::from(score)));
        Ok(())
    }
}

impl Forecaster for Herald {
    fn capabilities(&self) -> Capabilities {
        (ENTRY.capabilities)()
    }

    fn fit(
        &mut self,
        history: &History<'_>,
        validation: &dyn Validation,
        run: &Run,
    ) -> Result<(), ModelError> {
        let horizon = training::horizon(&self.config, validation);
        let schedule = self.config.schedule();
        let mut trainer = training::Trainer::new(self, history, horizon, run)?;
        trainer.leak = validation.leak();
        train(&mut trainer, "weights", &schedule, validation, run)?;
        // A time budget can end within an epoch.
        trainer.use_whole();
        Ok(())
    }

    fn learn(&mut self, step: Step, history: &History<'_>, _: &dyn Rehearsal) -> Result<(), ModelError> {
        self.check_relations(history)?;
        if self.config.online_weights { online::learn(self, step, history) } else { Ok(()) }
    }

    fn begin(&mut self, step: Step, history: &History<'_>) -> Result<(), ModelError> {
        self.check_relations(history)?;
        if let Some(online) = &mut self.online {
            online.in_use &= online.ready_for == step;
        }
        self.begin_at(step, history);
        Ok(())
    }

    fn shown_queries(&mut self, leak: Leak, queries: &[Query]) {
        let relations = self.counts.relations.len();
        let asked = queries.iter().map(|query| (query.directed(relations / 2).0, query.known.0));
        self.leaked = Some(LeakedQueries::new(leak, relations, asked));
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        self.with_worker(|worker| {
            for (index, query) in queries.iter().enumerate() {
                let relation = query.directed(history.relations()).0;
                self.score_candidates(query.known.0, relation, worker)?;
                let Ask { counts, moment, .. } = self.ask(query.known.0, relation)?;
                let background = Rest { counts, moment, relation };
                let Worker { ids, scores, .. } = worker;
                sink.accept(index, ScoreRow::Sparse { ids, scores, background: &background })?;
            }
            Ok(())
        })
    }

    fn explain(
        &self,
        history: &History<'_>,
        query: &Query,
        answer: EntityId,
    ) -> Result<Option<Explanation>, ModelError> {
        self.with_worker(|worker| explain::explain(self, history, query, answer, worker)).map(Some)
    }

    fn listed_rules(&self) -> Result<Vec<ListedRule>, ModelError> {
        Ok(curves::listed(&self.learned()?.tables))
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        saved::save(&self.config, self.learned()?)
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        let (config, learned) = saved::load(saved)?;
        *self = Self::new(config).map_err(|error| ModelError::Saved(error.to_string()))?;
        self.learned = Some(learned);
        Ok(())
    }
}

/// Registry entry.
pub const ENTRY: Entry = Entry {
    name: "herald",
    aliases: &[],
    about: "Counted evidence of six kinds, weighed; explains answers.",
    paper: "A model of this project, not published elsewhere",
    source: "docs/models/herald.md",
    capabilities: || Capabilities {
        explains: true,
        counts_rules: true,
        inductive: true,
        random: true,
        reads_names: Some("names"),
        ..Capabilities::new(Task::Forecasting, &[Setting::SingleStep, Setting::MultiStep, Setting::Online])
    },
    settings: Config::SETTINGS,
    base: None,
    quick: &["hidden=8", "epochs=2"],
    defaults: config::defaults::<Config>,
    build: Build::Forecaster(|table| Ok(Box::new(Herald::new(config::parse(table)?)?))),
};
