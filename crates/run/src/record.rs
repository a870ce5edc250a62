//! `metrics.json`: the result of a run with everything that decides whether it can be compared.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Display;
use std::fs;
use std::hash::Hash;
use std::io;
use std::path::Path;

use quadcast_core::{Dataset, EvolvingDataset, Fingerprint, Names, Protocol, Split, Step, Task, TiePolicy};
use quadcast_eval::evolving::{EvolvingOutcome, Learned, Played, StepResult};
use quadcast_eval::{BlockBootstrap, Isolation, Judged, Metrics, Outcome, RankedQuery, RelationTime};
use serde::{Deserialize, Serialize};

use crate::checksums::{checksum, hex};
use crate::{FileError, FilterMetrics, RelationRow, RunError, StepRow, write_atomically};

/// The field of `metrics.json` with the checksum of all others.
const CHECKSUM: &str = "checksum";

/// The checksum of a document, whatever the blanks in its file.
fn value_checksum(value: &serde_json::Value) -> String {
    hex(&checksum(&[value.to_string().as_bytes()])[..8])
}

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
    /// Content hash of the names, if the model reads them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<Fingerprint>,
    /// Size of the entity id space.
    pub entities: usize,
    /// Number of relations.
    pub relations: usize,
    /// Training facts; of an evolving graph, training triples at the last step.
    pub train: usize,
    /// Validation facts; of an evolving graph, those asked about at all steps.
    pub valid: usize,
    /// Test facts; of an evolving graph, those asked about at all steps.
    pub test: usize,
    /// Test facts that are validation facts as well: what is selected on these is selected on test.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub test_in_valid: usize,
    /// Steps of an evolving graph.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<usize>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl DatasetCard {
    /// The card of a dataset with times.
    pub fn new(dataset: &Dataset, variant: Option<&str>, fingerprint: Fingerprint) -> Self {
        let facts = |split| dataset.splits.get(split).len();
        Self {
            name: dataset.name.clone(),
            variant: variant.map(str::to_owned),
            fingerprint,
            names: None,
            entities: dataset.entities(),
            relations: dataset.relations(),
            train: facts(Split::Train),
            valid: facts(Split::Valid),
            test: facts(Split::Test),
            test_in_valid: shared(dataset.splits.valid.iter(), dataset.splits.test.iter()),
            steps: None,
        }
    }

    /// The card of an evolving graph. How many training triples it ends with is known once it was played.
    pub fn evolving(data: &EvolvingDataset, variant: Option<&str>, fingerprint: Fingerprint) -> Self {
        Self {
            name: data.name.clone(),
            variant: variant.map(str::to_owned),
            fingerprint,
            names: None,
            entities: data.vocabulary.entities.len(),
            relations: data.vocabulary.relations.len(),
            train: 0,
            valid: data.steps.iter().map(|step| step.evaluation.valid.len()).sum(),
            test: data.steps.iter().map(|step| step.evaluation.test.len()).sum(),
            test_in_valid: data
                .steps
                .iter()
                .map(|step| {
                    shared(step.evaluation.valid.iter().copied(), step.evaluation.test.iter().copied())
                })
                .sum(),
            steps: Some(data.steps.len()),
        }
    }
}

/// How many of the test facts are validation facts.
fn shared<T: Eq + Hash>(valid: impl Iterator<Item = T>, test: impl Iterator<Item = T>) -> usize {
    let valid: HashSet<T> = valid.collect();
    test.filter(|fact| valid.contains(fact)).count()
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
    /// The run that trained it, if it was not trained here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trained_by: Option<TrainedBy>,
}

/// The run that a model comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrainedBy {
    /// The folder, as it was named.
    pub run: String,
    /// The digest of its record.
    pub digest: String,
    /// The protocol that its model was selected under.
    pub protocol: String,
    /// The latest time of the facts that it was trained and selected on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
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

/// The operations that a model was updated with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UpdateCard {
    /// The run that the model comes from.
    pub from: String,
    /// The file of operations.
    pub file: String,
    /// Its operations.
    pub operations: usize,
    /// Entities that were not there before.
    pub new_entities: usize,
    /// Relations that were not there before.
    pub new_relations: usize,
    /// How the model did on each earlier step right after learning it, as far as earlier records say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learned: Vec<Learned>,
}

/// Which held-out triples were asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AskedAbout {
    /// All held-out triples that are true at a step.
    All,
    /// Those that the benchmark names or that were drawn.
    Sample,
    /// Those that were inserted with the step.
    New,
}

impl AskedAbout {
    /// The word used in records.
    pub const fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Sample => "sample",
            Self::New => "new",
        }
    }

    /// What the test triples are, in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::All => "all held-out triples",
            Self::Sample => "a sample of the held-out triples",
            Self::New => "held-out triples that were inserted with the step",
        }
    }
}

/// Wall-clock seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Seconds {
    /// Reading the data.
    pub load: f64,
    /// Fitting and selecting the model; of an evolving graph, at all steps.
    pub fit: f64,
    /// Scoring and ranking the test period.
    pub evaluate: f64,
}

