//! The command line: what can be typed, with help and examples.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, value_parser};
use quadcast_core::{Duplicates, IntervalUse, Setting, TiePolicy, ValidationUse};
use quadcast_data::Format;
use quadcast_models::blocks::device::Device;

use crate::commands;
use crate::commands::compare::{self, CompareOptions};
use crate::commands::evaluate::{self, EvaluateOptions};
use crate::commands::export::{self, ExportOptions};
use crate::commands::{fetch, import};
use crate::task::Task;

/// Makes the command-line words of a library enum.
macro_rules! argument {
    ($(#[$doc:meta])* $name:ident => $target:ident { $($(#[$about:meta])* $variant:ident),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, clap::ValueEnum)]
        pub enum $name { $($(#[$about])* $variant),+ }

        impl From<$name> for $target {
            fn from(value: $name) -> Self {
                match value { $($name::$variant => Self::$variant),+ }
            }
        }
    };
}
pub(crate) use argument;

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
  quadcast demo                          everything on a small invented world, with a report
  quadcast run --data examples/harbour   judge the recurrency baseline on a small dataset
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
    /// Show the main job on a small invented world: no data, no flags, a report at the end
    Demo(commands::demo::Options),
    /// Fit a model, judge it on the test period, keep a record
    #[command(after_help = RUN_EXAMPLES)]
    Run(RunOptions),
    /// Ask a fitted model who will stand on the other side, and why
    Forecast(commands::forecast::Options),
    /// Show what a run has learned, if it has learned rules
    #[command(after_help = commands::rules::EXAMPLES)]
    Rules(commands::rules::Options),
    /// Make one page of runs: tables, charts, and whether the comparison is fair
    #[command(after_help = commands::report::EXAMPLES)]
    Report(commands::report::Options),
    /// Judge the scores of a model from elsewhere
    #[command(after_help = evaluate::EXAMPLES)]
    Evaluate(EvaluateOptions),
    /// Compare two runs query by query: difference, interval, p-value
    #[command(after_help = compare::EXAMPLES)]
    Compare(CompareOptions),
    /// List the models with their papers, settings and options
    Models,
    /// Look at datasets
    #[command(subcommand)]
    Data(DataCommand),
    /// Work with graphs that change by insertions and deletions
    #[command(subcommand)]
    Evolve(commands::evolve::EvolveCommand),
}

const RUN_EXAMPLES: &str = "Examples:
  quadcast run --data examples/harbour
  quadcast run --model recurrency --data ICEWS14 --setting multi-step
  quadcast run --data YAGO --set variant=strict --set lambda=0.1
  quadcast run runs/recurrency-ICEWS14-single-step-1/run.toml --out again
  quadcast run --data completion/icews14     (a random split: completion, with naive-rules)
  quadcast run --model tlogic --data OTHER --rules runs/tlogic-harbour-single-step-1/rules.jsonl

A run leaves one folder: run.toml (everything needed to repeat it), metrics.json,
ranks.csv.zst (one row per query), model.json, rules.jsonl of a model with rules, and
explanations.json of a model that gives reasons. The same command goes on with a run
that was interrupted.";

/// What to run. A configuration file gives defaults, options override it.
#[derive(Debug, Default, Args)]
pub struct RunOptions {
    /// A configuration file (the run.toml of another run will do)
    pub config: Option<PathBuf>,
    /// The model; see `quadcast models` [default: recurrency]
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
    /// A dataset folder, or a name to be found in $QUADCAST_DATA or the cache
    #[arg(long, value_name = "PATH|NAME")]
    pub data: Option<String>,
    /// Layout of the dataset, where the detection is wrong
    #[arg(long, value_enum)]
    pub format: Option<FormatArgument>,
    /// A model setting as key=value; may be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    pub settings: Vec<String>,
    /// What is asked of the model [default: what the splits of the dataset are made for]
    #[arg(long, value_enum)]
    pub task: Option<Task>,
    /// What the model may see of the test period [default: single-step]
    #[arg(long, value_enum)]
    pub setting: Option<SettingArgument>,
    /// Whether validation facts are known at test time [default: observed; for completion withheld]
    #[arg(long, value_enum)]
    pub validation: Option<ValidationArgument>,
    /// Tie policy of the headline numbers; all others stand in the record [default: expected]
    #[arg(long, value_enum)]
    pub ties: Option<TiesArgument>,
    /// What happens to facts that stand twice in the test split [default: drop]
    #[arg(long, value_enum)]
    pub duplicates: Option<DuplicatesArgument>,
    /// When facts that hold over an interval are asked about [default: start]
    #[arg(long, value_enum)]
    pub intervals: Option<IntervalsArgument>,
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
        conflicts_with_all = ["config", "model", "settings", "seed", "rules", "compat", "time_budget", "resume"]
    )]
    pub trained_by: Option<PathBuf>,
    /// Do what the published code did, artefacts included; the model's page says what that means
    #[arg(long)]
    pub compat: bool,
    /// Folder of the record [default: runs/MODEL-DATA-SETTING-SEED]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// How long training may take, for example 90s, 45m or 2h; the best epoch until then is used
    #[arg(long, value_name = "TIME")]
    pub time_budget: Option<String>,
    /// Go on with a training that its time budget ended
    #[arg(long, conflicts_with = "overwrite")]
    pub resume: bool,
    /// Start afresh: replace a complete record, do not go on with an interrupted run
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
    #[command(after_help = commands::data::AUDIT_EXAMPLES)]
    Audit(commands::data::AuditArguments),
    /// Count how relations mirror, accompany and repeat each other
    #[command(after_help = commands::patterns::EXAMPLES)]
    Patterns(commands::patterns::PatternArguments),
    /// List the queries that a model from elsewhere has to answer
    #[command(after_help = export::EXAMPLES)]
    Export(ExportOptions),
    /// List the known benchmark variants
    List,
    /// Make a synthetic world with known structure and the best possible score
    #[command(
        after_help = "Examples:\n  quadcast data synth --out tmp-village\n  quadcast data synth --world icews-like --seed 7 --out tmp-icews"
    )]
    Synth(commands::synth::Options),
    /// Turn a table of events (CSV, TSV, JSON Lines) into a dataset
    #[command(after_help = import::EXAMPLES)]
    Import(import::ImportArguments),
    /// Divide a dataset anew: at random, by time, or with mirrored facts kept together
    #[command(after_help = commands::split::EXAMPLES)]
    Split(commands::split::SplitArguments),
    /// Compare two datasets: are they made of the same facts?
    #[command(after_help = commands::diff::EXAMPLES)]
    Diff(commands::diff::DiffArguments),
    /// Download a published dataset
    #[command(after_help = fetch::EXAMPLES)]
    Fetch(fetch::FetchArguments),
}

