//! A stream as columns of numbers, little-endian.
//!
//! ```text
//! magic    8 bytes   "QCASTOPS"
//! version  u32       1
//! then sections, each: tag (4 bytes), length of the payload (u64), payload, first 8 bytes of its SHA-256
//!   HEAD   clock (u8), triples, operations (u64), first time (i64), three counts of dropped operations (u64)
//!   ENTS   per entity the length of its name (u32) and the name; length u32::MAX means that it has none
//!   RELS   the same for relations
//!   TRIP   per triple subject, relation, object (u32)
//!   OPER   per operation the number of its triple, doubled, plus 1 for a deletion (u32)
//!   TIME   per operation the time since the one before, in groups of 7 bits, lowest first; only with times
//!   STEP   per step of the source where it ends (u64); optional
//!   SPLT   per triple its split, 0 train, 1 valid, 2 test (u8); optional
//!   DONE   empty
//! ```
//!
//! A reader takes one section at a time, checks it and turns it into a column; nothing is looked up or hashed per operation.

use std::io::{self, Read, Write};
use std::path::Path;

use quadcast_core::{Names, Split, Triple};
use rayon::slice::ParallelSliceMut;
use sha2::{Digest, Sha256};

use super::stream::{Dropped, NumberedOperation, OperationStream, StreamClock, head_tail_relation};
use crate::DataError;
use crate::files::{Compression, failure, file_name};

pub(crate) const MAGIC: &[u8; 8] = b"QCASTOPS";
const VERSION: u32 = 1;

/// Length of a name that is not there.
const NO_NAME: u32 = u32::MAX;

/// Bytes of a triple and of an operation.
const TRIPLE_BYTES: usize = 12;
const OPERATION_BYTES: usize = 4;

/// Clocks by their number in the file.
const CLOCKS: [StreamClock; 3] = [StreamClock::Order, StreamClock::Number, StreamClock::Utc];

const HEAD: Tag = *b"HEAD";
const ENTITIES: Tag = *b"ENTS";
const RELATIONS: Tag = *b"RELS";
const TRIPLES: Tag = *b"TRIP";
const OPERATIONS: Tag = *b"OPER";
const TIMES: Tag = *b"TIME";
const STEPS: Tag = *b"STEP";
const SPLITS: Tag = *b"SPLT";
const DONE: Tag = *b"DONE";

type Tag = [u8; 4];

fn checksum(payload: &[u8]) -> [u8; 8] {
    let digest = Sha256::digest(payload);
    let mut first = [0; 8];
    first.copy_from_slice(&digest[..8]);
    first
}

/// Writes a stream.
pub(super) fn write_binary(out: &mut dyn Write, stream: &OperationStream) -> io::Result<()> {
    out.write_all(MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    section(out, HEAD, &head(stream))?;
    section(out, ENTITIES, &names(&stream.vocabulary.entities))?;
    section(out, RELATIONS, &names(&stream.vocabulary.relations))?;
    let triples = stream.triples.iter().flat_map(|t| [t.subject.0, t.relation.0, t.object.0]);
    section(out, TRIPLES, &numbers(triples))?;
    section(out, OPERATIONS, &numbers(stream.entries.iter().map(|entry| entry.0)))?;
    if stream.clock != StreamClock::Order {
        section(out, TIMES, &differences(&stream.moments))?;
    }
    if let Some(ends) = &stream.step_ends {
        let ends: Vec<u8> = ends.iter().flat_map(|&end| (end as u64).to_le_bytes()).collect();
        section(out, STEPS, &ends)?;
    }
    if let Some(splits) = &stream.splits {
        let splits: Vec<u8> = splits.iter().map(|&split| split as u8).collect();
        section(out, SPLITS, &splits)?;
    }
    section(out, DONE, &[])
}

fn section(out: &mut dyn Write, tag: Tag, payload: &[u8]) -> io::Result<()> {
    out.write_all(&tag)?;
    out.write_all(&(payload.len() as u64).to_le_bytes())?;
    out.write_all(payload)?;
    out.write_all(&checksum(payload))
}

fn head(stream: &OperationStream) -> Vec<u8> {
    let mut bytes = vec![stream.clock as u8];
    let dropped = stream.dropped;
    bytes.extend((stream.triples.len() as u64).to_le_bytes());
    bytes.extend((stream.len() as u64).to_le_bytes());
    bytes.extend(stream.moments.first().copied().unwrap_or_default().to_le_bytes());
    for count in [dropped.void_inserts, dropped.void_deletes, dropped.reflexive] {
        bytes.extend((count as u64).to_le_bytes());
    }
    bytes
}

fn names(names: &Names) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut next = 0;
    for (id, name) in names.iter() {
        (next..id).for_each(|_| bytes.extend(NO_NAME.to_le_bytes()));
        bytes.extend((name.len() as u32).to_le_bytes());
        bytes.extend_from_slice(name.as_bytes());
        next = id + 1;
    }
    (next..names.len() as u32).for_each(|_| bytes.extend(NO_NAME.to_le_bytes()));
    bytes
}

