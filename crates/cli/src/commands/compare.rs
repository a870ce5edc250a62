//! `quadcast compare`: is one run better than another, or was it luck?

use std::path::{Path, PathBuf};

use clap::Args;
use quadcast_core::Protocol;
use quadcast_eval::Comparison;
use quadcast_report::{comparison_text, shown};
use quadcast_run::{Record, Results, read_results};
use serde_json::{Value, json};

use crate::output::{Failure, Output};

pub const EXAMPLES: &str = "Examples:
  quadcast compare runs/recurrency-ICEWS14-single-step-1 runs/external-mine-ICEWS14-single-step-1
  quadcast compare tmp-first tmp-second --json

Differences are second minus first. Runs on other data, under another protocol or with other
queries are refused.";

/// Which runs to compare.
#[derive(Debug, Args)]
pub struct CompareOptions {
    /// Folder of the first run
    #[arg(value_name = "RUN")]
    first: PathBuf,
    /// Folder of the second run
    #[arg(value_name = "RUN")]
    second: PathBuf,
}

pub fn execute(options: &CompareOptions, output: &Output) -> Result<(), Failure> {
    let folders = [options.first.as_path(), options.second.as_path()];
    let [
        Results { record: first, ranks: first_ranks, .. },
        Results { record: second, ranks: second_ranks, .. },
    ] = [read_results(folders[0])?, read_results(folders[1])?];
    let records = [first, second];
    for (folder, record) in folders.iter().zip(&records) {
        record.expect_honest(shown(folder.display()))?;
    }
    comparable(folders, &records)?;
    let [first, second] = &records;
    let comparison = Comparison::new(
        [&first_ranks, &second_ranks],
        first.candidates(),
        &first.protocol,
        [first.seed, second.seed],
    )?;
    let [time, fixed, raw] = &comparison.filters;
    let document = json!({
        "first": side(folders[0], first),
        "second": side(folders[1], second),
        "dataset": first.dataset,
        "protocol": first.protocol,
        "differences": { "time": time, "static": fixed, "raw": raw },
        "queries": comparison.queries,
        "bootstrap": comparison.bootstrap,
        "permutation": comparison.permutation,
    });
    output.result(&document, || comparison_text(folders, &records, &comparison))
}

fn side(folder: &Path, record: &Record) -> Value {
    let Record { seed, version, scores, isolation, .. } = record;
    let mut side = json!({ "record": folder, "model": record.model.name, "seed": seed, "version": version,
        "isolation": isolation });
    if let Some(scores) = scores {
        side["scores"] = json!(scores);
    }
    side
}

/// Same data, same protocol; the message lists what differs.
fn comparable(folders: [&Path; 2], [first, second]: &[Record; 2]) -> Result<(), Failure> {
    let mut reasons = Vec::new();
    let (a, b) = (&first.dataset, &second.dataset);
    if a.fingerprint != b.fingerprint {
        reasons.push(format!(
            "dataset: {} (fingerprint {}) and {} (fingerprint {})",
            shown(&a.name),
            a.fingerprint,
            shown(&b.name),
            b.fingerprint
        ));
    }
    let fields = |protocol: &Protocol| serde_json::to_value(protocol).map_err(Failure::internal);
    // Procedures of evolving graphs are ways to train, and are compared with each other.
    let key = |record: &Record| record.protocol.comparison_key();
    let (theirs, ours) = (fields(&key(first))?, fields(&key(second))?);
    if first.asked != second.asked || first.update.is_some() != second.update.is_some() {
        reasons.push("test triples: other triples were asked about".to_owned());
    }
    for (field, value) in theirs.as_object().into_iter().flatten() {
        if ours[field] != *value {
            reasons.push(format!("{field}: {} and {}", word(value), word(&ours[field])));
        }
    }
    if reasons.is_empty() {
        return Ok(());
    }
    let [one, other] = folders.map(|folder| shown(folder.display()));
    Err(Failure::input(format!(
        "{one} and {other} cannot be compared, they differ in\n  {}",
        reasons.join("\n  ")
    )))
}

/// A protocol value without the quotes of JSON.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
