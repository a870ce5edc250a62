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

use quadcast_core::{Names, Split};
use sha2::{Digest, Sha256};

use super::stream::{OperationStream, StreamClock};

pub(crate) const MAGIC: &[u8; 8] = b"QCASTOPS";
pub(super) const VERSION: u32 = 1;

/// Length of a name that is not there.
pub(super) const NO_NAME: u32 = u32::MAX;

pub(super) const HEAD: Tag = *b"HEAD";
pub(super) const ENTITIES: Tag = *b"ENTS";
pub(super) const RELATIONS: Tag = *b"RELS";
pub(super) const TRIPLES: Tag = *b"TRIP";
pub(super) const OPERATIONS: Tag = *b"OPER";
pub(super) const TIMES: Tag = *b"TIME";
pub(super) const STEPS: Tag = *b"STEP";
pub(super) const SPLITS: Tag = *b"SPLT";
pub(super) const DONE: Tag = *b"DONE";

pub(super) type Tag = [u8; 4];
pub(super) type Checksum = [u8; 8];

/// The checksum of a payload.
pub(super) fn checksum(payload: &[u8]) -> Checksum {
    let digest = Sha256::digest(payload);
    let mut first = Checksum::default();
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
    section(out, OPERATIONS, &numbers(stream.entries.iter().map(|entry| entry.bits())))?;
    if stream.clock != StreamClock::Order {
        section(out, TIMES, &differences(&stream.moments))?;
    }
    if let Some(ends) = &stream.step_ends {
        let ends: Vec<u8> = ends.iter().flat_map(|&end| (end as u64).to_le_bytes()).collect();
        section(out, STEPS, &ends)?;
    }
    if let Some(splits) = &stream.splits {
        let splits: Vec<u8> = splits.iter().map(|&split| split_number(split)).collect();
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
    let clock = match stream.clock {
        StreamClock::Order => 0,
        StreamClock::Number => 1,
        StreamClock::Utc => 2,
    };
    let mut bytes = vec![clock];
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

const fn split_number(split: Split) -> u8 {
    match split {
        Split::Train => 0,
        Split::Valid => 1,
        Split::Test => 2,
    }
}

/// The split of a number.
pub(super) const fn numbered_split(number: u8) -> Option<Split> {
    match number {
        0 => Some(Split::Train),
        1 => Some(Split::Valid),
        2 => Some(Split::Test),
        _ => None,
    }
}

/// Reads exactly so many bytes, as far as they are there. A length that lies reserves nothing.
pub(super) fn take(source: &mut impl Read, bytes: u64) -> io::Result<Vec<u8>> {
    let mut taken = Vec::new();
    source.by_ref().take(bytes).read_to_end(&mut taken)?;
    Ok(taken)
}
