//! What can be wrong with a score file.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::files::ReadFault;

/// A score file that cannot be judged. Every message names the file and, where there is one, the row or line.
#[derive(Debug, Error)]
pub enum ScoreFileError {
    /// A file that cannot be read, or content that cannot be used: where, why, and what is expected.
    #[error("{0}")]
    Unusable(String),
    /// A compressed array could not be unpacked.
    #[error(
        "cannot unpack {} into the temporary folder {}: {source}. Set TMPDIR to a folder with more space, or save \
         without compression (numpy.savez)",
        path.display(), std::env::temp_dir().display()
    )]
    Unpack {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Lines that are not in order of steps, in a file that is read step by step.
    #[error("{}: a line about row {row} comes after lines about later steps", path.display())]
    Unsorted {
        /// The file.
        path: PathBuf,
        /// The row that came too late.
        row: usize,
    },
}

impl ScoreFileError {
    pub(super) fn file(path: &Path, message: impl Display) -> Self {
        Self::Unusable(format!("{}: {message}", path.display()))
    }

    /// The line is counted from 1.
    pub(super) fn line(path: &Path, line: u64, message: impl Display) -> Self {
        Self::Unusable(format!("{}:{line}: {message}", path.display()))
    }

    /// The operating system refused, or the file is none that can be read.
    pub(super) fn read(path: &Path, error: &io::Error) -> Self {
        Self::Unusable(
            ReadFault::of(error).map_or_else(
                || format!("cannot read {}: {error}", path.display()),
                |fault| fault.message(path),
            ),
        )
    }

    /// Not what its ending promises.
    pub(super) fn damaged(path: &Path, message: impl Display) -> Self {
        Self::Unusable(format!("{} is damaged: {message}", path.display()))
    }

    /// Nothing says which query a row answers; `keys` is how the file could say it.
    pub(super) fn unverified(path: &Path, keys: &str) -> Self {
        Self::Unusable(format!(
            "{} does not say which query a row answers, so permuted rows would go unnoticed. Add the keys of the query \
             list ({keys}), or judge it with --unchecked-order; the record then says so",
            path.display()
        ))
    }

    pub(super) fn not_a_number(path: &Path, count: u64, first: usize) -> Self {
        Self::file(path, format!("{count} scores are not a number, the first in row {first}"))
    }
}

/// What is wrong with a row that belongs to another query.
pub(super) fn wrong_key(row: usize, found: u64, expected: u64) -> String {
    format!(
        "row {row} has the key {found}, the query list says {expected}: rows were permuted, or the scores are for \
         another dataset or split"
    )
}
