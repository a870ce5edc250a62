//! Naive rules: answers from mirrored facts, repeated facts and neighbours.
//!
//! **Idea.** Facts of many relations occur in mirrored pairs (Consult; Make a visit and Host a visit). If facts are split
//! at random, the mirror of a test fact is often in training, and looking it up is enough. Four rules show how well this works
//! without learning.
//!
//! **Paper.** Pan, Nayyeri, Li, Staab: Do temporal knowledge graph embedding models learn or memorize shortcuts?
//! Temporal Graph Learning Workshop 2023.
//!
//! **Score.** For the query `(s, p, ?, t)` and q = p if p is symmetric, else its inverse relation: (1) every e with
//! (e, q, s, t); (2) every e with (e, q, s) at any time; (3) every e with (s, p, e) at any time; (4) every neighbour of s.
//! Each list is sorted by the number of supporting facts; the lists are joined, and only the first place of e counts.
//! The score is 1 / place. Subject queries mirror all roles.
//!
//! **Training.** Shares of mirrored facts in training: rules 1 and 2 are for relations with more than half of their facts
//! mirrored at the same time; inverses in both directions, and no relation with fewer than 20 facts.
//!
//! **Differs from the paper.** The published code has lists of relations instead of detection (`lists`), and breaks ties
//! of counts by the order of names; `compat` does both. Answers that no rule gives are tied behind the others,
//! where the published code draws a rank (`miss = "random"`). As there, rule 2 is for the relations of rule 1 (the printed
//! one is for those mirrored at any time, `rule2 = "any-time"`), and rule 4 uses both directions (the printed one does not,
//! `rule4 = "directed"`).
//!
//! **Cost.** A query costs one pass over the facts of s with p and q and over the neighbours of s.

use quadcast_core::{
    Capabilities, Constant, Detection, DirectedRelation, Direction, EntityId, Evidence, Explanation,
    Forecaster, History, Mirrors, ModelError, PatternCounts, PublishedLists, Query, RelationId, Run,
    SavedModel, ScoreRow, ScoreSink, Step, Task, Validation, Weighing, published_lists, stream,
};
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

mod places;

use crate::config::{self, ConfigError};
use crate::registry::{Build, Entry};
use crate::settings::Settings;
use places::{Placed, Places, sort};

choices! {
    /// Where the patterns come from.
    pub enum Lists {
        /// Found in the training facts.
        Detected = "detected",
        /// The lists that the published runs on ICEWS14 had.
        Icews14 = "icews14",
        /// The lists that the published runs on ICEWS05-15 had.
        Icews0515 = "icews05-15",
    }

    /// Which patterns rule 2 is for.
    pub enum When {
        /// Those that hold at the same time, as for rule 1 and as in the published code.
        SameTime = "same-time",
        /// Those that hold at any time, as printed.
        AnyTime = "any-time",
    }

    /// Who counts as connected in rule 4.
    pub enum Connected {
        /// Whoever stood on the other side of any fact, as in the published code.
        Undirected = "undirected",
        /// Whoever stood on the side that is asked for, as printed.
        Directed = "directed",
    }

    /// Where answers go that no rule gives.
    pub enum Miss {
        /// Together behind all others: tied, so that their rank is its expectation.
        Expected = "expected",
        /// In an order drawn for each question.
        Random = "random",
    }
}

settings! {
    /// Settings of the rules.
    pub struct Config {
        /// The rules that are used, some of 1, 2, 3 and 4.
        rules: Vec<u8> = vec![1, 2, 3, 4], range at_least(1.0).at_most(4.0), source "paper";
        /// Where the patterns come from.
        lists: Lists = Lists::Detected, source "paper";
        /// A share of facts that makes a pattern must be larger.
        threshold: f64 = Detection::default().threshold, range at_least(0.0).below(1.0), source "paper";
        /// Relations with fewer training facts have no pattern.
        min_support: u64 = Detection::default().min_support, source "the published lists point to a value from 9 to 23";
        /// Whether inverses must hold in both directions.
        mutual: bool = Detection::default().mutual;
        /// Which detected patterns rule 2 is for.
        rule2: When = When::SameTime, source "published code";
        /// Who counts as connected in rule 4.
        rule4: Connected = Connected::Undirected, source "published code";
        /// Where answers go that no rule gives.
        miss: Miss = Miss::Expected;
        /// Published lists, and equal counts in the order of names.
        compat: bool = false;
    }
}

impl Config {
    /// Refuses settings that make no sense.
    pub fn check(&self) -> Result<(), ConfigError> {
        if self.rules.is_empty() {
            let text = "rules = []: expected some of 1, 2, 3 and 4, for example [3, 4]";
            return Err(ConfigError::Value(text.to_owned()));
        }
        self.check_ranges()
    }

