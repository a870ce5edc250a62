//! Single rows of a stream of operations.

use std::path::Path;

use super::lines::{At, Lines, blank_fields, excerpt, integer};
use crate::error::IdKind;
use crate::operations::Instants;
use crate::{DataError, OperationsError, StreamClock};

const COLUMNS: &str = "head, tail, relation, operation (+ or -), and a time if the first row has one";

/// What the first three columns hold.
const KINDS: [IdKind; 3] = [IdKind::Entity, IdKind::Entity, IdKind::Relation];

/// A row in the numbers of its file.
pub(super) struct Row {
    pub line: u64,
    pub head: u32,
    pub tail: u32,
    pub relation: u32,
    pub insert: bool,
    pub moment: i64,
}

/// What times look like, by the first row.
pub(super) fn clock_of(row: &[u8]) -> StreamClock {
    match blank_fields::<5>(row) {
        (_, ..=4) => StreamClock::Order,
        (fields, _) if integer(fields[4]).is_ok() => StreamClock::Number,
        _ => StreamClock::Utc,
    }
}

/// Parses lines until one is wrong. The line `skipped` holds a count.
pub(super) fn parse(
    path: &Path,
    lines: Lines<'_>,
    clock: StreamClock,
    skipped: u64,
) -> (Vec<Row>, Option<DataError>) {
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
) -> Result<Row, DataError> {
    let at = |column| At::new(path, line, column);
    let (fields, count) = blank_fields::<6>(text);
    check_columns(at(1), &fields, count, clock)?;
    let [head, tail, relation] = [0, 1, 2].map(|column| at(column + 1).id(KINDS[column], fields[column]));
    let (head, tail, relation) = (head?, tail?, relation?);
    let insert = mark(at(4), fields[3])?;
    let moment = moment(at(5), clock, fields[4], instants)?;
    Ok(Row { line, head, tail, relation, insert, moment })
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
        let place = At { column: needed + 1, ..at }.place();
        return Err(OperationsError::ExtraColumn { place, found: excerpt(fields[needed]) }.into());
    }
    Ok(())
}

/// Whether a triple comes or goes.
pub(super) fn mark(at: At<'_>, field: &[u8]) -> Result<bool, DataError> {
    match field {
        b"+" => Ok(true),
        b"-" => Ok(false),
        found => {
            let (place, expected) = (at.place(), "+ (insertion) or - (deletion)");
            Err(DataError::NotAMark { place, found: excerpt(found), expected })
        }
    }
}

/// The time in a field; without times there is none.
pub(super) fn moment(
    at: At<'_>,
    clock: StreamClock,
    field: &[u8],
    instants: &mut Instants,
) -> Result<i64, DataError> {
    let wrong =
        |expected| OperationsError::NotATime { place: at.place(), found: excerpt(field), expected }.into();
    match clock {
        StreamClock::Order => Ok(0),
        StreamClock::Number if integer(field).is_ok() => at.time(field),
        StreamClock::Number => Err(wrong("a time as a whole number")),
        StreamClock::Utc => instants.parse(field).ok_or_else(|| wrong("a time written 2013-04-12T16:12:19Z")),
    }
}
