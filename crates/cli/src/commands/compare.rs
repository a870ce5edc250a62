//! `quadcast compare`: is one run better than another, or was it luck?

use std::path::PathBuf;

use clap::Args;
use quadcast_report::comparison_text;
use quadcast_run::compare;

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
    let compared = compare([&options.first, &options.second])?;
    output.result(&compared, || comparison_text(&compared))
}
