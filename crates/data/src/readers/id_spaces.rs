//! Id spaces: how large they are, and whether an id of a fact lies inside.
//!
//! With an id file, the file is the authority and a larger id is an error. Without one, the largest id that is used
//! sets the size; then a wild number must not reserve gigabytes, so the size is bounded by the number of facts.

use std::path::Path;

use quadcast_core::Names;

use super::lines::At;
use crate::DataError;
use crate::error::IdKind;
use crate::files::file_name;

/// Ids below this number are always accepted.
const FREE_IDS: u64 = 1 << 20;

/// Ids per row beyond which an id space counts as a mistake.
const IDS_PER_ROW: u64 = 16;

/// The first id that is refused in a file of `rows` rows without an id file.
pub(super) const fn id_limit(rows: usize) -> u64 {
    FREE_IDS + IDS_PER_ROW * rows as u64
}

/// Refuses an id so large that an id space of that size cannot be meant.
pub(super) fn refuse_sparse(at: At<'_>, kind: IdKind, id: u32, rows: usize) -> Result<(), DataError> {
    let limit = id_limit(rows);
    if u64::from(id) < limit {
        return Ok(());
    }
    Err(at.wrong(format!(
        "found {kind} id {id}, expected ids numbered from 0 without large holes (below {limit} here); number the \
         {kind} ids from 0"
    )))
}

/// Kinds of the first three columns: `subject relation object`.
pub(super) const RELATION_SECOND: [IdKind; 3] = [IdKind::Entity, IdKind::Relation, IdKind::Entity];

/// Kinds of the first three columns: `head tail relation`.
pub(super) const RELATION_LAST: [IdKind; 3] = [IdKind::Entity, IdKind::Entity, IdKind::Relation];

/// What the ids of facts are checked against.
#[derive(Clone, Copy)]
pub(super) struct IdSpaces<'a> {
    /// By kind the size and the file that sets it, where there is one.
    pub known: [Option<(usize, &'a Path)>; 2],
}

impl IdSpaces<'_> {
    /// Reads an id and checks it against the id file.
    pub(super) fn id(self, at: At<'_>, kind: IdKind, field: &[u8]) -> Result<u32, DataError> {
        let id = at.id(kind, field)?;
        match self.known[kind as usize] {
            Some((size, list)) if id as usize >= size => {
                let (largest, list) = (size.saturating_sub(1), file_name(list));
                Err(at.wrong(format!(
                    "found {kind} id {id}, expected an id from 0 to {largest}, the largest in {list}; the files do not \
                     belong together or the columns are in another order"
                )))
            }
            _ => Ok(id),
        }
    }

    /// Reads the ids of the first three columns, which hold these kinds, and takes them into account.
    pub(super) fn ids(
        self,
        row: At<'_>,
        kinds: [IdKind; 3],
        fields: &[&[u8]],
        extent: &mut Extent,
    ) -> Result<[u32; 3], DataError> {
        let mut ids = [0; 3];
        for (index, kind) in kinds.into_iter().enumerate() {
            let at = At { column: index + 1, ..row };
            let id = self.id(at, kind, fields[index])?;
            let largest = &mut extent.largest[kind as usize];
            if largest.is_none_or(|(largest, ..)| id > largest) {
                *largest = Some((id, at.line, at.column));
            }
            ids[index] = id;
        }
        Ok(ids)
    }
}

/// How far the ids of a file reach.
#[derive(Clone, Copy, Default)]
pub(super) struct Extent {
    /// By kind the largest id, and its line and column.
    largest: [Option<(u32, u64, usize)>; 2],
}

/// Sizes of the entity and relation id spaces of several files, unless the rows that they hold together cannot justify them. Ids
/// that a file lists were checked against that file, which may list many more than are used.
pub(super) fn joint_sizes<'a>(
    files: impl IntoIterator<Item = (&'a Path, &'a Extent)>,
    rows: usize,
    listed: [bool; 2],
) -> Result<[usize; 2], DataError> {
    let mut sizes = [0; 2];
    for (path, extent) in files {
        for (kind, size) in IdKind::ALL.into_iter().zip(&mut sizes) {
            if let Some((id, line, column)) = extent.largest[kind as usize] {
                if !listed[kind as usize] {
                    refuse_sparse(At { path, line, column }, kind, id, rows)?;
                }
                *size = (*size).max(id as usize + 1);
            }
        }
    }
    Ok(sizes)
}

/// An id space without an id file: as many ids as are used or declared, whichever is more.
pub(super) fn unnamed(used: usize, declared: Option<usize>, rows: usize) -> Names {
    // A declared count that the facts cannot justify stays visible as the declaration, but reserves nothing.
    let size = declared.filter(|&d| (d as u64) <= id_limit(rows)).map_or(used, |d| d.max(used));
    Names::new(vec![None; size], declared)
}
