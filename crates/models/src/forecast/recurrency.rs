//! Recurrency baseline: what was true before will be true again.
//!
//! **Idea.** Score an answer by how often and how recently the same fact held (strict, ψ), and by how popular the
//! answer is for the relation at all (relaxed, ξ). No training beyond two numbers per relation and direction.
//!
//! **Paper.** Gastinger, Meilicke, Errica, Sztyler, Schuelke, Stuckenschmidt: History repeats itself: a baseline for
//! temporal knowledge graph forecasting. IJCAI 2024.
//!
//! **Score.** For the query `(s, r, ?, t)` and the known facts `A`:
//! `ψ(o) = Σ_{(s,r,o,k) ∈ A} 2^{λ(k−t)} / Z`, `ξ(o) = |{(·,r,o,·) ∈ A}| / |{(·,r,·,·) ∈ A}|`, combined
//! `α·ψ + (1−α)·ξ`. Time is counted in raster units of the dataset. λ = 0 counts, λ ≥ 1 orders by the latest time.
//!
//! **Training.** A grid search on the validation period, per relation and direction: first λ with ψ alone, then α.
//! On equal scores the earlier grid value wins. Relations that the validation period does not ask about get
//! λ = 1.0001 and α = 0.99999; a chosen α = 1 becomes 0.99999, so that ξ orders what ψ does not reach.
//!
//! **Differs from the paper.** `Z = Σ 2^{λ(k−t)}` runs over every time unit from the relation's first step to the one
//! before its last, as in the published code (`normaliser = "formula"` includes the last, as printed), and stands
//! still while no new facts arrive (multi-step), so ψ fades against ξ with the horizon. ψ alone is ranked on its own scale, so that facts too old for a
//! float still rank above facts that never were.
//!
//! **Cost.** A query costs one pass over the past answers to the same question; popularity is kept as counts of
//! counts, so nothing is proportional to the number of candidates.

use std::sync::OnceLock;

use quadcast_core::{
    Background, Capabilities, Constant, DirectedRelation, EntityId, Event, Evidence, Explanation, Forecaster,
    History, ModelError, Query, Run, SavedModel, ScoreRow, ScoreSink, Setting, Step, Validation,
    ValidationReport,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

mod decay;
mod popularity;

use crate::config::{self, ConfigError};
use crate::registry::{Entry, Family, OptionInfo};
use decay::Decay;
use popularity::{Popularity, Prior};

/// Decay rates that are tried, in this order.
const LAMBDAS: [f64; 14] = [0.0, 1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.5, 0.9, 1.0001];
/// Shares of ψ that are tried, in this order.
const ALPHAS: [f64; 13] = [0.0, 1e-5, 1e-4, 1e-3, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999, 1.0];
/// For relations that the validation period does not ask about.
const UNTUNED: Parameters = Parameters { lambda: 1.0001, alpha: ALMOST_ONE };
/// Stands for a chosen α = 1.
const ALMOST_ONE: f64 = 0.99999;
/// Keeps ψ finite for relations that have only one step behind them.
const SMALLEST_NORMALISER: f64 = 1e-15;

/// Which score is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Variant {
    /// ψ alone.
    Strict,
    /// ξ alone.
    Relaxed,
    /// α·ψ + (1−α)·ξ.
    #[default]
    Combined,
}

/// A number, or the wish to search for it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Tuned {
    /// Used as given, for all relations.
    Fixed(f64),
    /// Chosen on the validation period.
    Search(SearchWord),
}

/// The word `search`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchWord {
    /// Chosen on the validation period.
    Search,
}

/// What the search chooses parameters for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Each relation in each direction.
    #[default]
    Relation,
    /// The whole dataset.
    Dataset,
}

/// What ψ is divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Normaliser {
    /// Every time unit from the relation's first step to the one before its last, as the published code has it.
    #[default]
    Code,
    /// Every time unit from the relation's first step to its last, as the paper has it.
    Formula,
}

/// Configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Which score is used.
    pub variant: Variant,
    /// Decay rate per raster unit, or `"search"`. Paper: searched.
    pub lambda: Tuned,
    /// Share of ψ, or `"search"`. Paper: searched.
    pub alpha: Tuned,
    /// What the search chooses parameters for. Paper: per relation.
    pub scope: Scope,
    /// What ψ is divided by.
    pub normaliser: Normaliser,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            variant: Variant::default(),
            lambda: Tuned::Search(SearchWord::Search),
            alpha: Tuned::Search(SearchWord::Search),
            scope: Scope::default(),
            normaliser: Normaliser::default(),
        }
    }
}

