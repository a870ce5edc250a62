//! What can be wrong with a score file.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A score file that cannot be judged. Every message names the file and, where there is one, the row or line.
#[derive(Debug, Error)]
pub enum ScoreFileError {
    /// Reading failed.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A query that the list of rows does not have.
    #[error("{}: {query} is not in the query list", path.display())]
    Unlisted {
        /// The file.
        path: PathBuf,
        /// The query.
        query: String,
    },
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
    /// The ending is not known.
    #[error("{}: the layout is told by the ending, expected .npy, .npz, .csv, .csv.gz, .csv.zst or .parquet", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
    },
    /// A layout that this build does not read.
    #[error(
        "{}: this build of Quadcast does not read Parquet; install it with the feature parquet \
         (cargo install --path crates/cli --features parquet), or write .csv.zst",
        path.display()
    )]
    Feature {
        /// The file.
        path: PathBuf,
    },
    /// Not what its ending promises.
    #[error("{} is damaged: {message}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        message: String,
    },
    /// An archive without the arrays that are needed.
    #[error("{} holds {found}; expected an array \"scores\" and an array \"keys\"", path.display())]
    Arrays {
        /// The file.
        path: PathBuf,
        /// What is there.
        found: String,
    },
    /// Numbers of the wrong type.
    #[error("{}: {array} has the type {found}, expected {expected}", path.display())]
    Type {
        /// The file.
        path: PathBuf,
        /// Which array.
        array: &'static str,
        /// The type in numpy's spelling.
        found: String,
        /// What is allowed, and how to get there.
        expected: &'static str,
    },
    /// Columns before rows.
    #[error(
        "{}: the scores are stored column by column (Fortran order); save numpy.ascontiguousarray(scores)",
        path.display()
    )]
    Fortran {
        /// The file.
        path: PathBuf,
    },
    /// The wrong number of rows or columns.
    #[error(
        "{}: {array} has the shape ({found}), expected ({expected}){}",
        path.display(), if *array == "scores" { ": one row per query, one column per entity" } else { "" }
    )]
    Shape {
        /// The file.
        path: PathBuf,
        /// Which array.
        array: &'static str,
        /// The shape, separated by commas.
        found: String,
        /// The shape it should have.
        expected: String,
    },
    /// Fewer or more bytes than the shape says.
    #[error(
        "{}: {array} is {} bytes long, its shape says {expected}; {}",
        path.display(), found, if found < expected { "the file is truncated" } else { "something was appended" }
    )]
    Length {
        /// The file.
        path: PathBuf,
        /// Which array.
        array: &'static str,
        /// Bytes that are there.
        found: u64,
        /// Bytes that should be there.
        expected: u64,
    },
    /// Nothing says which query a row answers.
    #[error(
        "{} does not say which query a row answers, so permuted rows would go unnoticed. Add the keys of the query list \
         ({}), or judge it with --unchecked-order; the record then says so",
        path.display(),
        if *sparse { "a column \"key\"" } else { "numpy.savez with arrays \"scores\" and \"keys\"" }
    )]
    Unverified {
        /// The file.
        path: PathBuf,
        /// Whether it is a CSV file.
        sparse: bool,
    },
    /// A row that belongs to another query.
    #[error(
        "{}: row {row} has the key {found}, the query list says {expected}: rows were permuted, or the scores are for \
         another dataset or split",
        place(path, *line)
    )]
    Key {
        /// The file.
        path: PathBuf,
        /// Line, for text.
        line: Option<u64>,
        /// The row.
        row: usize,
        /// Key in the file.
        found: u64,
        /// Key in the list.
        expected: u64,
    },
    /// A line that cannot be used.
    #[error("{}:{line}: {message}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong, and what is expected.
        message: String,
    },
    /// Lines that are not in order of steps, in a file that is read step by step.
    #[error("{}: a line about row {row} comes after lines about later steps", path.display())]
    Unsorted {
        /// The file.
        path: PathBuf,
        /// The row that came too late.
        row: usize,
    },
    /// Scores that are not numbers.
    #[error("{}: {count} scores are not a number, the first in row {first}", path.display())]
    NotANumber {
        /// The file.
        path: PathBuf,
        /// How many.
        count: u64,
        /// The first row with one.
        first: usize,
    },
    /// Queries without an answer.
    #[error(
        "{}: {missing} of {rows} rows are missing, the first is row {first}. If the model has nothing to say about a \
         query, say so with a line that names its row or key and leaves entity and score empty",
        path.display()
    )]
    Missing {
        /// The file.
        path: PathBuf,
        /// How many.
        missing: usize,
        /// How many there should be.
        rows: usize,
        /// The first of them.
        first: usize,
    },
    /// Gold answers without a rank.
    #[error(
        "{}: {missing} of {golds} gold answers of the test split are not ranked, the first is {gold} for row {row}",
        path.display()
    )]
    Unranked {
        /// The file.
        path: PathBuf,
        /// How many.
        missing: usize,
        /// How many there should be.
        golds: usize,
        /// Row of the first of them.
        row: usize,
        /// The first of them, in words.
        gold: String,
    },
    /// An entity that was scored twice for one query.
    #[error("{}: row {row} scores entity {entity} ({name}) more than once", path.display())]
    Repeated {
        /// The file.
        path: PathBuf,
        /// The row.
        row: u32,
        /// The entity.
        entity: u32,
        /// Its name.
        name: String,
    },
}

fn place(path: &std::path::Path, line: Option<u64>) -> String {
    match line {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    }
}
