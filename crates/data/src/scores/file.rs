//! A score file: rows of scores, looked up by query.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quadcast_core::{Constant, Dataset, Query, ScoreRow, Step};

use super::dense::Dense;
use super::numpy::{self, Header};
use super::sparse::Sparse;
use super::{QueryList, ScoreFileError};
use crate::files::open_file;

/// How to open a score file.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenOptions {
    /// Accept a file without keys: nothing then proves that its rows are in order.
    pub unchecked_order: bool,
    /// Hold a sparse file in memory as a whole: needed if its lines are not in order of steps.
    pub hold_all: bool,
}

enum Body {
    Dense(Dense),
    Sparse(Box<Sparse>),
}

/// Scores of an external model, by row of a query list.
pub struct ScoreFile {
    path: PathBuf,
    list: Arc<QueryList>,
    entities: usize,
    body: Body,
    /// Whether keys prove that every row answers its query.
    pub verified: bool,
    /// Size of the file.
    pub bytes: u64,
}

impl ScoreFile {
    /// Opens a file and checks what can be checked without reading all scores.
    pub fn open(
        path: &Path,
        dataset: &Dataset,
        list: &Arc<QueryList>,
        options: OpenOptions,
    ) -> Result<Self, ScoreFileError> {
        let read = |error: io::Error| ScoreFileError::read(path, &error);
        let bytes = std::fs::metadata(path).map_err(read)?.len();
        let entities = dataset.entities();
        let rows = list.keys.len();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let has = |endings: &[&str]| endings.iter().any(|ending| name.ends_with(ending));
        let dense = has(&[".npy", ".npz"]);
        let unverified = || {
            let arrays = "numpy.savez with arrays \"scores\" and \"keys\"";
            Err(ScoreFileError::unverified(path, if dense { arrays } else { "a column \"key\"" }))
        };
        let (body, verified) = if has(&[".npy"]) {
            if !options.unchecked_order {
                return unverified();
            }
            let mut file = open_file(path).map_err(read)?;
            let header = Header::read(path, &mut file)?;
            (Body::Dense(Dense::new(path, file, &header, (0, bytes), [rows, entities])?), false)
        } else if dense {
            let (dense, keyed) = numpy::open(path, list, entities)?;
            (Body::Dense(dense), keyed)
        } else if has(&[".csv", ".csv.gz", ".csv.zst", ".parquet"]) {
            let sparse = Sparse::open(path, list, &dataset.vocabulary.entities)?;
            let keyed = sparse.reader.keyed();
            (Body::Sparse(Box::new(sparse)), keyed)
        } else {
            const EXPECTED: &str =
                "the layout is told by the ending, expected .npy, .npz, .csv, .csv.gz, .csv.zst or .parquet";
            return Err(ScoreFileError::file(path, EXPECTED));
        };
        if !verified && !options.unchecked_order {
            return unverified();
        }
        let mut file =
            Self { path: path.to_owned(), list: Arc::clone(list), entities, body, verified, bytes };
        if let (Body::Sparse(sparse), true) = (&mut file.body, options.hold_all) {
            sparse.hold(0..rows)?;
        }
        Ok(file)
    }

    /// How the scores are stored, in words.
    pub const fn layout(&self) -> &'static str {
        match &self.body {
            Body::Dense(dense) => dense.kind,
            Body::Sparse(_) => "sparse",
        }
    }

    /// To be called when all rows were asked for: an error if one was missing or held something that is not a number.
    pub fn check(&self) -> Result<(), ScoreFileError> {
        match &self.body {
            Body::Dense(dense) => dense.check(),
            Body::Sparse(sparse) => sparse.check(),
        }
    }

    /// Reads on until the rows of a step are held. Steps must be asked for in order, unless the file is held as a whole.
    pub fn prepare(&mut self, step: Step) -> Result<(), ScoreFileError> {
        match &mut self.body {
            Body::Dense(_) => Ok(()),
            Body::Sparse(sparse) => sparse.hold(self.list.rows_of(step)),
        }
    }

    /// Hands over the rows of queries of the prepared step, each with its place in `queries`.
    pub fn rows<E: From<ScoreFileError>>(
        &self,
        queries: &[Query],
        mut take: impl FnMut(usize, ScoreRow<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match &self.body {
            Body::Dense(dense) => {
                let mut done = 0;
                while done < queries.len() {
                    // Neighbours in the evaluator's order are neighbours in the file.
                    let first = self.row(&queries[done])?;
                    let rest = queries[done..].iter().zip(&self.list.queries[first..]);
                    let count = rest.take_while(|(asked, listed)| asked == listed).count();
                    dense.rows(first, count, |i, scores| take(done + i, ScoreRow::Dense(scores)))?;
                    done += count;
                }
            }
            Body::Sparse(sparse) => {
                let background = Constant::unreached(self.entities);
                let (mut ids, mut scores) = (Vec::new(), Vec::new());
                for (i, query) in queries.iter().enumerate() {
                    sparse.row(self.row(query)?, &mut ids, &mut scores);
                    take(i, ScoreRow::Sparse { ids: &ids, scores: &scores, background: &background })?;
                }
            }
        }
        Ok(())
    }

    fn row(&self, query: &Query) -> Result<usize, ScoreFileError> {
        let unlisted = || ScoreFileError::file(&self.path, format!("{query:?} is not in the query list"));
        self.list.row(query).ok_or_else(unlisted)
    }
}
