//! The lines of a file of scores or ranks, one after the other: CSV, plain or compressed, or Parquet.

use std::fmt::Display;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quadcast_core::{EntityId, Names};
use rustc_hash::FxHashMap;

use super::csv::{Field, split};
use super::error::wrong_key;
use super::{QueryList, ScoreFileError};
use crate::files::{CheckedText, Checks, Compression, ReadFault, Source, decoded, open_file};

/// Which column is which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ScoreColumns {
    row: Option<usize>,
    key: Option<usize>,
    entity: usize,
    score: usize,
    count: usize,
}

/// The columns of a file without a header.
const PLAIN: ScoreColumns = ScoreColumns { row: Some(0), key: None, entity: 1, score: 2, count: 3 };

/// What a line says about a row: one score, or that there is none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub row: usize,
    pub score: Option<(EntityId, f64)>,
}

pub(super) struct LineReader {
    path: PathBuf,
    input: CheckedText<Source>,
    /// What it means if reading fails.
    broken: &'static str,
    list: Arc<QueryList>,
    names: Names,
    /// Row by key, made when the header says that keys name the rows.
    by_key: FxHashMap<u64, u32>,
    /// Entity by name, made when the first name is met; `None` for a name that several entities share.
    by_name: FxHashMap<String, Option<u32>>,
    columns: ScoreColumns,
    /// Lines read so far.
    number: u64,
    line: String,
    /// Whether `line` is still to be looked at: the first line of a file without a header.
    waiting: bool,
}

