//! `quadcast evolve run`: take a model through the steps of a changing graph, judge it after each, keep a record.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, io};

use clap::{Args, ValueEnum};
use quadcast_core::{EvolvingModel, Run, TiePolicy};
use quadcast_data::{OperationStream, StreamFormat, write_operations};
use quadcast_eval::evolving::{LinkProtocol, Playing, Present, Procedure, StepResult, play};
use quadcast_models::{EvolvingEntry, find_evolving, set};
use quadcast_report::{
    EvolvingCard, EvolvingRecord, ModelCard, PublishedComparison, UpdateCard, evolving_summary,
    published_comparisons, write_atomically,
};
use serde::Serialize;

use super::asked::{ASKED_FILE, Asked, ask_about_all, asked_about};
use super::examples;
use super::file::EvolveFile;
use super::source::Graph;
use super::trained::GRAPH_FILE;
use crate::arguments::{FormatArgument, TiesArgument};
use crate::commands::run::{duration, read_run_file};
use crate::failure::Failure;
use crate::memory;
use crate::model_files::write_model;
use crate::output::Output;
use crate::record_folder::RecordFolder;
use crate::workshop::{self, RunWorkshop};

/// Shown after the help.
pub const EXAMPLES: &str = "Examples:
  quadcast evolve run --model transe --data WikidataEvolve
  quadcast evolve run --model putranse --procedure incremental --data WikidataEvolve
  quadcast evolve run --model transe --data WN18 --set dimension=50 --out wn18

A dataset without steps (WN18) is a graph of one step. The folder holds metrics.json, run.toml,
model.json and model.safetensors; the same command goes on with a run that was interrupted.";

/// What to run. A configuration file gives defaults, options override it.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Args)]
pub struct RunArguments {
    /// A configuration file (the run.toml of another run will do)
    pub config: Option<PathBuf>,
    /// The model; see `quadcast models` [default: transe]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// A dataset folder, or a name to be found in $QUADCAST_DATA or the cache
    #[arg(long, value_name = "PATH|NAME")]
    pub data: Option<String>,
    /// Layout of the dataset, where the detection is wrong
    #[arg(long, value_enum)]
    pub format: Option<FormatArgument>,
    /// How the model gets from one step to the next [default: static]
    #[arg(long, value_enum)]
    pub procedure: Option<ProcedureArgument>,
    /// A model setting as key=value; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// Among whom answers are looked for [default: now]
    #[arg(long, value_enum)]
    pub candidates: Option<CandidatesArgument>,
    /// Tie policy of the headline numbers; all others stand in the record [default: expected]
    #[arg(long, value_enum)]
    pub ties: Option<TiesArgument>,
    /// Ask about all held-out triples, also where the dataset samples
    #[arg(long)]
    pub all: bool,
    /// Do not ask about other steps than the current one
    #[arg(long)]
    pub no_transfer: bool,
    /// Seed of every random draw [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Do as the published code did, artefacts included, to match its tables; do not trust the numbers
    ///
    /// False triples are drawn its way, in training and in the examples of classification, whose threshold is chosen on these
    /// examples themselves. Procedures other than static rank test triples in a list with entity 0 in every other slot. Parallel
    /// universes are asked for the energy of a single triple with tail and relation swapped. Validation is right all the same.
    #[arg(long)]
    pub compat: bool,
    /// Folder of the record [default: runs/MODEL-DATA-PROCEDURE-SEED]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How long training may take at each step, for example 90s, 45m or 2h
    #[arg(long, value_name = "TIME")]
    pub time_budget: Option<String>,
    /// Start afresh: replace a complete record, do not go on with an interrupted run
    #[arg(long)]
    pub overwrite: bool,
}

/// Words for [`Procedure`].
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum ProcedureArgument {
    /// Learn the graph of every step from nothing
    Static,
    /// Go on with the new triples alone
    PseudoIncremental,
    /// Be told what came and what went, and see the graph
    Incremental,
}

impl From<ProcedureArgument> for Procedure {
    fn from(value: ProcedureArgument) -> Self {
        match value {
            ProcedureArgument::Static => Self::Static,
            ProcedureArgument::PseudoIncremental => Self::PseudoIncremental,
            ProcedureArgument::Incremental => Self::Incremental,
        }
    }
}

/// Words for [`Present`].
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum CandidatesArgument {
    /// Entities that are present at the step
    Now,
    /// Entities that were present at the step or an earlier one
    Seen,
    /// All entities, also those to come
    All,
}

