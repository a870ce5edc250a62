//! Operations on a graph that has names: `head tail relation +|- [time]`.
//!
//! A line with tabs is divided at tabs, so that names may have blanks in them; others are divided at blanks. Times must not
//! decrease; nothing else is made of them. Such a file is what happened since yesterday, not a history of millions.

use std::borrow::Cow;
use std::path::Path;

use quadcast_core::Triple;

use super::input::Input;
use super::lines::{At, Lines, blank_fields, excerpt, integer, tab_fields};
use super::operation_rows::{check_columns, mark, moment};
use crate::error::IdKind;
use crate::operations::{Fault, Instants, Known, MAGIC, StreamBuilder};
use crate::{DataError, OperationsError, StreamClock};

/// What the first three columns name.
const KINDS: [IdKind; 3] = [IdKind::Entity, IdKind::Entity, IdKind::Relation];

/// Adds the operations of a file to a stream in the making.
pub(crate) fn read_named(
    path: &Path,
    builder: &mut StreamBuilder,
    entities: &mut Known,
    relations: &mut Known,
) -> Result<(), DataError> {
    let input = Input::open(path.to_path_buf())?;
    if input.bytes.starts_with(MAGIC) {
        return Err(OperationsError::NotText { path: input.path }.into());
    }
    let text = input.utf8()?.as_bytes();
    let mut clock = None;
    let mut latest: (i64, &[u8]) = (i64::MIN, b"");
    let mut instants = Instants::default();
    for (line, text) in Lines::new(text) {
        let at = |column| At::new(path, line, column);
        let (fields, count) =
            if text.contains(&b'\t') { tab_fields::<6>(text) } else { blank_fields::<6>(text) };
        let clock = *clock.get_or_insert_with(|| clock_of(&fields, count));
        check_columns(at(1), &fields, count, clock)?;
        let [head, tail, relation] =
            [0, 1, 2].map(|column| name(at(column + 1), KINDS[column], fields[column]));
        let (head, tail, relation) = (head?, tail?, relation?);
        let insert = mark(at(4), fields[3].trim_ascii())?;
        let time = fields[4].trim_ascii();
        let now = moment(at(5), clock, time, &mut instants)?;
        if now < latest.0 {
            let [found, before] = [time, latest.1].map(excerpt);
            return Err(OperationsError::Unsorted { place: at(5).place(), found, before }.into());
        }
        latest = (now, time);
        // In this order newcomers are numbered.
        let head_id = id_of(entities, at(1), IdKind::Entity, &head)?;
        let relation_id = id_of(relations, at(3), IdKind::Relation, &relation)?;
        let tail_id = id_of(entities, at(2), IdKind::Entity, &tail)?;
        let triple = Triple::new(head_id, relation_id, tail_id);
        builder.push(triple, insert, 0).map_err(|fault| {
            let (place, triple) = (at(4).place(), format!("{head} {tail} {relation}"));
            match fault {
                Fault::Present => OperationsError::Present { place, triple },
                Fault::Absent | Fault::Backwards(_) => OperationsError::Absent { place, triple },
            }
        })?;
    }
    if clock.is_none() {
        return Err(OperationsError::Empty { path: path.to_path_buf() }.into());
    }
    Ok(())
}

/// What times look like, by the first row.
fn clock_of(fields: &[&[u8]; 6], count: usize) -> StreamClock {
    match count {
        ..=4 => StreamClock::Order,
        _ if integer(fields[4].trim_ascii()).is_ok() => StreamClock::Number,
        _ => StreamClock::Utc,
    }
}

/// The id of a name, which may be a new one.
fn id_of(known: &mut Known, at: At<'_>, kind: IdKind, name: &str) -> Result<u32, DataError> {
    known.id(name).ok_or_else(|| {
        let found = excerpt(name.as_bytes());
        OperationsError::UnknownId { place: at.place(), kind, found, count: known.before() }.into()
    })
}

fn name<'a>(at: At<'_>, kind: IdKind, field: &'a [u8]) -> Result<Cow<'a, str>, DataError> {
    match field.trim_ascii() {
        [] => Err(DataError::EmptyName { place: at.place(), kind }),
        // The whole file was checked to be text.
        name => Ok(String::from_utf8_lossy(name)),
    }
}
