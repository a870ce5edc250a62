//! From a name and a seed to a world in memory.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use quadcast_core::{Dataset, Facts};
use serde_json::{Value, json};

use super::oracle::Oracle;
use super::world::{Truth, World};
use super::{benchmark_like, evolving, small};
use crate::error::{AnalysisError, refuse};
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

/// The word for each world and what it is, in the order of [`WorldName::ALL`].
const WORLDS: [(&str, &str); 7] = [
    ("village", "52 people, places and groups over 180 days, with one process of every kind"),
    ("icews-like", "the size of ICEWS14: 7128 entities, 230 relations, 365 days, about 90 730 facts"),
    (
        "gdelt-like",
        "the size of GDELT: 7691 entities, 240 relations, 2976 quarters of an hour, about 2.3 million facts",
    ),
    ("evolving", "a graph of 400 entities that changes by insertions and deletions in 10 steps"),
    ("recurrence-only", "facts come from nowhere and come back; a recurrency baseline masters it"),
    ("rules-only", "facts follow from facts of other relations; a recurrency baseline fails on it"),
    ("chains-only", "facts follow from one or two facts of the day before; temporal rules master it"),
];

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
        WORLDS[self as usize].0
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
        let similar = WORLDS.iter().map(|(word, _)| (strsim::jaro_winkler(&wanted, word), word));
        let nearest = similar.filter(|(score, _)| *score >= SIMILAR).max_by(|a, b| a.0.total_cmp(&b.0));
        let suggestion = nearest.map(|(_, word)| format!(" (did you mean {word}?)")).unwrap_or_default();
        let known = WORLDS.map(|(word, _)| word).join(", ");
        refuse(format!("there is no world {text:?}{suggestion}; known worlds: {known}"))
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
        WorldName::Village => Some(small::village(seed)),
        WorldName::IcewsLike => Some(benchmark_like::icews_like(seed)),
        WorldName::GdeltLike => Some(benchmark_like::gdelt_like(seed)),
        WorldName::RecurrenceOnly => Some(small::recurrence_only(seed)),
        WorldName::RulesOnly => Some(small::rules_only(seed)),
        WorldName::ChainsOnly => Some(small::chains_only(seed)),
        WorldName::Evolving => None,
    };
    let (content, truth, sizes, processes) = if let Some(world) = &world {
        let (dataset, truth) = world.grow();
        let sizes = json!({
            "entities": dataset.entities(),
            "relations": dataset.relations(),
            "steps": dataset.axis.len(),
            "facts": dataset.splits.map(Facts::len),
        });
        (Content::Temporal(dataset), truth, sizes, world.words())
    } else {
        let (dataset, truth) = evolving::grow(seed);
        let sizes = json!({
            "entities": dataset.vocabulary.entities.len(),
            "relations": dataset.vocabulary.relations.len(),
            "steps": dataset.steps.len(),
            "operations": truth.rows.len(),
        });
        (Content::Evolving(dataset), truth, sizes, evolving::words())
    };
    let (word, about) = WORLDS[name as usize];
    let description = json!({
        "schema": 1,
        "world": word,
        "about": about,
        "seed": seed,
        "version": env!("CARGO_PKG_VERSION"),
        "fingerprint": fingerprint(&content),
        "sizes": sizes,
        "processes": processes,
    });
    SynthWorld { name, seed, content, truth, description, world: world.map(Arc::new) }
}