    /// When shares make a pattern.
    pub fn detection(&self) -> Detection {
        Detection { threshold: self.threshold, min_support: self.min_support, mutual: self.mutual }
    }

    /// Whether a rule is used.
    pub fn uses(&self, rule: u8) -> bool {
        self.rules.contains(&rule)
    }
}

/// The learned state: which relations mirror each other, and the seed of the draws.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Learned {
    /// For rule 1.
    same_time: Mirrors,
    /// For rule 2.
    any_time: Mirrors,
    seed: u64,
}

impl Learned {
    /// Refuses patterns that are not in order, or are about more relations than there are.
    fn check(&self, relations: usize) -> Result<(), ModelError> {
        for (field, Mirrors { symmetric, inverse }) in
            [("same_time", &self.same_time), ("any_time", &self.any_time)]
        {
            if !symmetric.is_sorted_by(|a, b| a < b) || !inverse.is_sorted_by(|a, b| a.0 < b.0) {
                return Err(ModelError::Saved(format!("{field} is not in ascending order")));
            }
            let all = symmetric.iter().chain(inverse.iter().flat_map(|(p, q)| [p, q]));
            if let Some(relation) = all.max().filter(|relation| relation.index() >= relations) {
                return Err(ModelError::Unsupported(format!(
                    "the patterns are about relation {}, and the data has {relations} relations",
                    relation.0
                )));
            }
        }
        Ok(())
    }
}

/// Lookup tables of the rules, made from the known facts.
#[derive(Clone, Debug, Default)]
struct Prepared {
    /// By entity: its place in the order of names, to break ties of counts.
    order: Option<Vec<u32>>,
    /// By direction (or once, if both count) and entity: its neighbours with the number of facts, most first.
    neighbours: Vec<Vec<Vec<(EntityId, u32)>>>,
}

/// The model.
#[derive(Clone, Debug)]
pub struct NaiveRules {
    config: Config,
    learned: Learned,
    prepared: Prepared,
}

impl NaiveRules {
    /// An unfitted model.
    pub fn new(config: Config) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self { config, learned: Learned::default(), prepared: Prepared::default() })
    }

    /// The relation that answers `query` from the other side, read from the known entity.
    fn mirrored(mirrors: &Mirrors, query: &Query, relations: usize) -> Option<DirectedRelation> {
        let other = match query.direction {
            Direction::Object => Direction::Subject,
            Direction::Subject => Direction::Object,
        };
        mirrors.partner(query.relation).map(|q| DirectedRelation::new(q, other, relations))
    }

    fn list(&self, known: &History<'_>, query: &Query, places: &mut Places) {
        let relations = known.relations();
        let order = self.prepared.order.as_deref();
        let answers = |relation: DirectedRelation| known.answers(query.known, relation).iter();
        places.clear();
        let Learned { same_time, any_time, .. } = &self.learned;
        if let (true, Some(q)) = (self.config.uses(1), Self::mirrored(same_time, query, relations)) {
            let now = answers(q).filter(|event| event.step == query.step);
            places.append(1, now.map(|event| event.answer), order);
        }
        if let (true, Some(q)) = (self.config.uses(2), Self::mirrored(any_time, query, relations)) {
            places.append(2, answers(q).map(|event| event.answer), order);
        }
        if self.config.uses(3) {
            places.append(3, answers(query.directed(relations)).map(|event| event.answer), order);
        }
        if self.config.uses(4) {
            places.append_sorted(4, self.neighbours(query), order.is_some());
        }
        if self.config.miss == Miss::Random {
            let mut rest: Vec<EntityId> = (0..known.entities() as u32).map(EntityId).collect();
            let Query { step, known, relation, .. } = *query;
            let number = u64::from(step.0) << 40 ^ u64::from(known.0) << 12 ^ u64::from(relation.0);
            rest.shuffle(&mut stream(self.learned.seed, query.direction.word(), number));
            places.append_rest(rest.into_iter());
        }
    }

    fn neighbours(&self, query: &Query) -> &[(EntityId, u32)] {
        let table = match (self.config.rule4, query.direction) {
            (Connected::Undirected, _) | (Connected::Directed, Direction::Object) => 0,
            (Connected::Directed, Direction::Subject) => 1,
        };
        let of_entity = self.prepared.neighbours.get(table).and_then(|table| table.get(query.known.index()));
        of_entity.map_or(&[], Vec::as_slice)
    }

    fn published(&self, known: &History<'_>) -> Result<Option<&'static PublishedLists>, ModelError> {
        let name = match (&self.config.lists, known.relations()) {
            (Lists::Detected, _) if !self.config.compat => return Ok(None),
            // The number of relations tells which of the two datasets it is.
            (Lists::Icews14, _) | (Lists::Detected, 230) => "icews14",
            (Lists::Icews0515, _) | (Lists::Detected, 251) => "icews05-15",
            (Lists::Detected, _) => {
                return Err(ModelError::Unsupported(
                    "relations were listed by hand for ICEWS14 and ICEWS05-15 only, and this is neither: leave out \
                     --compat, or choose a list with --set lists=icews14"
                        .to_owned(),
                ));
            }
        };
        Ok(published_lists(name))
    }
}

