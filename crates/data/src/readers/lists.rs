//! The two id files of a folder, and the vocabulary that follows from them and from the facts.

use std::path::Path;

use quadcast_core::Vocabulary;

use super::ids::{IdFile, Order};
use super::input::{Folder, Input};
use super::notes::{Appearance, Notes};
use super::spaces::{Space, Spaces, unnamed};
use crate::DataError;
use crate::error::IdKind;

/// `entity2id` and `relation2id`, where they are there.
pub(super) struct Lists {
    pub entities: Option<IdFile>,
    pub relations: Option<IdFile>,
}

impl Lists {
    /// Finds and reads both.
    pub(super) fn find(folder: &mut Folder, usual: Order) -> Result<Self, DataError> {
        Ok(Self {
            entities: IdFile::find(folder, IdKind::Entity, usual)?,
            relations: IdFile::find(folder, IdKind::Relation, usual)?,
        })
    }

    /// The files.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        [&self.entities, &self.relations].into_iter().flatten().map(|list| list.path.as_path())
    }

    /// What the ids of facts are checked against.
    pub(super) fn spaces(&self) -> Spaces<'_> {
        Spaces {
            entities: space(IdKind::Entity, self.entities.as_ref()),
            relations: space(IdKind::Relation, self.relations.as_ref()),
        }
    }

    /// Names and sizes. `used` are the sizes that the facts need, `declared` those that a stat file prints.
    pub(super) fn vocabulary(
        &self,
        used: [usize; 2],
        declared: [Option<usize>; 2],
        facts: usize,
    ) -> Vocabulary {
        let names = |list: &Option<IdFile>, which: usize| match list {
            Some(list) => list.names(declared[which]),
            None => unnamed(used[which], declared[which], facts),
        };
        Vocabulary { entities: names(&self.entities, 0), relations: names(&self.relations, 1) }
    }

    /// Says what the files of the facts look like, of which `columns` are read, and what the id files hold.
    pub(super) fn describe_with(&self, facts: &[&Input], columns: usize, notes: &mut Notes) {
        notes.compression(facts.iter().map(|input| input.path.as_path()).chain(self.paths()));
        let looks: Vec<Appearance> = facts.iter().map(|input| Appearance::of(&input.bytes)).collect();
        Appearance::describe(&looks, columns, notes);
        self.describe(notes);
    }

    /// Says what was found.
    pub(super) fn describe(&self, notes: &mut Notes) {
        for (kind, list) in [(IdKind::Entity, &self.entities), (IdKind::Relation, &self.relations)] {
            match list {
                Some(list) => list.describe(kind, notes),
                None => notes.add(format!(
                    "No {kind}2id file: {kind} ids have no names, the largest sets their number."
                )),
            }
        }
    }
}

fn space(kind: IdKind, list: Option<&IdFile>) -> Space<'_> {
    Space::new(kind, list.map(|list| (list.size(), list.path.as_path())))
}
