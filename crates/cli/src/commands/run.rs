//! `quadcast run` fits a model, judges it and writes a run folder; `quadcast update` brings the model of an evolving graph
//! up to date.

use std::path::{Path, PathBuf};

use clap::Args;
use quadcast_core::Task;
use quadcast_data::FaultPolicy;
use quadcast_models::{Entry, find};
use quadcast_report::{PublishedComparison, published_comparisons, shown, summary};
use quadcast_run::{Place, Plan, ProtocolChoice, Record, Session, Update};
use serde::Serialize;

use super::convert::POLICIES;
use crate::arguments::{RunOptions, one_of};
use crate::output::{Failure, Output};
use crate::process;

/// What `--json` prints: the record, and where it is.
#[derive(Serialize)]
struct Finished<'a> {
    record: &'a Path,
    #[serde(flatten)]
    metrics: &'a Record,
    /// The same beside published values, where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    published: Vec<PublishedComparison>,
}

pub fn execute(options: &RunOptions, output: &Output) -> Result<(), Failure> {
    let mut session = Session::open(plan(options)?, output.run())?;
    if session.task() != Task::Evolving {
        process::keep_pages();
    }
    let place = Place { out: options.out.clone(), overwrite: options.overwrite, resume: options.resume };
    let folder = session.complete(&place)?;
    show(&folder, session.record(), output)
}

/// Shows a complete run.
pub fn show(folder: &Path, record: &Record, output: &Output) -> Result<(), Failure> {
    let result = Finished { record: folder, metrics: record, published: published_comparisons(record) };
    output.result(&result, || format!("{}record: {}\n", summary(record), shown(folder.display())))
}

/// The plan of a file or of a run, changed by the options.
fn plan(options: &RunOptions) -> Result<Plan, Failure> {
    let mut plan = match (&options.plan, &options.trained_by) {
        (Some(path), _) => Plan::read(path)?,
        (None, Some(run)) => Plan::trained_by(run)?,
        (None, None) => Plan::default(),
    };
    let other = |name: &String| find(name).ok().map(Entry::task);
    let task: Option<Task> = options.task.or(options.model.as_ref().and_then(other));
    if let (Some(task), Some(own)) = (task, plan.protocol.task)
        && task != own
    {
        // What a file says about another task does not hold for this one.
        let ProtocolChoice { ties, compat, .. } = plan.protocol;
        plan.protocol = ProtocolChoice { ties, compat, ..ProtocolChoice::default() };
    }
    let choice = plan.protocol;
    plan.protocol = ProtocolChoice {
        task: options.task.or(choice.task),
        setting: options.setting.or(choice.setting),
        procedure: options.procedure.or(choice.procedure),
        validation: options.validation.or(choice.validation),
        ties: options.ties.or(choice.ties),
        candidates: options.candidates.or(choice.candidates),
        duplicates: options.duplicates.or(choice.duplicates),
        intervals: options.intervals.or(choice.intervals),
        selection: choice.selection,
        compat: choice.compat,
        leak: options.demonstrate_leak.or(choice.leak),
    };
    Ok(Plan {
        other_data: options.data.is_some(),
        model: options.model.clone().or(plan.model),
        data: options.data.clone().or(plan.data),
        format: options.format.or(plan.format),
        seed: options.seed.or(plan.seed),
        time_budget: options.time_budget.clone().or(plan.time_budget),
        rules: options.rules.as_ref().map(|path| path.display().to_string()).or(plan.rules),
        all: options.all || plan.all,
        transfer: if options.no_transfer { Some(false) } else { plan.transfer },
        compat: options.compat,
        settings: options.settings.clone(),
        ..plan
    })
}

/// Shown after the help.
pub const UPDATE_EXAMPLES: &str = "Examples:
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
    #[arg(long, value_parser = one_of(POLICIES), default_value = "error")]
    pub policy: FaultPolicy,
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

pub fn update(arguments: &UpdateArguments, output: &Output) -> Result<(), Failure> {
    let update = Update {
        operations: arguments.operations.clone(),
        policy: arguments.policy,
        settings: arguments.settings.clone(),
        time_budget: arguments.time_budget.clone(),
    };
    let mut session = Session::update(&arguments.run, arguments.data.as_deref(), &update, output.run())?;
    let place = Place { out: arguments.out.clone(), overwrite: arguments.overwrite, resume: false };
    let folder = session.complete_update(&place)?;
    show(&folder, session.record(), output)
}
