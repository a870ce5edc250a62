//! Recurrency baseline: facts repeat.
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
//! On equal scores the earlier grid value wins. Relations without validation queries get
//! λ = 1.0001 and α = 0.99999; a chosen α = 1 becomes 0.99999, so that ξ orders the answers that ψ does not reach.
//!
//! **Differs from the paper.** `Z = Σ 2^{λ(k−t)}` runs over every time unit from the relation's first step to the one
//! before its last, as in the published code (`normaliser = "formula"` includes the last, as printed), and is
//! constant while no new facts arrive (multi-step), so ψ fades against ξ with the horizon. ψ alone is ranked on its own
//! scale, so that facts too old for a float still rank above facts that never occurred.
//!
//! **Cost.** A query costs one pass over the past answers to the same question; popularity is kept as counts of
//! counts, so nothing is proportional to the number of candidates.

use std::sync::OnceLock;

use quadcast_core::{
    Background, Capabilities, Constant, Contribution, DirectedRelation, EntityId, Event, Evidence,
    Explanation, Forecaster, History, HistoryKey, ModelError, Query, Run, SavedModel, ScoreRow, ScoreSink,
    Setting, Step, Task, Validation, ValidationReport, Weighing,
};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::json;

mod decay;
mod settings;

use super::popularity::{Counted, Prior};
use super::state::saved_state;
use crate::config::{self, ConfigError};
use crate::registry::{Build, Entry};
use crate::settings::Settings;
use decay::{Decay, EntitySums};
use settings::{ALPHAS, LAMBDAS, Parameters};
pub use settings::{Config, Normaliser, Scope, SearchWord, Tuned, Variant};

/// For relations without validation queries.
const UNTUNED: Parameters = Parameters { lambda: 1.0001, alpha: ALMOST_ONE };
/// Replaces a chosen α = 1.
const ALMOST_ONE: f64 = 0.99999;
/// Keeps ψ finite for relations that have only one step behind them.
const SMALLEST_NORMALISER: f64 = 1e-15;

/// The model. Its learned state are the parameters; everything else follows from the history.
#[derive(Clone)]
pub struct Recurrency {
    config: Config,
    /// By directed relation.
    parameters: Vec<Parameters>,
    decay: Decay,
    /// Counts of answers.
    popularity: Counted,
    /// By directed relation: `Z` at the step of the first query since the history last grew.
    normalisers: Vec<OnceLock<f64>>,
    /// The history that they were taken for.
    normalised: Option<HistoryKey>,
}

