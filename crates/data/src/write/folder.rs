//! Folders that are whole or absent: filled beside their place, then put there. Files are compressed as their names
//! promise, so that the readers find what they expect.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::DataError;
use crate::files::Compression;

/// Beyond this level a file of Zstandard shrinks little and takes much longer.
const ZSTANDARD_LEVEL: i32 = 3;

/// The usual level of xz.
const XZ_LEVEL: u32 = 6;

/// Fills a temporary folder beside `folder`, then puts it in its place. What lies there is replaced: the caller has
/// made sure that it may be.
pub fn fill_folder<T, E: From<DataError>>(
    folder: &Path,
    fill: impl FnOnce(&Path) -> Result<T, E>,
) -> Result<T, E> {
    let temporary = beside(folder, "tmp");
    let attempt = || {
        make_folder(&temporary)?;
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

/// A file or folder of this process next to another.
pub(crate) fn beside(folder: &Path, word: &str) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(folder.file_name().unwrap_or_default());
    name.push(format!(".{word}-{}", std::process::id()));
    folder.with_file_name(name)
}

/// The error of a file or folder that cannot be written.
pub(crate) fn failed(path: &Path, source: io::Error) -> DataError {
    DataError::Write { path: path.to_owned(), source }
}

/// Makes a folder inside one that is being filled.
pub(super) fn make_folder(path: &Path) -> Result<(), DataError> {
    fs::create_dir_all(path).map_err(|source| failed(path, source))
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

/// Writes through a compression. Archives are refused before it comes to this.
pub fn compressed(
    out: &mut dyn Write,
    compression: Option<Compression>,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match compression {
        None => write(out),
        Some(Compression::Gzip) => {
            let encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
            through(encoder, write)?.finish().map(|_| ())
        }
        Some(Compression::Bzip2) => {
            let encoder = bzip2::write::BzEncoder::new(out, bzip2::Compression::default());
            through(encoder, write)?.finish().map(|_| ())
        }
        Some(Compression::Xz) => {
            through(liblzma::write::XzEncoder::new(out, XZ_LEVEL), write)?.finish().map(|_| ())
        }
        Some(Compression::Zstandard) => {
            through(zstd::Encoder::new(out, ZSTANDARD_LEVEL)?, write)?.finish().map(|_| ())
        }
        Some(Compression::Zip) => Err(io::Error::other("archives are not written")),
    }
}

/// Writes into an encoder, a block at a time.
fn through<E: Write>(encoder: E, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<E> {
    let mut out = BufWriter::new(encoder);
    write(&mut out)?;
    out.into_inner().map_err(io::IntoInnerError::into_error)
}
