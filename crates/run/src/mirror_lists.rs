//! Files that list which relations mirror themselves or each other.

use std::path::Path;

use quadcast_core::{Mirrors, Names, RelationId};
use quadcast_data::read_lines;
use serde::Deserialize;
use serde_json::Value;

use crate::{RunError, lookup};

/// Relations that mirror themselves or each other, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct MirrorLists {
    /// Relations that mirror themselves.
    pub symmetric: Vec<String>,
    /// Pairs of relations that mirror each other.
    pub inverse: Vec<(String, String)>,
}

impl MirrorLists {
    /// Reads lists from a JSON file: at the top or, as in `division.json`, under `lists`. Lists that name no relation are an error.
    pub fn read(path: &Path) -> Result<Self, RunError> {
        let text = read_lines(path)?;
        let mut document: Value = serde_json::from_slice(&text).map_err(RunError::input)?;
        let inside = document.get_mut("lists").map(Value::take).unwrap_or(document);
        let lists: Self = serde_json::from_value(inside).map_err(RunError::input)?;
        if lists == Self::default() {
            return Err(RunError::input("it names no relation"));
        }
        Ok(lists)
    }

    /// The relations of a dataset that the lists name.
    pub fn mirrors(&self, relations: &Names) -> Result<Mirrors, RunError> {
        let find =
            |name: &String| lookup(relations, name, "relation").map(RelationId).map_err(RunError::input);
        Ok(Mirrors {
            symmetric: self.symmetric.iter().map(find).collect::<Result<_, _>>()?,
            inverse: self
                .inverse
                .iter()
                .map(|(p, q)| Ok((find(p)?, find(q)?)))
                .collect::<Result<_, RunError>>()?,
        })
    }
}
