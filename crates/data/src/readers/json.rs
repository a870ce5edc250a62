//! Maps from names to ids in JSON (`entity2id.json`, `ICEWS14_eid.json`).

use std::fmt;
use std::path::PathBuf;

use rustc_hash::{FxHashMap, FxHashSet};
use serde::Deserializer;
use serde::de::{Error, MapAccess, Visitor};

use super::id_spaces::id_limit;
use super::input::{Folder, Input};
use super::lines::At;
use crate::DataError;
use crate::error::IdKind;

pub(super) struct JsonIds {
    pub path: PathBuf,
    pub ids: FxHashMap<String, u32>,
    /// The largest id and one more.
    pub size: usize,
}

impl JsonIds {
    /// Finds and reads the map of one kind, if the folder has one.
    pub(super) fn find(folder: &mut Folder, kind: IdKind) -> Result<Option<Self>, DataError> {
        let endings: [&str; 3] = match kind {
            IdKind::Entity => ["eid", "entity2id", "ent2id"],
            IdKind::Relation => ["rid", "relation2id", "rel2id"],
        };
        let matches = |name: &str| {
            let Some(name) = name.strip_suffix(".json") else {
                return false;
            };
            endings.iter().any(|ending| {
                name.strip_suffix(ending)
                    .is_some_and(|prefix| prefix.is_empty() || prefix.ends_with(['_', '-']))
            })
        };
        let path = folder.find(&format!("the map of {kind} ids"), matches)?;
        path.map(|path| Self::read(&Input::open_json(path)?)).transpose()
    }

    fn read(input: &Input) -> Result<Self, DataError> {
        let failed = |line, column, problem: String| {
            At { path: &input.path, line, column }
                .wrong(format!("{problem}; expected an object of names with whole numbers, {{\"name\": 0}}"))
        };
        let mut json = serde_json::Deserializer::from_str(input.utf8()?);
        let ids = json.deserialize_map(PairsVisitor).and_then(|ids| json.end().map(|()| ids));
        let ids = ids.map_err(|error| failed(error.line() as u64, error.column(), error.to_string()))?;
        let size = ids.values().max().map_or(0, |&largest| largest as usize + 1);
        if size as u64 > id_limit(ids.len()) {
            return Err(failed(1, 1, format!("id {} for {} names leaves large holes", size - 1, ids.len())));
        }
        Ok(Self { path: input.path.clone(), ids, size })
    }
}

/// Collects the pairs of an object, where the ready-made map type would hide repeated names.
struct PairsVisitor;

impl<'de> Visitor<'de> for PairsVisitor {
    type Value = FxHashMap<String, u32>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of names with ids")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = FxHashMap::default();
        let mut taken = FxHashSet::default();
        while let Some((name, id)) = map.next_entry::<String, u32>()? {
            if name.contains('\0') {
                return Err(A::Error::custom(format!("the name {name:?} holds a NUL character")));
            }
            if id == u32::MAX || !taken.insert(id) {
                return Err(A::Error::custom(format!("id {id} of {name:?} is taken or too large")));
            }
            if let Some(first) = pairs.insert(name, id) {
                return Err(A::Error::custom(format!("the name of id {id} has id {first} already")));
            }
        }
        Ok(pairs)
    }
}
