//! `quadcast report`: runs as one page, or as tables for other programs.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use quadcast_report::{LoadedRun, csv, html, latex, markdown, shown};
use quadcast_run::{expect_run, write_atomically};
use serde::Serialize;
use serde_json::{Value, json};

use crate::output::{Failure, Output, print};

/// Shown below the help.
pub const EXAMPLES: &str = "Examples:
  quadcast report runs/* --out report.html
  quadcast report runs/a runs/b --format md
  quadcast report runs/* --format csv --out results.csv
  quadcast report runs/* --format latex --out table.tex

Runs on different datasets get a section each, runs under different protocols a table
each: they are never ranked together. Runs that are not complete are left out, and so are
demonstrations of the query-set leak.";

/// What to report on, and how.
#[derive(Debug, Args)]
pub struct Options {
    /// Run folders
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// The file to write, - for standard output [default: report.html; other formats: -]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// What to write [default: by the ending of --out, else html]
    #[arg(long, value_enum)]
    pub format: Option<ReportFormat>,
    /// Heading of the page [default: the models and datasets]
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,
    /// CSV: put an apostrophe before names that a spreadsheet takes for formulas [default: exact names]
    #[arg(long)]
    pub spreadsheet: bool,
}

/// Formats of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum ReportFormat {
    /// One page with tables and charts; nothing else is needed to read it
    Html,
    /// Markdown tables
    Md,
    /// One row per run, filter and step (of evolving graphs); fractions
    Csv,
    /// Tables for a paper; need the package booktabs
    Latex,
}

pub fn execute(options: &Options, output: &Output) -> Result<(), Failure> {
    let (format, out) = target(options, output)?;
    options.runs.iter().try_for_each(|folder| expect_run(folder))?;
    let (runs, left_out) = LoadedRun::read_all(&options.runs)?;
    for note in &left_out {
        output.remark(note);
    }
    if runs.is_empty() {
        return Err(Failure::input(format!(
            "no complete run to report: {}. Finish one with `quadcast run`",
            left_out.join("; ")
        )));
    }
    let extras = quadcast_report::Options {
        title: options.title.clone(),
        notes: left_out.clone(),
        spreadsheet: options.spreadsheet,
        ..Default::default()
    };
    let text = match format {
        ReportFormat::Html => html(&runs, &extras),
        ReportFormat::Md => markdown(&runs, &extras),
        ReportFormat::Csv => csv(&runs, &extras),
        ReportFormat::Latex => latex(&runs, &extras),
    };
    let Some(path) = out else { return print(|out| out.write_all(text.as_bytes())) };
    write_atomically(&path, |file| file.write_all(text.as_bytes()))?;
    let document = json!({
        "report": path,
        "format": format,
        "bytes": text.len(),
        "runs": runs.iter().map(line).collect::<Vec<_>>(),
        "left_out": left_out,
    });
    output.result(&document, || format!("report: {}\n", shown(path.display())))
}

/// The format and the file; no file means standard output.
fn target(options: &Options, output: &Output) -> Result<(ReportFormat, Option<PathBuf>), Failure> {
    let ending = options.out.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
    let format = options.format.unwrap_or(match ending {
        Some("md") => ReportFormat::Md,
        Some("csv") => ReportFormat::Csv,
        Some("tex") => ReportFormat::Latex,
        _ => ReportFormat::Html,
    });
    let out = match (&options.out, format) {
        (Some(path), _) if path.as_os_str() == "-" => None,
        (Some(path), _) => Some(path.clone()),
        (None, ReportFormat::Html) => Some(PathBuf::from("report.html")),
        (None, _) => None,
    };
    if options.spreadsheet && format != ReportFormat::Csv {
        return Err(Failure::input("--spreadsheet is for CSV: choose it with --format csv"));
    }
    if out.is_none() && output.json {
        return Err(Failure::input(
            "--json and the report cannot share standard output: name a file with --out",
        ));
    }
    if let Some(path) = out.as_deref().filter(|path| path.is_dir()) {
        let path = shown(path.display());
        return Err(Failure::input(format!(
            "--out {path} is a folder: name a file, such as {path}/report.html"
        )));
    }
    Ok((format, out))
}

fn line(run: &LoadedRun) -> Value {
    let record = &run.record;
    json!({
        "record": run.name,
        "model": record.model.name,
        "dataset": record.dataset.name,
        "fingerprint": record.dataset.fingerprint.to_string(),
        "task": record.task.word(),
        "setting": record.protocol.headline(),
        "seed": record.seed,
        "mrr": run.outcome(quadcast_core::Filter::Time).metrics.mrr,
    })
}
