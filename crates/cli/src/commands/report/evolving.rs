//! Reports on runs on changing graphs.

use std::path::{Path, PathBuf};

use quadcast_report::{EvolvingRecord, RunRecord, Status, evolving_page, evolving_summary, write_atomically};
use serde_json::json;

use super::{Options, ReportFormat, not_a_run, print};
use crate::failure::Failure;
use crate::output::Output;

/// Whether the runs are on changing graphs; it is an error if only some are.
pub fn concerns(runs: &[PathBuf]) -> Result<bool, Failure> {
    let is_one = |folder: &PathBuf| -> Result<bool, Failure> {
        let there = folder.join(RunRecord::FILE).is_file();
        Ok(there && EvolvingRecord::read(folder)?.is_some())
    };
    let kinds = runs.iter().map(is_one).collect::<Result<Vec<bool>, Failure>>()?;
    match (kinds.contains(&true), kinds.contains(&false)) {
        (true, true) => Err(Failure::input(
            "runs on changing graphs and others cannot be compared: make a report of each kind",
        )),
        (changing, _) => Ok(changing),
    }
}

pub fn execute(
    options: &Options,
    format: ReportFormat,
    out: Option<PathBuf>,
    output: &Output,
) -> Result<(), Failure> {
    let (mut records, mut left_out) = (Vec::new(), Vec::new());
    for folder in &options.runs {
        let record = EvolvingRecord::read(folder)?.ok_or_else(|| not_a_run(folder))?;
        if record.status == Status::Complete {
            records.push(record);
        } else {
            left_out.push(format!("left out: {} is not complete", folder.display()));
        }
    }
    for note in &left_out {
        output.remark(note);
    }
    if records.is_empty() {
        return Err(Failure::input("no run is complete. Finish one with `quadcast evolve run`"));
    }
    let text = match format {
        ReportFormat::Html => evolving_page(&records, options.title.as_deref(), &left_out),
        ReportFormat::Md => {
            let blocks: Vec<String> =
                records.iter().map(|r| format!("```\n{}```\n", evolving_summary(r))).collect();
            blocks.concat()
        }
        ReportFormat::Csv | ReportFormat::Latex => {
            return Err(Failure::input(
                "runs on changing graphs are reported as html or md; metrics.json has all numbers",
            ));
        }
    };
    let Some(path) = out else { return print(&text) };
    write_atomically(&path, |file| file.write_all(text.as_bytes()))?;
    output.result(&written(&path, &records, &left_out), || format!("report: {}\n", path.display()))
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
