//! Errors of the data crate. Whatever is wrong with an input file names the file, the line, the column, what was
//! found there, what was expected and what to do about it.

use std::fmt;
use std::io;
use std::path::PathBuf;

use quadcast_core::Split;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IdKind {
    /// A subject or object.
    Entity,
    /// A relation.
    Relation,
}

impl IdKind {
    /// The word used in file names and messages.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Entity => "entity",
            Self::Relation => "relation",
        }
    }

    const fn with_article(self) -> &'static str {
        match self {
            Self::Entity => "an entity",
            Self::Relation => "a relation",
        }
    }
}

impl fmt::Display for IdKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Whatever can go wrong when a dataset is read, made or written.
#[derive(Debug, Error)]
pub enum DataError {
    // Folders and files.
    /// The path does not exist.
    #[error("{}: there is no such folder; check the spelling of the path", path.display())]
    NoFolder {
        /// The path.
        path: PathBuf,
    },
    /// A name that no search folder holds.
    #[error("there is no dataset {name:?}: no such folder here, and {searched}")]
    UnknownDataset {
        /// The name.
        name: String,
        /// Where it was looked for, and what to do.
        searched: String,
    },
    /// The path is a file.
    #[error("{}: this is a file, expected the folder that holds the dataset; give its folder instead", path.display())]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// The path is something else: a pipe, a socket, a device.
    #[error(
        "{}: this is neither a file nor a folder (a pipe or a device?), expected the folder of a dataset or a file of \
         operations; write what comes out of it to a file and give that",
        path.display()
    )]
    NeitherFileNorFolder {
        /// The path.
        path: PathBuf,
    },
    /// The folder has none of the known layouts.
    #[error("{}: {reason}; found: {found}\nknown layouts: {layouts}; say which one it is with --format", path.display())]
    UnknownLayout {
        /// The folder.
        path: PathBuf,
        /// Why no layout fits.
        reason: String,
        /// What the folder holds.
        found: String,
        /// The layouts and how they are recognised.
        layouts: &'static str,
    },
    /// A split has no file.
    #[error(
        "{}: no file for the {split} split; tried {tried}, plain or compressed; found: {found}\n\
         rename the file, or say which layout it is with --format",
        folder.display()
    )]
    MissingSplit {
        /// The folder.
        folder: PathBuf,
        /// The split.
        split: Split,
        /// The names that were tried.
        tried: String,
        /// What the folder holds.
        found: String,
    },
    /// A file that the layout needs is missing.
    #[error("{}: the layout {layout} needs {file}, plain or compressed; found: {found}", folder.display())]
    MissingFile {
        /// The folder.
        folder: PathBuf,
        /// The layout.
        layout: &'static str,
        /// The file.
        file: String,
        /// What the folder holds.
        found: String,
    },
    /// Several files could be meant.
    #[error("{}: several files could be {what}: {candidates}; keep one of them in the folder", folder.display())]
    SeveralFiles {
        /// The folder.
        folder: PathBuf,
        /// What was looked for.
        what: String,
        /// The files.
        candidates: String,
    },
    /// A file without a single fact.
    #[error("{}: the file holds no fact, expected at least one; put the facts in or choose another dataset", path.display())]
    EmptySplit {
        /// The file.
        path: PathBuf,
    },
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
    /// An archive that does not hold exactly one file.
    #[error("{}: the archive holds {files} files, expected exactly one; unpack it next to the others", path.display())]
    Archive {
        /// The archive.
        path: PathBuf,
        /// Number of files inside.
        files: usize,
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

    // Single fields.
    /// Text where an id belongs.
    #[error("{place}: found {found}, expected {} id (a whole number from 0); {advice}", kind.with_article())]
    NotAnId {
        /// Where.
        place: Place,
        /// What kind of id.
        kind: IdKind,
        /// What stands there.
        found: String,
        /// What to do.
        advice: &'static str,
    },
    /// An id below 0.
    #[error(
        "{place}: found {found}, expected {} id (a whole number from 0); ids are never negative, check the column order",
        kind.with_article()
    )]
    NegativeId {
        /// Where.
        place: Place,
        /// What kind of id.
        kind: IdKind,
        /// What stands there.
        found: String,
    },
    /// An id that the id file does not list.
    #[error(
        "{place}: found {kind} id {id}, expected an id from 0 to {largest}, the largest in {list}; \
         the files do not belong together or the columns are in another order"
    )]
    BeyondVocabulary {
        /// Where.
        place: Place,
        /// What kind of id.
        kind: IdKind,
        /// The id.
        id: u64,
        /// The largest known id.
        largest: u64,
        /// The id file.
        list: String,
    },
    /// An id so large that an id space of that size cannot be meant.
    #[error(
        "{place}: found {kind} id {id}, expected ids numbered from 0 without large holes (below {limit} here); \
         number the {kind} ids from 0"
    )]
    SparseIds {
        /// Where.
        place: Place,
        /// What kind of id.
        kind: IdKind,
        /// The id.
        id: u64,
        /// The first id that is refused.
        limit: u64,
    },
    /// A number that does not fit.
    #[error(
        "{place}: found {found}, expected a number from {smallest} to {largest}; the number is out of range"
    )]
    Overflow {
        /// Where.
        place: Place,
        /// What stands there.
        found: String,
        /// Smallest allowed number.
        smallest: i64,
        /// Largest allowed number.
        largest: i64,
    },
    /// A row with too few columns.
    #[error(
        "{place}: the column is missing, the row has {found} of the columns {expected}; complete or remove the row"
    )]
    MissingColumn {
        /// Where; the column is the first one that is missing.
        place: Place,
        /// How many columns the row has.
        found: usize,
        /// The columns of the layout.
        expected: &'static str,
    },
    /// A row with too many columns.
    #[error(
        "{place}: found a column {found} too many, expected the columns {expected}; correct the row, or say which layout it \
         is with --format"
    )]
    ExtraColumn {
        /// Where; the column is the first one that is too many.
        place: Place,
        /// What stands there.
        found: String,
        /// The columns of the layout.
        expected: &'static str,
    },
    /// Text where a time stamp belongs.
    #[error(
        "{place}: found {found}, expected a time stamp (a whole number); for files with dates use --format labelled"
    )]
    NotATime {
        /// Where.
        place: Place,
        /// What stands there.
        found: String,
    },
    /// Something else where a date belongs.
    #[error(
        "{place}: found {found}, expected a date {expected}; correct the date or name the layout with --format"
    )]
    NotADate {
        /// Where.
        place: Place,
        /// What stands there.
        found: String,
        /// How dates are written in this layout.
        expected: &'static str,
    },
    /// Something else where a mark such as `+` belongs.
    #[error("{place}: found {found}, expected {expected}; correct the row")]
    NotAMark {
        /// Where.
        place: Place,
        /// What stands there.
        found: String,
        /// The marks.
        expected: &'static str,
    },
    /// A name that the id file does not list.
    #[error("{place}: found {kind} {found}, which {list} does not list; add it there, or remove that file")]
    UnknownName {
        /// Where.
        place: Place,
        /// What kind of name.
        kind: IdKind,
        /// The name.
        found: String,
        /// The id file.
        list: String,
    },
    /// A name without a single character.
    #[error("{place}: found nothing, expected the name of {}; complete or remove the row", kind.with_article())]
    EmptyName {
        /// Where.
        place: Place,
        /// What kind of name.
        kind: IdKind,
    },

    // Whole files.
    /// Bytes that are not UTF-8.
    #[error("{}:{line}: byte {byte} of the line is not valid UTF-8; convert the file to UTF-8", path.display())]
    Utf8 {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: u64,
        /// Byte in the line, counted from 1.
        byte: usize,
    },
    /// An id that stands twice in an id file.
    #[error(
        "{place}: found id {id} again, expected every id once; line {first} has it already, give one of them another id"
    )]
    DuplicateId {
        /// Where.
        place: Place,
        /// The id.
        id: u64,
        /// The line that has it already.
        first: u64,
    },
    /// An id file that leaves out an id which must be translated.
    #[error(
        "{}: no line for {kind} id {id}, expected every id from 0 to {largest}; add the line, ids are translated \
         through this file",
        path.display()
    )]
    MissingId {
        /// The id file.
        path: PathBuf,
        /// What kind of id.
        kind: IdKind,
        /// The first id that is missing.
        id: u64,
        /// The largest id.
        largest: u64,
    },
    /// A name that stands twice in an id file of a layout that aligns by name.
    #[error(
        "{place}: found the name {name} again, expected every name once; line {first} has it already, and snapshots \
         are aligned by name"
    )]
    DuplicateName {
        /// Where.
        place: Place,
        /// The name.
        name: String,
        /// The line that has it already.
        first: u64,
    },
    /// A count that disagrees with what follows it.
    #[error(
        "{place}: the count says {declared}, but {found} follow; the file is incomplete or the count is wrong, \
         correct whichever it is"
    )]
    CountMismatch {
        /// The count.
        place: Place,
        /// What it says.
        declared: u64,
        /// How many follow.
        found: u64,
    },
    /// A file of ids in JSON that cannot be used.
    #[error("{}:{line}:{column}: {message}; expected an object of names with whole numbers, {{\"name\": 0}}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1; 0 when the whole file is meant.
        line: usize,
        /// Character, counted from 1; 0 when the whole file is meant.
        column: usize,
        /// What is wrong.
        message: String,
    },

    /// A name that a layout of names cannot hold.
    #[error(
        "the {kind} name {name} is empty or holds a tab or line end; the layout needs names, use --layout wikidata-evolve"
    )]
    UnfitName {
        /// What kind of name.
        kind: IdKind,
        /// The name.
        name: String,
    },
    /// A name that two ids share.
    #[error(
        "the {kind} ids {first} and {second} share the name {name}; the layout tells them apart by name, use --layout \
         wikidata-evolve"
    )]
    SharedName {
        /// What kind of name.
        kind: IdKind,
        /// The name.
        name: String,
        /// An id with that name.
        first: u32,
        /// Another id with that name.
        second: u32,
    },

    // Parts of the crate with errors of their own.
    /// An import failed.
    #[error(transparent)]
    Import(#[from] crate::ImportError),
    /// A stream of operations cannot be read.
    #[error(transparent)]
    Operations(#[from] crate::OperationsError),
    /// A download failed.
    #[error(transparent)]
    Fetch(#[from] crate::FetchError),
}
