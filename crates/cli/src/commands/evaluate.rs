//! External models: `quadcast data export` lists the queries for them, `quadcast evaluate` judges their scores.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::Args;
use quadcast_core::{Duplicates, Protocol, Setting, Split, TiePolicy, ValidationUse};
use quadcast_data::Format;
use quadcast_data::scores::{QueryList, Written, write_entities};
use quadcast_eval::queries;
use quadcast_report::{counted, judged_graphs_text, shown, spreadsheet_text};
use quadcast_run::{ExternalScores, Place, forecasting_dataset, judge_graphs, write_atomically};
use serde_json::json;

use super::data::open_source;
use super::run::show;
use crate::arguments::{DUPLICATES, FORMATS, SETTINGS, Source, TIES, VALIDATION, Words, one_of};
use crate::output::{Failure, Output, print};

pub const EXAMPLES: &str = "Examples:
  quadcast data export ICEWS14 --queries test --out queries.csv
  quadcast evaluate --data ICEWS14 --scores mine.npz --name mine
  quadcast evaluate --data ICEWS14 --scores top100.csv.zst --setting multi-step
  quadcast evaluate --data ICEWS14 --graphs graphs.csv      (from quadcast forecast RUN --graph --at DATE)

Layouts, by ending:
  .npz                     arrays \"scores\" (queries x entities, float32 or float16) and \"keys\"
  .npy                     scores alone; needs --unchecked-order
  .csv, .csv.gz, .csv.zst  lines key,entity,score (or row,key,entity,score) with a header;
                           or ranks: key,gold,time_rank,static_rank,raw_rank, and *_tied
  .parquet                 the same columns, in builds with the feature parquet

Exit code 2 if the file is not a complete, ordered answer to the test queries.";

/// What to judge.
#[derive(Debug, Args)]
pub struct EvaluateOptions {
    /// A dataset folder, or a name to be found in $QUADCAST_DATA
    #[arg(long, value_name = "PATH|NAME")]
    data: String,
    /// The scores, by row of `quadcast data export --queries test`
    #[arg(long, value_name = "FILE", required_unless_present = "graphs")]
    scores: Option<PathBuf>,
    /// Predicted graphs instead, CSV: at, subject, relation, object, probability; leaves no record
    #[arg(long, value_name = "FILE", conflicts_with_all = ["scores", "name", "setting", "out", "overwrite"])]
    graphs: Option<PathBuf>,
    /// Accept scores without keys: permuted rows then go unnoticed, and the record says so
    #[arg(long)]
    unchecked_order: bool,
    /// Name of the model in the record, after "external:" [default: name of the file]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Layout of the dataset, where the detection is wrong
    #[arg(long, value_parser = one_of(FORMATS))]
    format: Option<Format>,
    /// What the model saw of the test period; declared by you [default: single-step]
    #[arg(long, value_parser = one_of(SETTINGS))]
    setting: Option<Setting>,
    /// Whether validation facts were history at test time; declared by you [default: observed]
    #[arg(long, value_parser = one_of(VALIDATION))]
    validation: Option<ValidationUse>,
    /// Tie policy of the headline numbers; the record has all others too [default: expected]
    #[arg(long, value_parser = one_of(TIES))]
    ties: Option<TiePolicy>,
    /// What happens to duplicate facts of the test split [default: drop]
    #[arg(long, value_parser = one_of(DUPLICATES))]
    duplicates: Option<Duplicates>,
    /// Seed of random ties and of the intervals
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Run folder [default: runs/external-NAME-DATA-SETTING-SEED]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace a complete run in the output folder
    #[arg(long)]
    overwrite: bool,
}

pub fn execute(options: &EvaluateOptions, output: &Output) -> Result<(), Failure> {
    if let Some(file) = &options.graphs {
        let judged = judge_graphs(file, shown(file.display()), &options.data)?;
        return output.result(&judged, || judged_graphs_text(&judged));
    }
    let Some(file) = &options.scores else { return Err(Failure::input("give --scores or --graphs")) };
    let usual = Protocol::forecasting(options.setting.unwrap_or(Setting::SingleStep));
    let scores = ExternalScores {
        file: file.clone(),
        name: options.name.clone(),
        data: options.data.clone(),
        format: options.format,
        protocol: Protocol {
            validation: options.validation.unwrap_or(usual.validation),
            ties: options.ties.unwrap_or(usual.ties),
            duplicates: options.duplicates.unwrap_or(usual.duplicates),
            ..usual
        },
        seed: options.seed,
        unchecked_order: options.unchecked_order,
    };
    let place = Place { out: options.out.clone(), overwrite: options.overwrite, resume: false };
    let (folder, record) = scores.complete(&place, &output.run())?;
    show(&folder, &record, output)
}

pub const EXPORT_EXAMPLES: &str = "Examples:
  quadcast data export ICEWS14 --queries test --out queries.csv --entities entities.csv
  quadcast data export examples/harbour --queries valid --out - | head

One row per distinct query, numbered from 0, without answers. The key is a hash of dataset, split
and query: a score file that carries it proves that its rows are in order.";

/// What to export.
#[derive(Debug, Args)]
pub struct ExportOptions {
    #[command(flatten)]
    source: Source,
    /// The split whose queries are listed
    #[arg(long, value_parser = one_of(QUERY_SPLITS))]
    queries: Split,
    /// The list of queries, CSV; - is standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Also write the entities with their ids, CSV: the candidates of every query
    #[arg(long, value_name = "FILE")]
    entities: Option<PathBuf>,
    /// Put an apostrophe before names that a spreadsheet takes for formulas [default: exact names]
    #[arg(long)]
    spreadsheet: bool,
}

const QUERY_SPLITS: Words<Split> = &[("test", Split::Test, ""), ("valid", Split::Valid, "")];

pub fn export(options: &ExportOptions, output: &Output) -> Result<(), Failure> {
    let to_stdout = options.out == Path::new("-");
    if to_stdout && output.json {
        return Err(Failure::input("--json and --out - both want standard output; name a file with --out"));
    }
    let loaded = open_source(&options.source)?;
    let dataset = forecasting_dataset(&loaded)?;
    let split = options.queries;
    let list = QueryList::new(dataset, split, queries(dataset.splits.get(split)));
    let written: Written = if options.spreadsheet { spreadsheet_text } else { |name| Cow::Borrowed(name) };
    if let Some(path) = &options.entities {
        write_atomically(path, |out| write_entities(&dataset.vocabulary.entities, written, out))?;
    }
    if to_stdout {
        return print(|out| list.write(dataset, written, out));
    }
    write_atomically(&options.out, |out| list.write(dataset, written, out))?;
    let mut document = json!({ "split": split, "rows": list.queries.len(), "queries": options.out });
    if let Some(path) = &options.entities {
        document["entities"] = json!(path);
    }
    document["candidates"] = json!(dataset.entities());
    output.result(&document, || {
        let (rows, candidates) = (counted(list.queries.len() as u64), counted(dataset.entities() as u64));
        let path = shown(options.out.display());
        format!("{rows} {split} queries with {candidates} candidates each: {path}\n")
    })
}
