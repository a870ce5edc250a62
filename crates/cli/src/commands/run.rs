//! `quadcast run`: fit a model, judge it, write a run folder.

use std::path::{Path, PathBuf};

use quadcast_core::Task;
use quadcast_models::find;
use quadcast_report::{PublishedComparison, published_comparisons, summary};
use quadcast_run::{Place, Plan, ProtocolChoice, Record, Session};
use serde::Serialize;

use crate::arguments::RunOptions;
use crate::failure::Failure;
use crate::memory;
use crate::output::Output;

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
    let (folder, record) = complete(options, output)?;
    show(&folder, &record, output)
}

/// Fits and judges, and writes the run folder.
pub fn complete(options: &RunOptions, output: &Output) -> Result<(PathBuf, Record), Failure> {
    let mut session = Session::open(plan(options)?, output.run())?;
    if session.task() != Task::Evolving {
        memory::keep_pages();
    }
    let place = Place { out: options.out.clone(), overwrite: options.overwrite, resume: options.resume };
    let folder = session.complete(&place)?;
    Ok((folder, session.record().clone()))
}

/// Shows a complete run.
pub fn show(folder: &Path, record: &Record, output: &Output) -> Result<(), Failure> {
    let result = Finished { record: folder, metrics: record, published: published_comparisons(record) };
    output.result(&result, || format!("{}record: {}\n", summary(record), folder.display()))
}

/// The plan of a file or of a run, changed by the options.
fn plan(options: &RunOptions) -> Result<Plan, Failure> {
    let mut plan = match (&options.plan, &options.trained_by) {
        (Some(path), _) => Plan::read(path)?,
        (None, Some(run)) => Plan::trained_by(run)?,
        (None, None) => Plan::default(),
    };
    let other = |name: &String| find(name).ok().map(quadcast_models::Entry::task);
    let task: Option<Task> = options.task.map(Into::into).or(options.model.as_ref().and_then(other));
    if let (Some(task), Some(own)) = (task, plan.protocol.task)
        && task != own
    {
        // What a file says about another task does not hold for this one.
        let ProtocolChoice { ties, compat, .. } = plan.protocol;
        plan.protocol = ProtocolChoice { ties, compat, ..ProtocolChoice::default() };
    }
    let choice = plan.protocol;
    plan.protocol = ProtocolChoice {
        task: options.task.map(Into::into).or(choice.task),
        setting: options.setting.map(Into::into).or(choice.setting),
        procedure: options.procedure.map(Into::into).or(choice.procedure),
        validation: options.validation.map(Into::into).or(choice.validation),
        ties: options.ties.map(Into::into).or(choice.ties),
        candidates: options.candidates.map(Into::into).or(choice.candidates),
        duplicates: options.duplicates.map(Into::into).or(choice.duplicates),
        intervals: options.intervals.map(Into::into).or(choice.intervals),
        selection: choice.selection,
        compat: choice.compat,
    };
    Ok(Plan {
        other_data: options.data.is_some(),
        model: options.model.clone().or(plan.model),
        data: options.data.clone().or(plan.data),
        format: options.format.map(Into::into).or(plan.format),
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
