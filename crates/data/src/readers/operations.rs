//! A stream of operations as text, `head tail relation +|- [time]`, read in chunks: a stream may be larger than memory allows
//! to hold twice.
//!
//! Ids are any whole numbers (those of Wikidata items and properties, for example); they become names, and ids of our own
//! follow the first appearance. Times are whole numbers or `2013-04-12T16:12:19Z`; the first row decides. Without times the
//! rows are in order.
//!
//! Rows are parsed side by side and taken in one after the other: looking ids and triples up in large tables is most of the
//! work, and goes fastest when nothing else happens in between.

use std::fmt::Display;
use std::io::Read;
use std::path::Path;

use quadcast_core::{Names, Triple, Vocabulary};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::id_files::count_line;
use super::id_spaces::RELATION_LAST;
use super::lines::{At, Lines, blank_fields, excerpt, integer};
use crate::files::{CheckedText, Checks, Compression, failure, file_name};
use crate::operations::{Fault, Instants, StreamBuilder};
use crate::{DataError, FaultPolicy, OperationStream, StreamClock};

const COLUMNS: &str = "head, tail, relation, operation (+ or -), and a time if the first row has one";

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 22;

/// Bytes that are parsed by one thread at a time.
const PIECE: usize = 1 << 18;

pub(crate) fn read_text(
    path: &Path,
    text: impl Read,
    policy: FaultPolicy,
) -> Result<OperationStream, DataError> {
    let compression = Compression::of(&file_name(path)).0;
    let mut text = CheckedText::new(text, Checks::ROWS);
    let mut stream = Intake::new(path, policy);
    let mut chunk = Vec::with_capacity(CHUNK);
    let mut number = 0;
    loop {
        let taken = text.by_ref().take(CHUNK as u64).read_to_end(&mut chunk);
        let last = taken.map_err(|source| failure(path, compression, source))? == 0;
        let end = if last { chunk.len() } else { memchr::memrchr(b'\n', &chunk).map_or(0, |end| end + 1) };
        let start = if number == 0 && chunk.starts_with(b"\xef\xbb\xbf") { 3.min(end) } else { 0 };
        number = stream.take(&chunk[start..end], number)?;
        chunk.drain(..end);
        if last {
            return stream.finish();
        }
    }
}

/// Cuts complete lines into pieces, each with how many lines came before it; returns also how many there are in all.
fn pieces(mut text: &[u8], mut number: u64) -> (Vec<Lines<'_>>, u64) {
    let mut pieces = Vec::new();
    while !text.is_empty() {
        let end = memchr::memchr(b'\n', text.get(PIECE..).unwrap_or_default());
        let (piece, rest) = text.split_at(end.map_or(text.len(), |end| PIECE + end + 1));
        pieces.push(Lines::after(piece, number));
        number += memchr::memchr_iter(b'\n', piece).count() as u64;
        text = rest;
    }
    (pieces, number)
}

/// Numbers of a file and the ids that stand for them.
#[derive(Default)]
struct Numbers {
    ids: FxHashMap<u32, u32>,
    names: Vec<Option<String>>,
}

impl Numbers {
    fn id(&mut self, number: u32) -> u32 {
        let next = self.names.len() as u32;
        let id = *self.ids.entry(number).or_insert(next);
        if id == next {
            self.names.push(Some(number.to_string()));
        }
        id
    }
}

/// What was read so far.
struct Intake<'a> {
    path: &'a Path,
    entities: Numbers,
    relations: Numbers,
    builder: StreamBuilder,
    clock: Option<StreamClock>,
    /// The line of a count at the top, and what it says.
    declared: Option<(u64, u64)>,
    count: u64,
}

impl<'a> Intake<'a> {
    fn new(path: &'a Path, policy: FaultPolicy) -> Self {
        Self {
            path,
            entities: Numbers::default(),
            relations: Numbers::default(),
            builder: StreamBuilder::new(file_name(path), StreamClock::Order, policy),
            clock: None,
            declared: None,
            count: 0,
        }
    }

    /// Takes complete lines in; returns how many lines there were so far.
    fn take(&mut self, text: &[u8], number: u64) -> Result<u64, DataError> {
        let clock = match self.clock {
            Some(clock) => clock,
            None => match self.start(text, number) {
                Some(clock) => clock,
                None => return Ok(pieces(text, number).1),
            },
        };
        let count_line = self.declared.map_or(0, |(line, _)| line);
        let (pieces, number) = pieces(text, number);
        let parsed: Vec<(Vec<NumberedRow>, Option<DataError>)> =
            pieces.into_par_iter().map(|lines| parse(self.path, lines, clock, count_line)).collect();
        for (rows, error) in parsed {
            self.add(&rows)?;
            // The rows before a row that cannot be read come first, also with their faults.
            error.map_or(Ok(()), Err)?;
        }
        Ok(number)
    }

    /// Looks at the first rows: a count line, and what times look like.
    fn start(&mut self, text: &[u8], number: u64) -> Option<StreamClock> {
        for (line, text) in Lines::after(text, number) {
            if self.declared.is_none()
                && let Some(declared) = count_line(text)
            {
                self.declared = Some((line, declared));
                continue;
            }
            let (fields, count) = blank_fields::<5>(text);
            self.builder.stream.clock = clock_of(count, fields[4]);
            self.clock = Some(self.builder.stream.clock);
            break;
        }
        self.clock
    }

