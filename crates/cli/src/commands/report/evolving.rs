//! Reports on runs on changing graphs.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use quadcast_report::{
    EvolvingRecord, Status, evolving_csv, evolving_latex, evolving_markdown, evolving_page, write_atomically,
};
use serde_json::json;

use super::{Options, ReportFormat, print};
use crate::failure::Failure;
use crate::output::Output;

/// Whether the runs are on changing graphs; it is an error if only some are.
pub fn concerns(runs: &[PathBuf]) -> Result<bool, Failure> {
    let kinds = runs.iter().map(|run| EvolvingRecord::is_in(run)).collect::<Result<Vec<bool>, _>>()?;
    let first = |kind: bool| runs.iter().zip(&kinds).find(|(_, own)| **own == kind).map(|(run, _)| run);
    match (first(true), first(false)) {
        (Some(changing), Some(other)) => Err(Failure::input(format!(
            "{} holds a run on a changing graph, {} does not, and the two cannot be compared: make a report of each kind",
            changing.display(),
            other.display()
        ))),
        (changing, _) => Ok(changing.is_some()),
    }
}

pub fn execute(
    options: &Options,
    format: ReportFormat,
    out: Option<PathBuf>,
    output: &Output,
) -> Result<(), Failure> {
    let Loaded { names, records, left_out } = load(&options.runs)?;
    for note in &left_out {
        output.remark(note);
    }
    if records.is_empty() {
        return Err(Failure::input(format!(
            "no run is complete: {}. Finish one with `quadcast evolve run`",
            left_out.join("; ")
        )));
    }
    let text = match format {
        ReportFormat::Html => evolving_page(&records, options.title.as_deref(), &left_out),
        ReportFormat::Md => evolving_markdown(&records, &left_out),
        ReportFormat::Csv => evolving_csv(names.iter().map(String::as_str).zip(&records)),
        ReportFormat::Latex => evolving_latex(&records),
    };
    let Some(path) = out else { return print(&text) };
    write_atomically(&path, |file| file.write_all(text.as_bytes()))?;
    output.result(&written(&path, &records, &left_out), || format!("report: {}\n", path.display()))
}

/// Complete runs with their folders, and a sentence for every run that is not complete.
#[derive(Default)]
struct Loaded {
    names: Vec<String>,
    records: Vec<EvolvingRecord>,
    left_out: Vec<String>,
}

/// A folder that is named twice counts once.
fn load(folders: &[PathBuf]) -> Result<Loaded, Failure> {
    let (mut loaded, mut known) = (Loaded::default(), BTreeSet::new());
    for folder in folders {
        let shown = folder.display();
        if !known.insert(fs::canonicalize(folder).unwrap_or_else(|_| folder.clone())) {
            continue;
        }
        let record = EvolvingRecord::read(folder)?
            .ok_or_else(|| Failure::internal(format!("{shown} has changed while it was read")))?;
        let why = match record.status {
            Status::Complete => {
                loaded.names.push(shown.to_string());
                loaded.records.push(record);
                continue;
            }
            Status::Incomplete => "not finished: still running, or killed".to_owned(),
            Status::Failed => format!("failed: {}", record.error.as_deref().unwrap_or("without a reason")),
        };
        loaded.left_out.push(format!("left out: {shown} is {why}"));
    }
    Ok(loaded)
}

/// What `--json` prints.
fn written(path: &Path, records: &[EvolvingRecord], left_out: &[String]) -> serde_json::Value {
    let run = |record: &EvolvingRecord| {
        json!({
            "model": record.model.name,
            "dataset": record.dataset.name,
            "procedure": record.procedure,
            "asked": record.asked,
            "seed": record.seed,
            "filtered": record.outcome.as_ref().map(|outcome| outcome.filtered.by_step),
        })
    };
    json!({ "report": path, "runs": records.iter().map(run).collect::<Vec<_>>(), "left_out": left_out })
}
