//! `quadcast data import`: a table of events becomes a dataset.

use std::path::PathBuf;

use clap::Args;
use quadcast_core::Duplicates;
use quadcast_data::{Columns, DateOrder, Granularity, ImportOptions, Shares, import};
use quadcast_report::import_text;

use crate::arguments::{DUPLICATES, Words, one_of};
use crate::output::{Failure, Output};

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
    #[arg(long, value_parser = one_of(GRANULARITIES))]
    pub granularity: Option<Granularity>,
    /// Order of day and month in dates such as 04/05/2031, if no date shows it
    #[arg(long, value_parser = one_of(DATE_ORDERS))]
    pub date_format: Option<DateOrder>,
    /// Shares of train, valid and test; borders lie between steps
    #[arg(long, value_name = "SHARES", default_value = "80/10/10")]
    pub split: Shares,
    /// What happens to duplicate facts of one step
    #[arg(long, value_parser = one_of(DUPLICATES), default_value = "drop")]
    pub duplicates: Duplicates,
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

const GRANULARITIES: Words<Granularity> = &[
    ("hour", Granularity::Hour, ""),
    ("day", Granularity::Day, ""),
    ("week", Granularity::Week, "Monday to Sunday"),
    ("month", Granularity::Month, ""),
    ("year", Granularity::Year, ""),
];

const DATE_ORDERS: Words<DateOrder> =
    &[("dmy", DateOrder::Dmy, "Day, month, year"), ("mdy", DateOrder::Mdy, "Month, day, year")];

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
        granularity: arguments.granularity,
        date_order: arguments.date_format,
        shares: arguments.split,
        duplicates: arguments.duplicates,
        skip_bad: arguments.skip_bad,
        overwrite: arguments.overwrite,
        ..ImportOptions::new(arguments.files, arguments.out)
    };
    let report = import(&options)?;
    output.result(&report, || import_text(&report))
}
