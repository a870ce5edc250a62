//! TLogic: temporal rules from random walks.
//!
//! **Idea.** Chains of past facts that used to end in a fact speak for the next such fact. Rules are learned by walking
//! back in time from facts in random steps, and applied by following their bodies from the entity asked about.
//!
//! **Paper.** Liu, Ma, Hildebrandt, Joblin, Tresp: TLogic: temporal logical rules for explainable link forecasting on
//! temporal knowledge graphs. AAAI 2022.
//!
//! **Score.** A rule whose body leads to `c` gives it `f = a·conf + (1−a)·exp(λ(T₀ − t))`, where `T₀` is the latest
//! beginning of a fitting chain. Rules are applied in order of confidence until the best 20 candidates are told apart;
//! the score of a candidate is `1 − Π(1 − f)`.
//!
//! **Training.** Per relation, direction and body length 200 walks; each new rule gets its confidence from 500 sampled
//! bodies. Only training facts are used, validation decides nothing.
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
    History, ModelError, Query, Rule, Run, SavedModel, ScoreRow, ScoreSink, Setting, Step, Validation,
    Weighing,
};
use serde::Deserialize;
use serde_json::json;

mod apply;
mod candidates;
mod groundings;
mod learn;
mod memory;
mod settings;
mod window;

use super::popularity::{Counted, Prior};
use crate::config::{self, ConfigError};
use crate::registry::{Entry, Family, OptionInfo};
use apply::{Applicable, Hit, Scratch};
use candidates::{Candidates, noisy_or};
use memory::Memory;
pub use settings::{Config, Fallback, Transition};
use window::Window;

/// The model. Its learned state are the rules; everything else follows from the history.
pub struct TLogic {
    config: Config,
    rules: Vec<Rule>,
    /// Rules to be applied, by head relation, most confident first.
    by_head: Vec<Vec<Applicable>>,
    window: Window,
    /// The step asked about.
    step: Step,
    /// What a chain that begins at a step adds to a score, by step.
    recency: Vec<f64>,
    /// Hits of rules, if the last step showed the same facts.
    memory: Option<Memory>,
    /// How often each answer was given. Empty unless it is the fallback.
    popularity: Counted,
    /// Buffers that no thread uses at the moment.
    idle: Mutex<Vec<Worker>>,
}

/// The buffers of one thread.
struct Worker {
    scratch: Scratch,
    candidates: Candidates,
    hits: Vec<Hit>,
}

/// A rule that led to a candidate.
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
            by_head: Vec::new(),
            window: Window::default(),
            step: Step(0),
            recency: Vec::new(),
            memory: None,
            popularity: Counted::default(),
            idle: Mutex::new(Vec::new()),
        })
    }

    fn set_rules(&mut self, rules: Vec<Rule>) {
        let heads = rules.iter().map(|rule| rule.head.index() + 1).max().unwrap_or(0);
        self.by_head = vec![Vec::new(); heads];
        for (number, rule) in (0..).zip(&rules) {
            if rule.confidence >= self.config.min_confidence
                && rule.body_support >= self.config.min_body_support
            {
                self.by_head[rule.head.index()].push(Applicable::new(number, rule));
            }
        }
        // Rules may come from a file that somebody has put in another order.
        for rules in &mut self.by_head {
            rules.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
        }
        self.rules = rules;
    }

    fn rules_for(&self, head: DirectedRelation) -> &[Applicable] {
        self.by_head.get(head.index()).map_or(&[], Vec::as_slice)
    }

    /// What a rule gives an answer.
    fn rule_score(&self, rule: &Applicable, begins: Step) -> f32 {
        (self.config.confidence_weight * rule.confidence + self.recency[begins.index()]) as f32
    }

    /// Applies rules until the best candidates are told apart; tells `on_hit` about every hit.
    fn apply(
        &self,
        known: EntityId,
        head: DirectedRelation,
        worker: &mut Worker,
        mut on_hit: impl FnMut(&Applicable, Hit, f32),
    ) {
        let Worker { scratch, candidates, hits } = worker;
        candidates.clear();
        let mut trail = self.memory.as_ref().map(|memory| memory.recall(head, known));
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
            if !found.is_empty() && candidates.told_apart(self.config.top_k) {
                break;
            }
        }
        candidates.finish();
        if let (Some(memory), Some(trail), true) = (&self.memory, trail, learned) {
            memory.keep(head, known, trail);
        }
    }

    /// The background of a row without candidates if there is a fallback, otherwise everyone unreached.
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