impl From<CandidatesArgument> for Present {
    fn from(value: CandidatesArgument) -> Self {
        match value {
            CandidatesArgument::Now => Self::Now,
            CandidatesArgument::Seen => Self::Seen,
            CandidatesArgument::All => Self::All,
        }
    }
}

/// What `--json` prints: the record, and where it lies.
#[derive(Serialize)]
struct Finished<'a> {
    record: &'a Path,
    #[serde(flatten)]
    metrics: &'a EvolvingRecord,
    /// The same beside published values, where there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    published: Vec<PublishedComparison>,
}

/// A checked request.
pub struct Plan {
    pub entry: &'static EvolvingEntry,
    pub model: Box<dyn EvolvingModel>,
    pub file: EvolveFile,
    pub seed: u64,
    pub time_budget: Option<Duration>,
}

pub fn execute(arguments: &RunArguments, output: &Output) -> Result<(), Failure> {
    let mut plan = plan(arguments, output)?;
    let data = plan.file.data.clone().ok_or_else(|| {
        Failure::input(
            "which dataset? Give a folder or a name with --data, for example --data WikidataEvolve",
        )
    })?;
    let begun = Instant::now();
    let graph = Graph::open(&data, plan.file.format, output)?;
    plan.file.bind(arguments.data.is_some(), graph.content)?;
    let load = begun.elapsed().as_secs_f64();
    let name =
        format!("{}-{}-{}-{}", plan.entry.name, graph.dataset.name, plan.file.procedure.word(), plan.seed);
    let folder = RecordFolder::choose(arguments.out.as_deref(), arguments.overwrite, &name)?;
    let overwrite = arguments.overwrite;
    perform(plan, Performance { graph, folder, load, first: 0, update: None, overwrite }, output)
}

/// Where a plan is carried out.
pub struct Performance {
    pub graph: Graph,
    pub folder: RecordFolder,
    /// Seconds that reading took.
    pub load: f64,
    /// The first step that is played.
    pub first: usize,
    /// What the model is brought up to date with.
    pub update: Option<Update>,
    pub overwrite: bool,
}

/// An update, and what its version keeps besides: the graph as it is now, and what is asked about it.
pub struct Update {
    pub card: UpdateCard,
    pub stream: OperationStream,
    pub asked: Asked,
}

/// Plays, judges, keeps the model and the record, and shows them.
pub fn perform(mut plan: Plan, performance: Performance, output: &Output) -> Result<(), Failure> {
    let Performance { graph, folder, load, first, update, overwrite } = performance;
    let Graph { mut dataset, content, variant } = graph;
    if plan.file.all {
        ask_about_all(&mut dataset);
    }
    let procedure = plan.file.procedure;
    let compat = plan.file.protocol.compat;
    let examples = if compat { examples::published(&dataset, procedure) } else { examples::fair(&dataset) };
    let config = serde_json::to_value(&plan.file.config).map_err(Failure::internal)?;
    let model = ModelCard { name: plan.entry.name.to_owned(), config, rules: None };
    let card = EvolvingCard::new(&dataset, variant, content);
    // Training operations say all that is played; what the source says besides is for checks, and as large as they are.
    for step in &mut dataset.steps {
        (step.operations, step.increment) = (None, None);
    }
    let mut record = EvolvingRecord::begun(card, model, procedure, plan.file.protocol, plan.seed);
    record.asked = Some(asked_about(&dataset.steps, first));
    record.seconds.load = load;
    record.update = update.as_ref().map(|update| update.card.clone());
    begin(folder.path(), &record, &plan.file, overwrite)?;
    keep_graph(folder.path(), update)?;
    let owner = plan.file.identity(&record.version)?;
    let workshop = Arc::new(RunWorkshop::open(folder.path(), &owner, false)?);
    let run = Run {
        workshop: workshop.clone(),
        time_budget: plan.time_budget,
        ..Run::new(plan.seed, output.progress())
    };
    let transfer = plan.file.transfer.unwrap_or(true);
    let links = plan.file.protocol;
    let earlier = record.learned();
    let playing =
        Playing { data: &dataset, procedure, links, examples: &examples, first, transfer, earlier: &earlier };
    let mut outcome = play(&playing, plan.model.as_mut(), &run).map_err(|error| {
        let failure = Failure::from(error);
        let failed = record.failed(failure.error.to_string());
        if let Err(error) = failed.write(folder.path()) {
            output.detail(&error.to_string());
        }
        failure
    })?;
    let saved = plan.model.save().map_err(Failure::internal)?;
    write_model(folder.path(), plan.entry.name, &saved, &dataset.vocabulary.relations)?;
    record.training = workshop.trained();
    count_interrupted(&mut outcome.steps, &record.training);
    record.complete(outcome);
    record.peak_memory_bytes = memory::peak_bytes();
    record.write(folder.path())?;
    workshop::clear(folder.path())?;
    let published = published_comparisons(&record);
    let result = Finished { record: folder.path(), metrics: &record, published };
    output.result(&result, || format!("{}record: {}\n", evolving_summary(&record), folder.path().display()))
}

