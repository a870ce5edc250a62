//! TLogic: temporal rules from random walks.
//!
//! **Idea.** Chains of past facts that used to end in a fact speak for the next such fact. Rules are learned by walking
//! back in time from facts in random steps, and applied by following their bodies from the known entity.
//!
//! **Paper.** Liu, Ma, Hildebrandt, Joblin, Tresp: TLogic: temporal logical rules for explainable link forecasting on
//! temporal knowledge graphs. AAAI 2022.
//!
//! **Score.** A rule whose body leads to `c` gives it `f = a·conf + (1−a)·exp(λ(T₀ − t))`, where `T₀` is the latest
//! start of a fitting chain. Rules are applied in order of confidence until the best 20 candidates have no ties;
//! the score of a candidate is `1 − Π(1 − f)`.
//!
//! **Training.** Per relation, direction and body length 200 walks; each new rule gets its confidence from 500 sampled
//! bodies. Only training facts are used, validation is not.
//!
//! **Differs from the paper.** Learning draws from a stream per relation and length, so that the number of threads does
//! not matter. Chains are never listed (see `apply`). Queries for which no rule finds anything tie all candidates, as in
//! the published comparison; `fallback = "popularity"` orders them, as in the original code, but counts all known facts.
//! The window is measured back from the end of the known facts. `compat` learns no rules for the relations that the
//! published runs lost in dividing relations among processes.
//!
//! **Cost.** Learning grows with the number of relations, not of facts (beyond sorting them). Applying a rule costs the
//! facts it touches; memory is proportional to the facts in the window.

use std::sync::{Arc, Mutex, PoisonError};

use quadcast_core::{
    Background, Capabilities, Constant, DirectedRelation, EntityId, Explanation, FiredRule, Forecaster,
    History, ModelError, Query, Rule, Run, SavedModel, ScoreRow, ScoreSink, Setting, Step, Task, Validation,
    Weighing,
};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde_json::json;

mod apply;
mod candidates;
mod groundings;
mod learn;
mod settings;
mod window;

use super::popularity::{Counted, Prior};
use super::state::saved_state;
use crate::config::{self, ConfigError};
use crate::registry::{Build, Entry};
use crate::settings::Settings;
use apply::{Applicable, Hit, HitCache, Scratch};
use candidates::{Candidates, noisy_or};
pub use settings::{Config, Fallback, Transition};
use window::Window;

/// The model. Its learned state are the rules; everything else follows from the history.
pub struct TLogic {
    config: Config,
    rules: Vec<Rule>,
    /// Rules to be applied, by head relation, most confident first.
    by_head: FxHashMap<DirectedRelation, Vec<Applicable>>,
    window: Window,
    /// The step of the queries.
    step: Step,
    /// The recency part of a score, by the step at which the chain starts.
    recency: Vec<f64>,
    /// Hits of rules, if the history is unchanged since the last step.
    hit_cache: Option<HitCache>,
    /// Counts of answers. Empty unless they are the fallback.
    popularity: Counted,
    /// Buffers that no thread uses.
    idle: Mutex<Vec<Worker>>,
}

/// The buffers of one thread.
struct Worker {
    scratch: Scratch,
    candidates: Candidates,
    hits: Vec<Hit>,
}

/// Rules with two facts, for a model that weighs rules in its own way.
pub(super) fn two_fact_rules(history: &History<'_>, run: &Run) -> Vec<Rule> {
    learn::learn(history, &Config { lengths: vec![2], ..Config::default() }, run)
}

/// A rule that reached a candidate.
struct Firing {
    rule: Applicable,
    begins: Step,
    score: f32,
}

