//! `quadcast data …`: what is in a dataset, is it sound, how do its relations mirror each other, does another hold the same
//! facts, which are known, and where do they come from.

use std::path::PathBuf;

use clap::Args;
use quadcast_analysis::{LeakageOptions, PatternOptions};
use quadcast_core::{Detection, Verdict};
use quadcast_data::{FetchOptions, LoadOptions, Loaded, variant, variants};
use quadcast_report::{
    audit_text, catalogue_text, diff_text, fetch_text, info_text, patterns_page, patterns_text, shown,
};
use quadcast_run::{open, reference_scores, write_atomically};
use serde_json::json;

use crate::arguments::Source;
use crate::output::{Failure, Output};

/// Finds and reads a dataset in the layout that may be given.
pub fn open_source(source: &Source) -> Result<Loaded, Failure> {
    open(&source.data, LoadOptions { format: source.format, ..LoadOptions::default() })
}

/// The same for inspection commands: operations that contradict the graph are read too.
fn open_to_inspect(source: &Source) -> Result<Loaded, Failure> {
    open(&source.data, LoadOptions { format: source.format, contradictory: true })
}

pub fn info(source: &Source, output: &Output) -> Result<(), Failure> {
    let info = quadcast_analysis::info(&open_to_inspect(source)?);
    output.result(&info, || info_text(&info))
}

/// Shown after the help.
pub const AUDIT_EXAMPLES: &str = "Examples:
  quadcast data audit examples/harbour
  quadcast data audit YAGO --json
  quadcast data audit completion/icews14 --max-leakage 0.05

Leakage is what train tells about a test fact: it warns, and fails only above --max-leakage.";

/// What to check.
#[derive(Debug, Args)]
pub struct AuditArguments {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub detection: DetectionArguments,
    /// Fail if more test facts than this stand in train or follow from a pattern at their time
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub max_leakage: Option<f64>,
}

pub fn audit(arguments: &AuditArguments, output: &Output) -> Result<(), Failure> {
    let options =
        LeakageOptions { detection: (&arguments.detection).into(), max_leakage: arguments.max_leakage };
    let loaded = open_to_inspect(&arguments.source)?;
    let mut audit = quadcast_analysis::audit_with(&loaded, &options);
    audit.leakage.scores = reference_scores(&loaded, audit.leakage.split_kind)?;
    output.result(&audit, || audit_text(&audit))?;
    if audit.worst() == Verdict::Fail {
        return Err(Failure::input("the audit failed; see the checks above"));
    }
    Ok(())
}

pub fn list(output: &Output) -> Result<(), Failure> {
    output.result(&variants(), || catalogue_text(output.verbose))
}

/// Shown after the help.
pub const PATTERN_EXAMPLES: &str = "Examples:
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

/// A share as a fraction.
fn share(text: &str) -> Result<f64, String> {
    let found: f64 = text.parse().map_err(|_| format!("{text:?} is no number"))?;
    if (0.0..=1.0).contains(&found) { Ok(found) } else { Err("expected a share from 0 to 1".to_owned()) }
}

pub fn patterns(arguments: &PatternArguments, output: &Output) -> Result<(), Failure> {
    let out = arguments.out.as_deref();
    if let Some(path) = out.filter(|path| path.is_dir()) {
        let path = shown(path.display());
        return Err(Failure::input(format!(
            "--out {path} is a folder: name a file, such as {path}/patterns.html"
        )));
    }
    let loaded = open_source(&arguments.source)?;
    let options = PatternOptions { detection: (&arguments.detection).into(), all: arguments.all };
    let found = quadcast_analysis::patterns(&loaded, &options);
    let mut document = serde_json::to_value(&found).map_err(Failure::internal)?;
    if let Some(path) = out {
        let page = patterns_page(&found);
        write_atomically(path, |file| file.write_all(page.as_bytes()))?;
        document["report"] = json!(path);
    }
    output.result(&document, || {
        let written = out.map(|path| format!("\nreport: {}\n", shown(path.display())));
        patterns_text(&found) + &written.unwrap_or_default()
    })
}

/// Shown after the help.
pub const DIFF_EXAMPLES: &str = "Examples:
  quadcast data diff examples/harbour tmp-harbour
  quadcast data diff completion/icews14 forecasting/ICEWS14 --json

Entities and relations are aligned by name: blanks and underscores are the same, no-break spaces and
quotes as in CSV are overlooked. Times are aligned by calendar date. The exit code is 0 whatever the
answer; same_facts and same_splits of --json are for programs.";

/// What to compare.
#[derive(Debug, Args)]
pub struct DiffArguments {
    /// A dataset folder, or a name to be found in $QUADCAST_DATA or the cache
    #[arg(value_name = "A")]
    pub a: String,
    /// Another one
    #[arg(value_name = "B")]
    pub b: String,
}

pub fn diff(arguments: &DiffArguments, output: &Output) -> Result<(), Failure> {
    let [a, b] = [&arguments.a, &arguments.b].map(|data| open(data, LoadOptions::default()));
    let (a, b) = (a?, b?);
    a.notes.iter().chain(&b.notes).for_each(|note| output.detail(note));
    let report = quadcast_analysis::diff(&a, &b)?;
    output.result(&report, || diff_text(&report))
}

/// Shown after the help.
pub const FETCH_EXAMPLES: &str = "Examples:
  quadcast data fetch ICEWS14
  quadcast data fetch WN18 --out data/WN18
  quadcast data fetch ICEWS14 --from http://mirror.example/ICEWS14

Files are checked against the SHA-256 of the published ones. The cache is $QUADCAST_CACHE, or
quadcast in the place that the system has for caches; names are looked up there afterwards.";

/// What to fetch.
#[derive(Debug, Args)]
pub struct FetchArguments {
    /// A variant of the catalogue; `quadcast data list` marks those that can be fetched
    pub name: String,
    /// Address of a folder that holds the files, instead of those of the catalogue
    #[arg(long, value_name = "URL")]
    pub from: Option<String>,
    /// Folder to be made [default: in the cache]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

pub fn fetch(arguments: FetchArguments, output: &Output) -> Result<(), Failure> {
    let variant = variant(&arguments.name)?;
    let options =
        FetchOptions { from: arguments.from, out: arguments.out.clone(), ..FetchOptions::default() };
    let report = quadcast_data::fetch(variant, &options, output.run().progress.as_ref())?;
    output.result(&report, || fetch_text(&report, arguments.out.is_none()))
}
