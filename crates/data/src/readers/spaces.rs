//! Id spaces: how large they are, and whether an id of a fact lies inside.
//!
//! With an id file, the file is the authority and a larger id is an error. Without one, the largest id that is used
//! sets the size; then a wild number must not reserve gigabytes, so the size is bounded by the number of facts.

use std::path::Path;

use quadcast_core::Names;

use super::input::file_name;
use super::lines::At;
use crate::DataError;
use crate::error::IdKind;

/// Ids below this number are always accepted.
const FREE_IDS: u64 = 1 << 20;

/// Ids per row beyond which an id space counts as a mistake.
const IDS_PER_ROW: u64 = 16;

/// The first id that is refused in a file of `rows` rows without an id file.
pub(super) const fn id_limit(rows: usize) -> u64 {
    FREE_IDS + IDS_PER_ROW * rows as u64
}

/// Checks the ids of one kind while facts are read.
#[derive(Clone, Copy)]
pub(super) struct Space<'a> {
    kind: IdKind,
    /// Size and id file, where there is one.
    known: Option<(usize, &'a Path)>,
}

impl<'a> Space<'a> {
    pub(super) const fn new(kind: IdKind, known: Option<(usize, &'a Path)>) -> Self {
        Self { kind, known }
    }

    /// Reads an id and checks it against the id file.
    pub(super) fn id(self, at: At<'_>, field: &[u8]) -> Result<u32, DataError> {
        let id = at.id(self.kind, field)?;
        match self.known {
            Some((size, list)) if id as usize >= size => Err(DataError::BeyondVocabulary {
                place: at.place(),
                kind: self.kind,
                id: id.into(),
                largest: (size as u64).saturating_sub(1),
                list: file_name(list),
            }),
            _ => Ok(id),
        }
    }
}

/// The id spaces of a file of facts.
#[derive(Clone, Copy)]
pub(super) struct Spaces<'a> {
    pub entities: Space<'a>,
    pub relations: Space<'a>,
}

/// The largest id of a kind and where it stands.
#[derive(Clone, Copy, Default)]
struct Largest {
    /// Id, line and column.
    found: Option<(u32, u64, usize)>,
}

impl Largest {
    fn note(&mut self, id: u32, line: u64, column: usize) {
        if self.found.is_none_or(|(largest, ..)| id > largest) {
            self.found = Some((id, line, column));
        }
    }

    fn size(self) -> usize {
        self.found.map_or(0, |(id, ..)| id as usize + 1)
    }

    fn check(self, kind: IdKind, path: &Path, rows: usize) -> Result<(), DataError> {
        match self.found {
            Some((id, line, column)) if u64::from(id) >= id_limit(rows) => Err(DataError::SparseIds {
                place: At { path, line, column }.place(),
                kind,
                id: id.into(),
                limit: id_limit(rows),
            }),
            _ => Ok(()),
        }
    }
}

/// How far the ids of a file reach.
#[derive(Clone, Copy, Default)]
pub(super) struct Extent {
    entities: Largest,
    relations: Largest,
}

impl Extent {
    /// Takes an entity id into account.
    pub(super) fn entity(&mut self, id: u32, line: u64, column: usize) {
        self.entities.note(id, line, column);
    }

    /// Takes a relation id into account.
    pub(super) fn relation(&mut self, id: u32, line: u64, column: usize) {
        self.relations.note(id, line, column);
    }

    /// Sizes of the entity and relation id spaces that hold all ids, unless `rows` rows cannot justify them.
    pub(super) fn sizes(&self, path: &Path, rows: usize) -> Result<[usize; 2], DataError> {
        self.entities.check(IdKind::Entity, path, rows)?;
        self.relations.check(IdKind::Relation, path, rows)?;
        Ok([self.entities.size(), self.relations.size()])
    }
}

/// Sizes of the id spaces of several files, which hold `rows` rows together.
pub(super) fn joint_sizes<'a>(
    files: impl IntoIterator<Item = (&'a Path, &'a Extent)>,
    rows: usize,
) -> Result<[usize; 2], DataError> {
    let mut joint = [0; 2];
    for (path, extent) in files {
        let sizes = extent.sizes(path, rows)?;
        joint = [joint[0].max(sizes[0]), joint[1].max(sizes[1])];
    }
    Ok(joint)
}

/// An id space without an id file: as many ids as are used or declared, whichever is more.
pub(super) fn unnamed(used: usize, declared: Option<usize>, rows: usize) -> Names {
    // A declared count that the facts cannot justify stays visible as the declaration, but reserves nothing.
    let size = declared.filter(|&d| (d as u64) <= id_limit(rows)).map_or(used, |d| d.max(used));
    Names::new(vec![None; size], declared)
}
