//! Unused files that repeat the data with local ids. Their first rows are checked and problems are reported.

use std::path::Path;

use super::id_files::{IdFile, Order};
use super::id_spaces::IdSpaces;
use super::input::{Folder, Input};
use super::triples::read_start;
use crate::DataError;
use crate::error::IdKind;
use crate::files::Compression;

/// Checks the unused files that `repeats` knows by their names without endings. Returns notes about their problems, and the names
/// of the other unused files.
pub(super) fn look_at_unused<'a>(
    folder: &'a Folder,
    spaces: IdSpaces<'_>,
    repeats: impl Fn(&str) -> bool,
) -> (Vec<String>, Vec<&'a str>) {
    let stem = |file: &str| {
        let name = Compression::of(file).1;
        name.strip_suffix(".txt").unwrap_or(name).to_owned()
    };
    let (known, other): (Vec<&str>, Vec<&str>) =
        folder.unused().into_iter().partition(|file| repeats(&stem(file)));
    let problems = known.into_iter().filter_map(|file| {
        let error = look_at(&folder.path.join(file), &stem(file), spaces).err()?;
        Some(format!("{error} (found in a file that is not used)."))
    });
    (problems.collect(), other)
}

fn look_at(path: &Path, stem: &str, spaces: IdSpaces<'_>) -> Result<(), DataError> {
    let (input, whole) = Input::start(path)?;
    match IdKind::ALL.into_iter().find(|kind| stem == format!("{kind}2id")) {
        Some(kind) if whole => IdFile::read(&input, kind, Order::NameFirst).map(drop),
        // The start of a list says little: its count is wrong, its ids may begin anywhere.
        Some(_) => input.utf8().map(drop),
        None => read_start(&input, spaces, whole).map(drop),
    }
}
