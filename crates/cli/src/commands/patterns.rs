//! `quadcast data patterns`: how the relations of a dataset mirror, accompany and repeat each other.

use std::path::{Path, PathBuf};

use clap::Args;
use quadcast_analysis::{PatternOptions, Patterns, patterns};
use quadcast_core::Detection;
use quadcast_report::{patterns_page, patterns_text};
use quadcast_run::write_atomically;
use serde::Serialize;

use super::data::open_source;
use crate::arguments::Source;
use crate::failure::Failure;
use crate::output::Output;

/// Shown after the help.
pub const EXAMPLES: &str = "Examples:
  quadcast data patterns examples/harbour
  quadcast data patterns completion/icews14 --out patterns.html
  quadcast data patterns WN18 --all --json

Shares are of a relation's facts. Facts count once; facts of an entity with itself are left out.
Evolving graphs are counted at their last step.";

/// When shares make a pattern.
#[derive(Debug, Args)]
pub struct DetectionArguments {
    /// The share of mirrored facts above which relations are symmetric, inverse or parallel
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, value_parser = share)]
    pub threshold: f64,
    /// Relations with fewer facts have no pattern
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub min_support: u64,
}

impl From<&DetectionArguments> for Detection {
    fn from(arguments: &DetectionArguments) -> Self {
        Self { threshold: arguments.threshold, min_support: arguments.min_support, ..Self::default() }
    }
}

/// What to count.
#[derive(Debug, Args)]
pub struct PatternArguments {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub detection: DetectionArguments,
    /// Count the facts of all splits, not only train
    #[arg(long)]
    pub all: bool,
    /// Write a page with a map of the relations and a table of all
    #[arg(long, value_name = "FILE.html")]
    pub out: Option<PathBuf>,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    patterns: &'a Patterns,
    #[serde(skip_serializing_if = "Option::is_none")]
    report: Option<&'a Path>,
}

/// A share as a fraction.
pub fn share(text: &str) -> Result<f64, String> {
    let found: f64 = text.parse().map_err(|_| format!("{text:?} is no number"))?;
    if (0.0..=1.0).contains(&found) { Ok(found) } else { Err("expected a share from 0 to 1".to_owned()) }
}

pub fn execute(arguments: &PatternArguments, output: &Output) -> Result<(), Failure> {
    let out = arguments.out.as_deref();
    if let Some(path) = out.filter(|path| path.is_dir()) {
        let path = path.display();
        return Err(Failure::input(format!(
            "--out {path} is a folder: name a file, such as {path}/patterns.html"
        )));
    }
    let loaded = open_source(&arguments.source)?;
    let options = PatternOptions { detection: (&arguments.detection).into(), all: arguments.all };
    let found = patterns(&loaded, &options);
    if let Some(path) = out {
        let page = patterns_page(&found);
        write_atomically(path, |file| file.write_all(page.as_bytes()))?;
    }
    output.result(&Document { patterns: &found, report: out }, || {
        let written = out.map(|path| format!("\nreport: {}\n", path.display()));
        patterns_text(&found) + &written.unwrap_or_default()
    })
}