/// 1 / place.
fn score(placed: &Placed) -> f64 {
    1.0 / f64::from(placed.place)
}

impl Forecaster for NaiveRules {
    fn capabilities(&self) -> Capabilities {
        CAPABILITIES
    }

    fn fit(&mut self, known: &History<'_>, _: &dyn Validation, run: &Run) -> Result<(), ModelError> {
        let (same_time, any_time) = if let Some(lists) = self.published(known)? {
            let names = known.relation_names().ok_or_else(|| {
                ModelError::Unsupported(
                    "the published lists name relations, and the data has no names".to_owned(),
                )
            })?;
            let (mirrors, missing) = lists.mirrors(names, self.config.compat);
            if !missing.is_empty() {
                return Err(ModelError::Unsupported(format!(
                    "the lists for {} name relations that the data does not have: {}",
                    lists.name,
                    missing.join("; ")
                )));
            }
            (mirrors.clone(), mirrors)
        } else {
            let facts = known.snapshots_from(Step(0)).flatten();
            let counts = PatternCounts::of(facts, known.relations());
            let detection = self.config.detection();
            let at_once = Mirrors::detect(&counts, &detection, true);
            match self.config.rule2 {
                When::SameTime => (at_once.clone(), at_once),
                When::AnyTime => (at_once, Mirrors::detect(&counts, &detection, false)),
            }
        };
        self.learned = Learned { same_time, any_time, seed: run.seed };
        Ok(())
    }

    fn begin(&mut self, _: Step, known: &History<'_>) -> Result<(), ModelError> {
        self.learned.check(known.relations())?;
        let order = if self.config.compat { known.entity_names() } else { None };
        let order = order.map(|names| {
            let mut ids: Vec<u32> = (0..names.len() as u32).collect();
            ids.sort_by_cached_key(|&id| names.name(id));
            let mut order = vec![0; ids.len()];
            ids.iter().zip(0..).for_each(|(&id, place)| order[id as usize] = place);
            order
        });
        let directions: &[Option<Direction>] = match self.config.rule4 {
            Connected::Undirected => &[None],
            Connected::Directed => &[Some(Direction::Object), Some(Direction::Subject)],
        };
        let relations = known.relations();
        let of_entity = |entity: u32, direction: Option<Direction>| {
            let edges = known.edges(EntityId(entity)).iter();
            let wanted = edges.filter(|e| direction.is_none_or(|d| e.relation.split(relations).1 == d));
            let mut others: Vec<EntityId> = wanted.map(|edge| edge.other).collect();
            others.sort_unstable();
            let counted = others.chunk_by(|a, b| a == b);
            let mut counted: Vec<_> = counted.map(|same| (same[0], same.len() as u32)).collect();
            sort(&mut counted, order.as_deref());
            counted
        };
        let entities = if self.config.uses(4) { known.entities() as u32 } else { 0 };
        let neighbours = directions
            .iter()
            .map(|&direction| (0..entities).into_par_iter().map(|e| of_entity(e, direction)).collect())
            .collect();
        self.prepared = Prepared { order, neighbours };
        Ok(())
    }

    fn score(
        &self,
        known: &History<'_>,
        queries: &[Query],
        sink: &mut dyn ScoreSink,
    ) -> Result<(), ModelError> {
        let mut places = Places::new(known.entities());
        let background = Constant::unreached(known.entities());
        for (index, query) in queries.iter().enumerate() {
            self.list(known, query, &mut places);
            let ids: Vec<EntityId> = places.list.iter().map(|placed| placed.answer).collect();
            let scores: Vec<f64> = places.list.iter().map(score).collect();
            sink.accept(index, ScoreRow::Sparse { ids: &ids, scores: &scores, background: &background })?;
        }
        Ok(())
    }

