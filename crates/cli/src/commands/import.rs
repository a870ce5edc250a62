//! `quadcast data import`: a table of events becomes a dataset.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use quadcast_data::{Columns, DateOrder, Granularity, ImportOptions, Shares, import};
use quadcast_report::import_text;

use crate::arguments::DuplicatesArgument;
use crate::failure::Failure;
use crate::output::Output;

/// Shown after the help.
pub const EXAMPLES: &str = "Examples:
  quadcast data import events.csv --out mine
  quadcast data import events.csv --columns subject,relation,object,date --out mine
  quadcast data import *.tsv.gz --columns subject=Source,relation=Action,object=Target,date=4 --out mine
  quadcast data import log.jsonl --granularity week --split 70/15/15 --skip-bad --out mine

The folder holds train.txt, valid.txt and test.txt with names and dates, and import.json, which says
what was read, decided, skipped and written.";

/// What to import and how.
#[derive(Debug, Args)]
pub struct ImportArguments {
    /// CSV, TSV or JSON Lines, also compressed (.gz .bz2 .xz .zst .zip); - reads standard input
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Roles in the order of the columns (subject,relation,object,date; _ ignores one), or a column
    /// for each (subject=Source,relation=2,…) [default: guessed from the header, and said]
    #[arg(long, value_name = "LIST")]
    pub columns: Option<Columns>,
    /// What separates the fields: comma, tab, semicolon, pipe or one character [default: detected]
    #[arg(long, value_name = "WORD", value_parser = delimiter)]
    pub delimiter: Option<u8>,
    /// Length of one step [default: day, or what the dates give]
    #[arg(long, value_enum)]
    pub granularity: Option<GranularityArgument>,
    /// Order of day and month in dates such as 04/05/2031, if no date shows it
    #[arg(long, value_enum)]
    pub date_format: Option<DateOrderArgument>,
    /// Shares of train, valid and test; borders lie between steps
    #[arg(long, value_name = "SHARES", default_value = "80/10/10")]
    pub split: Shares,
    /// What happens to duplicate facts of one step
    #[arg(long, value_enum, default_value = "drop")]
    pub duplicates: DuplicatesArgument,
    /// Leave bad rows out and count them, instead of stopping at the first
    #[arg(long)]
    pub skip_bad: bool,
    /// The folder to be made
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Replace the result of an earlier import
    #[arg(long)]
    pub overwrite: bool,
}

/// Words for [`Granularity`].
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum GranularityArgument {
    Hour,
    Day,
    /// Monday to Sunday
    Week,
    Month,
    Year,
}

impl From<GranularityArgument> for Granularity {
    fn from(value: GranularityArgument) -> Self {
        match value {
            GranularityArgument::Hour => Self::Hour,
            GranularityArgument::Day => Self::Day,
            GranularityArgument::Week => Self::Week,
            GranularityArgument::Month => Self::Month,
            GranularityArgument::Year => Self::Year,
        }
    }
}

/// Words for [`DateOrder`].
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DateOrderArgument {
    /// Day, month, year
    Dmy,
    /// Month, day, year
    Mdy,
}

impl From<DateOrderArgument> for DateOrder {
    fn from(value: DateOrderArgument) -> Self {
        match value {
            DateOrderArgument::Dmy => Self::Dmy,
            DateOrderArgument::Mdy => Self::Mdy,
        }
    }
}

fn delimiter(word: &str) -> Result<u8, String> {
    match (word, word.as_bytes()) {
        ("comma", _) => Ok(b','),
        ("tab" | "\\t", _) => Ok(b'\t'),
        ("semicolon", _) => Ok(b';'),
        ("pipe", _) => Ok(b'|'),
        (_, [byte]) if byte.is_ascii() && !byte.is_ascii_alphanumeric() && !b"\"\r\n".contains(byte) => {
            Ok(*byte)
        }
        _ => Err("expected comma, tab, semicolon, pipe or one character".to_owned()),
    }
}

pub fn execute(arguments: ImportArguments, output: &Output) -> Result<(), Failure> {
    let options = ImportOptions {
        columns: arguments.columns,
        delimiter: arguments.delimiter,
        granularity: arguments.granularity.map(Into::into),
        date_order: arguments.date_format.map(Into::into),
        shares: arguments.split,
        duplicates: arguments.duplicates.into(),
        skip_bad: arguments.skip_bad,
        overwrite: arguments.overwrite,
        ..ImportOptions::new(arguments.files, arguments.out)
    };
    let report = import(&options)?;
    output.result(&report, || import_text(&report))
}