impl Recurrency {
    /// An unfitted model.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check_ranges()?;
        Ok(Self {
            config,
            parameters: Vec::new(),
            decay: Decay::default(),
            popularity: Counted::default(),
            normalisers: Vec::new(),
            normalised: None,
        })
    }

    fn set_parameters(&mut self, parameters: Vec<Parameters>) {
        self.decay = Decay::new(parameters.iter().map(|p| p.lambda));
        self.parameters = parameters;
    }

    /// A copy with other parameters, for validation.
    fn candidate(&self, variant: Variant, parameters: Vec<Parameters>) -> Self {
        let mut candidate = self.clone();
        candidate.config.variant = variant;
        candidate.set_parameters(parameters);
        candidate
    }

    /// Validates one candidate per grid value and chooses the best value per directed relation.
    fn search(
        &self,
        grid: &[f64],
        candidate: impl Fn(f64) -> Self + Sync,
        validation: &dyn Validation,
        relations: usize,
    ) -> Result<Vec<Option<f64>>, ModelError> {
        let reports: Vec<ValidationReport> =
            grid.par_iter().map(|&value| validation.play(&mut candidate(value))).collect::<Result<_, _>>()?;
        let choose = |score: &dyn Fn(&ValidationReport) -> quadcast_core::LinkScore| {
            // The first of equal scores wins; if no value scores above zero, the first of the grid is taken.
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
    fn strict(&self, history: &History<'_>, events: &[Event], lambda: f64, now: i64, sums: &mut EntitySums) {
        sums.clear();
        let (weights, axis) = (self.decay.of(lambda), history.axis());
        for event in events {
            sums.add(event.answer, weights.at(now - axis.ordinal(event.step)));
        }
    }

    /// The reference time of ψ and its factor. ψ alone uses the newest fact as reference: a common factor does not change
    /// the order, and this one avoids underflow.
    fn scale(
        &self,
        history: &History<'_>,
        query: &Query,
        directed: DirectedRelation,
        events: &[Event],
    ) -> (i64, f64) {
        let axis = history.axis();
        let share = match self.config.variant {
            Variant::Strict => return (events.last().map_or(0, |event| axis.ordinal(event.step)), 1.0),
            Variant::Relaxed => 0.0,
            Variant::Combined => self.parameters[directed.index()].alpha,
        };
        (axis.ordinal(query.step), share / self.normaliser(history, query, directed))
    }

    fn prior(&self, directed: DirectedRelation, alpha: f64, entities: usize) -> Prior<'_> {
        let popularity = self.popularity.of(directed).expect("answers are counted when a step begins");
        Prior { popularity, weight: 1.0 - alpha, entities }
    }

    fn score_one(
        &self,
        history: &History<'_>,
        query: &Query,
        sums: &mut EntitySums,
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
                let (now, _) = self.scale(history, query, directed, events);
                self.strict(history, events, lambda, now, sums);
                let background = Constant::unreached(entities);
                accept(ScoreRow::Sparse { ids: &sums.ids, scores: &sums.values, background: &background })?;
            }
            Variant::Combined => {
                let (now, factor) = self.scale(history, query, directed, events);
                self.strict(history, events, lambda, now, sums);
                let prior = self.prior(directed, alpha, entities);
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
        (ENTRY.capabilities)()
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
                self.popularity.follow(history);
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
        if self.config.variant != Variant::Strict {
            self.popularity.follow(history);
        }
        // Z is constant while the history is: so the published code does multi-step.
        if self.normalised != Some(history.key()) {
            self.normalisers = vec![OnceLock::new(); directed];
            self.normalised = Some(history.key());
        }
        Ok(())
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        let mut sums = EntitySums::new(history.entities());
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
        let (axis, events) = (history.axis(), history.answers(query.known, directed));
        let (now, factor) = self.scale(history, query, directed, events);
        let weights = self.decay.of(lambda);
        let mut evidence: Vec<Evidence> = events
            .iter()
            .filter(|event| event.answer == answer)
            .map(|event| Evidence {
                fact: query.fact(answer, event.step),
                weight: factor * weights.at(now - axis.ordinal(event.step)),
                group: None,
            })
            .collect();
        let strict: f64 = evidence.iter().map(|e| e.weight).sum();
        evidence.reverse();
        let popularity = self.popularity.of(directed);
        let (given, total) = popularity.map_or((0, 0), |p| (p.count(answer), p.total));
        let xi = if total == 0 { 0.0 } else { f64::from(given) / f64::from(total) };
        let popular = match self.config.variant {
            Variant::Strict => 0.0,
            Variant::Relaxed => xi,
            Variant::Combined => (1.0 - alpha) * xi,
        };
        let score = match self.config.variant {
            Variant::Strict if evidence.is_empty() => f64::NEG_INFINITY,
            _ => strict + popular,
        };
        let times: Vec<String> = evidence.iter().map(|e| axis.label(e.fact.step)).collect();
        let details = [
            ("strict_part", json!(strict)),
            ("xi", json!(xi)),
            ("alpha", json!(alpha)),
            ("lambda", json!(lambda)),
            ("times", json!(times)),
            ("rel_object_count", json!(given)),
            ("rel_total", json!(total)),
        ];
        let also = (popular > 0.0).then(|| Contribution {
            text: format!("popularity: {given} of {total} answers to this relation"),
            weight: popular,
            group: None,
        });
        let details = details.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let also = also.into_iter().collect();
        Ok(Some(Explanation {
            query: *query,
            answer,
            score,
            weighing: Weighing::PartsOf(score),
            evidence,
            also,
            rules: Vec::new(),
            details,
        }))
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        let state = json!({ "config": self.config, "parameters": self.parameters });
        Ok(SavedModel::plain(state))
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        #[derive(Deserialize)]
        struct State {
            config: Config,
            parameters: Vec<Parameters>,
        }
        let state: State = saved_state(saved, "recurrency state")?;
        *self = Self::new(state.config).map_err(|error| ModelError::Saved(error.to_string()))?;
        for parameters in &state.parameters {
            parameters.check_saved()?;
        }
        self.set_parameters(state.parameters);
        Ok(())
    }
}

/// Registry entry.
pub const ENTRY: Entry = Entry {
    name: "recurrency",
    aliases: &["recurrency-baseline", "recb"],
    about: "Repeats past facts, weighted by age and popularity.",
    paper: "History repeats itself: a baseline for temporal knowledge graph forecasting",
    source: "Gastinger et al., IJCAI 2024",
    capabilities: || Capabilities {
        explains: true,
        inductive: true,
        ..Capabilities::new(Task::Forecasting, &[Setting::SingleStep, Setting::MultiStep])
    },
    settings: Config::SETTINGS,
    base: None,
    quick: &[],
    defaults: config::defaults::<Config>,
    build: Build::Forecaster(|table| Ok(Box::new(Recurrency::new(config::parse(table)?)?))),
};