impl Config {
    fn check(&self) -> Result<(), ConfigError> {
        let range = |key: &str, value: Tuned, allowed: std::ops::RangeInclusive<f64>| match value {
            Tuned::Fixed(number) if !allowed.contains(&number) => Err(ConfigError::Value(format!(
                "{key} = {number} is out of range: expected \"search\" or a number from {} to {}",
                allowed.start(),
                allowed.end()
            ))),
            _ => Ok(()),
        };
        range("lambda", self.lambda, 0.0..=1000.0)?;
        range("alpha", self.alpha, 0.0..=1.0)
    }
}

/// The two numbers of a relation in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Parameters {
    lambda: f64,
    alpha: f64,
}

/// The model. Its learned state are the parameters; everything else follows from the history.
#[derive(Clone)]
pub struct Recurrency {
    config: Config,
    /// By directed relation.
    parameters: Vec<Parameters>,
    decay: Decay,
    /// By directed relation: how often each answer was given before `counted`.
    popularity: Vec<Popularity>,
    counted: Step,
    /// By directed relation: `Z` at the step of the first query since the history last grew.
    normalisers: Vec<OnceLock<f64>>,
    ceiling: Step,
}

impl Recurrency {
    /// An unfitted model.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            config,
            parameters: Vec::new(),
            decay: Decay::default(),
            popularity: Vec::new(),
            counted: Step(0),
            normalisers: Vec::new(),
            ceiling: Step(0),
        })
    }

    fn set_parameters(&mut self, parameters: Vec<Parameters>) {
        self.decay = Decay::new(parameters.iter().map(|p| p.lambda));
        self.parameters = parameters;
    }

    /// A copy of the same kind that uses one pair of parameters or another for judging.
    fn candidate(&self, variant: Variant, parameters: Vec<Parameters>) -> Self {
        let mut candidate = self.clone();
        candidate.config.variant = variant;
        candidate.set_parameters(parameters);
        candidate
    }

    /// Judges one candidate per grid value and chooses the best value per directed relation.
    fn search(
        &self,
        grid: &[f64],
        candidate: impl Fn(f64) -> Self + Sync,
        validation: &dyn Validation,
        relations: usize,
    ) -> Result<Vec<Option<f64>>, ModelError> {
        let reports: Vec<ValidationReport> =
            grid.par_iter().map(|&value| validation.play(&mut candidate(value))).collect::<Result<_, _>>()?;
        let choose = |score: &dyn Fn(&ValidationReport) -> quadcast_core::SelectionScore| {
            // The first of equal scores stays; a grid where nothing scores above zero keeps its first value.
            let (mut best, mut chosen) = (0.0, grid[0]);
            for (report, &value) in reports.iter().zip(grid) {
                if score(report).mrr > best {
                    (best, chosen) = (score(report).mrr, value);
                }
            }
            (score(&reports[0]).queries > 0).then_some(chosen)
        };
        Ok(match self.config.scope {
            Scope::Dataset => vec![choose(&|report| report.all); 2 * relations],
            Scope::Relation => (0..2 * relations as u32)
                .map(|r| choose(&|report| report.relation(DirectedRelation(r))))
                .collect(),
        })
    }

    fn uses_popularity(&self) -> bool {
        self.config.variant != Variant::Strict
    }

    /// Brings the popularity counts up to the ceiling of a history.
    fn count(&mut self, history: &History<'_>) {
        let relations = history.relations();
        if history.ceiling() < self.counted || self.popularity.len() != 2 * relations {
            self.popularity = vec![Popularity::default(); 2 * relations];
            self.counted = Step(0);
        }
        for snapshot in history.snapshots_from(self.counted) {
            for fact in snapshot.iter() {
                for direction in quadcast_core::Direction::BOTH {
                    let (query, answer) = Query::hide(fact, direction);
                    self.popularity[query.directed(relations).index()].add(answer);
                }
            }
        }
        self.counted = history.ceiling();
    }

    /// `Z`, taken at the first query about the relation since the history last grew.
    fn normaliser(&self, history: &History<'_>, query: &Query, directed: DirectedRelation) -> f64 {
        *self.normalisers[directed.index()].get_or_init(|| {
            let steps = history.relation_steps(query.relation);
            let (Some(&first), Some(&last)) = (steps.first(), steps.last()) else {
                return SMALLEST_NORMALISER;
            };
            let ordinal = |step| history.axis().ordinal(step);
            let end = match self.config.normaliser {
                Normaliser::Code => ordinal(last),
                Normaliser::Formula => ordinal(last) + 1,
            };
            let now = ordinal(query.step);
            let lambda = self.parameters[directed.index()].lambda;
            decay::sum(lambda, now - ordinal(first), now - end).max(SMALLEST_NORMALISER)
        })
    }

    /// Unnormalised ψ of every past answer, seen from the time `now`.
    fn strict(&self, history: &History<'_>, events: &[Event], lambda: f64, now: i64, sums: &mut Sums) {
        sums.clear();
        for event in events {
            sums.add(event.answer, self.decay.weight(lambda, now - history.axis().ordinal(event.step)));
        }
    }

    fn prior(&self, directed: DirectedRelation, alpha: f64, entities: usize) -> Prior<'_> {
        Prior { popularity: &self.popularity[directed.index()], weight: 1.0 - alpha, entities }
    }

    fn score_one(
        &self,
        history: &History<'_>,
        query: &Query,
        sums: &mut Sums,
        accept: &mut dyn FnMut(ScoreRow<'_>) -> Result<(), quadcast_core::ScoreError>,
    ) -> Result<(), ModelError> {
        let entities = history.entities();
        let directed = query.directed(history.relations());
        let Parameters { lambda, alpha } = self.parameters[directed.index()];
        let events = history.answers(query.known, directed);
        match self.config.variant {
            Variant::Relaxed => {
                let prior = self.prior(directed, 0.0, entities);
                accept(ScoreRow::Sparse { ids: &[], scores: &[], background: &prior })?;
            }
            Variant::Strict => {
                // The newest fact as the origin: a common factor does not change the order, and keeps it from
                // vanishing below the smallest float.
                let newest = events.last().map_or(0, |event| history.axis().ordinal(event.step));
                self.strict(history, events, lambda, newest, sums);
                let background = Constant::unreached(entities);
                accept(ScoreRow::Sparse { ids: &sums.ids, scores: &sums.values, background: &background })?;
            }
            Variant::Combined => {
                self.strict(history, events, lambda, history.axis().ordinal(query.step), sums);
                let prior = self.prior(directed, alpha, entities);
                let factor = alpha / self.normaliser(history, query, directed);
                for (&id, value) in sums.ids.iter().zip(&mut sums.values) {
                    *value = factor * *value + prior.score(id);
                }
                accept(ScoreRow::Sparse { ids: &sums.ids, scores: &sums.values, background: &prior })?;
            }
        }
        Ok(())
    }
}

