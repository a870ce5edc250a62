//! `quadcast data compile`: a benchmark from a stream of operations.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use quadcast_analysis::{
    BenchmarkLayout, BenchmarkTarget, Border, CompileOptions, FrequencyFilter, FrequencyRule, HeldOut,
    IdRule, IntervalRule, KeptOperation, OperationOrder, SplitRule, compile_to,
};
use quadcast_data::write::free_folder;
use quadcast_data::{OperationStream, Shares, StreamClock, StreamFormat};
use quadcast_report::{CompileCost, compile_text};
use quadcast_run::peak_memory;
use serde_json::json;

use super::convert::StreamSource;
use crate::arguments::{Words, one_of};
use crate::output::{Failure, Output};

/// Shown after the help.
pub const EXAMPLES: &str = "Examples:
  quadcast data synth --operations 50000 --out tmp-operations.txt
  quadcast data compile tmp-operations.txt --intervals 4 --split 90/5/5 --out tmp-benchmark
  quadcast data compile operations.txt.bz2 --min-entity 15 --min-relation 70 --out mine
  quadcast data compile evolving/YAGO-3SP --by steps --split given --filter off --out tmp-yago
  quadcast data compile ICEWS14 --hold 30 --intervals 8 --filter off --out tmp-icews

A stream has a line per operation: head tail relation +|- [time]. The folder holds updates, increments
and snapshots, evaluation samples, categories and classification examples, and compile.json with all
counts.";

/// What to compile and how.
#[derive(Debug, Args)]
pub struct CompileArguments {
    #[command(flatten)]
    pub stream: StreamSource,
    /// The folder to be made
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Number of intervals, for --by ops and --by time [default: 4]
    #[arg(long, value_name = "N")]
    pub intervals: Option<usize>,
    /// How the stream is cut [default: ops, or what --size and --borders ask for]
    #[arg(long, value_enum)]
    pub by: Option<ByArgument>,
    /// Operations per interval
    #[arg(long, value_name = "N")]
    pub size: Option<usize>,
    /// Times at which new intervals begin, separated by commas: as in the stream, or dates, UTC unless they have an offset
    #[arg(long, value_name = "TIMES", conflicts_with = "size")]
    pub borders: Option<String>,
    /// Which operation stands for an odd number of them in an interval [default: first; last with --compat]
    #[arg(long, value_parser = one_of(KEPT))]
    pub keep: Option<KeptOperation>,
    /// How operations of the same time are ordered [default: numeric; lexical with --compat]
    #[arg(long, value_parser = one_of(ORDERS))]
    pub order: Option<OperationOrder>,
    /// How rare entities and relations are found
    #[arg(long, value_parser = one_of(FILTERS), default_value = "sequential")]
    pub filter: FrequencyRule,
    /// Triples that an entity needs in every snapshot that has it [default: 15]
    #[arg(long, value_name = "N")]
    pub min_entity: Option<u32>,
    /// Triples that a relation needs in every snapshot that has it [default: 70]
    #[arg(long, value_name = "N")]
    pub min_relation: Option<u32>,
    /// Shares of train, valid and test, or `given`: the splits of the source
    ///
    /// Drawn at the first appearance, and kept for good. `hash:90/5/5` decides by the names of a triple instead: it has the same
    /// split in every stream, and the shares are met in the mean only.
    #[arg(long, value_name = "SHARES", default_value = "90/5/5", value_parser = split_rule)]
    pub split: SplitRule,
    /// Move held-out triples to training that have an entity or relation which training lacks
    #[arg(long)]
    pub cover_train: bool,
    /// Keep the ids of the source, also those that do not occur; of text, the numbers
    #[arg(long)]
    pub keep_ids: bool,
    /// Evaluation triples that are ranked per snapshot and split; only for --layout wikidata-evolve [default: 6000]
    #[arg(long, value_name = "N")]
    pub sample: Option<usize>,
    /// Seed of every draw; the same seed gives the same files
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Layout of the folder
    #[arg(long, value_parser = one_of(LAYOUTS), default_value = "wikidata-evolve")]
    pub layout: BenchmarkLayout,
    /// Write the operations of all updates with their times too
    #[arg(long, value_parser = one_of(EXPORTS))]
    pub export: Option<StreamFormat>,
    /// Do what the published code did: negatives that may be true, the last operation, updates unsorted
    #[arg(long)]
    pub compat: bool,
}

