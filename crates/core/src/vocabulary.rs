//! Names of entities and relations.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// The names of one kind of thing (entities or relations), indexed by id. The size of the id space is what counts as
/// the number of candidates; it is taken from the largest id, never from a printed count alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Names {
    names: Vec<Option<String>>,
    declared: Option<usize>,
}

impl Names {
    /// Names by id; `None` for an id that has no name.
    pub fn new(names: Vec<Option<String>>, declared: Option<usize>) -> Self {
        Self { names, declared }
    }

    /// An id space without names.
    pub fn anonymous(len: usize) -> Self {
        Self { names: vec![None; len], declared: None }
    }

    /// Size of the id space.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether the id space is empty.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// The count that the dataset's own files print (stat file or count line), if any. It may be wrong.
    pub fn declared(&self) -> Option<usize> {
        self.declared
    }

    /// The name of an id, or `#id` when it has none.
    pub fn name(&self, id: u32) -> Cow<'_, str> {
        match self.names.get(id as usize) {
            Some(Some(name)) => Cow::Borrowed(name),
            _ => Cow::Owned(format!("#{id}")),
        }
    }

    /// All names with their ids, those without a name left out.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        self.names.iter().enumerate().filter_map(|(id, name)| Some((id as u32, name.as_deref()?)))
    }
}

/// Entity and relation names of a dataset, collected from all of its splits.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Vocabulary {
    /// Entities.
    pub entities: Names,
    /// Relations.
    pub relations: Names,
}
