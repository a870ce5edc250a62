//! `quadcast update`: bring a trained model of an evolving graph up to date.

use std::path::PathBuf;

use clap::Args;
use quadcast_run::{Place, Session, Update};

use super::convert::PolicyArgument;
use super::run::show;
use crate::failure::Failure;
use crate::output::Output;

/// Shown after the help.
pub const EXAMPLES: &str = "Examples:
  quadcast update runs/transe-world-static-1 today.txt
  quadcast update RUN today.txt --out RUN-today --time-budget 5m
  quadcast forecast RUN.v2 --subject A --relation R

The file has a line per operation: head tail relation +|- [time], with the names of the graph (#7 is
the one with id 7); with tabs between them names may have blanks. A name that the graph does not have
is a new entity or relation; of a graph of Wikidata, a bare number stands for its item or property. The
old version stays as it is; the new one can be updated again.";

/// What to update, and with what.
#[derive(Debug, Args)]
pub struct UpdateArguments {
    /// The folder of a complete run, or of a version that an update made
    pub run: PathBuf,
    /// A text file of operations, also compressed
    #[arg(value_name = "OPS")]
    pub operations: PathBuf,
    /// Folder of the new version [default: RUN.v2, or the next number]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// What happens to insertions of present triples and deletions of absent ones
    #[arg(long, value_enum, default_value = "error")]
    pub policy: PolicyArgument,
    /// A model setting that the update is made with, as key=value; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// How long training may take, for example 90s or 5m
    #[arg(long, value_name = "TIME")]
    pub time_budget: Option<String>,
    /// Where the dataset is, if it has moved since the run
    #[arg(long, value_name = "PATH|NAME")]
    pub data: Option<String>,
    /// Replace the version in the folder, also if it is complete; do not resume an interrupted one
    #[arg(long)]
    pub overwrite: bool,
}

pub fn execute(arguments: &UpdateArguments, output: &Output) -> Result<(), Failure> {
    let update = Update {
        operations: arguments.operations.clone(),
        policy: arguments.policy.into(),
        settings: arguments.settings.clone(),
        time_budget: arguments.time_budget.clone(),
    };
    let mut session = Session::update(&arguments.run, arguments.data.as_deref(), &update, output.run())?;
    let place = Place { out: arguments.out.clone(), overwrite: arguments.overwrite, resume: false };
    let folder = session.complete_update(&place)?;
    show(&folder, session.record(), output)
}