impl TLogic {
    /// A model without rules.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            config,
            rules: Vec::new(),
            by_head: FxHashMap::default(),
            window: Window::default(),
            step: Step(0),
            recency: Vec::new(),
            hit_cache: None,
            popularity: Counted::default(),
            idle: Mutex::new(Vec::new()),
        })
    }

    fn set_rules(&mut self, rules: Vec<Rule>) {
        self.by_head.clear();
        for (number, rule) in (0..).zip(&rules) {
            if rule.confidence >= self.config.min_confidence
                && rule.body_support >= self.config.min_body_support
            {
                self.by_head.entry(rule.head).or_default().push(Applicable::new(number, rule));
            }
        }
        // A rule file may have another order.
        for rules in self.by_head.values_mut() {
            rules.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        }
        self.rules = rules;
    }

    fn rules_for(&self, head: DirectedRelation) -> &[Applicable] {
        self.by_head.get(&head).map_or(&[], Vec::as_slice)
    }

    /// The score that a rule gives an answer.
    fn rule_score(&self, rule: &Applicable, begins: Step) -> f32 {
        (self.config.confidence_weight * rule.confidence + self.recency[begins.index()]) as f32
    }

    /// Applies rules until the best candidates have no ties; calls `on_hit` for every hit.
    fn apply(
        &self,
        known: EntityId,
        head: DirectedRelation,
        worker: &mut Worker,
        mut on_hit: impl FnMut(&Applicable, Hit, f32),
    ) {
        let Worker { scratch, candidates, hits } = worker;
        candidates.clear();
        let mut trail = self.hit_cache.as_ref().map(|cache| cache.recall(head, known));
        let mut learned = false;
        for (i, rule) in self.rules_for(head).iter().enumerate() {
            let recalled = trail.as_ref().and_then(|trail| trail.get(i).cloned());
            let found: &[Hit] = if let Some(found) = &recalled {
                found
            } else {
                rule.hits(&self.window, known, scratch, hits);
                if let Some(trail) = &mut trail {
                    trail.push(Arc::from(hits.as_slice()));
                    learned = true;
                }
                hits
            };
            for &hit in found {
                let score = self.rule_score(rule, hit.begins);
                candidates.add(hit.answer, score);
                on_hit(rule, hit, score);
            }
            if !found.is_empty() && candidates.has_no_ties(self.config.top_k) {
                break;
            }
        }
        candidates.finish();
        if let (Some(cache), Some(trail), true) = (&self.hit_cache, trail, learned) {
            cache.keep(head, known, trail);
        }
    }

    /// The background of a row without candidates if there is a fallback, otherwise all entities are unreached.
    fn with_background<T>(
        &self,
        history: &History<'_>,
        head: DirectedRelation,
        empty: bool,
        use_it: impl FnOnce(&dyn Background) -> T,
    ) -> T {
        let entities = history.entities();
        match self.popularity.of(head) {
            Some(popularity) if empty => use_it(&Prior { popularity, weight: 1.0, entities }),
            _ => use_it(&Constant::unreached(entities)),
        }
    }

    fn with_worker<T>(&self, entities: usize, work: impl FnOnce(&mut Worker) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        let mut worker = idle().pop().unwrap_or_else(|| Worker {
            scratch: Scratch::new(entities),
            candidates: Candidates::new(entities),
            hits: Vec::new(),
        });
        let result = work(&mut worker);
        idle().push(worker);
        result
    }
}

/// The share of each rule score in a noisy-or. A product of misses is a sum of logarithms, so a share does not depend on the order
/// of the rules. Rules of score 1 decide alone.
fn shares(scores: &[f32]) -> impl Fn(f32) -> f64 {
    let evidence_of = |score: f32| -(-f64::from(score)).ln_1p();
    let certain = scores.iter().filter(|score| **score >= 1.0).count();
    let total: f64 = scores.iter().map(|&score| evidence_of(score)).sum();
    move |score| match certain {
        0 if total > 0.0 => evidence_of(score) / total,
        0 => 0.0,
        _ => f64::from(u8::from(score >= 1.0)) / certain as f64,
    }
}

impl Forecaster for TLogic {
    fn capabilities(&self) -> Capabilities {
        (ENTRY.capabilities)()
    }

    fn fit(&mut self, history: &History<'_>, _: &dyn Validation, run: &Run) -> Result<(), ModelError> {
        let rules = learn::learn(history, &self.config, run);
        self.set_rules(rules);
        Ok(())
    }

    fn begin(&mut self, step: Step, history: &History<'_>) -> Result<(), ModelError> {
        let relations = history.relations();
        let foreign = |rule: &&Rule| {
            rule.body.iter().chain([&rule.head]).any(|relation| relation.index() >= 2 * relations)
        };
        if self.rules.iter().any(|rule| foreign(&rule)) {
            return Err(ModelError::Unsupported(format!(
                "the rules are about more relations than the data has ({relations})"
            )));
        }
        let same_facts = self.window.follow(history, self.config.window);
        match &mut self.hit_cache {
            // The history is unchanged since the last step: the cache pays off.
            None if same_facts && step != self.step => self.hit_cache = Some(HitCache::default()),
            Some(_) if !same_facts => self.hit_cache = None,
            _ => {}
        }
        if self.config.fallback == Fallback::Popularity {
            self.popularity.follow(history);
        }
        let axis = history.axis();
        let now = axis.ordinal(step);
        let weight = 1.0 - self.config.confidence_weight;
        let recency = |begins| weight * (self.config.decay * (axis.ordinal(Step(begins)) - now) as f64).exp();
        self.recency = (0..history.ceiling().0.min(axis.len() as u32)).map(recency).collect();
        self.step = step;
        let entities = history.entities();
        let idle = self.idle.get_mut().unwrap_or_else(PoisonError::into_inner);
        idle.retain(|worker| worker.scratch.entities() == entities);
        Ok(())
    }

