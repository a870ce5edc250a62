//! Descriptions in JSON that our own commands leave in a folder.

use quadcast_core::Calendar;
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};

use super::input::{Folder, Input};
use crate::{DataError, Format, Granularity, wikidata};

/// The file of a re-division.
pub const DIVISION: &str = "division.json";

/// The file of the benchmark compiler.
pub const COMPILED: &str = "compile.json";

/// The file of an import.
pub(super) const IMPORT: &str = "import.json";

/// What a re-division says to readers: which layout it wrote, and what integer times stand for.
#[derive(Deserialize)]
pub(super) struct Division {
    pub layout: Format,
    /// The calendar of integer times; labelled facts carry dates.
    pub calendar: Option<Calendar>,
}

/// What an import says to readers.
#[derive(Deserialize)]
pub(super) struct Imported {
    pub granularity: Granularity,
}

/// What the benchmark compiler says to readers: what the numbers are that stand for names.
#[derive(Deserialize)]
struct Compiled {
    #[serde(rename = "schema")]
    _schema: u32,
    #[serde(rename = "stream")]
    _stream: IgnoredAny,
    names: Option<String>,
}

/// Reads a description, if there is one. A file of that name with other content belongs to somebody else.
pub(super) fn find_description<T: DeserializeOwned>(
    folder: &mut Folder,
    what: &str,
    file: &str,
) -> Result<Option<T>, DataError> {
    let path = folder.find(what, |name| name == file)?;
    Ok(path.map(Input::open_json).transpose()?.and_then(|input| serde_json::from_slice(&input.bytes).ok()))
}

/// Whether bare numbers are those of Wikidata. The published folders have nothing else; what we compiled says so itself, and
/// is left as it is otherwise.
pub(super) fn numbers_are_wikidata(folder: &mut Folder) -> Result<bool, DataError> {
    let found: Option<Compiled> = find_description(folder, "the description of the benchmark", COMPILED)?;
    Ok(found.is_none_or(|found| found.names.as_deref() == Some(wikidata::NUMBERS)))
}
