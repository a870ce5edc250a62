//! What a source gives: rows of four fields, and rows that cannot be used.

use serde::Serialize;

/// Bytes that are read at once.
pub(super) const BUFFER: usize = 1 << 18;

/// The four fields of a row in the order of the roles, without blanks around them.
pub(super) struct EventRow<'a> {
    pub line: u64,
    pub fields: [&'a [u8]; 4],
    /// Columns of the fields, counted from 1.
    pub columns: [usize; 4],
    /// Whether blanks were cut off.
    pub trimmed: bool,
}

impl<'a> EventRow<'a> {
    pub(super) fn new(line: u64, columns: [usize; 4], fields: [&'a [u8]; 4]) -> Self {
        let bare = fields.map(<[u8]>::trim_ascii);
        let trimmed = bare.map(<[u8]>::len) != fields.map(<[u8]>::len);
        Self { line, fields: bare, columns, trimmed }
    }
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

/// What comes next.
pub(super) enum Next<'a> {
    Row(EventRow<'a>),
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

pub(super) trait Rows {
    fn next(&mut self) -> Result<Next<'_>, Stop>;
}
