//! `quadcast data diff`: are two datasets made of the same facts?

use clap::Args;
use quadcast_analysis::diff;
use quadcast_data::LoadOptions;
use quadcast_report::diff_text;
use quadcast_run::open;

use crate::failure::Failure;
use crate::output::Output;

/// Shown after the help.
pub const EXAMPLES: &str = "Examples:
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

pub fn execute(arguments: &DiffArguments, output: &Output) -> Result<(), Failure> {
    let [a, b] = [&arguments.a, &arguments.b].map(|data| open(data, LoadOptions::default()));
    let (a, b) = (a?, b?);
    for loaded in [&a, &b] {
        loaded.notes.iter().for_each(|note| output.detail(note));
    }
    let report = diff(&a, &b)?;
    output.result(&report, || diff_text(&report))
}