impl Forecaster for TLogic {
    fn capabilities(&self) -> Capabilities {
        ENTRY.capabilities
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
        match &mut self.memory {
            // Facts that have come to stay for another step: from now on it pays to remember.
            None if same_facts && step != self.step => self.memory = Some(Memory::default()),
            Some(_) if !same_facts => self.memory = None,
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
        // A product of misses is a sum of logarithms, so each rule has a share that does not depend on the others.
        let evidence_of = |score: f32| -(-f64::from(score)).ln_1p();
        // A rule that is certain leaves nothing to the others.
        let certain = scores.iter().filter(|score| **score >= 1.0).count();
        let total: f64 = scores.iter().map(|&score| evidence_of(score)).sum();
        let share_of = |score: f32| match certain {
            0 if total > 0.0 => evidence_of(score) / total,
            0 => 0.0,
            _ => f64::from(u8::from(score >= 1.0)) / certain as f64,
        };
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

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        #[derive(Deserialize)]
        struct State {
            config: Config,
        }
        let state: State = serde_json::from_value(saved.state.clone())
            .map_err(|error| ModelError::Saved(format!("{error} in the TLogic state")))?;
        let rules = saved.rules.clone().ok_or_else(|| ModelError::Saved("it holds no rules".to_owned()))?;
        if let Some(rule) = rules.iter().find(|rule| !is_sound(rule)) {
            return Err(ModelError::Saved(format!("{rule:?} is not a rule")));
        }
        *self = Self::new(state.config).map_err(|error| ModelError::Saved(error.to_string()))?;
        self.set_rules(rules);
        Ok(())
    }
}

fn is_sound(rule: &Rule) -> bool {
    (1..=settings::LONGEST).contains(&rule.body.len())
        && rule.confidence.is_finite()
        && (1..=rule.body_support).contains(&rule.rule_support)
        && rule.constraints.iter().flatten().all(|&position| usize::from(position) <= rule.body.len())
}

/// Registry entry.
pub const ENTRY: Entry = Entry {
    name: "tlogic",
    aliases: &[],
    family: Family::Forecasting,
    about: "Follows temporal rules, learned by random walks into the past, and says which ones spoke for an answer",
    paper: "TLogic: temporal logical rules for explainable link forecasting on temporal knowledge graphs",
    source: "Liu et al., AAAI 2022",
    capabilities: Capabilities {
        settings: &[Setting::SingleStep, Setting::MultiStep],
        explains: true,
        inductive: true,
        random: true,
        rules: true,
    },
    options: &[
        OptionInfo { key: "lengths", about: "how many facts a rule body may have, from 1 to 3" },
        OptionInfo { key: "walks", about: "random walks per relation, direction and length" },
        OptionInfo { key: "transition", about: "exponential (recent facts first) or uniform walks" },
        OptionInfo { key: "body_samples", about: "bodies sampled to estimate the confidence of a rule" },
        OptionInfo {
            key: "window",
            about: "time units that rules look back from the last known fact; 0 for all",
        },
        OptionInfo { key: "confidence_weight", about: "weight of confidence; the rest weighs recency" },
        OptionInfo { key: "decay", about: "how fast recency fades, per time unit" },
        OptionInfo { key: "top_k", about: "apply rules until this many best candidates are told apart" },
        OptionInfo { key: "min_confidence", about: "apply no rule below this confidence" },
        OptionInfo { key: "min_body_support", about: "apply no rule with fewer sampled bodies" },
        OptionInfo { key: "fallback", about: "queries no rule answers: none (all tie) or popularity" },
        OptionInfo { key: "compat", about: "lose the relations that the published runs lost (see --compat)" },
        OptionInfo { key: "processes", about: "processes of the published run, used with compat only" },
    ],
    base: None,
    quick: &[],
    defaults: config::defaults::<Config>,
    build: |table| Ok(Box::new(TLogic::new(config::parse(table)?)?)),
};
