//! Folders that are whole or absent: filled beside their place, then put there.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::DataError;

/// Fills a temporary folder beside `folder`, then puts it in its place. What lies there is replaced: the caller has
/// made sure that it may be.
pub fn fill_folder<T, E: From<DataError>>(
    folder: &Path,
    fill: impl FnOnce(&Path) -> Result<T, E>,
) -> Result<T, E> {
    let temporary = beside(folder, "tmp");
    let attempt = || {
        fs::create_dir_all(&temporary).map_err(|source| failed(&temporary, source))?;
        let filled = fill(&temporary)?;
        exchange(folder, &temporary).map_err(|source| failed(folder, source))?;
        Ok(filled)
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
        // Not empty: the caller has seen that it may be replaced.
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
pub(crate) fn failed(path: &Path, source: io::Error) -> DataError {
    DataError::Write { path: path.to_owned(), source }
}

/// Writes one file through to the disk.
pub fn write_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), DataError> {
    let attempt = || {
        let mut out = BufWriter::with_capacity(1 << 18, File::create(path)?);
        write(&mut out)?;
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    };
    attempt().map_err(|source| failed(path, source))
}

/// Checks that a new dataset may be written to a folder: it is absent or empty.
pub fn free_folder(folder: &Path) -> Result<(), DataError> {
    let occupied = |advice| Err(DataError::Occupied { path: folder.to_owned(), advice });
    match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            occupied("this is a file; choose another folder with --out")
        }
        Err(source) => Err(DataError::Io { path: folder.to_owned(), source }),
        Ok(entries) => match entries.count() {
            0 => Ok(()),
            _ => occupied("the folder is not empty; choose another one with --out, or empty it yourself"),
        },
    }
}
