//! What a source gives: rows of four fields, and rows that cannot be used.

use std::path::Path;

use serde::Serialize;

use super::error::ImportError;
use crate::readers::Compression;
use crate::readers::failure;
use crate::{DataError, Place};

/// The four fields of a row in the order of the roles, without blanks around them.
pub(super) struct Row<'a> {
    pub line: u64,
    pub fields: [&'a [u8]; 4],
    /// Columns of the fields, counted from 1.
    pub columns: [usize; 4],
    /// Whether blanks were cut off.
    pub trimmed: bool,
}

/// Why a row cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkipReason {
    /// More or fewer fields than the first row.
    Fields,
    /// A name is empty.
    EmptyName,
    /// The date is empty or not understood.
    Date,
    /// A name is not UTF-8.
    Encoding,
    /// The line is not a JSON object with the keys.
    Json,
}

impl SkipReason {
    /// Words for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Fields => "another number of fields",
            Self::EmptyName => "a name is missing",
            Self::Date => "the date is missing or not understood",
            Self::Encoding => "not UTF-8",
            Self::Json => "not a JSON object with the keys",
        }
    }
}

/// A row that cannot be used.
pub(super) struct Problem {
    pub line: u64,
    pub column: usize,
    pub reason: SkipReason,
    /// What was found, what was expected and what to do.
    pub message: String,
}

impl Problem {
    /// Where the row stands.
    pub(super) fn place(&self, path: &Path) -> Place {
        Place { path: path.to_path_buf(), line: self.line, column: self.column }
    }
}

/// What comes next.
pub(super) enum Next<'a> {
    Row(Row<'a>),
    Bad(Problem),
    End,
}

/// Why a source cannot be read any further.
pub(super) enum Stop {
    /// The stream broke off.
    Read(std::io::Error),
    /// A quotation mark that is opened in this line and never closed.
    OpenQuote(u64),
}

impl Stop {
    /// The error to report.
    pub(super) fn error(self, path: &Path, compression: Option<Compression>) -> DataError {
        match self {
            Self::Read(source) => failure(path, compression, source),
            Self::OpenQuote(line) => {
                ImportError::OpenQuote { place: Place { path: path.to_path_buf(), line, column: 1 } }.into()
            }
        }
    }
}

/// A stream of rows.
pub(super) trait Rows {
    fn next(&mut self) -> Result<Next<'_>, Stop>;
}
