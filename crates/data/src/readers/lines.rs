//! Lines, fields and numbers of a byte buffer, without a copy and without a string per field.

use std::path::Path;

use crate::DataError;
use crate::error::{IdKind, Place};

/// Time stamps beyond this size are refused, so that the difference of two of them always fits.
const TIME_LIMIT: i64 = 1 << 62;

/// Lines with their numbers (from 1), without line ends; blank lines are left out but counted.
pub(super) struct Lines<'a> {
    rest: &'a [u8],
    number: u64,
}

impl<'a> Lines<'a> {
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Self { rest: text, number: 0 }
    }

    /// Lines of a later part of a file, of which `number` lines came before.
    pub(super) const fn after(text: &'a [u8], number: u64) -> Self {
        Self { rest: text, number }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        while !self.rest.is_empty() {
            let (line, rest) = match memchr::memchr(b'\n', self.rest) {
                Some(end) => (&self.rest[..end], &self.rest[end + 1..]),
                None => (self.rest, &[][..]),
            };
            self.rest = rest;
            self.number += 1;
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !line.iter().all(|&b| is_blank(b) || b == b'\r') {
                return Some((self.number, line));
            }
        }
        None
    }
}

/// Whether a byte separates fields.
pub(super) const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// The first `N` fields separated by blanks or tabs, and how many fields there are in all.
pub(super) fn blank_fields<const N: usize>(line: &[u8]) -> ([&[u8]; N], usize) {
    let mut fields = [&[][..]; N];
    let mut count = 0;
    let mut at = 0;
    while at < line.len() {
        if is_blank(line[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < line.len() && !is_blank(line[at]) {
            at += 1;
        }
        if count < N {
            fields[count] = &line[start..at];
        }
        count += 1;
    }
    (fields, count)
}

/// The first `N` fields separated by single tabs, untrimmed, and how many fields there are in all.
pub(super) fn tab_fields<const N: usize>(line: &[u8]) -> ([&[u8]; N], usize) {
    let mut fields = [&[][..]; N];
    let mut count = 0;
    let mut start = 0;
    for end in memchr::memchr_iter(b'\t', line).chain([line.len()]) {
        if count < N {
            fields[count] = &line[start..end];
        }
        count += 1;
        start = end + 1;
    }
    (fields, count)
}

/// Why bytes are not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberError {
    Text,
    Range,
}

/// A whole number, negative with a leading `-`.
pub(super) fn integer(field: &[u8]) -> Result<i64, NumberError> {
    let (negative, digits) = match field {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NumberError::Text);
    }
    let mut value = 0_i64;
    for digit in digits {
        value = value
            .checked_mul(10)
            .and_then(|v| v.checked_add(i64::from(digit - b'0')))
            .ok_or(NumberError::Range)?;
    }
    Ok(if negative { -value } else { value })
}

/// A field's place in a file, cheap to carry; the path is only copied when there is something to report.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub path: &'a Path,
    pub line: u64,
    pub column: usize,
}