impl Forecaster for Recurrency {
    fn capabilities(&self) -> Capabilities {
        ENTRY.capabilities
    }

    fn fit(
        &mut self,
        history: &History<'_>,
        validation: &dyn Validation,
        run: &Run,
    ) -> Result<(), ModelError> {
        let relations = history.relations();
        let searches_lambda =
            self.config.variant != Variant::Relaxed && !matches!(self.config.lambda, Tuned::Fixed(_));
        let searches_alpha =
            self.config.variant == Variant::Combined && !matches!(self.config.alpha, Tuned::Fixed(_));
        let plays =
            if searches_lambda { LAMBDAS.len() } else { 0 } + if searches_alpha { ALPHAS.len() } else { 0 };
        run.progress.begin("search", plays as u64 * validation.steps());

        let all = |lambda, alpha| vec![Parameters { lambda, alpha }; 2 * relations];
        let lambdas = match self.config.lambda {
            Tuned::Fixed(lambda) => vec![Some(lambda); 2 * relations],
            Tuned::Search(_) if !searches_lambda => vec![None; 2 * relations],
            Tuned::Search(_) => {
                let candidate = |lambda| self.candidate(Variant::Strict, all(lambda, 1.0));
                self.search(&LAMBDAS, candidate, validation, relations)?
            }
        };
        let lambdas: Vec<f64> = lambdas.into_iter().map(|found| found.unwrap_or(UNTUNED.lambda)).collect();
        let alphas = match self.config.alpha {
            Tuned::Fixed(alpha) => vec![Some(alpha); 2 * relations],
            Tuned::Search(_) if !searches_alpha => vec![None; 2 * relations],
            Tuned::Search(_) => {
                self.count(history);
                let with = |alpha| lambdas.iter().map(|&lambda| Parameters { lambda, alpha }).collect();
                let candidate = |alpha| self.candidate(Variant::Combined, with(alpha));
                let found = self.search(&ALPHAS, candidate, validation, relations)?;
                found.into_iter().map(|alpha| alpha.map(|alpha| alpha.min(ALMOST_ONE))).collect()
            }
        };
        run.progress.end();
        let alphas = alphas.into_iter().map(|found| found.unwrap_or(UNTUNED.alpha));
        self.set_parameters(
            lambdas.iter().zip(alphas).map(|(&lambda, alpha)| Parameters { lambda, alpha }).collect(),
        );
        Ok(())
    }

    fn begin(&mut self, _step: Step, history: &History<'_>) -> Result<(), ModelError> {
        let directed = 2 * history.relations();
        if self.parameters.len() != directed {
            return Err(ModelError::Unsupported(format!(
                "the model was fitted to {} relations, the data has {}",
                self.parameters.len() / 2,
                history.relations()
            )));
        }
        if self.uses_popularity() {
            self.count(history);
        }
        // Z stands still while the history does: that is what multi-step means for the published code.
        if history.ceiling() != self.ceiling || self.normalisers.len() != directed {
            self.normalisers = vec![OnceLock::new(); directed];
            self.ceiling = history.ceiling();
        }
        Ok(())
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        let mut sums = Sums::new(history.entities());
        for (index, query) in queries.iter().enumerate() {
            self.score_one(history, query, &mut sums, &mut |row| sink.accept(index, row))?;
        }
        Ok(())
    }

