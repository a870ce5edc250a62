//! The description that the benchmark compiler leaves in its folder: what the numbers are that stand for names.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::input::{Folder, Input};
use crate::{DataError, wikidata};

/// The name of the file.
pub const COMPILED: &str = "compile.json";

/// The part of the description that matters to readers.
#[derive(Deserialize)]
struct Compiled {
    #[serde(rename = "schema")]
    _schema: u32,
    #[serde(rename = "stream")]
    _stream: IgnoredAny,
    names: Option<String>,
}

/// Whether bare numbers are those of Wikidata. The published folders have nothing else; what we compiled says so itself, and
/// is left as it is otherwise. A file of that name with other content belongs to somebody else.
pub(super) fn numbers_are_wikidata(folder: &mut Folder) -> Result<bool, DataError> {
    let Some(path) = folder.find("the description of the benchmark", |name| name == COMPILED)? else {
        return Ok(true);
    };
    let found: Option<Compiled> = serde_json::from_slice(&Input::open(path)?.bytes).ok();
    Ok(found.is_none_or(|found| found.names.as_deref() == Some(wikidata::NUMBERS)))
}
