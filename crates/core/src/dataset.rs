//! Datasets: a vocabulary, a time axis and three splits; and graphs without time.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::{Facts, TimeAxis, Triple, Vocabulary, words};

words! {
    /// Which part of a dataset.
    pub enum Split {
        /// Facts to learn from.
        Train = "train",
        /// Facts to choose hyperparameters with.
        Valid = "valid",
        /// Facts to be judged on.
        Test = "test",
    }
}

impl fmt::Display for Split {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One value per split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splits<T> {
    /// Training part.
    pub train: T,
    /// Validation part.
    pub valid: T,
    /// Test part.
    pub test: T,
}

impl<T> Splits<T> {
    /// The value of one split.
    pub const fn get(&self, split: Split) -> &T {
        match split {
            Split::Train => &self.train,
            Split::Valid => &self.valid,
            Split::Test => &self.test,
        }
    }

    /// The values with their splits, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Split, &T)> {
        Split::ALL.into_iter().map(|split| (split, self.get(split)))
    }

    /// Applies `f` to each value.
    pub fn map<U>(&self, mut f: impl FnMut(&T) -> U) -> Splits<U> {
        Splits { train: f(&self.train), valid: f(&self.valid), test: f(&self.test) }
    }
}

/// A temporal knowledge graph with its splits.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// Name for people: the catalogue name or the folder name.
    pub name: String,
    /// Names, from all splits.
    pub vocabulary: Vocabulary,
    /// Time stamps, from all splits.
    pub axis: TimeAxis,
    /// Facts.
    pub splits: Splits<Facts>,
    /// Facts that hold and stand in no split: the times of an interval that are not asked about. Filters know them, models
    /// never do.
    pub beyond: Facts,
}

impl Dataset {
    /// Size of the entity id space: the number of candidates of every query.
    pub fn entities(&self) -> usize {
        self.vocabulary.entities.len()
    }

    /// Number of original relations.
    pub fn relations(&self) -> usize {
        self.vocabulary.relations.len()
    }

    /// Content hash of one split: SHA-256 over the lines `s\tr\to\tτ\n` sorted by (τ, s, r, o), where `τ` is the
    /// original time divided by the raster.
    pub fn split_fingerprint(&self, split: Split) -> Fingerprint {
        self.facts_fingerprint(self.splits.get(split))
    }

    fn facts_fingerprint(&self, facts: &Facts) -> Fingerprint {
        let mut hash = Sha256::new();
        let mut line = String::new();
        for quad in facts.iter() {
            use fmt::Write;
            line.clear();
            let (s, r, o) = (quad.subject.0, quad.relation.0, quad.object.0);
            writeln!(line, "{s}\t{r}\t{o}\t{}", self.axis.ordinal(quad.step)).expect("writing to a string");
            hash.update(line.as_bytes());
        }
        Fingerprint::from_hash(hash)
    }

    /// Content hash of the whole dataset: over the hashes of its splits and the sizes of its id spaces.
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hash = Sha256::new();
        hash.update(format!("{}\t{}\n", self.entities(), self.relations()).as_bytes());
        for split in Split::ALL {
            hash.update(format!("{split}\t{}\n", self.split_fingerprint(split)).as_bytes());
        }
        if !self.beyond.is_empty() {
            hash.update(format!("beyond\t{}\n", self.facts_fingerprint(&self.beyond)).as_bytes());
        }
        Fingerprint::from_hash(hash)
    }
}

/// A knowledge graph without time, in three splits.
#[derive(Clone, Debug)]
pub struct StaticGraph {
    /// Name for people.
    pub name: String,
    /// Names, from all splits.
    pub vocabulary: Vocabulary,
    /// Facts in file order.
    pub splits: Splits<Vec<Triple>>,
    /// Entities that may stand on either side of a relation, if the dataset comes with such a file.
    pub type_constraints: Option<TypeConstraints>,
}

/// Allowed heads and tails per relation (`OpenKE`'s `type_constrain.txt`), each sorted by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TypeConstraints {
    /// Allowed subjects by relation.
    pub subjects: Vec<Vec<u32>>,
    /// Allowed objects by relation.
    pub objects: Vec<Vec<u32>>,
}

/// The first 16 hex digits of a SHA-256 over canonical content.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Closes a hash over canonical content.
    pub fn from_hash(hash: Sha256) -> Self {
        let digest = hash.finalize();
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        Self(u64::from_be_bytes(first))
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl From<Fingerprint> for String {
    fn from(value: Fingerprint) -> Self {
        value.to_string()
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        match u64::from_str_radix(&text, 16) {
            Ok(value) if text.len() == 16 => Ok(Self(value)),
            _ => Err(format!("a fingerprint has 16 hex digits, found {text:?}")),
        }
    }
}
