//! What can go wrong in an import. Messages name the place and the option that helps.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::Place;

/// Whatever can go wrong when a table of events is imported.
#[derive(Debug, Error)]
pub enum ImportError {
    /// An option, a file or a row that cannot be used: where, what was found, what was expected and what to do.
    #[error("{0}")]
    Unusable(String),
    /// Writing failed.
    #[error("{}: cannot be written: {source}; choose another folder with --out", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl ImportError {
    pub(super) fn at(place: &Place, message: impl Display) -> Self {
        Self::Unusable(format!("{place}: {message}"))
    }

    /// Something is wrong with the whole file.
    pub(super) fn file(path: &Path, message: impl Display) -> Self {
        Self::Unusable(format!("{}:1:1: {message}", path.display()))
    }

    pub(super) fn no_rows(path: &Path) -> Self {
        Self::file(path, "the file holds no row, expected at least one event; check the path")
    }

    /// A row that cannot be used: `message` says what was found, what was expected and what to do.
    pub(super) fn row(place: &Place, message: &str) -> Self {
        Self::at(place, format!("{message}, or leave such rows out with --skip-bad"))
    }

    /// A quotation mark that is opened in this line and never closed.
    pub(super) fn open_quote(path: &Path, line: u64) -> Self {
        Self::at(
            &Place { path: path.to_path_buf(), line, column: 1 },
            "a quotation mark is opened in this row and never closed, so the rest of the file is one field; close it, \
             or double quotation marks that belong to a name",
        )
    }
}
