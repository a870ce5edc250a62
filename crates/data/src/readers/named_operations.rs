//! Operations on a graph that has names: `head tail relation +|- [time]`.
//!
//! A line with tabs is divided at tabs, so that names may have blanks in them; others are divided at blanks. Times must not
//! decrease; nothing else is made of them. Such a file is what happened since yesterday, not a history of millions.

use std::borrow::Cow;
use std::path::Path;

use quadcast_core::Triple;

use super::id_spaces::RELATION_LAST;
use super::input::Input;
use super::lines::{At, Lines, blank_fields, excerpt, tab_fields};
use super::operations::{check_columns, clock_of, contradiction, moment, no_operation, unsorted};
use crate::DataError;
use crate::error::IdKind;
use crate::operations::{Instants, KnownNames, StreamBuilder, StreamFormat, stream_format};

/// Adds the operations of a file to a stream in the making.
pub(crate) fn read_named(
    path: &Path,
    builder: &mut StreamBuilder,
    entities: &mut KnownNames,
    relations: &mut KnownNames,
) -> Result<(), DataError> {
    if stream_format(path)? == StreamFormat::Binary {
        let problem = "found a stream in the binary form, expected text: head tail relation +|- [time], with the names of \
                       the graph; quadcast data convert makes text of it, in which numbers stand for names";
        return Err(DataError::file(path, problem));
    }
    let input = Input::open(path.to_path_buf())?;
    let text = input.utf8()?.as_bytes();
    let mut clock = None;
    let mut latest: (i64, &[u8]) = (i64::MIN, b"");
    let mut instants = Instants::default();
    for (line, text) in Lines::new(text) {
        let at = |column| At { path, line, column };
        let (fields, count) =
            if text.contains(&b'\t') { tab_fields::<6>(text) } else { blank_fields::<6>(text) };
        let clock = *clock.get_or_insert_with(|| clock_of(count, fields[4].trim_ascii()));
        check_columns(at(1), &fields, count, clock)?;
        let [head, tail, relation] =
            [0, 1, 2].map(|column| name(at(column + 1), RELATION_LAST[column], fields[column]));
        let (head, tail, relation) = (head?, tail?, relation?);
        let insert = at(4).operation(fields[3].trim_ascii())?;
        let time = fields[4].trim_ascii();
        let now = moment(at(5), clock, time, &mut instants)?;
        if now < latest.0 {
            return Err(unsorted(at(5), &excerpt(time), &excerpt(latest.1)));
        }
        latest = (now, time);
        // In this order newcomers are numbered.
        let head_id = id_of(entities, at(1), IdKind::Entity, &head)?;
        let relation_id = id_of(relations, at(3), IdKind::Relation, &relation)?;
        let tail_id = id_of(entities, at(2), IdKind::Entity, &tail)?;
        let triple = Triple::new(head_id, relation_id, tail_id);
        let pushed = builder.push(triple, insert, 0);
        pushed.map_err(|fault| contradiction(at(4), fault, [&head, &tail, &relation]))?;
    }
    if clock.is_none() { Err(no_operation(path)) } else { Ok(()) }
}

/// The id of a name, which may be a new one.
fn id_of(known: &mut KnownNames, at: At<'_>, kind: IdKind, name: &str) -> Result<u32, DataError> {
    known.id(name).ok_or_else(|| {
        let (found, count) = (excerpt(name.as_bytes()), known.old);
        at.wrong(format!(
            "found {found}, which means the {kind} with that id; expected an id below {count}, as many as the graph has, \
             or a name; a new {kind} needs a name that does not begin with # followed by digits, nor is a number in a graph \
             without names"
        ))
    })
}

fn name<'a>(at: At<'_>, kind: IdKind, field: &'a [u8]) -> Result<Cow<'a, str>, DataError> {
    match field.trim_ascii() {
        [] => Err(at.empty_name(kind)),
        // The whole file was checked to be text.
        name => Ok(String::from_utf8_lossy(name)),
    }
}
