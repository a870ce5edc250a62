//! Answers with their reasons, as `forecast --json` prints them and as a run folder keeps a few of them.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use quadcast_core::RuleCurve;
use serde::{Deserialize, Serialize};

use crate::folder::remove_file;
use crate::{FileError, write_atomically};

/// A question and its best answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// The model that was asked.
    pub model: String,
    /// The dataset it was fitted to.
    pub dataset: String,
    /// The known subject, if the object is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// The relation.
    pub relation: String,
    /// The known object, if the subject is asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The time asked about.
    pub at: String,
    /// The time of the latest fact that could be used.
    pub known_until: Option<String>,
    /// Best first.
    pub answers: Vec<Answer>,
    /// Candidates that the model has something to say about.
    pub reached: usize,
    /// Candidates.
    pub candidates: usize,
}

/// One answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Its place, from 1.
    pub rank: usize,
    /// Its name.
    pub entity: String,
    /// The model's own number.
    pub score: f64,
    /// Part of the sum of all scores; absent where scores are not additive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Whether the fact with this answer is true already, where that can be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<bool>,
    /// What it rests on, if that was asked for and the model tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
}

/// What an answer rests on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Why {
    /// What the weights add up to, if that is not the score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts_of: Option<f64>,
    /// Whether a weight is by how much the score falls without the fact. Such weights do not add up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub losses: bool,
    /// Past facts, most important first.
    pub facts: Vec<Reason>,
    /// What else adds to the score.
    pub also: Vec<Addition>,
    /// Rules that speak for the answer, strongest first; absent for models without rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Vec<Fired>>,
    /// Numbers of the model.
    pub details: serde_json::Map<String, serde_json::Value>,
}

impl Why {
    /// What the reasons mean, in words, where the model says it.
    pub fn meaning(&self) -> Option<&str> {
        self.details.get("meaning")?.as_str()
    }

    /// Whether the score is divided among kinds of evidence.
    pub fn is_grouped(&self) -> bool {
        self.facts.iter().any(|reason| reason.group.is_some())
            || self.also.iter().any(|other| other.group.is_some())
    }

    /// How many facts a kind of evidence counted, where the model says it.
    pub fn fact_count(&self, group: &str) -> Option<u64> {
        self.details.get("facts")?.get(group)?.as_u64()
    }
}

/// A past fact and its part in the score.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// The fact.
    #[serde(flatten)]
    pub fact: DatedFact,
    /// What it adds to the score, or by how much that falls without it: [`Why::losses`].
    pub weight: f64,
    /// The kind of evidence that it belongs to, if the model has kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// A fact with names and its time in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatedFact {
    /// Subject.
    pub subject: String,
    /// Relation.
    pub relation: String,
    /// Object.
    pub object: String,
    /// Time.
    pub time: String,
}

/// A part of a score that is not a single past fact.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Addition {
    /// What it is, in words.
    pub text: String,
    /// What it adds to the score.
    pub weight: f64,
    /// The kind of evidence that it belongs to, if the model has kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// A relation by name, and which way it is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectedName {
    /// The name.
    pub relation: String,
    /// Whether it is read from the object to the subject.
    pub inverse: bool,
}

/// A rule with names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleCard {
    /// What follows.
    pub head: DirectedName,
    /// What was seen before.
    pub body: Vec<DirectedName>,
    /// Groups of variables that stand for the same entity.
    pub constraints: Vec<Vec<u8>>,
    /// How often the head followed.
    pub confidence: f64,
    /// How many sampled bodies it followed.
    pub rule_support: u32,
    /// How many bodies were sampled.
    pub body_support: u32,
    /// The rule in words, with variables.
    pub words: String,
    /// How its confidence depends on time, if that was counted and the rule is listed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub curve: Option<RuleCurve>,
}

/// A rule that speaks for an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fired {
    /// The rule.
    pub rule: RuleCard,
    /// The rule in words, with the entities of its most recent chain of facts.
    pub sentence: String,
    /// What the rule alone gives the answer.
    pub score: f64,
    /// Its part of the answer's score.
    pub share: f64,
    /// The part of `score` that comes from the confidence.
    pub confidence_part: f64,
    /// The part of `score` that comes from how recent its facts are.
    pub recency_part: f64,
    /// When the latest chain of facts that fits the rule begins.
    pub latest: String,
    /// The most recent chains of facts, each in the order of the body.
    pub groundings: Vec<Vec<DatedFact>>,
    /// How many chains fit the rule; a lower bound if `groundings_cut`.
    pub grounding_count: u64,
    /// Whether counting stopped early.
    pub groundings_cut: bool,
}

/// A test query of a run with its best answer, the reasons for it, and the truth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sample {
    /// The question and its best answer.
    #[serde(flatten)]
    pub forecast: Forecast,
    /// The true answer and how it ranked.
    pub truth: TrueAnswer,
}

/// What was true.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrueAnswer {
    /// The entity.
    pub entity: String,
    /// Its rank under the time-aware filter: 1 and the candidates that score higher.
    pub rank: u64,
    /// Candidates with the same score, itself included.
    pub tied: u64,
}

impl Sample {
    /// File name inside a run folder.
    pub const FILE: &str = "explanations.json";

    /// Writes the samples of a run.
    pub fn write_all(folder: &Path, samples: &[Self]) -> Result<(), FileError> {
        write_atomically(&folder.join(Self::FILE), |out| {
            serde_json::to_writer_pretty(&mut *out, samples)?;
            out.write_all(b"\n")
        })
    }

    /// Reads the samples of a run: none if it kept none.
    pub fn read_all(folder: &Path) -> Result<Vec<Self>, FileError> {
        let path = folder.join(Self::FILE);
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text)
                .map_err(|error| FileError::Content { path, message: error.to_string() }),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
            Err(source) => Err(FileError::Read { path, source }),
        }
    }

    /// Removes the samples of an earlier run, if there are any.
    pub fn remove_all(folder: &Path) -> Result<(), FileError> {
        remove_file(folder, Self::FILE)
    }
}