    fn score(
        &self,
        history: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        self.with_worker(history.entities(), |worker| {
            for (index, query) in queries.iter().enumerate() {
                let head = query.directed(history.relations());
                self.apply(query.known, head, worker, |_, _, _| {});
                let Candidates { ids, scores, .. } = &worker.candidates;
                self.with_background(history, head, ids.is_empty(), |background| {
                    sink.accept(index, ScoreRow::Sparse { ids, scores, background })
                })?;
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
        let relations = history.relations();
        let head = query.directed(relations);
        let mut firings: Vec<Firing> = Vec::new();
        let reached = self.with_worker(history.entities(), |worker| {
            self.apply(query.known, head, worker, |rule, hit, score| {
                if hit.answer == answer {
                    firings.push(Firing { rule: rule.clone(), begins: hit.begins, score });
                }
            });
            worker.candidates.ids.len()
        });
        firings.sort_by(|a, b| b.score.total_cmp(&a.score));
        let scores: Vec<f32> = firings.iter().map(|firing| firing.score).collect();
        let score = if scores.is_empty() {
            self.with_background(history, head, reached == 0, |background| background.score(answer))
        } else {
            noisy_or(&scores)
        };
        let share_of = shares(&scores);
        let rules = firings
            .into_iter()
            .map(|Firing { rule, begins, score }| {
                let found = groundings::find(&rule, &self.window, query, answer, relations);
                FiredRule {
                    rule: self.rules[rule.number as usize].clone(),
                    score: f64::from(score),
                    share: share_of(score),
                    confidence_part: self.config.confidence_weight * rule.confidence,
                    recency_part: self.recency[begins.index()],
                    latest: begins,
                    groundings: found.chains,
                    grounding_count: found.count,
                    groundings_cut: found.cut,
                }
            })
            .collect();
        let details = [
            ("rules_of_relation", json!(self.rules_for(head).len())),
            ("candidates", json!(reached)),
            ("window", json!(self.config.window)),
        ];
        let details = details.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let (evidence, also) = (Vec::new(), Vec::new());
        Ok(Some(Explanation {
            query: *query,
            answer,
            score,
            weighing: Weighing::PartsOf(score),
            evidence,
            also,
            rules,
            details,
        }))
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        let state = json!({ "config": self.config });
        Ok(SavedModel { state, rules: Some(self.rules.clone()), tensors: None })
    }

    fn take_rules(&mut self, rules: Vec<Rule>) -> Result<(), ModelError> {
        if let Some(rule) = rules.iter().find(|rule| !is_sound(rule)) {
            return Err(ModelError::Saved(format!("{rule:?} is not a rule")));
        }
        self.set_rules(rules);
        Ok(())
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        #[derive(Deserialize)]
        struct State {
            config: Config,
        }
        let state: State = saved_state(saved, "TLogic state")?;
        let rules = saved.rules.clone().ok_or_else(|| ModelError::Saved("it holds no rules".to_owned()))?;
        *self = Self::new(state.config).map_err(|error| ModelError::Saved(error.to_string()))?;
        self.take_rules(rules)
    }
}

fn is_sound(rule: &Rule) -> bool {
    (1..=settings::LONGEST).contains(&rule.body.len())
        && (0.0..=1.0).contains(&rule.confidence)
        && (1..=rule.body_support).contains(&rule.rule_support)
        && rule.constraints.iter().flatten().all(|&position| usize::from(position) <= rule.body.len())
}

/// Registry entry.
pub const ENTRY: Entry = Entry {
    name: "tlogic",
    aliases: &[],
    about: "Temporal rules learned by random walks; explains answers.",
    paper: "TLogic: temporal logical rules for explainable link forecasting on temporal knowledge graphs",
    source: "Liu et al., AAAI 2022",
    capabilities: || Capabilities {
        explains: true,
        inductive: true,
        random: true,
        rules: true,
        ..Capabilities::new(Task::Forecasting, &[Setting::SingleStep, Setting::MultiStep])
    },
    settings: Config::SETTINGS,
    base: None,
    quick: &[],
    defaults: config::defaults::<Config>,
    build: Build::Forecaster(|table| Ok(Box::new(TLogic::new(config::parse(table)?)?))),
};