fn numbers(values: impl Iterator<Item = u32>) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(4 * values.size_hint().0);
    values.for_each(|value| bytes.extend(value.to_le_bytes()));
    bytes
}

/// Times never decrease, and mostly grow by little: differences take one to three bytes.
fn differences(moments: &[i64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(2 * moments.len());
    let mut last = moments.first().copied().unwrap_or_default();
    for &moment in moments {
        let mut rest = moment.abs_diff(last);
        last = moment;
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
    }
    bytes
}

/// Reads a stream from a file whose magic has been seen but not taken.
pub(super) fn read_binary(path: &Path, source: impl Read) -> Result<OperationStream, DataError> {
    let mut file = File { path, source, at: 0, begin: 0 };
    let start = file.take((MAGIC.len() + 4) as u64)?;
    let version = start.get(MAGIC.len()..).and_then(|bytes| bytes.try_into().ok()).map(u32::from_le_bytes);
    if version != Some(VERSION) {
        let found = version.map_or_else(|| "no version".to_owned(), |found| format!("version {found}"));
        return Err(file.wrong(format!("found {found}, expected version {VERSION}")));
    }
    let mut stream = OperationStream { name: file_name(path), ..OperationStream::default() };
    let counts = file.head(&mut stream)?;
    let payload = file.needed(ENTITIES)?;
    stream.vocabulary.entities = file.names(&payload)?;
    let payload = file.needed(RELATIONS)?;
    stream.vocabulary.relations = file.names(&payload)?;
    file.triples(&mut stream, counts)?;
    file.operations(&mut stream, counts)?;
    file.rest(&mut stream, counts)?;
    Ok(stream)
}

/// What the head of the file announces.
#[derive(Clone, Copy)]
struct Counts {
    triples: u64,
    operations: u64,
    first: i64,
}

/// A file and how far it was read.
struct File<'a, R> {
    path: &'a Path,
    source: R,
    /// Bytes that were taken.
    at: u64,
    /// Where the section begins that is looked at.
    begin: u64,
}