/// The record of a run of any task. Numbers are fractions, not per cent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Version of this layout.
    pub schema: u32,
    /// The task.
    pub task: Task,
    /// How far the run has come.
    pub status: Status,
    /// What stopped it, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Content hash of the saved model, once it is fitted. Only written while the run is not complete.
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
    /// Relation prediction and time prediction; of completion models that can rate facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relation_time: Option<RelationTime>,
    /// Evolving graphs: which held-out triples were asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<AskedAbout>,
    /// Evolving graphs: the operations that the model was updated with, if this is an update; its results are those after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdateCard>,
    /// Evolving graphs: links, classification, transfer and cost by step, and their means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evolving: Option<EvolvingOutcome>,
    /// Curve over time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_step: Vec<StepRow>,
    /// Relations in both directions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_relation: Vec<RelationRow>,
    /// Share of queries whose correct answer the model did not score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreached: Option<f64>,
    /// Queries whose correct answer scored "not a number".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_a_number: Option<u64>,
    /// Queries not asked again because their fact is a duplicate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeated_queries: Option<usize>,
    /// The latest time whose facts the model read, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latest_read: Option<String>,
    /// Whether each query was answered without knowing the others. Absent where it was not checked: scores from elsewhere and
    /// evolving graphs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolation: Option<Isolation>,
    /// How the model was selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// How training went, one entry per stage or step: epochs, the best one, its validation score, why it ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub training: Vec<serde_json::Value>,
    /// How the intervals came about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bootstrap: Option<BlockBootstrap>,
    /// Wall-clock seconds.
    pub seconds: Seconds,
    /// Peak memory of the process, where the system tells.
    pub peak_memory_bytes: Option<u64>,
    /// Hash of plan, data, version and results; absent until the run is complete. Runs with equal results have equal digests, however
    /// long they took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl Record {
    /// Version of the layout.
    pub const SCHEMA: u32 = 3;
    /// File name inside a run folder.
    pub const FILE: &str = "metrics.json";

    /// A record of a run that has just begun.
    pub fn begun(dataset: DatasetCard, model: ModelCard, protocol: Protocol, seed: u64) -> Self {
        Self {
            schema: Self::SCHEMA,
            task: protocol.task,
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
            relation_time: None,
            asked: None,
            update: None,
            evolving: None,
            by_step: Vec::new(),
            by_relation: Vec::new(),
            unreached: None,
            not_a_number: None,
            repeated_queries: None,
            latest_read: None,
            isolation: None,
            selection: None,
            training: Vec::new(),
            bootstrap: None,
            seconds: Seconds::default(),
            peak_memory_bytes: None,
            digest: None,
        }
    }

    /// Takes the results of an evaluation; the record is complete then. `None` without queries.
    pub fn complete(&mut self, dataset: &Dataset, judged: &Judged) -> Option<()> {
        let axis = &dataset.axis;
        self.take_ranks(&judged.ranked, &dataset.vocabulary.relations, |step| axis.label(step))?;
        self.repeated_queries = Some(judged.repeated);
        self.latest_read = judged.latest_read.map(|step| axis.label(step));
        self.isolation = judged.isolation;
        Some(())
    }

    /// Takes the results of a model that was played through the steps of an evolving graph; the record is complete then. `None`
    /// without queries.
    pub fn complete_evolving(&mut self, data: &EvolvingDataset, played: Played) -> Option<()> {
        let Played { outcome, ranked } = played;
        let label =
            |step: Step| data.steps.get(step.index()).map_or_else(String::new, |own| own.label.clone());
        self.take_ranks(&ranked, &data.vocabulary.relations, label)?;
        self.dataset.train = outcome.steps.last().map_or(0, |step| step.sizes.train);
        self.dataset.test = outcome.steps.iter().map(|step| step.sizes.test).sum();
        self.seconds.fit = outcome.steps.iter().map(|step| step.seconds.train).sum();
        self.seconds.evaluate = outcome.steps.iter().map(|step| step.seconds.evaluate).sum();
        self.evolving = Some(outcome);
        Some(())
    }

    fn take_ranks(
        &mut self,
        ranked: &[RankedQuery],
        relations: &Names,
        label: impl Fn(Step) -> String,
    ) -> Option<()> {
        let outcome = Outcome::new(ranked, self.candidates(), &self.protocol, self.seed)?;
        let [time, fixed, raw] = outcome.filters;
        self.metrics = Some(FilterMetrics { time, fixed, raw });
        self.by_step = outcome
            .by_step
            .iter()
            .map(|(&step, &part)| StepRow { step: step.0, time: label(step), part })
            .collect();
        self.by_relation = outcome
            .by_relation
            .iter()
            .map(|(&(relation, direction), &part)| RelationRow {
                id: relation.0,
                relation: relations.name(relation.0).into_owned(),
                direction: direction.word().to_owned(),
                part,
            })
            .collect();
        self.unreached = Some(outcome.unreached);
        self.not_a_number = Some(outcome.not_a_number);
        self.bootstrap = Some(outcome.bootstrap);
        self.fitted = None;
        self.status = Status::Complete;
        Some(())
    }

    /// Takes what an interrupted run of the same model has left: its fit, and what that cost.
    pub(crate) fn take_fit(&mut self, earlier: &Self) {
        self.fitted = earlier.fitted;
        self.selection.clone_from(&earlier.selection);
        self.training.clone_from(&earlier.training);
        self.seconds.load += earlier.seconds.load;
        self.seconds.fit = earlier.seconds.fit;
        self.peak_memory_bytes = self.peak_memory_bytes.max(earlier.peak_memory_bytes);
    }

    /// The record of a run that an error stopped.
    pub(crate) fn failed(&self, error: String) -> Self {
        Self { status: Status::Failed, error: Some(error), ..self.clone() }
    }

    /// Writes `metrics.json` into a run folder.
    pub fn write(&self, folder: &Path) -> Result<(), FileError> {
        write_atomically(&folder.join(Self::FILE), |out| out.write_all(&self.bytes()?))
    }

    /// The content of `metrics.json`: the record and a checksum of it.
    pub(crate) fn bytes(&self) -> io::Result<Vec<u8>> {
        let mut value = serde_json::to_value(self)?;
        let sum = value_checksum(&value);
        value[CHECKSUM] = sum.into();
        let mut bytes = serde_json::to_vec_pretty(&value)?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Reads the record of a run folder. A record that was damaged or edited is refused.
    pub fn read(folder: &Path) -> Result<Self, FileError> {
        let path = folder.join(Self::FILE);
        let text = fs::read(&path).map_err(|source| FileError::Read { path: path.clone(), source })?;
        let content = |message: String| FileError::Content { path: path.clone(), message };
        let mut value: serde_json::Value =
            serde_json::from_slice(&text).map_err(|e| content(e.to_string()))?;
        match value["schema"].as_u64() {
            Some(schema) if schema == u64::from(Self::SCHEMA) => {}
            Some(schema) => {
                return Err(content(format!(
                    "its layout is version {schema}, this program reads version {}; make the run again",
                    Self::SCHEMA
                )));
            }
            None => return Err(content("it has no schema".to_owned())),
        }
        let found = value.as_object_mut().and_then(|fields| fields.shift_remove(CHECKSUM));
        if found != Some(value_checksum(&value).into()) {
            return Err(FileError::Damaged { path });
        }
        let record: Self = serde_json::from_value(value).map_err(|error| content(error.to_string()))?;
        let most = record.dataset.entities.max(record.dataset.relations);
        if u32::try_from(most).is_err() {
            return Err(content(format!("it has {most} entities or relations, and ids have 32 bits")));
        }
        Ok(record)
    }

    /// An error about the run of this name, if it demonstrates the query-set leak: its figures are not results, and its model cannot
    /// be asked.
    pub fn expect_honest(&self, name: impl Display) -> Result<(), RunError> {
        let Some(leak) = self.protocol.leak else { return Ok(()) };
        Err(RunError::input(format!(
            "{name} demonstrates the query-set leak ({}): its model was shown the other queries of each step. It cannot be compared, \
             ranked or asked; see docs/query-set-leak.md",
            leak.word()
        )))
    }

    /// Evolving graphs: how the model did on each step right after learning it, with the run that it was updated from.
    pub fn learned(&self) -> Vec<Learned> {
        let earlier = self.update.iter().flat_map(|update| update.learned.iter().copied());
        let own =
            self.evolving.iter().flat_map(|outcome| outcome.steps.iter().filter_map(StepResult::learned));
        earlier.chain(own).collect()
    }

    /// Removes what ranks from a file cannot tell: answers without a score, scores that are not numbers, and tie policies that need
    /// more than the file says.
    pub(crate) fn forget_scores(&mut self, ties_known: bool, order_known: bool) {
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

    /// No rank lies beyond this. On an evolving graph, a correct answer that is no candidate of its step ranks behind all candidates.
    pub fn candidates(&self) -> usize {
        self.dataset.entities + usize::from(self.task == Task::Evolving)
    }

    /// Whether ties were counted: always, except for ranks from a file that does not tell them.
    pub fn ties_known(&self) -> bool {
        self.scores.as_ref().and_then(|scores| scores.ties_known) != Some(false)
    }

    /// Means by tie policy of the time-aware filter.
    pub fn policies(&self) -> Option<&BTreeMap<String, Metrics>> {
        self.metrics.as_ref().map(|metrics| &metrics.time.policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_those_of_records() {
        for asked in [AskedAbout::All, AskedAbout::Sample, AskedAbout::New] {
            assert_eq!(serde_json::to_value(asked).expect("a word"), asked.word());
        }
    }

    #[test]
    fn records_of_another_layout_are_refused_with_the_remedy() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join(Record::FILE), r#"{"schema": 1, "status": "complete"}"#)
            .expect("a file");
        let error = Record::read(folder.path()).expect_err("an old record").to_string();
        assert!(error.contains("its layout is version 1") && error.contains("make the run again"), "{error}");
    }
}
