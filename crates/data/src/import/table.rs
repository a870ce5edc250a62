//! Rows of a table with a delimiter, streamed.

use std::io::{self, Read};

use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};

use super::rows::{Next, Problem, Row, Rows, SkipReason, Stop};

/// Read buffer.
const BUFFER: usize = 1 << 18;

/// A last line that is added to every table. If it turns up inside a field, a quotation mark was never closed.
const END: &[u8] = b"\x04end of the table\x04";

/// The last line with the line ends around it.
const ENDING: &[u8] = b"\n\x04end of the table\x04\n";

/// A table of which the end can be told.
pub(super) type Ended<R> = io::Chain<R, &'static [u8]>;

/// How the text of a table is cut into fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub delimiter: u8,
    /// Whether a field that starts with a quotation mark ends with one.
    pub quoting: bool,
}

impl Dialect {
    /// A reader that reports rows of any length. Lines end in line feeds only, so that line numbers are those of an
    /// editor; a carriage return before it is cut off with the blanks around a field.
    pub(super) fn reader<R: Read>(self, text: R) -> Reader<Ended<R>> {
        ReaderBuilder::new()
            .delimiter(self.delimiter)
            .quoting(self.quoting)
            .has_headers(false)
            .flexible(true)
            .terminator(Terminator::Any(b'\n'))
            .buffer_capacity(BUFFER)
            .from_reader(text.chain(ENDING))
    }

    /// The delimiter in words.
    pub(super) fn delimiter_words(self) -> String {
        match self.delimiter {
            b',' => "comma".to_owned(),
            b'\t' => "tab".to_owned(),
            b';' => "semicolon".to_owned(),
            other => format!("{:?}", char::from(other)),
        }
    }
}

/// Reads the next record that is not blank; `None` at the end. The line is that of the start of the record.
pub(super) fn next_record<R: Read>(
    reader: &mut Reader<R>,
    record: &mut ByteRecord,
) -> Result<Option<u64>, Stop> {
    loop {
        if !reader.read_byte_record(record).map_err(|error| Stop::Read(broken(error)))? {
            return Ok(None);
        }
        let text = record.as_slice();
        // The reader stands behind the record: after its line end, or, inside quotes, at the end of everything.
        let line = reader.position().line().saturating_sub(memchr::memchr_iter(b'\n', text).count() as u64);
        if text.ends_with(ENDING) {
            return Err(Stop::OpenQuote(line));
        }
        if text == END {
            return Ok(None);
        }
        if record.len() > 1 || record.get(0).is_some_and(|field| !field.trim_ascii().is_empty()) {
            return Ok(Some(line.saturating_sub(1)));
        }
    }
}

fn broken(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

/// The rows of a table.
pub(super) struct Table<R> {
    reader: Reader<Ended<R>>,
    record: ByteRecord,
    /// Fields of every row.
    width: usize,
    /// Positions of the roles, from 0.
    positions: [usize; 4],
    dialect: Dialect,
    header: bool,
}

impl<R: Read> Table<R> {
    pub(super) fn new(text: R, dialect: Dialect, header: bool, width: usize, positions: [usize; 4]) -> Self {
        Self { reader: dialect.reader(text), record: ByteRecord::new(), width, positions, dialect, header }
    }

    fn wrong_width(&self, line: u64) -> Problem {
        let (found, width) = (self.record.len(), self.width);
        let delimiter = self.dialect.delimiter_words();
        let advice = if found > width {
            format!("put quotation marks around a name that holds a {delimiter}")
        } else {
            "complete the row".to_owned()
        };
        Problem {
            line,
            column: found.min(width) + 1,
            reason: SkipReason::Fields,
            message: format!("the row has {found} fields, expected {width} as in the first row; {advice}"),
        }
    }
}

impl<R: Read> Rows for Table<R> {
    fn next(&mut self) -> Result<Next<'_>, Stop> {
        if std::mem::take(&mut self.header) && next_record(&mut self.reader, &mut self.record)?.is_none() {
            return Ok(Next::End);
        }
        let Some(line) = next_record(&mut self.reader, &mut self.record)? else { return Ok(Next::End) };
        if self.record.len() != self.width {
            return Ok(Next::Bad(self.wrong_width(line)));
        }
        let mut trimmed = false;
        let fields = self.positions.map(|position| {
            // The row is as wide as the first one, and the positions were checked against that.
            let field = self.record.get(position).unwrap_or_default();
            let bare = field.trim_ascii();
            // The carriage return of a line end is no change worth counting.
            trimmed |= bare.len() != field.strip_suffix(b"\r").unwrap_or(field).len();
            bare
        });
        Ok(Next::Row(Row { line, fields, columns: self.positions.map(|position| position + 1), trimmed }))
    }
}
