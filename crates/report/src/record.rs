//! `metrics.json`: the result of a run with everything that decides whether it can be compared.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use quadcast_core::{Dataset, Fingerprint, Protocol, Split, TiePolicy};
use quadcast_eval::{BlockBootstrap, FilterOutcome, Holes, Judged, Outcome, Part};
use serde::{Deserialize, Serialize};

use crate::{FileError, counted, write_atomically};

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Started and not finished: still running, or killed.
    Incomplete,
    /// Stopped by an error.
    Failed,
    /// Finished.
    Complete,
}

/// What the run was about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatasetCard {
    /// Name for people.
    pub name: String,
    /// Catalogue variant that the content equals.
    pub variant: Option<String>,
    /// Content hash.
    pub fingerprint: Fingerprint,
    /// Size of the entity id space.
    pub entities: usize,
    /// Number of relations.
    pub relations: usize,
    /// Training facts.
    pub train: usize,
    /// Validation facts.
    pub valid: usize,
    /// Test facts.
    pub test: usize,
}

impl DatasetCard {
    /// The card of a dataset.
    pub fn new(dataset: &Dataset, variant: Option<&str>) -> Self {
        let facts = |split| dataset.splits.get(split).len();
        Self {
            name: dataset.name.clone(),
            variant: variant.map(str::to_owned),
            fingerprint: dataset.fingerprint(),
            entities: dataset.entities(),
            relations: dataset.relations(),
            train: facts(Split::Train),
            valid: facts(Split::Valid),
            test: facts(Split::Test),
        }
    }
}

/// Which model with which configuration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelCard {
    /// Name.
    pub name: String,
    /// The expanded configuration.
    pub config: serde_json::Value,
    /// Where its rules came from, if it did not learn them here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<RulesCard>,
}

/// Rules that were used instead of learning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RulesCard {
    /// The file, as it was named.
    pub file: String,
    /// How many of its rules were used.
    pub used: usize,
    /// How many name a relation that the dataset does not have.
    pub dropped: usize,
}

impl RulesCard {
    /// The card in words, such as `12 rules from a.jsonl, 3 dropped`.
    pub fn words(&self) -> String {
        let plural = if self.used == 1 { "" } else { "s" };
        let dropped = match self.dropped {
            0 => String::new(),
            dropped => format!(", {} dropped", counted(dropped as u64)),
        };
        format!("{} rule{plural} from {}{dropped}", counted(self.used as u64), self.file)
    }
}

/// Where scores came from that no model of ours made. What their maker saw is declared, not enforced.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScoreSource {
    /// The file, as it was named.
    pub file: String,
    /// `float32`, `float16`, `sparse`, or `ranks` for a file of ranks.
    pub layout: String,
    /// Size of the file.
    pub bytes: u64,
    /// Whether keys prove that every row answers its query.
    pub order_verified: bool,
    /// `file` if the ranks were made elsewhere; absent if the evaluator ranked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranked_by: Option<String>,
    /// For a file of ranks: whether it says how many candidates tie. If not, every rank was taken as untied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ties_known: Option<bool>,
}

/// How the model was selected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// The part of the data that judged candidates.
    pub split: Split,
    /// The number that decided.
    pub metric: String,
    /// How often candidates were judged.
    pub plays: u64,
}

/// Results by filter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FilterMetrics {
    /// Time-aware filter.
    pub time: FilterOutcome,
    /// Static filter.
    #[serde(rename = "static")]
    pub fixed: FilterOutcome,
    /// No filter.
    pub raw: FilterOutcome,
}

/// One step of the curve over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StepRow {
    /// The step.
    pub step: u32,
    /// The step in words.
    pub time: String,
    /// Its queries, time-aware filter.
    #[serde(flatten)]
    pub part: Part,
}

/// One relation in one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RelationRow {
    /// Relation id.
    pub id: u32,
    /// Relation name.
    pub relation: String,
    /// `object` or `subject`.
    pub direction: String,
    /// Its queries, time-aware filter.
    #[serde(flatten)]
    pub part: Part,
}

/// Wall-clock seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Reading the data.
    pub load: f64,
    /// Fitting and selecting the model.
    pub fit: f64,
    /// Scoring and ranking the test period.
    pub evaluate: f64,
}

