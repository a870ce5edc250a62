//! From a name and a seed to a world in memory.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use quadcast_core::Dataset;
use serde_json::{Value, json};

use super::oracle::Oracle;
use super::truth::Truth;
use super::world::World;
use super::{benchmark_like, evolving, single, village};
use crate::AnalysisError;
use quadcast_data::{Content, fingerprint};

/// Below this similarity a suggestion would puzzle more than it helps.
const SIMILAR: f64 = 0.6;

/// The worlds that can be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorldName {
    /// Small, with one process of every kind.
    Village,
    /// The size of ICEWS14.
    IcewsLike,
    /// The size of GDELT.
    GdeltLike,
    /// Insertions and deletions.
    Evolving,
    /// Facts that come back, nothing else.
    RecurrenceOnly,
    /// Rules between relations, nothing else.
    RulesOnly,
    /// Rules with one and with two bodies, all a day long, nothing else.
    ChainsOnly,
}

impl WorldName {
    /// All worlds, in the order of the documentation.
    pub const ALL: [Self; 7] = [
        Self::Village,
        Self::IcewsLike,
        Self::GdeltLike,
        Self::Evolving,
        Self::RecurrenceOnly,
        Self::RulesOnly,
        Self::ChainsOnly,
    ];

    /// The word used on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Village => "village",
            Self::IcewsLike => "icews-like",
            Self::GdeltLike => "gdelt-like",
            Self::Evolving => "evolving",
            Self::RecurrenceOnly => "recurrence-only",
            Self::RulesOnly => "rules-only",
            Self::ChainsOnly => "chains-only",
        }
    }

    /// What it is, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Village => "52 people, places and groups over 180 days, with one process of every kind",
            Self::IcewsLike => {
                "the size of ICEWS14: 7128 entities, 230 relations, 365 days, about 90 730 facts"
            }
            Self::GdeltLike => {
                "the size of GDELT: 7691 entities, 240 relations, 2976 quarters of an hour, about 2.3 million facts"
            }
            Self::Evolving => "a graph of 400 entities that changes by insertions and deletions in 10 steps",
            Self::RecurrenceOnly => "facts come from nowhere and come back; a recurrency baseline masters it",
            Self::RulesOnly => {
                "facts follow from facts of other relations; a recurrency baseline fails on it"
            }
            Self::ChainsOnly => {
                "facts follow from one or two facts of the day before; temporal rules master it"
            }
        }
    }
}

impl fmt::Display for WorldName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for WorldName {
    type Err = AnalysisError;

    fn from_str(text: &str) -> Result<Self, AnalysisError> {
        let wanted = text.to_lowercase();
        if let Some(found) = Self::ALL.into_iter().find(|world| world.word() == wanted) {
            return Ok(found);
        }
        let nearest = Self::ALL
            .into_iter()
            .map(|world| (strsim::jaro_winkler(&wanted, world.word()), world))
            .filter(|(similarity, _)| *similarity >= SIMILAR)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        Err(AnalysisError::UnknownWorld {
            name: text.to_owned(),
            suggestion: nearest.map(|(_, world)| format!(" (did you mean {world}?)")).unwrap_or_default(),
            known: Self::ALL.map(Self::word).join(", "),
        })
    }
}

/// A world that happened: its facts, what is known about each, and the processes behind them.
#[derive(Clone, Debug)]
pub struct SynthWorld {
    /// Which world.
    pub name: WorldName,
    /// The seed it was made with.
    pub seed: u64,
    /// The facts.
    pub content: Content,
    /// What is known about each fact (or each operation of a graph that changes).
    pub truth: Truth,
    /// Name, seed, sizes and processes in words: `world.json` without the best scores.
    pub description: Value,
    world: Option<Arc<World>>,
}

impl SynthWorld {
    /// The facts, if they can be forecast.
    pub fn dataset(&self) -> Option<&Dataset> {
        match &self.content {
            Content::Temporal(dataset) => Some(dataset),
            _ => None,
        }
    }

    /// The forecaster that nobody can beat, if there is something to forecast.
    pub fn oracle(&self) -> Option<Oracle> {
        self.world.clone().map(Oracle::new)
    }

    /// How often the oracle rolls the world out to see several steps ahead; 0 if the world is too large for that.
    pub fn rollouts(&self) -> u32 {
        self.world.as_ref().map_or(0, |world| world.rollouts)
    }
}

/// Makes a world. The same name and seed give the same world, for any number of threads.
pub fn synth(name: WorldName, seed: u64) -> SynthWorld {
    let world = match name {
        WorldName::Village => village::build(seed),
        WorldName::IcewsLike => benchmark_like::icews_like(seed),
        WorldName::GdeltLike => benchmark_like::gdelt_like(seed),
        WorldName::RecurrenceOnly => single::recurrence_only(seed),
        WorldName::RulesOnly => single::rules_only(seed),
        WorldName::ChainsOnly => single::chains_only(seed),
        WorldName::Evolving => return evolving_world(seed),
    };
    let (dataset, truth) = world.grow();
    let sizes = json!({
        "entities": dataset.entities(),
        "relations": dataset.relations(),
        "steps": dataset.axis.len(),
        "facts": dataset.splits.map(quadcast_core::Facts::len),
    });
    let content = Content::Temporal(dataset);
    let description = describe(name, seed, &content, &sizes, &world.words());
    SynthWorld { name, seed, content, truth, description, world: Some(Arc::new(world)) }
}

fn evolving_world(seed: u64) -> SynthWorld {
    let (dataset, truth) = evolving::grow(seed);
    let sizes = json!({
        "entities": dataset.vocabulary.entities.len(),
        "relations": dataset.vocabulary.relations.len(),
        "steps": dataset.steps.len(),
        "operations": truth.rows.len(),
    });
    let content = Content::Evolving(dataset);
    let name = WorldName::Evolving;
    let description = describe(name, seed, &content, &sizes, &evolving::words());
    SynthWorld { name, seed, content, truth, description, world: None }
}

fn describe(name: WorldName, seed: u64, content: &Content, sizes: &Value, processes: &[Value]) -> Value {
    json!({
        "schema": 1,
        "world": name.word(),
        "about": name.about(),
        "seed": seed,
        "version": env!("CARGO_PKG_VERSION"),
        "fingerprint": fingerprint(content),
        "sizes": sizes,
        "processes": processes,
    })
}
