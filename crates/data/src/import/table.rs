//! Tables with a delimiter: the first rows, cut with one delimiter or another to detect it, and all rows, streamed.

use std::io::{self, Read};

use csv::{ByteRecord, Reader, ReaderBuilder, Terminator};

use super::columns::Columns;
use super::rows::{BUFFER, EventRow, Next, Problem, Rows, SkipReason, Stop};

/// A last line that is added to every table. If it turns up inside a field, a quotation mark was never closed.
const END: &[u8] = b"\x04end of the table\x04";

/// The last line with the line ends around it.
const ENDING: &[u8] = b"\n\x04end of the table\x04\n";

/// Rows that are looked at to detect the delimiter.
const SAMPLE_ROWS: usize = 100;

/// Delimiters that are tried. Of equally good ones the last wins.
const DELIMITERS: [u8; 3] = [b';', b',', b'\t'];

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
        let fields = self.positions.map(|position| {
            // The row is as wide as the first one, and the positions were checked against that.
            let field = self.record.get(position).unwrap_or_default();
            // The carriage return of a line end is no change worth counting.
            field.strip_suffix(b"\r").unwrap_or(field)
        });
        Ok(Next::Row(EventRow::new(line, self.positions.map(|position| position + 1), fields)))
    }
}

/// A row of the sample with its line, as text without blanks around the fields.
pub(super) struct SampleRow {
    pub line: u64,
    pub fields: Vec<String>,
}

/// The first rows of a text.
pub(super) fn sample_rows(text: &[u8], dialect: Dialect) -> Vec<SampleRow> {
    let mut reader = dialect.reader(text);
    let mut record = ByteRecord::new();
    let mut rows = Vec::new();
    // A record that the end of the sample cuts in two is not looked at.
    while let Ok(Some(line)) = next_record(&mut reader, &mut record) {
        let fields = record.iter().map(|field| String::from_utf8_lossy(field.trim_ascii()).into_owned());
        rows.push(SampleRow { line, fields: fields.collect() });
        if rows.len() == SAMPLE_ROWS {
            break;
        }
    }
    rows
}

/// The delimiter that cuts most rows like the first one, into at least four columns; or the most columns that any
/// delimiter gives.
pub(super) fn detect(text: &[u8], columns: Option<&Columns>) -> Result<Dialect, usize> {
    /// Subject, relation, object, date.
    const FEWEST: usize = 4;
    let mut most = 1;
    let mut best = None;
    // A dialect in which the first row never ends; whoever reads it will say so.
    let mut open = None;
    for delimiter in DELIMITERS {
        let dialect = Dialect { delimiter, quoting: delimiter != b'\t' || tabs_with_quotes(text) };
        let rows = sample_rows(text, dialect);
        let Some(first) = rows.first() else {
            open.get_or_insert(dialect);
            continue;
        };
        let width = first.fields.len();
        most = most.max(width);
        if width < FEWEST {
            continue;
        }
        let named = columns.is_some_and(|columns| columns.by_name(&first.fields).is_ok());
        let alike = rows.iter().filter(|row| row.fields.len() == width).count();
        let wide = columns.is_none_or(|columns| width >= columns.width());
        let score = (named, wide, alike, width);
        if best.is_none_or(|(other, _)| score >= other) {
            best = Some((score, dialect));
        }
    }
    best.map(|(_, dialect)| dialect).or(open).ok_or(most)
}

/// Whether a text with tabs quotes fields as CSV does: every field with a quotation mark starts and ends with one.
/// Otherwise quotation marks belong to the names.
pub(super) fn tabs_with_quotes(text: &[u8]) -> bool {
    let fields = text.split(|&byte| byte == b'\t' || byte == b'\n').map(<[u8]>::trim_ascii);
    let mut quoted = fields.filter(|field| field.contains(&b'"')).peekable();
    quoted.peek().is_some()
        && quoted.all(|field| field.len() > 1 && field.starts_with(b"\"") && field.ends_with(b"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delimiter(text: &str) -> Result<u8, usize> {
        detect(text.as_bytes(), None).map(|dialect| dialect.delimiter)
    }

    #[test]
    fn delimiters_are_told_apart() {
        assert_eq!(delimiter("a,b,c,2031-01-01\n"), Ok(b','));
        assert_eq!(delimiter("a\tb\tc\t2031-01-01\n"), Ok(b'\t'));
        assert_eq!(delimiter("a;b;c;2031-01-01\n"), Ok(b';'));
        assert_eq!(delimiter("a;b, b, b;c;d;e\nf;g;h;i;j\n"), Ok(b';'), "commas inside fields");
        assert_eq!(delimiter("\"a;1;2;3\",b,c,d\n\"e\",f,g,h\n"), Ok(b','), "semicolons inside quotes");
        assert_eq!(delimiter("a b c d\n"), Err(1));
        assert_eq!(delimiter("a,b,c\n"), Err(3));
    }

    #[test]
    fn quotes_in_tabs_need_proof() {
        assert!(tabs_with_quotes(b"\"a\"\tb\n\"c \"\"d\"\"\"\te\r\n"));
        assert!(!tabs_with_quotes(b"\"Nick\" X\tb\n\"c\"\td\n"));
        assert!(!tabs_with_quotes(b"a\tb\n"));
    }

    #[test]
    fn rows_know_their_lines() {
        let text = b"a,b\r\n\r\n\n\"c\nd\",e\nf,g";
        let rows = sample_rows(text, Dialect { delimiter: b',', quoting: true });
        let lines: Vec<(u64, &str)> = rows.iter().map(|row| (row.line, row.fields[0].as_str())).collect();
        assert_eq!(lines, [(1, "a"), (4, "c\nd"), (6, "f")]);
        let open = sample_rows(b"a,b\n\"c,d\ne,f\n", Dialect { delimiter: b',', quoting: true });
        assert_eq!(open.len(), 1, "an open quote is no row");
    }
}
