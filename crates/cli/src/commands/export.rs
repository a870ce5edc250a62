//! `quadcast data export`: the questions, for models that live elsewhere.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use quadcast_core::Split;
use quadcast_data::LoadOptions;
use quadcast_data::scores::{QueryList, write_entities};
use quadcast_eval::queries;
use quadcast_report::counted;
use quadcast_run::{forecasting_dataset, open, write_atomically};
use serde::Serialize;

use crate::arguments::Source;
use crate::failure::Failure;
use crate::output::Output;

pub const EXAMPLES: &str = "Examples:
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
    #[arg(long, value_enum)]
    queries: QuerySplit,
    /// The list of queries, CSV; - is standard output
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Also write the entities with their ids, CSV: the candidates of every query
    #[arg(long, value_name = "FILE")]
    entities: Option<PathBuf>,
}

/// Splits that are asked about.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum QuerySplit {
    Test,
    Valid,
}

/// What `--json` prints.
#[derive(Serialize)]
struct Exported<'a> {
    split: Split,
    rows: usize,
    queries: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    entities: Option<&'a Path>,
    candidates: usize,
}

pub fn execute(options: &ExportOptions, output: &Output) -> Result<(), Failure> {
    let to_stdout = options.out == Path::new("-");
    if to_stdout && output.json {
        return Err(Failure::input("--json and --out - both want standard output; name a file with --out"));
    }
    let source = &options.source;
    let loaded =
        open(&source.data, LoadOptions { format: source.format.map(Into::into), ..LoadOptions::default() })?;
    let dataset = forecasting_dataset(&loaded)?;
    let split = match options.queries {
        QuerySplit::Test => Split::Test,
        QuerySplit::Valid => Split::Valid,
    };
    let list = QueryList::new(dataset, split, queries(dataset.splits.get(split)));
    if let Some(path) = &options.entities {
        write_atomically(path, |out| write_entities(&dataset.vocabulary.entities, out))?;
    }
    if to_stdout {
        return print(|out| list.write(dataset, out));
    }
    write_atomically(&options.out, |out| list.write(dataset, out))?;
    let exported = Exported {
        split,
        rows: list.queries.len(),
        queries: &options.out,
        entities: options.entities.as_deref(),
        candidates: dataset.entities(),
    };
    output.result(&exported, || {
        let (rows, candidates) = (counted(list.queries.len() as u64), counted(dataset.entities() as u64));
        let path = options.out.display();
        format!("{rows} {split} queries with {candidates} candidates each: {path}\n")
    })
}

/// Writes to standard output. A reader that has seen enough (`| head`) is not an error.
fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::internal(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}
