//! `quadcast verify`: is a finished run what it says?

use std::path::PathBuf;

use clap::Args;
use quadcast_report::verification_text;
use quadcast_run::verify;

use crate::output::{Failure, Output};

pub const EXAMPLES: &str = "Examples:
  quadcast verify runs/recurrency-ICEWS14-single-step-1
  quadcast verify RUN --data /elsewhere/ICEWS14 --json

Three checks: every file has the checksum that the run noted; every figure follows from the ranks;
the saved model, evaluated again, gives the same ranks bit by bit. A model of an evolving graph
changes from step to step and is trained again. Exit code 1 if ranks differ, 2 if a file or figure
is wrong.";

/// Which run to verify.
#[derive(Debug, Args)]
pub struct Options {
    /// Folder of a complete run
    run: PathBuf,
    /// Where the dataset is, if it has moved since the run
    #[arg(long, value_name = "PATH|NAME")]
    data: Option<String>,
}

pub fn execute(options: &Options, output: &Output) -> Result<(), Failure> {
    let verification = verify(&options.run, options.data.as_deref(), output.run())?;
    output.result(&verification, || verification_text(&verification))?;
    if verification.holds() {
        return Ok(());
    }
    Err(Failure::internal(format!(
        "{}: {} of {} ranks came out differently",
        verification.run, verification.different, verification.ranks
    )))
}
