//! Names of entities and relations.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Fingerprint;

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

    /// The id of a name: exactly as written, or, if no name is, the only one that differs in case, blanks or
    /// underscores alone. `#7` is the id 7.
    pub fn find(&self, name: &str) -> Option<u32> {
        if let Some(id) = name
            .strip_prefix('#')
            .and_then(|id| id.parse().ok())
            .filter(|&id: &u32| (id as usize) < self.len())
        {
            return Some(id);
        }
        if let Some((id, _)) = self.iter().find(|(_, known)| *known == name) {
            return Some(id);
        }
        let loose = |name: &str| name.trim().to_lowercase().replace(['_', '\u{a0}'], " ");
        let wanted = loose(name);
        let mut matching = self.iter().filter(|(_, known)| loose(known) == wanted).map(|(id, _)| id);
        matching.next().filter(|_| matching.next().is_none())
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

impl Vocabulary {
    /// Hash of the names with their ids, for whatever reads names: `Dataset::fingerprint` covers ids only, so that it is the same
    /// for a dataset with and without names. Ids without a name do not count.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hash = Sha256::new();
        for (kind, names) in [("entity", &self.entities), ("relation", &self.relations)] {
            for (id, name) in names.iter() {
                // The length keeps names with line ends apart from two names.
                hash.update(format!("{kind}\t{id}\t{}\t{name}\n", name.len()).as_bytes());
            }
        }
        Fingerprint::from_hash(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_as_people_write_them() {
        let names = ["Ines Dorrit", "Head_of_State", "a b", "A_B"].map(|name| Some(name.to_owned())).to_vec();
        let names = Names::new(names, None);
        assert_eq!(names.find("Ines Dorrit"), Some(0));
        assert_eq!(names.find("ines dorrit "), Some(0));
        assert_eq!(names.find("head of state"), Some(1));
        assert_eq!(names.find("A_B"), Some(3), "an exact match wins");
        assert_eq!(names.find("A B"), None, "two could be meant");
        assert_eq!(names.find("#2"), Some(2));
        assert_eq!(names.find("#9"), None);
    }
    #[test]
    fn the_hash_covers_names_and_their_ids() {
        let of = |entities: &[Option<&str>], relations: &[Option<&str>]| {
            let names = |names: &[Option<&str>]| {
                Names::new(names.iter().map(|name| name.map(str::to_owned)).collect(), None)
            };
            Vocabulary { entities: names(entities), relations: names(relations) }.fingerprint()
        };
        let base = of(&[Some("a"), Some("b")], &[Some("r")]);
        assert_eq!(base, of(&[Some("a"), Some("b"), None], &[Some("r")]));
        let others = [
            of(&[Some("b"), Some("a")], &[Some("r")]),
            of(&[Some("a"), Some("c")], &[Some("r")]),
            of(&[Some("a"), None, Some("b")], &[Some("r")]),
            of(&[Some("a"), Some("b"), Some("r")], &[]),
            of(&[Some("a\nentity\t1\t1\tb")], &[Some("r")]),
        ];
        for other in others {
            assert_ne!(base, other);
        }
    }
}
