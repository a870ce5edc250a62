//! What can go wrong in an import. Messages name the place and the option that helps.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use super::options::Granularity;
use crate::Place;

/// Whatever can go wrong when a table of events is imported.
#[derive(Debug, Error)]
pub enum ImportError {
    // Options.
    /// `--columns` cannot be used.
    #[error(
        "--columns {found}: {problem}; write the roles in the order of the columns \
         (subject,relation,object,date with _ for a column to ignore) or name each column \
         (subject=Source,relation=2,object=Target,date=Day)"
    )]
    Columns {
        /// What was given.
        found: String,
        /// What is wrong with it.
        problem: String,
    },
    /// `--split` cannot be used.
    #[error("--split {found}: expected three shares above 0 that sum to 100, such as 80/10/10")]
    Shares {
        /// What was given.
        found: String,
    },
    /// Standard input is named twice.
    #[error("- (standard input) is given more than once; it can be read only once")]
    StandardInputTwice,

    // Whole files.
    /// Something else than a table of text.
    #[error("{}:1:1: found {found}, expected CSV, TSV or JSON Lines; {advice}", path.display())]
    NotATable {
        /// The file.
        path: PathBuf,
        /// What it looks like.
        found: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// A Parquet file that breaks off or holds something else than it says.
    #[cfg(feature = "parquet")]
    #[error("{}: the Parquet file is damaged or compressed with something else than snappy, gzip or zstd: {source}; \
         write or download it again", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// What the decoder said.
        source: io::Error,
    },
    /// No row at all.
    #[error("{}:1:1: the file holds no row, expected at least one event; check the path", path.display())]
    NoRows {
        /// The file.
        path: PathBuf,
    },
    /// No delimiter gives enough columns.
    #[error(
        "{}:1:1: found {columns} column(s) with the delimiters comma, tab and semicolon, expected at least 4 \
         (subject, relation, object, date); name the right one with --delimiter\nfirst line: {line}",
        path.display()
    )]
    NoDelimiter {
        /// The file.
        path: PathBuf,
        /// Most columns that a delimiter gives.
        columns: usize,
        /// The first line.
        line: String,
    },
    /// The roles of the columns are not clear.
    #[error(
        "{place}: {problem}; say which column is what\n{table}\nfor example: quadcast data import {} \
         --columns {suggestion} --out DIR",
        place.path.display()
    )]
    Unclear {
        /// The header, or the first row.
        place: Place,
        /// What is not clear.
        problem: String,
        /// The columns with a sample row.
        table: String,
        /// What `--columns` could be.
        suggestion: String,
    },
    /// A quotation mark that is never closed.
    #[error(
        "{place}: a quotation mark is opened in this row and never closed, so the rest of the file is one field; \
         close it, or double quotation marks that belong to a name"
    )]
    OpenQuote {
        /// Start of the row.
        place: Place,
    },

    // Rows.
    /// A row that cannot be used.
    #[error("{place}: {message}, or leave such rows out with --skip-bad")]
    Row {
        /// Where.
        place: Place,
        /// What was found, what was expected and what to do.
        message: String,
    },
    /// Every row was skipped.
    #[error("no row could be used: {skipped} rows were skipped; the first: {first}")]
    NothingLeft {
        /// Number of rows.
        skipped: u64,
        /// The first of them.
        first: String,
    },

    // Dates.
    /// Day and month cannot be told apart.
    #[error(
        "{place}: found {found}, which could be day/month or month/day, and no date in the data decides it; \
         say which with --date-format dmy or --date-format mdy"
    )]
    AmbiguousDates {
        /// The first such date.
        place: Place,
        /// The date.
        found: String,
    },
    /// Day first in one row, month first in another.
    #[error(
        "{place}: found {found}, expected the order of {other}: one has the day first, the other the month; \
         say which is right with --date-format dmy or --date-format mdy (and --skip-bad to leave the others out)"
    )]
    MixedDates {
        /// The date that speaks against the other.
        place: Place,
        /// The date.
        found: String,
        /// Place and text of the other date.
        other: String,
    },
    /// A granularity that the dates do not have.
    #[error(
        "{place}: found {found}, which does not say the {granularity}; use --granularity {coarsest} or coarser"
    )]
    TooFine {
        /// The first date that is too coarse.
        place: Place,
        /// The date.
        found: String,
        /// What was asked for.
        granularity: Granularity,
        /// What the dates give.
        coarsest: Granularity,
    },
    /// Too few steps for three splits.
    #[error(
        "found {steps} different {granularity}(s), expected at least 3: train, valid and test need one each; {advice}"
    )]
    TooFewSteps {
        /// How many.
        steps: usize,
        /// Their length.
        granularity: Granularity,
        /// What to do.
        advice: String,
    },

    // The folder to be made.
    /// The folder holds something.
    #[error("{}: the folder is not empty; choose another one with --out{advice}", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
        /// What else can be done.
        advice: &'static str,
    },
    /// Writing failed.
    #[error("{}: cannot be written: {source}; choose another folder with --out", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}
