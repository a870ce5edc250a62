//! Files that are either whole or absent.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A file that could not be written or read.
#[derive(Debug, Error)]
pub enum FileError {
    /// Writing failed.
    #[error("cannot write {}: {source}. {}", path.display(), advice(source))]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Reading failed.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file has another content than the run wrote.
    #[error("{} is damaged or edited: its checksum is not the one that the run noted. Make the run again", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// The run wrote a file that is gone.
    #[error("{}: there is no such file, and the run wrote one; put it back, or make the run again", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file is not one that the run wrote.
    #[error("{} does not belong to the run: it has no checksum there. Remove it, or make the run again", path.display())]
    Unlisted {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be right: it contradicts itself or other files of the run.
    #[error("{}: {message}", path.display())]
    Contradiction {
        /// The file.
        path: PathBuf,
        /// The place in the file, and what is wrong there.
        message: String,
    },
    /// The file is not what it should be.
    #[error("{} is not a run record: {message}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
}

fn advice(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "The disk is full: free some space, or choose another folder with --out"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "The folder is not writable: choose another one with --out"
        }
        _ => "Choose another folder with --out",
    }
}

/// Writes a file under a temporary name and renames it, so that readers see the old content or the new, never half.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), FileError> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Hidden, so that it is not the name of a file of the user.
    let temporary = path.with_file_name(format!(".{name}.tmp"));
    let attempt = || {
        let mut file = io::BufWriter::new(File::create(&temporary)?);
        write(&mut file)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        fs::rename(&temporary, path)
    };
    attempt().map_err(|source| {
        // The rest of a failed attempt is of no use to anyone; that it may not be removable changes nothing.
        fs::remove_file(&temporary).ok();
        FileError::Write { path: path.to_owned(), source }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_no_rest() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("a.txt");
        write_atomically(&path, |out| out.write_all(b"old")).expect("a writable folder");
        let error = write_atomically(&path, |out| {
            out.write_all(b"new")?;
            Err(io::ErrorKind::StorageFull.into())
        })
        .expect_err("the write fails");
        assert!(error.to_string().contains("The disk is full"), "{error}");
        assert_eq!(fs::read(&path).expect("the old file"), b"old");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1);
        // A file of the user whose name looks like a temporary one.
        fs::write(folder.path().join("a.txt.tmp"), "mine").expect("a writable folder");
        write_atomically(&path, |out| out.write_all(b"new")).expect("a writable folder");
        assert_eq!(fs::read(folder.path().join("a.txt.tmp")).expect("the user's file"), b"mine");
    }
}
