//! The first rows of a table, cut with one delimiter or another.

use csv::ByteRecord;

use super::columns::Columns;
use super::table::{Dialect, next_record};

/// Rows that are looked at.
const ROWS: usize = 100;

/// Delimiters that are tried. Of equally good ones the last wins.
const DELIMITERS: [u8; 3] = [b';', b',', b'\t'];

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
        if rows.len() == ROWS {
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
