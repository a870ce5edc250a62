//! The command line: what can be typed, with help and examples.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, value_parser};
use quadcast_core::{
    Candidates, Duplicates, IntervalUse, Leak, Procedure, Setting, Task, TiePolicy, ValidationUse,
};
use quadcast_data::Format;
use quadcast_models::blocks::device::Device;

use crate::commands::{self, compare, data, evaluate, import};

/// Words of an option: each with the value that it stands for and its help.
pub type Words<T> = &'static [(&'static str, T, &'static str)];

/// Parses one of these words.
pub fn one_of<T: Copy + Send + Sync>(words: Words<T>) -> impl TypedValueParser<Value = T> {
    let value = |&(word, _, help): &(&'static str, T, &'static str)| {
        let value = PossibleValue::new(word);
        if help.is_empty() { value } else { value.help(help) }
    };
    PossibleValuesParser::new(words.iter().map(value)).map(|typed| {
        let found = words.iter().find(|(word, ..)| *word == typed);
        found.expect("the parser accepts listed words only").1
    })
}

/// Learn from, forecast with and fairly judge temporal and evolving knowledge graphs.
#[derive(Debug, Parser)]
#[command(name = "quadcast", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub struct Arguments {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub common: Common,
}

const EXAMPLES: &str = "Examples:
  quadcast demo                          try everything on a small synthetic dataset
  quadcast run --data examples/harbour   train and judge the default model on a small dataset
  quadcast data info examples/harbour    what is in a dataset
  quadcast data audit ICEWS14            is it sound? (names are looked up in $QUADCAST_DATA)
  quadcast report runs/*                 one page: tables, charts, is the comparison fair?
  quadcast data import e.csv --out mine  make a dataset of your own events
  quadcast models                        what there is, with papers and settings

Exit codes: 0 success, 1 failure, 2 wrong usage or bad input.";

/// More threads than any machine we know has cores; far more could not be started.
const MOST_THREADS: i64 = 1024;

/// Options of every command.
#[derive(Debug, Args)]
pub struct Common {
    /// Print one JSON document on standard output and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
    /// Threads to use; results do not depend on it [default: all cores]
    #[arg(long, global = true, value_name = "N", value_parser = value_parser!(u16).range(1..=MOST_THREADS))]
    pub threads: Option<u16>,
    /// Where neural models compute: cpu, or cuda, wgpu or metal in a build with that feature [default: cpu]
    #[arg(long, global = true, value_name = "DEVICE")]
    pub device: Option<Device>,
    /// No progress, no remarks
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more: how the data was read, what was assumed
    #[arg(long, short, global = true)]
    pub verbose: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Try everything on a small synthetic dataset, with a report at the end
    Demo(commands::demo::Options),
    /// Fit a model, judge it on the test split, write a run folder
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<RunOptions>),
    /// Update the model of a run on an evolving graph with new operations, as a new version
    #[command(after_help = commands::run::UPDATE_EXAMPLES)]
    Update(commands::run::UpdateArguments),
    /// Predict the missing subject or object of a fact, and explain why
    Forecast(commands::forecast::Options),
    /// Show the rules that a run has learned
    #[command(after_help = commands::rules::EXAMPLES)]
    Rules(commands::rules::Options),
    /// Make one page of runs: tables, charts, and checks whether the comparison is fair
    #[command(after_help = commands::report::EXAMPLES)]
    Report(commands::report::Options),
    /// Judge the scores of an external model
    #[command(after_help = evaluate::EXAMPLES)]
    Evaluate(evaluate::EvaluateOptions),
    /// Compare two runs query by query: difference, interval, p-value
    #[command(after_help = compare::EXAMPLES)]
    Compare(compare::CompareOptions),
    /// Check a finished run: its files, its figures, and its ranks by evaluating the saved model again
    #[command(after_help = commands::verify::EXAMPLES)]
    Verify(commands::verify::Options),
    /// List the models, or show one in full with its settings
    Models {
        /// A model to show in full; without it, all are listed by task
        name: Option<String>,
    },
    /// Inspect, check, import, split, convert and generate datasets
    #[command(subcommand)]
    Data(DataCommand),
}

const RUN_EXAMPLES: &str = "Examples:
  quadcast run --data examples/harbour
  quadcast run --model recurrency --data ICEWS14 --setting multi-step
  quadcast run --model recurrency --data YAGO --set variant=strict --set lambda=0.1
  quadcast run runs/recurrency-ICEWS14-single-step-1/run.toml --out again
  quadcast run --data completion/icews14     (a random split: completion, with naive-rules)
  quadcast run --model tlogic --data OTHER --rules runs/tlogic-harbour-single-step-1/rules.jsonl
  quadcast run --model putranse --procedure incremental --data WikidataEvolve
  quadcast run --model transe --data WN18 --set dimension=50 --out wn18

The task follows from the model or from the data. A run leaves one folder: run.toml (everything
needed to repeat it), metrics.json, ranks.csv.zst (one row per query), the model, rules.jsonl of a
model with rules, and explanations.json of a model that explains. The same command resumes a run
that was interrupted.";

/// What to run. A plan gives defaults, options override it.
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
#[derive(Debug, Args)]
pub struct RunOptions {
    /// A plan: a TOML file, such as the run.toml of another run
    pub plan: Option<PathBuf>,
    /// The model; see `quadcast models` [default: herald; completion: naive-rules; evolving: transe]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// A dataset folder, or a name to be found in $QUADCAST_DATA or the cache
    #[arg(long, value_name = "PATH|NAME")]
    pub data: Option<String>,
    /// Layout of the dataset, where the detection is wrong
    #[arg(long, value_parser = one_of(FORMATS))]
    pub format: Option<Format>,
    /// A model setting as key=value; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// What is asked of the model [default: what the model or the splits of the dataset are made for]
    #[arg(long, value_parser = one_of(TASKS))]
    pub task: Option<Task>,
    /// Forecasting: what the model may see of the test period [default: single-step]
    #[arg(long, value_parser = one_of(SETTINGS))]
    pub setting: Option<Setting>,
    /// Evolving graphs: how the model gets from one step to the next [default: static]
    #[arg(long, value_parser = one_of(PROCEDURES))]
    pub procedure: Option<Procedure>,
    /// Whether validation facts are known at test time [default: observed; completion: withheld]
    #[arg(long, value_parser = one_of(VALIDATION))]
    pub validation: Option<ValidationUse>,
    /// Tie policy of the headline numbers; the record has all others too [default: expected]
    #[arg(long, value_parser = one_of(TIES))]
    pub ties: Option<TiePolicy>,
    /// What happens to duplicate facts of the test split [default: drop]
    #[arg(long, value_parser = one_of(DUPLICATES))]
    pub duplicates: Option<Duplicates>,
    /// Evolving graphs: which entities are ranked [default: now]
    #[arg(long, value_parser = one_of(CANDIDATES))]
    pub candidates: Option<Candidates>,
    /// When facts that hold over an interval are asked about [default: start]
    #[arg(long, value_parser = one_of(INTERVALS))]
    pub intervals: Option<IntervalUse>,
    /// Evolving graphs: ask about all held-out triples, also where the dataset samples
    #[arg(long)]
    pub all: bool,
    /// Evolving graphs: do not ask about other steps than the current one
    #[arg(long)]
    pub no_transfer: bool,
    /// Seed of every random draw [default: 1]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Use the rules of a file instead of learning them, also from another dataset with the same relations
    #[arg(long, value_name = "FILE.jsonl")]
    pub rules: Option<PathBuf>,
    /// Use the trained model of a complete run instead of training, for example in another --setting
    #[arg(
        long,
        value_name = "RUN",
        conflicts_with_all = ["plan", "model", "settings", "seed", "rules", "compat", "time_budget", "resume"]
    )]
    pub trained_by: Option<PathBuf>,
    /// Do what the published code did, artefacts included; the model's page says what that means
    ///
    /// Completion: the filter of validation knows test facts. Evolving graphs: false triples are drawn as published, thresholds are
    /// chosen on the examples that are judged, procedures other than static rank test triples in a list with entity 0 in every other
    /// slot, and parallel universes are asked for the energy of a triple with object and relation swapped. The record says so.
    #[arg(long)]
    pub compat: bool,
    /// Show herald the other queries of each step, to measure the effect of the query-set leak
    ///
    /// Such figures are not results. The record is marked, and compare, report and forecast refuse it.
    #[arg(long, value_name = "WHICH", value_parser = one_of(LEAKS), conflicts_with = "trained_by")]
    pub demonstrate_leak: Option<Leak>,
    /// Run folder [default: runs/MODEL-DATA-SETTING-SEED]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How long training may take (on evolving graphs at each step), for example 90s, 45m or 2h
    #[arg(long, value_name = "TIME")]
    pub time_budget: Option<String>,
    /// Resume a training that stopped at its time budget
    #[arg(long, conflicts_with = "overwrite")]
    pub resume: bool,
    /// Start over: replace a complete run, do not resume an interrupted one
    #[arg(long)]
    pub overwrite: bool,
}

#[derive(Debug, Subcommand)]
pub enum DataCommand {
    /// Count what is in a dataset
    #[command(
        after_help = "Examples:\n  quadcast data info examples/harbour\n  quadcast data info ICEWS14 --json"
    )]
    Info(Source),
    /// Check whether a dataset is fit for a fair comparison; exit code 2 if a check fails
    #[command(after_help = data::AUDIT_EXAMPLES)]
    Audit(data::AuditArguments),
    /// Count how relations mirror, accompany and repeat each other
    #[command(after_help = data::PATTERN_EXAMPLES)]
    Patterns(data::PatternArguments),
    /// Export test queries for an external model
    #[command(after_help = evaluate::EXPORT_EXAMPLES)]
    Export(evaluate::ExportOptions),
    /// List the known benchmark variants
    List,
    /// Make a synthetic world with known structure and the best possible score, or a stream of operations
    #[command(after_help = commands::synth::EXAMPLES)]
    Synth(commands::synth::Options),
    /// Turn a table of events (CSV, TSV, JSON Lines) into a dataset
    #[command(after_help = import::EXAMPLES)]
    Import(import::ImportArguments),
    /// Divide a dataset anew: at random, by time, or with mirrored facts kept together
    #[command(after_help = commands::split::EXAMPLES)]
    Split(commands::split::SplitArguments),
    /// Compile a benchmark from a stream of operations: snapshots, updates, increments, splits
    #[command(after_help = commands::compile::EXAMPLES)]
    Compile(commands::compile::CompileArguments),
    /// Turn a stream of operations into text or into the compact binary form
    #[command(after_help = commands::convert::EXAMPLES)]
    Convert(commands::convert::ConvertArguments),
    /// Compare two datasets: are they made of the same facts?
    #[command(after_help = data::DIFF_EXAMPLES)]
    Diff(data::DiffArguments),
    /// Download a published dataset
    #[command(after_help = data::FETCH_EXAMPLES)]
    Fetch(data::FetchArguments),
}

/// A dataset on disk.
#[derive(Debug, Args)]
pub struct Source {
    /// A dataset folder, or a name to be found in $QUADCAST_DATA or the cache
    #[arg(value_name = "PATH|NAME")]
    pub data: String,
    /// Layout of the dataset, where the detection is wrong
    #[arg(long, value_parser = one_of(FORMATS))]
    pub format: Option<Format>,
}

pub const FORMATS: Words<Format> = &[
    ("quads", Format::Quads, "Integer ids: subject relation object time"),
    ("labelled", Format::Labelled, "Names and ISO dates: subject relation object date"),
    ("intervals", Format::Intervals, "Integer ids with start and end dates"),
    ("openke", Format::Openke, "OpenKE: count line, then head tail relation"),
    ("wikidata-evolve", Format::WikidataEvolve, "WikidataEvolve: updates, increments, snapshots"),
    ("snapshots", Format::Snapshots, "DKGE: snapshot1..n with ids of their own"),
    ("lkge", Format::Lkge, "LKGE: 0..n with names, new facts only"),
];

pub const TASKS: Words<Task> = &[
    ("forecasting", Task::Forecasting, "Future facts, given the facts before them"),
    ("completion", Task::Completion, "Missing facts, given other facts of any time"),
    ("evolving", Task::Evolving, "Triples of a graph that changes by insertions and deletions"),
];

pub const PROCEDURES: Words<Procedure> = &[
    ("static", Procedure::Static, "Learn the graph of every step from scratch"),
    ("pseudo-incremental", Procedure::PseudoIncremental, "Continue with the inserted triples alone"),
    (
        "incremental",
        Procedure::Incremental,
        "Be told which triples were inserted and deleted, and see the graph",
    ),
];

pub const CANDIDATES: Words<Candidates> = &[
    ("now", Candidates::Now, "Entities that are present at the step"),
    ("seen", Candidates::Seen, "Entities that were present at the step or an earlier one"),
    ("all", Candidates::All, "All entities, also those to come"),
];

pub const SETTINGS: Words<Setting> = &[
    ("single-step", Setting::SingleStep, "Every earlier step is known, also test steps"),
    ("multi-step", Setting::MultiStep, "Nothing of the test period is known"),
    ("online", Setting::Online, "As single-step, and the model is updated with each step"),
];

pub const VALIDATION: Words<ValidationUse> = &[
    ("observed", ValidationUse::Observed, "Validation facts are history (the field's choice)"),
    ("withheld", ValidationUse::Withheld, "Only training facts precede the test period"),
];

pub const TIES: Words<TiePolicy> = &[
    ("expected", TiePolicy::Expected, "Exact expectation under random order"),
    ("random", TiePolicy::Random, "One random order"),
    ("mean", TiePolicy::Mean, "Mean of best and worst rank"),
    ("optimistic", TiePolicy::Optimistic, "Correct answer first"),
    ("pessimistic", TiePolicy::Pessimistic, "Correct answer last"),
    ("ordinal", TiePolicy::Ordinal, "By entity id"),
];

pub const INTERVALS: Words<IntervalUse> = &[
    ("start", IntervalUse::Start, "At the first time at which they hold"),
    ("drawn", IntervalUse::Drawn, "At one time at which they hold, drawn once for all models"),
    ("every", IntervalUse::Every, "At every time at which they hold"),
];

pub const LEAKS: Words<Leak> = &[
    ("same-direction", Leak::SameDirection, "Queries with the same missing side"),
    (
        "both-directions",
        Leak::BothDirections,
        "All queries; those with the other side missing reveal the answers",
    ),
];

pub const DUPLICATES: Words<Duplicates> = &[
    ("drop", Duplicates::Drop, "They are asked once"),
    ("keep", Duplicates::Keep, "They are asked once per occurrence"),
];
