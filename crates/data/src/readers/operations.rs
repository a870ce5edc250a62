//! A stream of operations as text, `head tail relation +|- [time]`, read in chunks: a stream may be larger than memory allows
//! to hold twice.
//!
//! Ids are any whole numbers (those of Wikidata items and properties, for example); they become names, and ids of our own
//! follow the first appearance. Times are whole numbers or `2013-04-12T16:12:19Z`; the first row decides. Without times the
//! rows are in order.

use std::io::Read;
use std::path::Path;

use quadcast_core::{Names, Triple, Vocabulary};
use rustc_hash::FxHashMap;

use super::ids::count_line;
use super::input::{Compression, failure, file_name};
use super::lines::{At, Lines, blank_fields, excerpt, integer};
use crate::error::IdKind;
use crate::operations::{Fault, Instants, StreamBuilder};
use crate::{DataError, FaultPolicy, OperationStream, OperationsError, Place, StreamClock};

/// Bytes that are read at a time.
const CHUNK: usize = 1 << 20;

const COLUMNS: &str = "head, tail, relation, operation (+ or -), and a time if the first row has one";

/// Reads a stream of text.
pub(crate) fn read_text(
    path: &Path,
    mut text: impl Read,
    policy: FaultPolicy,
) -> Result<OperationStream, DataError> {
    let compression = Compression::of(&file_name(path)).0;
    let mut rows = Rows::new(path, policy);
    let mut chunk = Vec::with_capacity(CHUNK);
    let mut number = 0;
    loop {
        let taken = text.by_ref().take(CHUNK as u64).read_to_end(&mut chunk);
        let last = taken.map_err(|source| failure(path, compression, source))? == 0;
        let end = if last { chunk.len() } else { memchr::memrchr(b'\n', &chunk).map_or(0, |end| end + 1) };
        let start = if number == 0 && chunk.starts_with(b"\xef\xbb\xbf") { 3.min(end) } else { 0 };
        let mut lines = Lines::after(&chunk[start..end], number);
        for (line, text) in lines.by_ref() {
            rows.take(line, text)?;
        }
        number = lines.number();
        chunk.drain(..end);
        if last {
            return rows.finish();
        }
    }
}

/// Numbers of a file and the ids that stand for them.
struct Numbers {
    kind: IdKind,
    ids: FxHashMap<u32, u32>,
    names: Vec<Option<String>>,
}

impl Numbers {
    fn new(kind: IdKind) -> Self {
        Self { kind, ids: FxHashMap::default(), names: Vec::new() }
    }

    fn id(&mut self, at: At<'_>, field: &[u8]) -> Result<u32, DataError> {
        let number = at.id(self.kind, field)?;
        let next = self.names.len() as u32;
        let id = *self.ids.entry(number).or_insert(next);
        if id == next {
            self.names.push(Some(number.to_string()));
        }
        Ok(id)
    }
}

/// The rows of a file.
struct Rows<'a> {
    path: &'a Path,
    entities: Numbers,
    relations: Numbers,
    builder: StreamBuilder,
    clock: Option<StreamClock>,
    instants: Instants,
    /// What a count line at the top says, and where.
    declared: Option<(Place, u64)>,
    count: u64,
}

impl<'a> Rows<'a> {
    fn new(path: &'a Path, policy: FaultPolicy) -> Self {
        Self {
            path,
            entities: Numbers::new(IdKind::Entity),
            relations: Numbers::new(IdKind::Relation),
            builder: StreamBuilder::new(file_name(path), StreamClock::Order, policy),
            clock: None,
            instants: Instants::default(),
            declared: None,
            count: 0,
        }
    }

    fn take(&mut self, line: u64, text: &[u8]) -> Result<(), DataError> {
        let path = self.path;
        let at = |column| At::new(path, line, column);
        let (fields, count) = blank_fields::<6>(text);
        if self.count == 0
            && self.declared.is_none()
            && let Some(declared) = count_line(text)
        {
            self.declared = Some((at(1).place(), declared));
            return Ok(());
        }
        self.count += 1;
        let clock = self.clock(fields[4], count);
        if count < if clock == StreamClock::Order { 4 } else { 5 } {
            return Err(at(1).missing_column(count, COLUMNS));
        }
        let allowed = if clock == StreamClock::Order { 4 } else { 5 };
        if count > allowed {
            let found = excerpt(fields[allowed]);
            return Err(OperationsError::ExtraColumn { place: at(allowed + 1).place(), found }.into());
        }
        let head = self.entities.id(at(1), fields[0])?;
        let tail = self.entities.id(at(2), fields[1])?;
        let relation = self.relations.id(at(3), fields[2])?;
        let insert = match fields[3] {
            b"+" => true,
            b"-" => false,
            found => {
                let (place, expected) = (at(4).place(), "+ (insertion) or - (deletion)");
                return Err(DataError::NotAMark { place, found: excerpt(found), expected });
            }
        };
        let moment = self.moment(at(5), clock, fields[4])?;
        let pushed = self.builder.push(Triple::new(head, relation, tail), insert, moment);
        pushed.map_err(|fault| self.error(fault, line, fields))
    }

    /// The first row decides what times look like.
    fn clock(&mut self, field: &[u8], count: usize) -> StreamClock {
        *self.clock.get_or_insert_with(|| {
            let clock = match count {
                ..=4 => StreamClock::Order,
                _ if integer(field).is_ok() => StreamClock::Number,
                _ => StreamClock::Utc,
            };
            self.builder.set_clock(clock);
            clock
        })
    }

    fn moment(&mut self, at: At<'_>, clock: StreamClock, field: &[u8]) -> Result<i64, DataError> {
        let wrong = |expected| {
            OperationsError::NotATime { place: at.place(), found: excerpt(field), expected }.into()
        };
        match clock {
            StreamClock::Order => Ok(0),
            StreamClock::Number if integer(field).is_ok() => at.time(field),
            StreamClock::Number => Err(wrong("a time as a whole number")),
            StreamClock::Utc => {
                self.instants.parse(field).ok_or_else(|| wrong("a time written 2013-04-12T16:12:19Z"))
            }
        }
    }

    fn error(&mut self, fault: Fault, line: u64, fields: [&[u8]; 6]) -> DataError {
        let place = |column| At::new(self.path, line, column).place();
        let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
        let triple = || fields[..3].iter().map(|field| text(field)).collect::<Vec<_>>().join(" ");
        match fault {
            Fault::Present => OperationsError::Present { place: place(4), triple: triple() },
            Fault::Absent => OperationsError::Absent { place: place(4), triple: triple() },
            Fault::Backwards(last) => {
                let mut before = Vec::new();
                match self.clock {
                    Some(StreamClock::Utc) => self.instants.push(&mut before, last),
                    _ => before.extend_from_slice(last.to_string().as_bytes()),
                }
                OperationsError::Unsorted { place: place(5), found: text(fields[4]), before: text(&before) }
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