/// A dataset on disk.
#[derive(Debug, Args)]
pub struct Source {
    /// A dataset folder, or a name to be found in $QUADCAST_DATA or the cache
    #[arg(value_name = "PATH|NAME")]
    pub data: String,
    /// Layout of the dataset, where the detection is wrong
    #[arg(long, value_enum)]
    pub format: Option<FormatArgument>,
}

argument!(FormatArgument => Format {
    /// Integer ids: subject relation object time
    Quads,
    /// Names and ISO dates: subject relation object date
    Labelled,
    /// Integer ids with start and end dates
    Intervals,
    /// OpenKE: count line, then head tail relation
    Openke,
    /// WikidataEvolve: updates, increments, snapshots
    WikidataEvolve,
    /// DKGE: snapshot1..n with ids of their own
    Snapshots,
    /// LKGE: 0..n with names, new facts only
    Lkge,
});

argument!(SettingArgument => Setting {
    /// Every earlier step is known, also test steps
    SingleStep,
    /// Nothing of the test period is known
    MultiStep,
    /// As single-step, and the model keeps learning
    Online,
});

argument!(ValidationArgument => ValidationUse {
    /// Validation facts are history (the field's choice)
    Observed,
    /// Only training facts precede the test period
    Withheld,
});

argument!(TiesArgument => TiePolicy {
    /// Exact expectation under random order
    Expected,
    /// One random order
    Random,
    /// Mean of best and worst rank
    Mean,
    /// Gold answer first
    Optimistic,
    /// Gold answer last
    Pessimistic,
    /// By entity id
    Ordinal,
});

argument!(IntervalsArgument => IntervalUse {
    /// At the first time at which they hold
    Start,
    /// At one time at which they hold, drawn once for all models
    Drawn,
    /// At every time at which they hold
    Every,
});

argument!(DuplicatesArgument => Duplicates {
    /// They are asked once
    Drop,
    /// They are asked as often as they stand there
    Keep,
});
