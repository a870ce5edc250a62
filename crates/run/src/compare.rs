//! Two complete runs side by side: whether they can be compared, and by how much they differ.

use std::path::Path;

use quadcast_core::Protocol;
use quadcast_eval::{Comparison, Isolation};
use serde::Serialize;
use serde_json::Value;

use crate::error::one_line;
use crate::{DatasetCard, Record, Results, RunError, ScoreSource, read_results};

/// Two runs on the same data under the same protocol, and their differences: second minus first.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// The first run.
    pub first: ComparedRun,
    /// The second run.
    pub second: ComparedRun,
    /// What both were about.
    pub dataset: DatasetCard,
    /// The protocol of the first; that of the second may have another procedure.
    pub protocol: Protocol,
    /// The differences, query by query.
    #[serde(flatten)]
    pub comparison: Comparison,
}

/// One of two runs that are compared.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedRun {
    /// Its folder.
    #[serde(rename = "record")]
    pub folder: String,
    /// The model.
    pub model: String,
    /// Seed of every random stream.
    pub seed: u64,
    /// Version of Quadcast that made it.
    pub version: String,
    /// Whether each query was answered without knowing the others, where that was checked.
    pub isolation: Option<Isolation>,
    /// Where the scores came from, if not from a model of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scores: Option<ScoreSource>,
    /// Its setting or procedure, or its task.
    #[serde(skip)]
    pub headline: &'static str,
}

/// Reads two complete runs and compares them. Runs on other data, under another protocol or with other queries are an error that
/// says what differs, and so are damaged or edited folders.
///
/// ```
/// use quadcast_core::Run;
/// use quadcast_run::{Place, Plan, Session, compare};
///
/// # fn main() -> Result<(), quadcast_run::RunError> {
/// # let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/harbour");
/// # let room = tempfile::tempdir().expect("a folder");
/// let complete = |variant: &str| {
///     let plan = Plan { settings: vec![format!("variant={variant}")], ..Plan::new("recurrency", data) };
///     let place = Place { out: Some(room.path().join(variant)), ..Place::default() };
///     Session::open(plan, Run::silent(1))?.complete(&place)
/// };
/// let compared = compare([&complete("relaxed")?, &complete("combined")?])?;
/// let [time, _, _] = &compared.comparison.filters;
/// assert!(time.mrr.is_clear() && time.mrr.second > time.mrr.first);
/// # Ok(())
/// # }
/// ```
pub fn compare(folders: [&Path; 2]) -> Result<Compared, RunError> {
    let [first, second] = folders;
    Compared::new(folders, &[read_results(first)?, read_results(second)?])
}

impl Compared {
    /// Compares the results of two runs; their folders are for messages.
    pub fn new(folders: [&Path; 2], results: &[Results; 2]) -> Result<Self, RunError> {
        let [first, second] = results;
        let records = [&first.record, &second.record];
        for (folder, record) in folders.iter().zip(records) {
            record.expect_honest(one_line(folder.display()))?;
        }
        expect_comparable(folders, records)?;
        let comparison = Comparison::new(
            [&first.ranks, &second.ranks],
            first.record.candidates(),
            &first.record.protocol,
            records.map(|record| record.seed),
        )?;
        Ok(Self {
            first: ComparedRun::new(folders[0], &first.record),
            second: ComparedRun::new(folders[1], &second.record),
            dataset: first.record.dataset.clone(),
            protocol: first.record.protocol,
            comparison,
        })
    }
}

impl ComparedRun {
    fn new(folder: &Path, record: &Record) -> Self {
        Self {
            folder: folder.display().to_string(),
            model: record.model.name.clone(),
            seed: record.seed,
            version: record.version.clone(),
            isolation: record.isolation,
            scores: record.scores.clone(),
            headline: record.protocol.headline(),
        }
    }
}

/// Same data, same protocol; the message lists what differs.
fn expect_comparable(folders: [&Path; 2], [first, second]: [&Record; 2]) -> Result<(), RunError> {
    let mut reasons = Vec::new();
    let (a, b) = (&first.dataset, &second.dataset);
    if a.fingerprint != b.fingerprint {
        reasons.push(format!(
            "dataset: {} (fingerprint {}) and {} (fingerprint {})",
            one_line(&a.name),
            a.fingerprint,
            one_line(&b.name),
            b.fingerprint
        ));
    }
    if first.asked != second.asked || first.update.is_some() != second.update.is_some() {
        reasons.push("test triples: other triples were asked about".to_owned());
    }
    // Procedures of evolving graphs are ways to train, and are compared with each other.
    let fields = |record: &Record| serde_json::to_value(record.protocol.comparison_key());
    let (theirs, ours) =
        (fields(first).map_err(RunError::internal)?, fields(second).map_err(RunError::internal)?);
    for (field, value) in theirs.as_object().into_iter().flatten() {
        if ours[field] != *value {
            reasons.push(format!("{field}: {} and {}", word(value), word(&ours[field])));
        }
    }
    if reasons.is_empty() {
        return Ok(());
    }
    let [one, other] = folders.map(|folder| one_line(folder.display()));
    Err(RunError::input(format!(
        "{one} and {other} cannot be compared, they differ in\n  {}",
        reasons.join("\n  ")
    )))
}

/// A protocol value without the quotes of JSON.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
