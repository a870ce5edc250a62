//! The folder that a world is written to: whole or absent, and nothing of somebody else's is lost.

use std::fs;
use std::io;
use std::path::Path;

use quadcast_data::DataError;
use quadcast_data::write::fill_folder;

/// The file that marks a folder as a synthetic world.
pub(super) const WORLD_FILE: &str = "world.json";

/// Checks that a world may be written to a folder: it is absent or empty, or it holds a synthetic world and
/// `overwrite` is given.
pub fn synth_target(folder: &Path, overwrite: bool) -> Result<(), DataError> {
    let occupied = |advice| Err(DataError::Occupied { path: folder.to_owned(), advice });
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            occupied("this is a file; choose another folder")
        }
        Err(source) => Err(DataError::Io { path: folder.to_owned(), source }),
        Ok(mut entries) => match (entries.next().is_none(), overwrite) {
            (true, _) => Ok(()),
            (false, false) => occupied(
                "the folder is not empty; choose another one, or replace a synthetic world with --overwrite",
            ),
            (false, true) if folder.join(WORLD_FILE).is_file() => Ok(()),
            (false, true) => occupied(
                "the folder holds no synthetic world (no world.json), so --overwrite does not touch it; choose another one",
            ),
        },
    }
}

/// Puts a world into a folder that it may be written to.
pub(super) fn write_folder(
    folder: &Path,
    overwrite: bool,
    fill: impl FnOnce(&Path) -> Result<(), DataError>,
) -> Result<(), DataError> {
    synth_target(folder, overwrite)?;
    fill_folder(folder, fill)
}