/// A training that was interrupted knows how long all its parts took; a step only knows the last of them.
fn count_interrupted(steps: &mut [StepResult], trained: &[serde_json::Value]) {
    for step in steps {
        let own = trained.iter().filter(|training| training["part"] == step.label.as_str());
        let seconds: f64 = own.filter_map(|training| training["seconds"].as_f64()).sum();
        step.seconds.train = step.seconds.train.max(seconds);
    }
}

/// Keeps what belongs to a version; a run that is none has no use for what another one has left. The record that says complete is
/// gone by now.
fn keep_graph(folder: &Path, update: Option<Update>) -> Result<(), Failure> {
    let Some(Update { stream, asked, .. }) = update else {
        let gone = |name: &str| match fs::remove_file(folder.join(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Failure::internal(format!("{}: {error}", folder.join(name).display())))
            }
            _ => Ok(()),
        };
        return [GRAPH_FILE, ASKED_FILE].into_iter().try_for_each(gone);
    };
    write_operations(&folder.join(GRAPH_FILE), &stream, StreamFormat::Binary)?;
    asked.write(folder)
}

fn plan(arguments: &RunArguments, output: &Output) -> Result<Plan, Failure> {
    let file = arguments.config.as_deref().map(read_run_file::<EvolveFile>).transpose()?.unwrap_or_default();
    if let Some(from) = &file.updated_from {
        return Err(Failure::input(format!(
            "this is the configuration of an update, which begins with the model of {from}: repeat it with \
             quadcast evolve update"
        )));
    }
    let entry = find_evolving(arguments.model.as_deref().or(file.model.as_deref()).unwrap_or("transe"))?;
    let mut config = (entry.defaults)();
    for (key, value) in &file.config {
        set(&mut config, &format!("{key}={value}"))?;
    }
    let compat = arguments.compat || file.protocol.compat;
    if compat && config.contains_key("compat") {
        set(&mut config, "compat=true")?;
    } else if compat {
        output.detail(&format!("{} itself does nothing different under --compat", entry.name));
    }
    for setting in &arguments.settings {
        set(&mut config, setting)?;
    }
    let model = (entry.build)(&config)?;
    let seed = arguments.seed.or(file.seed).unwrap_or(1);
    let ties: TiePolicy = arguments.ties.map_or(file.protocol.ties, Into::into);
    let candidates = arguments.candidates.map_or(file.protocol.candidates, Into::into);
    let time_budget = arguments.time_budget.clone().or(file.time_budget);
    let budget = time_budget.as_deref().map(duration).transpose()?;
    let file = EvolveFile {
        model: Some(entry.name.to_owned()),
        data: arguments.data.clone().or(file.data),
        format: arguments.format.map(Into::into).or(file.format),
        fingerprint: file.fingerprint,
        procedure: arguments.procedure.map_or(file.procedure, Into::into),
        seed: Some(seed),
        time_budget,
        all: arguments.all || file.all,
        transfer: if arguments.no_transfer { Some(false) } else { file.transfer },
        updated_from: None,
        protocol: LinkProtocol { candidates, ties, compat },
        config,
    };
    Ok(Plan { entry, model, file, seed, time_budget: budget })
}

fn begin(folder: &Path, record: &EvolvingRecord, file: &EvolveFile, overwrite: bool) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| {
        let path = folder.display();
        Failure::internal(format!(
            "cannot create the output folder {path}: {error}. Choose another one with --out"
        ))
    })?;
    if overwrite {
        workshop::clear_all(folder)?;
    }
    record.write(folder)?;
    let text = toml::to_string(file).map_err(Failure::internal)?;
    Ok(write_atomically(&folder.join("run.toml"), |out| out.write_all(text.as_bytes()))?)
}
