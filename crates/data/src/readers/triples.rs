//! Files of triples in `OpenKE`'s column order, **head tail relation**, with or without a count line, and with an
//! operation or a label in the fourth column where the file has one.

use std::path::PathBuf;

use quadcast_core::{Triple, TripleOperation};

use super::id_files::count_line;
use super::id_spaces::{Extent, IdSpaces, RELATION_LAST};
use super::input::Input;
use super::lines::{At, Lines, blank_fields};
use crate::DataError;

/// The rows of a file of triples.
pub(super) struct TripleFile<T> {
    pub path: PathBuf,
    pub rows: Vec<T>,
    /// Whether the file starts with a count line.
    pub counted: bool,
    pub extent: Extent,
}

/// The columns of a file.
#[derive(Clone, Copy)]
struct Columns {
    needed: usize,
    names: &'static str,
    /// Whether the first row may have more, and all others as many as it; the reader says that they are ignored.
    wider: bool,
    /// Whether all rows are there, so that a count must be right.
    whole: bool,
}

const TRIPLES: Columns = Columns { needed: 3, names: "head, tail, relation", wider: false, whole: true };

/// Reads `head tail relation`.
pub(super) fn read_triples(input: &Input, spaces: IdSpaces<'_>) -> Result<TripleFile<Triple>, DataError> {
    read_rows(input, spaces, TRIPLES, |_, _, triple| Ok(triple))
}

/// Reads `head tail relation` of files that may have more columns throughout: those of another layout, read as this one.
pub(super) fn read_wide_triples(
    input: &Input,
    spaces: IdSpaces<'_>,
) -> Result<TripleFile<Triple>, DataError> {
    read_rows(input, spaces, Columns { wider: true, ..TRIPLES }, |_, _, triple| Ok(triple))
}

/// Reads the first rows of `head tail relation`; `whole` says whether these are all.
pub(super) fn read_start(
    input: &Input,
    spaces: IdSpaces<'_>,
    whole: bool,
) -> Result<TripleFile<Triple>, DataError> {
    read_rows(input, spaces, Columns { whole, ..TRIPLES }, |_, _, triple| Ok(triple))
}

/// Reads `head tail relation +` and `head tail relation -`.
pub(super) fn read_operations(
    input: &Input,
    spaces: IdSpaces<'_>,
) -> Result<TripleFile<TripleOperation>, DataError> {
    let columns = Columns { needed: 4, names: "head, tail, relation, operation", ..TRIPLES };
    read_rows(input, spaces, columns, |at, field, triple| {
        Ok(TripleOperation { triple, insert: at.operation(field)? })
    })
}

/// Reads `head tail relation 1` and `head tail relation 0`.
pub(super) fn read_labels(
    input: &Input,
    spaces: IdSpaces<'_>,
) -> Result<TripleFile<(Triple, bool)>, DataError> {
    let columns = Columns { needed: 4, names: "head, tail, relation, label", ..TRIPLES };
    read_rows(input, spaces, columns, |at, field, triple| {
        Ok((triple, at.mark(field, *b"10", "1 (true) or 0 (false)")?))
    })
}

fn read_rows<T>(
    input: &Input,
    spaces: IdSpaces<'_>,
    columns: Columns,
    finish: impl Fn(At<'_>, &[u8], Triple) -> Result<T, DataError>,
) -> Result<TripleFile<T>, DataError> {
    let mut file =
        TripleFile { path: input.path.clone(), rows: Vec::new(), counted: false, extent: Extent::default() };
    let mut declared = None;
    let mut allowed = (!columns.wider).then_some(columns.needed);
    for (line, text) in Lines::new(input.text()) {
        let at = |column| At { path: &input.path, line, column };
        if file.rows.is_empty()
            && declared.is_none()
            && let Some(count) = count_line(text)
        {
            declared = Some((at(1), count));
            continue;
        }
        let (fields, count) = blank_fields::<5>(text);
        if count < columns.needed {
            return Err(at(1).missing_column(count, columns.names));
        }
        let allowed = *allowed.get_or_insert(count);
        if count > allowed {
            let field = fields.get(allowed).copied().unwrap_or_default();
            return Err(at(allowed + 1).extra_column(field, columns.names));
        }
        let [head, tail, relation] = spaces.ids(at(1), RELATION_LAST, &fields, &mut file.extent)?;
        let triple = Triple::new(head, relation, tail);
        file.rows.push(finish(at(4), fields[3], triple)?);
    }
    file.counted = declared.is_some();
    let found = file.rows.len() as u64;
    match declared {
        Some((at, declared)) if declared != found && columns.whole => Err(at.wrong_count(declared, found)),
        _ => Ok(file),
    }
}
