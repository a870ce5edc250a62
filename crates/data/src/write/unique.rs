//! Names as keys: layouts without common ids need a name of its own for every id.

use quadcast_core::{Names, Vocabulary};
use rustc_hash::FxHashMap;

use crate::DataError;
use crate::error::IdKind;
use crate::readers::excerpt;

/// Refuses names that would not come back: repeated ones, and those with a tab or a line end.
pub(super) fn unique_names(vocabulary: &Vocabulary) -> Result<(), DataError> {
    let check = |names: &Names, kind| {
        let mut seen = FxHashMap::default();
        for id in 0..names.len() as u32 {
            let name = names.name(id).into_owned();
            let shown = excerpt(name.as_bytes());
            if name.is_empty() || name.contains(['\t', '\n', '\r']) {
                return Err(DataError::UnfitName { kind, name: shown });
            }
            if let Some(first) = seen.insert(name, id) {
                return Err(DataError::SharedName { kind, name: shown, first, second: id });
            }
        }
        Ok(())
    };
    check(&vocabulary.entities, IdKind::Entity)?;
    check(&vocabulary.relations, IdKind::Relation)
}