/// How the stream is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ByArgument {
    /// Equal numbers of operations
    Ops,
    /// Equal lengths of time
    Time,
    /// So many operations each (--size)
    Size,
    /// At given times (--borders)
    Borders,
    /// The steps of the source
    Steps,
}

const KEPT: Words<KeptOperation> =
    &[("first", KeptOperation::First, "The first one"), ("last", KeptOperation::Last, "The last one")];

const ORDERS: Words<OperationOrder> =
    &[("numeric", OperationOrder::Numeric, "By number"), ("lexical", OperationOrder::Lexical, "By text")];

const FILTERS: Words<FrequencyRule> = &[
    ("sequential", FrequencyRule::Sequential, "Entities first, then relations in what is left"),
    ("joint", FrequencyRule::Joint, "Both at once, counted before anything is removed"),
    ("fixpoint", FrequencyRule::Fixpoint, "In turn until nothing is rare: the thresholds hold in the result"),
    ("off", FrequencyRule::Off, "Nothing is removed"),
];

const LAYOUTS: Words<BenchmarkLayout> = &[
    ("wikidata-evolve", BenchmarkLayout::WikidataEvolve, "Updates, increments, snapshots: everything"),
    ("snapshots", BenchmarkLayout::Snapshots, "DKGE: a graph per snapshot"),
    ("lkge", BenchmarkLayout::Lkge, "LKGE: new facts per snapshot, deletions are lost"),
];

const EXPORTS: Words<StreamFormat> = &[
    ("text", StreamFormat::Text, "mapped_triple-op2id.txt"),
    ("binary", StreamFormat::Binary, "operations.qops"),
];

fn split_rule(text: &str) -> Result<SplitRule, String> {
    if text == "given" {
        return Ok(SplitRule::Given);
    }
    let hashed = text.strip_prefix("hash:");
    let rule = if hashed.is_some() { SplitRule::Hashed } else { SplitRule::Drawn };
    let shares: Shares =
        hashed.unwrap_or(text).parse().map_err(|error: quadcast_data::ImportError| error.to_string())?;
    HeldOut::new(shares.valid, shares.test).map(rule).map_err(|error| error.to_string())
}

pub fn execute(arguments: &CompileArguments, output: &Output) -> Result<(), Failure> {
    refuse_idle(arguments)?;
    free_folder(&arguments.out)?;
    let start = Instant::now();
    let (source, progress) = (arguments.stream.to_source(), output.progress());
    let stream =
        if arguments.keep_ids { source.read_with_ids(&progress)? } else { source.read(&progress)? };
    let read = start.elapsed().as_secs_f64();
    let options = options(arguments, &stream)?;
    let layout = arguments.layout;
    let target = BenchmarkTarget { folder: &arguments.out, layout, operations: arguments.export };
    let written = compile_to(&stream, &options, target)?;
    let [compile, write] = [written.compiling, written.writing].map(|time| time.as_secs_f64());
    let cost = CompileCost { read, compile, write, peak_memory_bytes: peak_memory() };
    let mut document = serde_json::to_value(&written.report).map_err(Failure::internal)?;
    document["folder"] = json!(arguments.out);
    document["layout"] = json!(layout);
    document["seconds"] = json!({ "read": read, "compile": compile, "write": write });
    document["peak_memory_bytes"] = json!(cost.peak_memory_bytes);
    output.result(&document, || compile_text(&written.report, &arguments.out, layout, &cost))
}

