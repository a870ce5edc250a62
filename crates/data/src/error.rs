//! Errors of the data crate. Whatever is wrong with an input file names the file, the line, the column, what was
//! found there, what was expected and what to do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A place in a file, written `file:line:column`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub path: PathBuf,
    /// Line, counted from 1.
    pub line: u64,
    /// Field (not character), counted from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.path.display(), self.line, self.column)
    }
}

/// What an id stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdKind {
    Entity,
    Relation,
}

impl IdKind {
    pub(crate) const ALL: [Self; 2] = [Self::Entity, Self::Relation];

    pub(crate) const fn with_article(self) -> &'static str {
        match self {
            Self::Entity => "an entity",
            Self::Relation => "a relation",
        }
    }
}

/// The word used in file names and messages.
impl fmt::Display for IdKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Entity => "entity",
            Self::Relation => "relation",
        })
    }
}

/// Whatever can go wrong when a dataset is read, made or written.
#[derive(Debug, Error)]
pub enum DataError {
    /// A field, row or count that cannot be used.
    #[error("{place}: {problem}")]
    Row {
        /// Where.
        place: Place,
        /// What was found and expected, and what to do.
        problem: String,
    },
    /// A file or folder that cannot be used as a whole.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What was found and expected, and what to do.
        problem: String,
    },
    /// Anything else that cannot be used: what it is, why, and what to do.
    #[error("{0}")]
    Unusable(String),
    /// The operating system refused.
    #[error("{}: cannot be read: {source}; check that the file exists and that you may read it", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A compressed file is damaged.
    #[error("{}: the {compression} file is truncated or damaged: {source}; download or compress it again", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The compression that the name promises.
        compression: &'static str,
        /// What the decoder said.
        source: io::Error,
    },
    /// A folder that is not free to be written to.
    #[error("{}: {advice}", path.display())]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// Why not, and what to do.
        advice: &'static str,
    },
    /// The operating system refused to write.
    #[error("{}: cannot be written: {source}; check the space on the disk, or choose another folder", path.display())]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    // Parts of the crate with errors of their own.
    /// An import failed.
    #[error(transparent)]
    Import(#[from] crate::ImportError),
    /// A download failed.
    #[error(transparent)]
    Fetch(#[from] crate::FetchError),
}

impl DataError {
    /// A file or folder that cannot be used as a whole.
    pub(crate) fn file(path: &Path, problem: impl Into<String>) -> Self {
        Self::File { path: path.to_path_buf(), problem: problem.into() }
    }
}