impl<R: Read> File<'_, R> {
    fn wrong(&self, problem: impl Into<String>) -> DataError {
        let (byte, problem) = (self.begin, problem.into());
        let problem = format!("byte {byte}: {problem}; the file is truncated or damaged, write it again");
        DataError::file(self.path, problem)
    }

    /// Takes exactly so many bytes. A length that lies reserves nothing.
    fn take(&mut self, bytes: u64) -> Result<Vec<u8>, DataError> {
        let compression = Compression::of(&file_name(self.path)).0;
        let mut taken = Vec::new();
        let read = self.source.by_ref().take(bytes).read_to_end(&mut taken);
        read.map_err(|source| failure(self.path, compression, source))?;
        self.at += taken.len() as u64;
        if taken.len() as u64 == bytes { Ok(taken) } else { Err(self.wrong("the file ends in this section")) }
    }

    fn section(&mut self) -> Result<(Tag, Vec<u8>), DataError> {
        self.begin = self.at;
        let mut start = [0; 12];
        start.copy_from_slice(&self.take(12)?);
        let [a, b, c, d, length @ ..] = start;
        let tag = [a, b, c, d];
        let payload = self.take(u64::from_le_bytes(length))?;
        if self.take(8)? == checksum(&payload) {
            Ok((tag, payload))
        } else {
            Err(self.wrong(format!("the checksum of section {} is wrong", word(tag))))
        }
    }

    /// The next section, which must be this one.
    fn needed(&mut self, tag: Tag) -> Result<Vec<u8>, DataError> {
        match self.section()? {
            (found, payload) if found == tag => Ok(payload),
            (found, _) => Err(self.wrong(format!("found section {}, expected {}", word(found), word(tag)))),
        }
    }

    fn head(&mut self, stream: &mut OperationStream) -> Result<Counts, DataError> {
        let payload = self.needed(HEAD)?;
        let numbers: Vec<u64> = payload.get(1..).map(eights).unwrap_or_default();
        let (Some(clock), &[triples, operations, first, inserts, deletes, reflexive]) =
            (payload.first(), &numbers[..])
        else {
            return Err(self.wrong("the head has another length"));
        };
        stream.clock = *CLOCKS
            .get(usize::from(*clock))
            .ok_or_else(|| self.wrong(format!("found the clock {clock}, expected 0, 1 or 2")))?;
        stream.dropped = Dropped {
            void_inserts: inserts as usize,
            void_deletes: deletes as usize,
            reflexive: reflexive as usize,
        };
        Ok(Counts { triples, operations, first: first.cast_signed() })
    }

    fn names(&self, mut payload: &[u8]) -> Result<Names, DataError> {
        let mut names = Vec::new();
        while let Some((length, rest)) = payload.split_first_chunk::<4>() {
            payload = rest;
            let length = u32::from_le_bytes(*length);
            if length == NO_NAME {
                names.push(None);
                continue;
            }
            let Some((name, rest)) = payload.split_at_checked(length as usize) else {
                return Err(self.wrong("a name is longer than its section"));
            };
            let name = std::str::from_utf8(name).map_err(|_| self.wrong("a name is not UTF-8"))?;
            if name.contains('\0') {
                return Err(self.wrong("a name holds a NUL character"));
            }
            names.push(Some(name.to_owned()));
            payload = rest;
        }
        if payload.is_empty() { Ok(Names::new(names, None)) } else { Err(self.wrong("a name has no length")) }
    }

    fn triples(&mut self, stream: &mut OperationStream, counts: Counts) -> Result<(), DataError> {
        let payload = self.column(TRIPLES, counts.triples, TRIPLE_BYTES, "triples")?;
        let sizes = [stream.vocabulary.entities.len(), stream.vocabulary.relations.len()];
        let number = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        for row in payload.chunks_exact(TRIPLE_BYTES) {
            let triple = Triple::new(number(row), number(&row[4..]), number(&row[8..]));
            let Triple { subject, relation, object } = triple;
            let fits = subject.index() < sizes[0] && object.index() < sizes[0] && relation.index() < sizes[1];
            if !fits || subject == object {
                let ([entities, relations], triple) = (sizes, head_tail_relation(triple));
                return Err(self.wrong(format!(
                    "found the triple {triple}, expected two different entities below {entities} and a relation \
                     below {relations}"
                )));
            }
            stream.triples.push(triple);
        }
        drop(payload);
        self.refuse_repeated(&stream.triples)
    }

    /// A triple has one number: with two, its operations would not alternate.
    fn refuse_repeated(&self, triples: &[Triple]) -> Result<(), DataError> {
        let mut sorted = triples.to_vec();
        sorted.par_sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => {
                let triple = head_tail_relation(pair[0]);
                Err(self.wrong(format!("found the triple {triple} twice, expected every triple once")))
            }
            None => Ok(()),
        }
    }

    /// The next section, which must be this one and hold so many rows.
    fn column(&mut self, tag: Tag, rows: u64, row: usize, what: &str) -> Result<Vec<u8>, DataError> {
        let payload = self.needed(tag)?;
        // In 128 bits the product never overflows, whatever the head announces.
        let expected = u128::from(rows) * row as u128;
        if payload.len() as u128 == expected {
            return Ok(payload);
        }
        Err(self.wrong(format!("found {} bytes of {what}, expected {expected}", payload.len())))
    }

    /// Operations must alternate here too: a file may have been made by anybody.
    fn operations(&mut self, stream: &mut OperationStream, counts: Counts) -> Result<(), DataError> {
        let payload = self.column(OPERATIONS, counts.operations, OPERATION_BYTES, "operations")?;
        let mut present = vec![false; stream.triples.len()];
        stream.entries.reserve(payload.len() / OPERATION_BYTES);
        for (number, bytes) in payload.as_chunks::<OPERATION_BYTES>().0.iter().enumerate() {
            let entry = NumberedOperation(u32::from_le_bytes(*bytes));
            match present.get_mut(entry.triple()) {
                Some(present) if *present != entry.insert() => *present = entry.insert(),
                Some(_) => return Err(self.wrong(format!("operation {} changes nothing", number + 1))),
                None => return Err(self.wrong(format!("operation {} is on an unknown triple", number + 1))),
            }
            stream.entries.push(entry);
        }
        Ok(())
    }

    fn rest(&mut self, stream: &mut OperationStream, counts: Counts) -> Result<(), DataError> {
        loop {
            match self.section()? {
                (DONE, _) => break,
                (TIMES, payload) => stream.moments = self.times(&payload, counts)?,
                (STEPS, payload) => {
                    let ends: Vec<usize> = eights(&payload).into_iter().map(|end| end as usize).collect();
                    let whole = payload.len().is_multiple_of(8);
                    let sound = whole && ends.is_sorted() && ends.last() == Some(&stream.entries.len());
                    stream.step_ends = Some(ends).filter(|_| sound);
                    if !sound {
                        return Err(self.wrong("the steps do not end where the operations do"));
                    }
                }
                (SPLITS, payload) => {
                    let splits: Option<Vec<_>> =
                        payload.iter().map(|&number| Split::ALL.get(usize::from(number)).copied()).collect();
                    stream.splits = splits.filter(|splits| splits.len() == stream.triples.len());
                    if stream.splits.is_none() {
                        return Err(self.wrong("the splits are not one of 0, 1, 2 per triple"));
                    }
                }
                (other, _) => return Err(self.wrong(format!("found the unknown section {}", word(other)))),
            }
        }
        if stream.clock == StreamClock::Order {
            stream.moments = (0..stream.entries.len() as i64).collect();
        }
        if stream.moments.len() == stream.entries.len() {
            Ok(())
        } else {
            Err(self.wrong("the times are missing"))
        }
    }

    fn times(&self, payload: &[u8], counts: Counts) -> Result<Vec<i64>, DataError> {
        // A time takes a byte at least.
        let mut moments = Vec::with_capacity(counts.operations.min(payload.len() as u64) as usize);
        let (mut moment, mut difference, mut shift) = (counts.first, 0_u64, 0);
        for &byte in payload {
            if shift >= 63 {
                return Err(self.wrong("a time is out of range"));
            }
            difference |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                moment = moment
                    .checked_add_unsigned(difference)
                    .ok_or_else(|| self.wrong("a time is out of range"))?;
                moments.push(moment);
                (difference, shift) = (0, 0);
            }
        }
        if moments.len() as u64 == counts.operations && shift == 0 {
            Ok(moments)
        } else {
            Err(self.wrong(format!("found {} times for {} operations", moments.len(), counts.operations)))
        }
    }
}

fn eights(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect()
}

fn word(tag: Tag) -> String {
    tag.escape_ascii().to_string()
}
