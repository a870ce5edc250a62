//! `quadcast evolve update`: bring a trained model up to date with what happened since.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use quadcast_core::EvolvingModel;
use quadcast_data::{Extended, extend_operations};
use quadcast_eval::evolving::Procedure;
use quadcast_models::{EvolvingEntry, set};
use quadcast_report::{EvolvingRecord, Status, UpdateCard};

use super::asked::{self, Asked, keep_asking};
use super::convert::{PolicyArgument, dropped_words};
use super::run::{Performance, Plan, Update, perform};
use super::source::Graph;
use super::trained::{GRAPH_FILE, TrainedGraph};
use crate::commands::run::duration;
use crate::failure::Failure;
use crate::output::Output;
use crate::record_folder::RecordFolder;

/// Shown after the help.
pub const EXAMPLES: &str = "Examples:
  quadcast evolve update runs/transe-world-static-1 today.txt
  quadcast evolve update RUN today.txt --out RUN-today --time-budget 5m
  quadcast forecast RUN.v2 --subject A --relation R

The file has a line per operation: head tail relation +|- [time], with the names of the graph (#7 is
the one with id 7); with tabs between them names may have blanks. A name that the graph does not have
is a new entity or relation; of a graph of Wikidata, a bare number stands for its item or property. The
old version stays as it is; the new one can be updated again.";

/// What to bring up to date, and with what.
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
    /// Where the dataset lies, if it has moved since the run
    #[arg(long, value_name = "PATH|NAME")]
    pub data: Option<String>,
    /// Replace the version in the folder, also if it is complete; do not go on with one that was interrupted
    #[arg(long)]
    pub overwrite: bool,
}

pub fn execute(arguments: &UpdateArguments, output: &Output) -> Result<(), Failure> {
    let begun = Instant::now();
    let trained =
        TrainedGraph::open(&arguments.run, arguments.data.as_deref(), output)?.ok_or_else(|| {
            Failure::input(format!(
                "{} holds no run on a changing graph; those come from quadcast evolve run",
                arguments.run.display()
            ))
        })?;
    let TrainedGraph { record, mut file, graph, entry, model } = trained;
    let before = asked::outline(&graph.dataset);
    let first = before.len();
    let stream = graph.into_stream()?;
    let contradictions = dropped_words(&stream.dropped);
    if !contradictions.is_empty() {
        output.remark(&format!("left out of the dataset itself: {contradictions}"));
    }
    let Extended { stream, operations, dropped, new: [new_entities, new_relations] } =
        extend_operations(stream, &arguments.operations, arguments.policy.into())?;
    let left_out = match dropped_words(&dropped) {
        nothing if nothing.is_empty() => nothing,
        words => format!("left out: {words}"),
    };
    let mut graph = Graph::of_stream(&stream)?;
    keep_asking(&mut graph.dataset, &before);
    let path = arguments.operations.display();
    if graph.dataset.steps.last().and_then(|step| step.operations.as_ref()).is_none_or(Vec::is_empty) {
        let why = if left_out.is_empty() { "the operations cancel out" } else { &left_out };
        return Err(Failure::input(format!("{path}: nothing changes: {why}")));
    }
    if !left_out.is_empty() {
        output.remark(&left_out);
    }
    for setting in &arguments.settings {
        set(&mut file.config, setting)?;
    }
    let model =
        if arguments.settings.is_empty() { model } else { configured(entry, &file.config, model.as_ref())? };
    file.procedure = Procedure::Incremental;
    file.fingerprint = Some(graph.content);
    file.updated_from = Some(arguments.run.display().to_string());
    file.time_budget.clone_from(&arguments.time_budget);
    let time_budget = file.time_budget.as_deref().map(duration).transpose()?;
    let out = version_folder(arguments, output)?;
    let folder = RecordFolder::choose(Some(&out), arguments.overwrite, "")?;
    file.data = Some(folder.path().join(GRAPH_FILE).display().to_string());
    let card = UpdateCard {
        from: arguments.run.display().to_string(),
        file: path.to_string(),
        operations,
        new_entities,
        new_relations,
        learned: record.learned(),
    };
    let update = Some(Update { card, stream, asked: Asked::of(&graph.dataset)? });
    let plan = Plan { entry, model, file, seed: record.seed, time_budget };
    let (load, overwrite) = (begun.elapsed().as_secs_f64(), arguments.overwrite);
    perform(plan, Performance { graph, folder, load, first, update, overwrite }, output)
}

/// Where the new version goes: never into the run that it comes from, which stays as it is.
fn version_folder(arguments: &UpdateArguments, output: &Output) -> Result<PathBuf, Failure> {
    let Some(out) = &arguments.out else {
        let run = named(&arguments.run);
        let (first, out) = (next_version(&run, true), next_version(&run, arguments.overwrite));
        if out != first {
            output.remark(&format!(
                "{} was made from this run already; the new version knows nothing of it. To go on from there, update that one",
                first.display()
            ));
        }
        return Ok(out);
    };
    let is_same = |out: &Path| Some(fs::canonicalize(out).ok()? == fs::canonicalize(&arguments.run).ok()?);
    if is_same(out) == Some(true) {
        return Err(Failure::input(format!(
            "{} is the run itself, which an update leaves as it is; choose another --out",
            out.display()
        )));
    }
    Ok(out.clone())
}

/// A folder by its name, also where it was given as `.` or `..`.
fn named(run: &Path) -> PathBuf {
    match run.file_name() {
        Some(_) => run.to_owned(),
        None => fs::canonicalize(run).unwrap_or_else(|_| run.to_owned()),
    }
}

/// The model as it is, to go on with other settings.
fn configured(
    entry: &EvolvingEntry,
    config: &toml::Table,
    model: &dyn EvolvingModel,
) -> Result<Box<dyn EvolvingModel>, Failure> {
    let mut saved = model.save().map_err(Failure::internal)?;
    saved.state["config"] = serde_json::to_value(config).map_err(Failure::internal)?;
    let mut model = (entry.build)(config)?;
    model.load(&saved).map_err(|error| {
        Failure::input(format!(
            "these settings do not fit what was learned: {error}; an update keeps the sizes"
        ))
    })?;
    Ok(model)
}

/// The folder of the next version: `run.v2` after `run`, `run.v4` after `run.v3`, and on past those that are complete unless they
/// may be replaced.
fn next_version(run: &Path, overwrite: bool) -> PathBuf {
    let name = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (stem, number) = match name.rsplit_once(".v") {
        Some((stem, digits)) if let Ok(number) = digits.parse::<u32>() => (stem, number),
        _ => (name.as_str(), 1),
    };
    let complete = |path: &Path| {
        EvolvingRecord::read(path)
            .is_ok_and(|found| found.is_some_and(|found| found.status == Status::Complete))
    };
    let mut next = number;
    loop {
        next = next.saturating_add(1);
        let path = run.with_file_name(format!("{stem}.v{next}"));
        if overwrite || !complete(&path) || next == u32::MAX {
            return path;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_counted() {
        let named = |name: &str| next_version(Path::new(name), false).display().to_string();
        assert_eq!(named("runs/transe-world-static-1"), "runs/transe-world-static-1.v2");
        assert_eq!(named("runs/a.v3"), "runs/a.v4");
        assert_eq!(named("runs/a.vb"), "runs/a.vb.v2");
        assert_eq!(named("runs/a.v3/"), "runs/a.v4");
    }
}