/// Options that would do nothing are refused.
fn refuse_idle(arguments: &CompileArguments) -> Result<(), Failure> {
    let idle = |option: &str, why: &str| Err(Failure::input(format!("{option} has no effect {why}")));
    if arguments.filter == FrequencyRule::Off {
        for (option, given) in
            [("--min-entity", arguments.min_entity), ("--min-relation", arguments.min_relation)]
        {
            if given.is_some() {
                return idle(option, "with --filter off");
            }
        }
    }
    if arguments.split == SplitRule::Given && arguments.cover_train {
        return idle("--cover-train", "with --split given: nothing is drawn");
    }
    if arguments.layout != BenchmarkLayout::WikidataEvolve && arguments.sample.is_some() {
        let layout = arguments.layout.word();
        let why = format!("with --layout {layout}, which holds all evaluation triples and no sample");
        return idle("--sample", &why);
    }
    Ok(())
}

fn options(arguments: &CompileArguments, stream: &OperationStream) -> Result<CompileOptions, Failure> {
    let default = FrequencyFilter::default();
    let compat = arguments.compat;
    Ok(CompileOptions {
        intervals: interval_rule(arguments, stream)?,
        keep: arguments.keep.unwrap_or(if compat { KeptOperation::Last } else { KeptOperation::First }),
        order: arguments.order.unwrap_or(if compat {
            OperationOrder::Lexical
        } else {
            OperationOrder::Numeric
        }),
        filter: FrequencyFilter {
            rule: arguments.filter,
            min_entity: arguments.min_entity.unwrap_or(default.min_entity),
            min_relation: arguments.min_relation.unwrap_or(default.min_relation),
        },
        split: arguments.split,
        cover_train: arguments.cover_train,
        ids: if arguments.keep_ids { IdRule::Source } else { IdRule::Appearance },
        sample: arguments.sample.or(CompileOptions::default().sample),
        seed: arguments.seed,
        policy: arguments.stream.policy,
        compat,
    })
}

/// The rule that the options name together.
fn interval_rule(arguments: &CompileArguments, stream: &OperationStream) -> Result<IntervalRule, Failure> {
    let by = arguments.by.unwrap_or(match (arguments.size, &arguments.borders) {
        (Some(_), _) => ByArgument::Size,
        (_, Some(_)) => ByArgument::Borders,
        (None, None) => ByArgument::Ops,
    });
    let word = by.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    let used = [
        ("--intervals", arguments.intervals.is_some(), matches!(by, ByArgument::Ops | ByArgument::Time)),
        ("--size", arguments.size.is_some(), by == ByArgument::Size),
        ("--borders", arguments.borders.is_some(), by == ByArgument::Borders),
    ];
    if let Some((option, ..)) = used.iter().find(|(_, given, used)| *given && !used) {
        return Err(Failure::input(format!("{option} has no effect with --by {word}")));
    }
    let missing = |option: &str| Failure::input(format!("--by {word} needs {option}"));
    let intervals = arguments.intervals.unwrap_or(4);
    Ok(match by {
        ByArgument::Ops => IntervalRule::Operations(intervals),
        ByArgument::Time => IntervalRule::Time(intervals),
        ByArgument::Size => IntervalRule::Size(arguments.size.ok_or_else(|| missing("--size"))?),
        ByArgument::Steps => IntervalRule::Steps,
        ByArgument::Borders => {
            let times = arguments.borders.as_deref().ok_or_else(|| missing("--borders"))?;
            IntervalRule::Borders(
                times.split(',').map(|time| border(time, stream.clock)).collect::<Result<_, _>>()?,
            )
        }
    })
}

/// A time as it stands in the stream; dates are instants of their first second.
fn border(text: &str, clock: StreamClock) -> Result<Border, Failure> {
    let text = text.trim().to_owned();
    let expected = match clock {
        StreamClock::Utc => "a date such as 2014-07-01, or a time such as 2014-07-01T12:00:00+02:00",
        StreamClock::Order | StreamClock::Number => "a whole number",
    };
    let Some(moment) = clock.moment(&text) else {
        return Err(Failure::input(format!(
            "--borders {text}: expected {expected}, as the times of the stream"
        )));
    };
    Ok(Border { moment, text })
}
