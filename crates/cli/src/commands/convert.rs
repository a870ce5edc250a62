//! `quadcast data convert`: a stream of operations in another form.

use std::path::{Path, PathBuf};

use clap::Args;
use quadcast_data::{FaultPolicy, Hold, StreamFormat, operations_target, write_operations};
use quadcast_report::{converted_text, shown};
use quadcast_run::OperationSource;
use serde_json::json;

use crate::arguments::{Words, one_of};
use crate::output::{Failure, Output};

/// Shown after the help.
pub const EXAMPLES: &str = "Examples:
  quadcast data convert Wikidata9M.txt.bz2 --out tmp-wikidata.qops
  quadcast data convert tmp-wikidata.qops --out tmp-wikidata.txt
  quadcast data convert evolving/YAGO-3SP --out tmp-yago.qops

Text has a line per operation: head tail relation +|- [time]. Times are whole numbers or written
2013-04-12T16:12:19Z. Names that are numbers, or Wikidata's Q220 and P17, become those numbers; where
others are among them, ids stand there. The binary form keeps names, steps and splits of a dataset.";

/// Where operations come from.
#[derive(Debug, Args)]
pub struct StreamSource {
    /// A file of operations (text or .qops, also compressed), or a dataset: an evolving graph, or facts with time stamps
    #[arg(value_name = "OPS")]
    pub source: PathBuf,
    /// What happens to insertions of present triples and deletions of absent ones
    #[arg(long, value_parser = one_of(POLICIES), default_value = "error")]
    pub policy: FaultPolicy,
    /// How many steps a fact with a time stamp holds, or `ever` [default: 1]
    #[arg(long, value_name = "STEPS", value_parser = hold)]
    pub hold: Option<Hold>,
}

pub const POLICIES: Words<FaultPolicy> = &[
    ("error", FaultPolicy::Error, "They are errors"),
    ("drop", FaultPolicy::Drop, "They are left out and counted"),
];

fn hold(text: &str) -> Result<Hold, String> {
    match (text, text.parse()) {
        ("ever", _) => Ok(Hold::Ever),
        (_, Ok(steps @ 1..)) => Ok(Hold::Steps(steps)),
        _ => Err("expected a number of steps from 1, or ever".to_owned()),
    }
}

impl StreamSource {
    /// The same for the library.
    pub fn to_source(&self) -> OperationSource {
        OperationSource { place: self.source.clone(), policy: self.policy, hold: self.hold }
    }
}

/// What to convert.
#[derive(Debug, Args)]
pub struct ConvertArguments {
    #[command(flatten)]
    pub stream: StreamSource,
    /// The file to be made: binary with the ending .qops, text otherwise; compressed with .gz, .bz2, .xz or .zst after it
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Replace the file
    #[arg(long)]
    pub overwrite: bool,
}

/// The form that a new file is to have. A file that nobody allowed to replace is not replaced.
pub fn free(path: &Path, overwrite: bool) -> Result<StreamFormat, Failure> {
    let shown_path = shown(path.display());
    if path.is_dir() {
        return Err(Failure::input(format!("{shown_path}: this is a folder; name a file with --out")));
    }
    if path.exists() && !overwrite {
        return Err(Failure::input(format!(
            "{shown_path}: the file exists; choose another one with --out, or say --overwrite"
        )));
    }
    Ok(operations_target(path)?)
}

pub fn execute(arguments: &ConvertArguments, output: &Output) -> Result<(), Failure> {
    let format = free(&arguments.out, arguments.overwrite)?;
    let stream = arguments.stream.to_source().read(&output.progress())?;
    write_operations(&arguments.out, &stream, format)?;
    let document = json!({
        "operations": stream.len(),
        "triples": stream.triples().len(),
        "clock": stream.clock,
        "dropped": stream.dropped,
        "format": format,
        "file": arguments.out,
    });
    output.result(&document, || converted_text(&stream, &arguments.out))
}
