//! `quadcast data …`: what is in a dataset, is it sound, and which are known.

use clap::Args;
use quadcast_analysis::LeakageOptions;
use quadcast_core::Verdict;
use quadcast_data::{LoadOptions, Loaded, variants};
use quadcast_report::{audit_text, catalogue_text, info_text};
use quadcast_run::{open, reference_scores};

use super::patterns::{DetectionArguments, share};
use crate::arguments::Source;
use crate::failure::Failure;
use crate::output::Output;

/// Finds and reads a dataset in the layout that may be given.
pub fn open_source(source: &Source) -> Result<Loaded, Failure> {
    open(&source.data, LoadOptions { format: source.format.map(Into::into), ..LoadOptions::default() })
}

/// The same for inspection commands: operations that contradict the graph are read too.
fn open_to_inspect(source: &Source) -> Result<Loaded, Failure> {
    open(&source.data, LoadOptions { format: source.format.map(Into::into), contradictory: true })
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