impl At<'_> {
    pub(super) fn place(self) -> Place {
        Place { path: self.path.to_path_buf(), line: self.line, column: self.column }
    }

    /// The error of a field or row: what was found and expected, and what to do.
    pub(super) fn wrong(self, problem: impl Into<String>) -> DataError {
        DataError::Row { place: self.place(), problem: problem.into() }
    }

    fn out_of_range(self, field: &[u8], smallest: i64, largest: i64) -> DataError {
        self.wrong(format!(
            "found {}, expected a number from {smallest} to {largest}; the number is out of range",
            excerpt(field)
        ))
    }

    /// Reads an id of an id space that need not be known yet.
    pub(super) fn id(self, kind: IdKind, field: &[u8]) -> Result<u32, DataError> {
        let advice = match integer(field) {
            // The largest number is kept free so that the size of an id space fits too.
            Ok(value) if (0..i64::from(u32::MAX)).contains(&value) => return Ok(value as u32),
            Ok(value) if value < 0 => "ids are never negative, check the column order",
            Ok(_) | Err(NumberError::Range) => {
                return Err(self.out_of_range(field, 0, i64::from(u32::MAX) - 1));
            }
            Err(NumberError::Text) if self.line == 1 => {
                "if this line is a heading, remove it; files with names are read with --format labelled"
            }
            Err(NumberError::Text) => {
                "correct the row, or say which layout it is with --format (labelled for files with names)"
            }
        };
        let (found, an_entity) = (excerpt(field), kind.with_article());
        Err(self.wrong(format!("found {found}, expected {an_entity} id (a whole number from 0); {advice}")))
    }

    pub(super) fn time(self, field: &[u8]) -> Result<i64, DataError> {
        match integer(field) {
            Ok(value) if value.abs() < TIME_LIMIT => Ok(value),
            Ok(_) | Err(NumberError::Range) => Err(self.out_of_range(field, 1 - TIME_LIMIT, TIME_LIMIT - 1)),
            Err(NumberError::Text) => Err(self.wrong(format!(
                "found {}, expected a time stamp (a whole number); for files with dates use --format labelled",
                excerpt(field)
            ))),
        }
    }

    /// Reads one of two marks: whether it is the first.
    pub(super) fn mark(self, field: &[u8], marks: [u8; 2], expected: &str) -> Result<bool, DataError> {
        match marks.iter().position(|&mark| field == [mark]) {
            Some(which) => Ok(which == 0),
            None => {
                Err(self.wrong(format!("found {}, expected {expected}; correct the row", excerpt(field))))
            }
        }
    }

    /// Reads `+` or `-`: whether a triple is inserted.
    pub(super) fn operation(self, field: &[u8]) -> Result<bool, DataError> {
        self.mark(field, *b"+-", "+ (insertion) or - (deletion)")
    }

    /// The error of a row with `found` columns that needs more.
    pub(super) fn missing_column(self, found: usize, expected: &str) -> DataError {
        Self { column: found + 1, ..self }.wrong(format!(
            "the column is missing, the row has {found} of the columns {expected}; complete or remove the row"
        ))
    }

    /// The error of a row that goes on with a field after its last column.
    pub(super) fn extra_column(self, field: &[u8], expected: &str) -> DataError {
        self.wrong(format!(
            "found a column {} too many, expected the columns {expected}; correct the row, or say which layout it \
             is with --format",
            excerpt(field)
        ))
    }

    /// The error of a name without a single character.
    pub(super) fn empty_name(self, kind: IdKind) -> DataError {
        let an_entity = kind.with_article();
        self.wrong(format!("found nothing, expected the name of {an_entity}; complete or remove the row"))
    }

    /// The error of something else where a date belongs.
    pub(super) fn not_a_date(self, field: &[u8], written: &str) -> DataError {
        self.wrong(format!(
            "found {}, expected a date written {written}; correct the date or name the layout with --format",
            excerpt(field)
        ))
    }

    /// The error of an id that a line before has too.
    pub(super) fn repeated_id(self, id: u32, first: u64) -> DataError {
        self.wrong(format!(
            "found id {id} again, expected every id once; line {first} has it already, give one of them another id"
        ))
    }

    /// The error of a count that disagrees with what follows it.
    pub(super) fn wrong_count(self, declared: u64, found: u64) -> DataError {
        self.wrong(format!(
            "the count says {declared}, but {found} follow; the file is incomplete or the count is wrong, \
             correct whichever it is"
        ))
    }
}

/// A field as it is shown in messages: quoted, with invisible characters made visible, and not too long.
pub(crate) fn excerpt(field: &[u8]) -> String {
    const SHOWN: usize = 40;
    // A character has at most four bytes, so this prefix always holds enough of them.
    let text = String::from_utf8_lossy(&field[..field.len().min(4 * SHOWN + 4)]);
    let short: String = text.chars().take(SHOWN).collect();
    if short.len() < field.len() && text.chars().count() > SHOWN {
        format!("{short:?}…")
    } else {
        format!("{short:?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_numbers() {
        let lines: Vec<_> = Lines::new(b"a\r\n\n \t\nb\r\r\nc").collect();
        assert_eq!(lines, [(1, &b"a"[..]), (4, b"b\r"), (5, b"c")]);
        assert_eq!(Lines::new(b"").count(), 0);
        assert_eq!(Lines::new(b"\n\r\n").count(), 0);
    }

    #[test]
    fn fields_by_blanks_and_by_tabs() {
        assert_eq!(blank_fields::<3>(b" 1  \t2 3 4 "), ([&b"1"[..], b"2", b"3"], 4));
        assert_eq!(blank_fields::<2>(b"1"), ([&b"1"[..], b""], 1));
        assert_eq!(tab_fields::<2>(b"a b \t\tc"), ([&b"a b "[..], b""], 3));
    }

    #[test]
    fn numbers() {
        assert_eq!(integer(b"-12"), Ok(-12));
        assert_eq!(integer(b"007"), Ok(7));
        assert_eq!(integer(b"9223372036854775807"), Ok(i64::MAX));
        assert_eq!(integer(b"9223372036854775808"), Err(NumberError::Range));
        for text in [&b""[..], b"-", b"1.0", b"x", b"1-"] {
            assert_eq!(integer(text), Err(NumberError::Text));
        }
    }

    #[test]
    fn excerpts_are_short_and_visible() {
        assert_eq!(excerpt(b"a\xc2\xa0"), "\"a\\u{a0}\"");
        assert_eq!(excerpt(&[b'x'; 1000]).chars().count(), 43);
    }
}