/// The record of a run. Numbers are fractions, not per cent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Version of this layout.
    pub schema: u32,
    /// How far the run has come.
    pub status: Status,
    /// What stopped it, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Content hash of the saved model, once it is fitted. Said only while the run is not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted: Option<Fingerprint>,
    /// What it was about.
    pub dataset: DatasetCard,
    /// Which model.
    pub model: ModelCard,
    /// Where the scores came from, if not from a model of ours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<ScoreSource>,
    /// How results come about.
    pub protocol: Protocol,
    /// Seed of every random stream.
    pub seed: u64,
    /// Version of Quadcast.
    pub version: String,
    /// Results by filter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metrics: Option<FilterMetrics>,
    /// How well relations and times were filled in; of models that can rate facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holes: Option<Holes>,
    /// Curve over time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_step: Vec<StepRow>,
    /// Relations in both directions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_relation: Vec<RelationRow>,
    /// Share of queries whose gold answer the model said nothing about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreached: Option<f64>,
    /// Queries whose gold answer scored "not a number".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_a_number: Option<u64>,
    /// Queries not asked again because their fact stands in the test split more than once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated_queries: Option<usize>,
    /// The latest time whose facts the model read, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_read: Option<String>,
    /// How the model was selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// How training went, one entry per stage: epochs, the best one, its validation MRR, why it ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub training: Vec<serde_json::Value>,
    /// How the intervals came about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<BlockBootstrap>,
    /// Wall-clock seconds.
    pub seconds: Seconds,
    /// Peak memory of the process, where the system tells.
    pub peak_memory_bytes: Option<u64>,
}

impl RunRecord {
    /// Version of the layout.
    pub const SCHEMA: u32 = 1;
    /// File name inside a run folder.
    pub const FILE: &str = "metrics.json";

    /// A record of a run that has just begun.
    pub fn begun(dataset: DatasetCard, model: ModelCard, protocol: Protocol, seed: u64) -> Self {
        Self {
            schema: Self::SCHEMA,
            status: Status::Incomplete,
            error: None,
            fitted: None,
            dataset,
            model,
            scores: None,
            protocol,
            seed,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            metrics: None,
            holes: None,
            by_step: Vec::new(),
            by_relation: Vec::new(),
            unreached: None,
            not_a_number: None,
            repeated_queries: None,
            latest_read: None,
            selection: None,
            training: Vec::new(),
            bootstrap: None,
            seconds: Seconds::default(),
            peak_memory_bytes: None,
        }
    }

    /// Takes the results of an evaluation; the record is complete then.
    pub fn complete(&mut self, dataset: &Dataset, judged: &Judged, outcome: Outcome) {
        let [time, fixed, raw] = outcome.filters;
        self.metrics = Some(FilterMetrics { time, fixed, raw });
        self.by_step = outcome
            .by_step
            .iter()
            .map(|row| StepRow { step: row.step.0, time: dataset.axis.label(row.step), part: row.part })
            .collect();
        self.by_relation = outcome
            .by_relation
            .iter()
            .map(|row| RelationRow {
                id: row.relation.0,
                relation: dataset.vocabulary.relations.name(row.relation.0).into_owned(),
                direction: row.direction.word().to_owned(),
                part: row.part,
            })
            .collect();
        self.unreached = Some(outcome.unreached);
        self.not_a_number = Some(outcome.not_a_number);
        self.repeated_queries = Some(judged.repeated);
        self.latest_read = judged.latest_read.map(|step| dataset.axis.label(step));
        self.bootstrap = Some(outcome.bootstrap);
        self.fitted = None;
        self.status = Status::Complete;
    }

    /// Takes what an interrupted run of the same model has left: its fit, and what that cost.
    pub fn take_fit(&mut self, earlier: &Self) {
        self.fitted = earlier.fitted;
        self.selection.clone_from(&earlier.selection);
        self.training.clone_from(&earlier.training);
        self.seconds.load += earlier.seconds.load;
        self.seconds.fit = earlier.seconds.fit;
        self.peak_memory_bytes = self.peak_memory_bytes.max(earlier.peak_memory_bytes);
    }

    /// Writes `metrics.json` into a run folder.
    pub fn write(&self, folder: &Path) -> Result<(), FileError> {
        write_atomically(&folder.join(Self::FILE), |out| {
            serde_json::to_writer_pretty(&mut *out, self)?;
            out.write_all(b"\n")
        })
    }

    /// Reads the record of a run folder.
    pub fn read(folder: &Path) -> Result<Self, FileError> {
        let path = folder.join(Self::FILE);
        let text = fs::read(&path).map_err(|source| FileError::Read { path: path.clone(), source })?;
        serde_json::from_slice(&text).map_err(|error| FileError::Content { path, message: error.to_string() })
    }

    /// Takes back what ranks from a file cannot tell: silence, scores that are not numbers, and tie policies that need
    /// more than the file says.
    pub fn forget_scores(&mut self, ties_known: bool, order_known: bool) {
        (self.unreached, self.not_a_number) = (None, None);
        let Some(metrics) = self.metrics.as_mut() else { return };
        for outcome in [&mut metrics.time, &mut metrics.fixed, &mut metrics.raw] {
            if !ties_known {
                outcome.policy.clear();
            } else if !order_known {
                outcome.policy.remove(TiePolicy::Ordinal.word());
            }
        }
    }

    /// Whether ties were counted: always, except for ranks from a file that does not tell them.
    pub fn ties_known(&self) -> bool {
        self.scores.as_ref().and_then(|scores| scores.ties_known) != Some(false)
    }

    /// Means by tie policy of the time-aware filter.
    pub fn policies(&self) -> Option<&BTreeMap<String, quadcast_eval::Metrics>> {
        self.metrics.as_ref().map(|metrics| &metrics.time.policy)
    }
}