    fn explain(
        &self,
        known: &History<'_>,
        query: &Query,
        answer: EntityId,
    ) -> Result<Option<Explanation>, ModelError> {
        let mut places = Places::new(known.entities());
        self.list(known, query, &mut places);
        let placed = places.list.iter().find(|placed| placed.answer == answer);
        let rule = placed.map_or(0, |placed| placed.rule);
        let mut facts = self.supporting(known, query, answer, rule);
        facts.sort_by_key(|fact| (fact.step.0.abs_diff(query.step.0), *fact));
        let score = placed.map_or(f64::NEG_INFINITY, score);
        let weight = score / facts.len().max(1) as f64;
        let details = json!({
            "rule": rule,
            "meaning": self.meaning(known, query, rule),
            "place": placed.map(|placed| placed.place),
            "facts": facts.len(),
        });
        Ok(Some(Explanation {
            query: *query,
            answer,
            score,
            weighing: Weighing::PartsOf(score),
            evidence: facts.into_iter().map(|fact| Evidence { fact, weight, group: None }).collect(),
            also: Vec::new(),
            rules: Vec::new(),
            details: details.as_object().cloned().unwrap_or_default(),
        }))
    }

    fn save(&self) -> Result<SavedModel, ModelError> {
        Ok(SavedModel::plain(json!(self.learned)))
    }

    fn load(&mut self, saved: &SavedModel) -> Result<(), ModelError> {
        let learned: Learned = serde_json::from_value(saved.state.clone())
            .map_err(|error| ModelError::Saved(format!("the patterns of the rules: {error}")))?;
        learned.check(usize::MAX)?;
        self.learned = learned;
        Ok(())
    }
}

impl NaiveRules {
    /// The facts that speak for an answer under a rule.
    fn supporting(
        &self,
        known: &History<'_>,
        query: &Query,
        answer: EntityId,
        rule: u8,
    ) -> Vec<quadcast_core::Quad> {
        let relations = known.relations();
        let Learned { same_time, any_time, .. } = &self.learned;
        let fact = |relation: DirectedRelation, step: Step| {
            let (relation, direction) = relation.split(relations);
            Query { step, known: query.known, relation, direction }.fact(answer, step)
        };
        let of = |relation: Option<DirectedRelation>, now: bool| {
            let events = relation.map_or(&[][..], |relation| known.answers(query.known, relation)).iter();
            let wanted = events.filter(|event| event.answer == answer && (!now || event.step == query.step));
            wanted.filter_map(|event| Some(fact(relation?, event.step))).collect()
        };
        match rule {
            1 => of(Self::mirrored(same_time, query, relations), true),
            2 => of(Self::mirrored(any_time, query, relations), false),
            3 => of(Some(query.directed(relations)), false),
            4 => {
                let edges = known.edges(query.known).iter().filter(|edge| edge.other == answer);
                let wanted = edges.filter(|edge| {
                    let direction = edge.relation.split(relations).1;
                    self.config.rule4 == Connected::Undirected || direction == query.direction
                });
                wanted.map(|edge| fact(edge.relation, edge.step)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// A rule in words.
    fn meaning(&self, known: &History<'_>, query: &Query, rule: u8) -> String {
        let name = |relation: RelationId| {
            let names = known.relation_names();
            names.map_or_else(
                || format!("relation {}", relation.0),
                |names| names.name(relation.0).into_owned(),
            )
        };
        let mirror = |mirrors: &Mirrors, when: &str| match mirrors.partner(query.relation) {
            Some(q) if q == query.relation => {
                format!("{} is symmetric, and held the other way {when}", name(q))
            }
            Some(q) => format!("{} is the inverse of {}, and held {when}", name(q), name(query.relation)),
            None => String::new(),
        };
        match rule {
            1 => mirror(&self.learned.same_time, "at the same time"),
            2 => mirror(&self.learned.any_time, "at some time"),
            3 => "the same fact held at another time".to_owned(),
            4 => "the two are connected by some fact".to_owned(),
            _ => "no rule gives this answer".to_owned(),
        }
    }
}

/// What it can do.
const CAPABILITIES: Capabilities =
    Capabilities { explains: true, reads_names: Some("compat"), ..Capabilities::new(Task::Completion, &[]) };

/// Registry entry.
pub const ENTRY: Entry = Entry {
    name: "naive-rules",
    aliases: &["naive_rules", "naiverules"],
    about: "Four rules on mirrored and repeated facts; no learning.",
    paper: "Do temporal knowledge graph embedding models learn or memorize shortcuts?",
    source: "Pan, Nayyeri, Li, Staab, TGL workshop 2023",
    capabilities: || CAPABILITIES,
    settings: Config::SETTINGS,
    base: None,
    quick: &[],
    defaults: config::defaults::<Config>,
    build: Build::Forecaster(|table| Ok(Box::new(NaiveRules::new(config::parse(table)?)?))),
};