    fn add(&mut self, rows: &[NumberedRow]) -> Result<(), DataError> {
        self.count += rows.len() as u64;
        let entities = &mut self.entities;
        let ends: Vec<[u32; 2]> = rows
            .iter()
            .map(|row| [row.numbers[0], row.numbers[1]].map(|number| entities.id(number)))
            .collect();
        for (row, [head, tail]) in rows.iter().zip(ends) {
            let triple = Triple::new(head, self.relations.id(row.numbers[2]), tail);
            self.builder.push(triple, row.insert, row.moment).map_err(|fault| self.error(fault, row))?;
        }
        Ok(())
    }

    fn error(&self, fault: Fault, row: &NumberedRow) -> DataError {
        let at = |column| At { path: self.path, line: row.line, column };
        let time = |moment: i64| self.builder.stream.clock.label(moment);
        match fault {
            Fault::Backwards(last) => unsorted(at(5), &time(row.moment), &time(last)),
            fault => contradiction(at(4), fault, row.numbers),
        }
    }

    fn finish(self) -> Result<OperationStream, DataError> {
        if let Some((line, declared)) = self.declared
            && declared != self.count
        {
            return Err(At { path: self.path, line, column: 1 }.wrong_count(declared, self.count));
        }
        if self.builder.is_untouched() {
            return Err(no_operation(self.path));
        }
        let vocabulary = Vocabulary {
            entities: Names::new(self.entities.names, None),
            relations: Names::new(self.relations.names, None),
        };
        Ok(self.builder.finish(vocabulary, None))
    }
}

/// A row in the numbers of its file.
struct NumberedRow {
    line: u64,
    /// Head, tail, relation.
    numbers: [u32; 3],
    insert: bool,
    moment: i64,
}

/// Parses lines until one is wrong. The line `skipped` holds a count.
fn parse(
    path: &Path,
    lines: Lines<'_>,
    clock: StreamClock,
    skipped: u64,
) -> (Vec<NumberedRow>, Option<DataError>) {
    let mut rows = Vec::new();
    let mut instants = Instants::default();
    for (line, text) in lines.filter(|(line, _)| *line != skipped) {
        match row(path, line, text, clock, &mut instants) {
            Ok(row) => rows.push(row),
            Err(error) => return (rows, Some(error)),
        }
    }
    (rows, None)
}

fn row(
    path: &Path,
    line: u64,
    text: &[u8],
    clock: StreamClock,
    instants: &mut Instants,
) -> Result<NumberedRow, DataError> {
    let at = |column| At { path, line, column };
    let (fields, count) = blank_fields::<6>(text);
    check_columns(at(1), &fields, count, clock)?;
    let mut numbers = [0; 3];
    for (index, kind) in RELATION_LAST.into_iter().enumerate() {
        numbers[index] = at(index + 1).id(kind, fields[index])?;
    }
    let insert = at(4).operation(fields[3])?;
    let moment = moment(at(5), clock, fields[4], instants)?;
    Ok(NumberedRow { line, numbers, insert, moment })
}

/// Whether a row has as many columns as the first one.
pub(super) fn check_columns(
    at: At<'_>,
    fields: &[&[u8]; 6],
    count: usize,
    clock: StreamClock,
) -> Result<(), DataError> {
    let needed = if clock == StreamClock::Order { 4 } else { 5 };
    if count < needed {
        return Err(at.missing_column(count, COLUMNS));
    }
    if count > needed {
        return Err(At { column: needed + 1, ..at }.wrong(format!(
            "found a column {} too many, expected head, tail, relation, operation and perhaps a time",
            excerpt(fields[needed])
        )));
    }
    Ok(())
}

/// What times look like, by the number of columns in the first row and its fifth field.
pub(super) fn clock_of(columns: usize, time: &[u8]) -> StreamClock {
    match columns {
        ..=4 => StreamClock::Order,
        _ if integer(time).is_ok() => StreamClock::Number,
        _ => StreamClock::Utc,
    }
}

/// The time in a field; without times there is none.
pub(super) fn moment(
    at: At<'_>,
    clock: StreamClock,
    field: &[u8],
    instants: &mut Instants,
) -> Result<i64, DataError> {
    let wrong = |expected| {
        at.wrong(format!(
            "found {}, expected {expected}; the first row decides how times are written",
            excerpt(field)
        ))
    };
    match clock {
        StreamClock::Order => Ok(0),
        StreamClock::Number if integer(field).is_ok() => at.time(field),
        StreamClock::Number => Err(wrong("a time as a whole number")),
        StreamClock::Utc => instants.parse(field).ok_or_else(|| wrong("a time written 2013-04-12T16:12:19Z")),
    }
}

/// The error of an operation that contradicts those before it, on a triple of head, tail and relation.
pub(super) fn contradiction(at: At<'_>, fault: Fault, triple: [impl Display; 3]) -> DataError {
    let (mark, state, expected) = match fault {
        Fault::Present => ('+', "present already", "- next"),
        Fault::Absent | Fault::Backwards(_) => ('-', "absent", "+ first"),
    };
    let [head, tail, relation] = triple;
    at.wrong(format!(
        "found {mark} for the triple {head} {tail} {relation}, which is {state}; expected {expected}; correct the \
         stream, or leave such operations out with --policy drop"
    ))
}

/// The error of a time before the one of the operation before.
pub(super) fn unsorted(at: At<'_>, found: &str, before: &str) -> DataError {
    at.wrong(format!(
        "found the time {found} after {before}; expected operations in order of time; sort the file"
    ))
}

/// The error of a file without an operation.
pub(super) fn no_operation(path: &Path) -> DataError {
    let problem = "the stream holds no operation, expected at least one row of head tail relation operation";
    DataError::file(path, problem)
}