    fn explain(
        &self,
        history: &History<'_>,
        query: &Query,
        answer: EntityId,
    ) -> Result<Option<Explanation>, ModelError> {
        let directed = query.directed(history.relations());
        let Parameters { lambda, alpha } = self.parameters[directed.index()];
        let alpha = match self.config.variant {
            Variant::Strict => 1.0,
            Variant::Relaxed => 0.0,
            Variant::Combined => alpha,
        };
        let (axis, z) = (history.axis(), self.normaliser(history, query, directed));
        let weight = |step| self.decay.weight(lambda, axis.ordinal(query.step) - axis.ordinal(step)) / z;
        let events = history.answers(query.known, directed).iter().filter(|event| event.answer == answer);
        let mut evidence: Vec<Evidence> = events
            .map(|event| Evidence {
                fact: query.fact(answer, event.step),
                weight: alpha * weight(event.step),
            })
            .collect();
        let psi: f64 = evidence.iter().map(|e| weight(e.fact.step)).sum();
        evidence.reverse();
        let (given, total) =
            self.popularity.get(directed.index()).map_or((0, 0), |p| (p.count(answer), p.total()));
        let xi = if total == 0 { 0.0 } else { f64::from(given) / f64::from(total) };
        let times: Vec<String> = evidence.iter().map(|e| axis.label(e.fact.step)).collect();
        let details = json!({
            "psi": psi, "xi": xi, "alpha": alpha, "lambda": lambda, "times": times,
            "rel_object_count": given, "rel_total": total,
        });
        let serde_json::Value::Object(details) = details else { unreachable!("an object was written") };
        let score = alpha * psi + (1.0 - alpha) * xi;
        Ok(Some(Explanation { query: *query, answer, score, evidence, details }))
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        let state = json!({ "config": self.config, "parameters": self.parameters });
        Ok(SavedModel { state })
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        #[derive(Deserialize)]
        struct State {
            config: Config,
            parameters: Vec<Parameters>,
        }
        let state: State = serde_json::from_value(saved.state.clone())
            .map_err(|error| ModelError::Saved(format!("{error} in the recurrency state")))?;
        *self = Self::new(state.config).map_err(|error| ModelError::Saved(error.to_string()))?;
        self.set_parameters(state.parameters);
        Ok(())
    }
}

/// Sums by entity, reused from query to query.
struct Sums {
    ids: Vec<EntityId>,
    values: Vec<f64>,
    /// Position in `values` plus one; zero where the entity has no sum.
    slots: Vec<u32>,
}

impl Sums {
    fn new(entities: usize) -> Self {
        Self { ids: Vec::new(), values: Vec::new(), slots: vec![0; entities] }
    }

    fn clear(&mut self) {
        for id in self.ids.drain(..) {
            self.slots[id.index()] = 0;
        }
        self.values.clear();
    }

    fn add(&mut self, id: EntityId, value: f64) {
        let slot = &mut self.slots[id.index()];
        if *slot == 0 {
            self.ids.push(id);
            self.values.push(value);
            *slot = self.ids.len() as u32;
        } else {
            self.values[*slot as usize - 1] += value;
        }
    }
}

/// Registry entry.
pub const ENTRY: Entry = Entry {
    name: "recurrency",
    aliases: &["recurrency-baseline", "recb"],
    family: Family::Forecasting,
    about: "Repeats what was true before, weighted by how long ago, mixed with how popular an answer is",
    paper: "Gastinger et al., History repeats itself: a baseline for temporal knowledge graph forecasting, IJCAI 2024",
    capabilities: Capabilities {
        settings: &[Setting::SingleStep, Setting::MultiStep],
        explains: true,
        inductive: true,
        random: false,
    },
    options: &[
        OptionInfo {
            key: "variant",
            about: "strict (same fact before), relaxed (popular answer) or combined",
        },
        OptionInfo { key: "lambda", about: "decay per time unit, or \"search\" to choose it on validation" },
        OptionInfo {
            key: "alpha",
            about: "share of the strict score, or \"search\" to choose it on validation",
        },
        OptionInfo { key: "scope", about: "search parameters per relation or for the whole dataset" },
        OptionInfo {
            key: "normaliser",
            about: "code (as published results were made) or formula (as printed)",
        },
    ],
    defaults: config::defaults::<Config>,
    build: |table| Ok(Box::new(Recurrency::new(config::parse(table)?)?)),
};
