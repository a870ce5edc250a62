//! A stream of operations as text, `head tail relation +|- [time]`, read in chunks: a stream may be larger than memory allows
//! to hold twice.
//!
//! Ids are any whole numbers (those of Wikidata items and properties, for example); they become names, and ids of our own
//! follow the first appearance. Times are whole numbers or `2013-04-12T16:12:19Z`; the first row decides. Without times the
//! rows are in order.
//!
//! Rows are parsed side by side and taken in one after the other: looking ids and triples up in large tables is most of the
//! work, and goes fastest when nothing else happens in between.

use std::io::Read;
use std::path::Path;

use quadcast_core::{Names, Triple, Vocabulary};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::ids::count_line;
use super::input::{Compression, failure, file_name};
use super::lines::{At, Lines};
use super::operation_rows::{Row, clock_of, parse};
use crate::operations::{Fault, StreamBuilder};
use crate::{DataError, FaultPolicy, OperationStream, OperationsError, Place, StreamClock};

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 22;

/// Bytes that are parsed by one thread at a time.
const PIECE: usize = 1 << 18;

/// Reads a stream of text.
pub(crate) fn read_text(
    path: &Path,
    mut text: impl Read,
    policy: FaultPolicy,
) -> Result<OperationStream, DataError> {
    let compression = Compression::of(&file_name(path)).0;
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

/// Complete lines and how many came before them.
struct Piece<'a> {
    text: &'a [u8],
    number: u64,
}

/// Cuts lines into pieces; returns how many lines there are in all, with those before.
fn pieces(mut text: &[u8], mut number: u64) -> (Vec<Piece<'_>>, u64) {
    let mut pieces = Vec::new();
    while !text.is_empty() {
        let end = memchr::memchr(b'\n', text.get(PIECE..).unwrap_or_default());
        let (piece, rest) = text.split_at(end.map_or(text.len(), |end| PIECE + end + 1));
        pieces.push(Piece { text: piece, number });
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
    /// What a count line at the top says, and where.
    declared: Option<(Place, u64)>,
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
        let count_line = self.declared.as_ref().map_or(0, |(place, _)| place.line);
        let (pieces, number) = pieces(text, number);
        let parsed: Vec<(Vec<Row>, Option<DataError>)> = pieces
            .par_iter()
            .map(|piece| parse(self.path, Lines::after(piece.text, piece.number), clock, count_line))
            .collect();
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
                self.declared = Some((At::new(self.path, line, 1).place(), declared));
                continue;
            }
            let clock = clock_of(text);
            self.builder.set_clock(clock);
            self.clock = Some(clock);
            break;
        }
        self.clock
    }

    fn add(&mut self, rows: &[Row]) -> Result<(), DataError> {
        self.count += rows.len() as u64;
        let entities = &mut self.entities;
        let ends: Vec<[u32; 2]> =
            rows.iter().map(|row| [row.head, row.tail].map(|number| entities.id(number))).collect();
        for (row, [head, tail]) in rows.iter().zip(ends) {
            let triple = Triple::new(head, self.relations.id(row.relation), tail);
            self.builder.push(triple, row.insert, row.moment).map_err(|fault| self.error(fault, row))?;
        }
        Ok(())
    }

    fn error(&self, fault: Fault, row: &Row) -> DataError {
        let place = |column| At::new(self.path, row.line, column).place();
        let triple = format!("{} {} {}", row.head, row.tail, row.relation);
        let time = |moment: i64| self.clock.unwrap_or_default().label(moment);
        match fault {
            Fault::Present => OperationsError::Present { place: place(4), triple },
            Fault::Absent => OperationsError::Absent { place: place(4), triple },
            Fault::Backwards(last) => {
                OperationsError::Unsorted { place: place(5), found: time(row.moment), before: time(last) }
            }
        }
        .into()
    }

    fn finish(self) -> Result<OperationStream, DataError> {
        if let Some((place, declared)) = self.declared
            && declared != self.count
        {
            return Err(DataError::CountMismatch { place, declared, found: self.count });
        }
        if self.builder.is_untouched() {
            return Err(OperationsError::Empty { path: self.path.to_path_buf() }.into());
        }
        let vocabulary = Vocabulary {
            entities: Names::new(self.entities.names, None),
            relations: Names::new(self.relations.names, None),
        };
        Ok(self.builder.finish(vocabulary, None))
    }
}