impl LineReader {
    /// Opens a file and reads its header, if it has one.
    pub fn open(path: &Path, list: &Arc<QueryList>, names: &Names) -> Result<Self, ScoreFileError> {
        let mut reader = Self::unread(path, list, names)?;
        if reader.advance()? {
            let line = std::mem::take(&mut reader.line);
            let fields = reader.fields(&line)?;
            if fields.iter().any(|field| field.text.eq_ignore_ascii_case("score")) {
                reader.header(&fields)?;
            } else {
                reader.waiting = true;
            }
            reader.line = line;
        }
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("parquet")) {
            // Rows are counted from 1; the header is none.
            reader.number = 0;
        }
        Ok(reader)
    }

    /// Opens a file and reads nothing of it.
    pub fn unread(path: &Path, list: &Arc<QueryList>, names: &Names) -> Result<Self, ScoreFileError> {
        let read = |error: io::Error| ScoreFileError::read(path, &error);
        let file = open_file(path).map_err(read)?;
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let ending = ending.as_deref();
        let input = match ending {
            Some("gz") => decoded(file, Some(Compression::Gzip)).map_err(read)?,
            #[cfg(feature = "parquet")]
            Some("parquet") => Box::new(super::parquet::CsvText::open(path)?),
            #[cfg(not(feature = "parquet"))]
            Some("parquet") => {
                return Err(ScoreFileError::file(
                    path,
                    "this build of Quadcast does not read Parquet; install it with the feature parquet \
                     (cargo install --path crates/cli --features parquet), or write .csv.zst",
                ));
            }
            Some("zst") => decoded(file, Some(Compression::Zstandard)).map_err(read)?,
            _ => decoded(file, None).map_err(read)?,
        };
        Ok(Self {
            path: path.to_owned(),
            input: CheckedText::new(input, Checks::COMMAS),
            broken: match ending {
                Some("gz" | "zst") => "the compressed data ends or breaks here",
                Some("parquet") => "this row cannot be read (compression may be snappy, gzip or zstd)",
                _ => "this is not text",
            },
            list: Arc::clone(list),
            names: names.clone(),
            by_key: FxHashMap::default(),
            by_name: FxHashMap::default(),
            columns: PLAIN,
            number: 0,
            line: String::new(),
            waiting: false,
        })
    }

    /// The next line that is not empty, with its number.
    pub fn next_line(&mut self) -> Result<Option<(u64, String)>, ScoreFileError> {
        Ok(if self.advance()? { Some((self.number, std::mem::take(&mut self.line))) } else { None })
    }

    /// Whether every line carries the key of its query.
    pub const fn keyed(&self) -> bool {
        self.columns.key.is_some()
    }

    /// The next line that says something.
    pub fn next(&mut self) -> Result<Option<Entry>, ScoreFileError> {
        if !std::mem::take(&mut self.waiting) && !self.advance()? {
            return Ok(None);
        }
        // Taken out for as long as fields borrow from it.
        let line = std::mem::take(&mut self.line);
        let entry = self.entry(&line)?;
        self.line = line;
        Ok(Some(entry))
    }

    /// Reads the next line that is not empty; false at the end.
    fn advance(&mut self) -> Result<bool, ScoreFileError> {
        loop {
            self.line.clear();
            let read = self.input.read_line(&mut self.line);
            self.number += 1;
            match read {
                Ok(0) => return Ok(false),
                Ok(_) if self.line.trim().is_empty() => {}
                Ok(_) => return Ok(true),
                Err(error) if ReadFault::of(&error).is_some() => {
                    return Err(ScoreFileError::read(&self.path, &error));
                }
                Err(error) => return Err(self.error(format!("{}: {error}", self.broken))),
            }
        }
    }

    /// An error at the line that is being read.
    pub fn error(&self, message: impl Display) -> ScoreFileError {
        ScoreFileError::line(&self.path, self.number.max(1), message)
    }

    /// The fields of a line.
    pub fn fields<'l>(&self, line: &'l str) -> Result<Vec<Field<'l>>, ScoreFileError> {
        let line = line.strip_prefix('\u{feff}').unwrap_or(line).trim_end_matches(['\n', '\r']);
        split(line).ok_or_else(|| self.error("a quote is not closed, or text follows it"))
    }

    fn entry(&mut self, line: &str) -> Result<Entry, ScoreFileError> {
        let fields = self.fields(line)?;
        let columns = self.columns;
        if fields.len() != columns.count {
            let (found, expected) = (fields.len(), columns.count);
            let words = if columns == PLAIN { "row,entity,score" } else { "one per column of the header" };
            return Err(self.error(format!("{found} fields, expected {expected}: {words}")));
        }
        let row = self.row((columns.row, columns.key), &fields)?;
        let (entity, score) = (&fields[columns.entity], &fields[columns.score]);
        if entity.text.is_empty() && score.text.is_empty() && !entity.quoted {
            return Ok(Entry { row, score: None });
        }
        let entity = self.entity(entity)?;
        let score = score.text.parse::<f64>().map_err(|_| {
            self.error(format!("the score {:?} is not a number such as 0.25 or -1e-3", score.text))
        })?;
        Ok(Entry { row, score: Some((entity, score)) })
    }

    fn header(&mut self, fields: &[Field<'_>]) -> Result<(), ScoreFileError> {
        let position = |name: &str| fields.iter().position(|field| field.text.eq_ignore_ascii_case(name));
        let (row, key) = (position("row"), position("key"));
        let (Some(entity), Some(score), true) =
            (position("entity"), position("score"), row.is_some() || key.is_some())
        else {
            return Err(self.error("the header needs the columns entity, score, and key or row (or both)"));
        };
        let known = [row, key, Some(entity), Some(score)].into_iter().flatten().count();
        if known != fields.len() {
            return Err(
                self.error("the header may name row, key, entity and score, each once, and nothing else")
            );
        }
        if row.is_none() {
            self.find_by_key();
        }
        self.columns = ScoreColumns { row, key, entity, score, count: fields.len() };
        Ok(())
    }

    /// To be called if keys alone name the rows.
    pub fn find_by_key(&mut self) {
        self.by_key = self.list.keys.iter().copied().zip(0..).collect();
    }

    /// The row that a line is about, from its columns of rows and keys; with a key, it is checked or found by it.
    pub fn row(
        &self,
        (row, key): (Option<usize>, Option<usize>),
        fields: &[Field<'_>],
    ) -> Result<usize, ScoreFileError> {
        let key = match key.map(|column| &fields[column].text) {
            None => None,
            Some(text) => Some(
                text.parse::<u64>()
                    .map_err(|_| self.error(format!("the key {text:?} is not a whole number")))?,
            ),
        };
        let Some(column) = row else {
            let key = key.unwrap_or_default();
            return self.by_key.get(&key).map(|&row| row as usize).ok_or_else(|| {
                self.error(format!(
                    "no query has the key {key}: the scores are for another dataset or split; see quadcast data export"
                ))
            });
        };
        let text = &fields[column].text;
        let rows = self.list.keys.len();
        let row = text.parse::<usize>().ok().filter(|&row| row < rows).ok_or_else(|| {
            self.error(format!("row {text:?} does not exist, rows run from 0 to {}", rows.saturating_sub(1)))
        })?;
        match (key, self.list.keys[row]) {
            (Some(found), expected) if found != expected => Err(self.error(wrong_key(row, found, expected))),
            _ => Ok(row),
        }
    }

    /// The entity of an id or a name.
    pub fn entity(&mut self, field: &Field<'_>) -> Result<EntityId, ScoreFileError> {
        let entities = self.names.len();
        if !field.quoted && field.text.bytes().all(|byte| byte.is_ascii_digit()) && !field.text.is_empty() {
            return match field.text.parse::<u32>() {
                Ok(id) if (id as usize) < entities => Ok(EntityId(id)),
                _ => Err(self.error(format!(
                    "entity {} does not exist, ids run from 0 to {}",
                    field.text,
                    entities.saturating_sub(1)
                ))),
            };
        }
        if self.by_name.is_empty() {
            for id in 0..entities as u32 {
                let name = self.names.name(id).into_owned();
                self.by_name.entry(name).and_modify(|known| *known = None).or_insert(Some(id));
            }
        }
        match self.by_name.get(field.text.as_ref()) {
            Some(Some(id)) => Ok(EntityId(*id)),
            Some(None) => {
                Err(self.error(format!("several entities are called {:?}; give the id", field.text)))
            }
            None => Err(self.error(format!(
                "there is no entity {:?}; expected an id from 0 to {} or a name of the dataset",
                field.text,
                entities.saturating_sub(1)
            ))),
        }
    }
}
