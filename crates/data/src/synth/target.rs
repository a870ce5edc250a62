//! The folder that a world is written to: whole or absent, and nothing of somebody else's is lost.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::DataError;

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

/// Fills a temporary folder beside `folder`, then puts it in its place.
pub(super) fn write_folder(
    folder: &Path,
    overwrite: bool,
    fill: impl FnOnce(&Path) -> Result<(), DataError>,
) -> Result<(), DataError> {
    synth_target(folder, overwrite)?;
    let temporary = beside(folder, "tmp");
    let attempt = || {
        fs::create_dir_all(&temporary).map_err(|source| failed(&temporary, source))?;
        fill(&temporary)?;
        exchange(folder, &temporary).map_err(|source| failed(folder, source))
    };
    attempt().inspect_err(|_| {
        // The rest of a failed attempt is of no use to anyone; that it may not be removable changes nothing.
        fs::remove_dir_all(&temporary).ok();
    })
}

fn exchange(folder: &Path, new: &Path) -> io::Result<()> {
    match fs::remove_dir(folder) {
        Ok(()) => fs::rename(new, folder),
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::rename(new, folder),
        // Not empty: `synth_target` has seen that it is a world that may be replaced.
        Err(_) => {
            let old = beside(folder, "old");
            fs::rename(folder, &old)?;
            if let Err(error) = fs::rename(new, folder) {
                fs::rename(&old, folder)?;
                return Err(error);
            }
            fs::remove_dir_all(&old)
        }
    }
}

/// A folder of this process next to another.
fn beside(folder: &Path, word: &str) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(folder.file_name().unwrap_or_default());
    name.push(format!(".{word}-{}", std::process::id()));
    folder.with_file_name(name)
}

/// The error of a file or folder that cannot be written.
pub(super) fn failed(path: &Path, source: io::Error) -> DataError {
    DataError::Write { path: path.to_owned(), source }
}
