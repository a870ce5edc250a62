//! Sparse scores: a text file that lists the candidates a model reached, one per line. Held in memory, 16 bytes per
//! line, so that lines may come in any order.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use quadcast_core::{EntityId, Names};
use rustc_hash::FxHashMap;

use crate::csv::{Field, split};
use crate::{QueryList, ScoreFileError};

/// One score.
#[derive(Clone, Copy, Debug)]
struct Cell {
    row: u32,
    entity: EntityId,
    score: f64,
}

/// The reached candidates of all rows.
#[derive(Debug)]
pub(crate) struct Sparse {
    /// Sorted by row and entity.
    cells: Vec<Cell>,
    /// Where each row starts, plus the end of the last.
    starts: Vec<usize>,
}

impl Sparse {
    /// Reads a file; the second value says whether every line carries the key of its query.
    pub fn open(path: &Path, list: &QueryList, names: &Names) -> Result<(Self, bool), ScoreFileError> {
        let read = |source| ScoreFileError::Read { path: path.to_owned(), source };
        let file = File::open(path).map_err(read)?;
        let ending = path.extension().and_then(|ending| ending.to_str());
        let input: Box<dyn Read> = match ending {
            Some("gz") => Box::new(MultiGzDecoder::new(BufReader::new(file))),
            Some("zst") => Box::new(zstd::Decoder::new(file).map_err(read)?),
            _ => Box::new(file),
        };
        let mut reader = Reader::new(path, list, names);
        let compressed = matches!(ending, Some("gz" | "zst"));
        let mut input = BufReader::with_capacity(1 << 16, input);
        let mut line = String::new();
        loop {
            line.clear();
            match input.read_line(&mut line) {
                Ok(0) => break,
                Ok(_) => reader.line(&line)?,
                Err(error) if compressed => {
                    return Err(reader.error(&format!("the compressed data ends or breaks here: {error}")));
                }
                Err(error) => return Err(reader.error(&format!("this is not text: {error}"))),
            }
        }
        reader.finish()
    }

    /// Fills in the reached candidates of a row.
    pub fn row(&self, row: usize, entities: &mut Vec<EntityId>, scores: &mut Vec<f64>) {
        let cells = &self.cells[self.starts[row]..self.starts[row + 1]];
        entities.clear();
        entities.extend(cells.iter().map(|cell| cell.entity));
        scores.clear();
        scores.extend(cells.iter().map(|cell| cell.score));
    }
}

/// Which column is which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Columns {
    row: Option<usize>,
    key: Option<usize>,
    entity: usize,
    score: usize,
    count: usize,
}

impl Columns {
    /// What a line should hold.
    fn words(self) -> &'static str {
        if self == PLAIN { "row,entity,score" } else { "one per column of the header" }
    }
}

/// The columns of a file without a header.
const PLAIN: Columns = Columns { row: Some(0), key: None, entity: 1, score: 2, count: 3 };

struct Reader<'a> {
    path: &'a Path,
    list: &'a QueryList,
    names: &'a Names,
    /// Row by key, made when the header says that keys name the rows.
    by_key: FxHashMap<u64, u32>,
    /// Entity by name, made when the first name is met; `None` for a name that several entities share.
    by_name: FxHashMap<String, Option<u32>>,
    columns: Option<Columns>,
    number: u64,
    cells: Vec<Cell>,
    present: Vec<bool>,
    not_a_number: u64,
    first_bad: usize,
}

impl<'a> Reader<'a> {
    fn new(path: &'a Path, list: &'a QueryList, names: &'a Names) -> Self {
        Self {
            path,
            list,
            names,
            by_key: FxHashMap::default(),
            by_name: FxHashMap::default(),
            columns: None,
            number: 0,
            cells: Vec::new(),
            present: vec![false; list.len()],
            not_a_number: 0,
            first_bad: usize::MAX,
        }
    }

    /// An error at the line that is being read.
    fn error(&self, message: &str) -> ScoreFileError {
        ScoreFileError::Line {
            path: self.path.to_owned(),
            line: self.number.max(1),
            message: message.to_owned(),
        }
    }

    fn line(&mut self, line: &str) -> Result<(), ScoreFileError> {
        self.number += 1;
        let line = line.strip_prefix('\u{feff}').unwrap_or(line).trim_end_matches(['\n', '\r']);
        if line.trim().is_empty() {
            return Ok(());
        }
        let mut fields = Vec::with_capacity(4);
        split(line, &mut fields).ok_or_else(|| self.error("a quote is not closed, or text follows it"))?;
        let columns = match self.columns {
            Some(columns) => columns,
            None if fields.iter().any(|field| field.text.eq_ignore_ascii_case("score")) => {
                return self.header(&fields);
            }
            None => *self.columns.insert(PLAIN),
        };
        if fields.len() != columns.count {
            let (found, expected) = (fields.len(), columns.count);
            return Err(self.error(&format!("{found} fields, expected {expected}: {}", columns.words())));
        }
        let row = self.row(columns, &fields)?;
        self.present[row] = true;
        let (entity, score) = (&fields[columns.entity], &fields[columns.score]);
        if entity.text.is_empty() && score.text.is_empty() && !entity.quoted {
            return Ok(());
        }
        let entity = self.entity(entity)?;
        let score = score.text.parse::<f64>().map_err(|_| {
            self.error(&format!("the score {:?} is not a number such as 0.25 or -1e-3", score.text))
        })?;
        if score.is_nan() {
            self.not_a_number += 1;
            self.first_bad = self.first_bad.min(row);
        }
        self.cells.push(Cell { row: row as u32, entity, score });
        Ok(())
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
            self.by_key = self.list.keys().iter().copied().zip(0..).collect();
        }
        self.columns = Some(Columns { row, key, entity, score, count: fields.len() });
        Ok(())
    }

    /// The row that a line is about; with a key, it is checked or found by it.
    fn row(&self, columns: Columns, fields: &[Field<'_>]) -> Result<usize, ScoreFileError> {
        let key = match columns.key.map(|column| &fields[column].text) {
            None => None,
            Some(text) => Some(
                text.parse::<u64>()
                    .map_err(|_| self.error(&format!("the key {text:?} is not a whole number")))?,
            ),
        };
        let Some(column) = columns.row else {
            let key = key.unwrap_or_default();
            return self.by_key.get(&key).map(|&row| row as usize).ok_or_else(|| {
                self.error(&format!(
                    "no query has the key {key}: the scores are for another dataset or split; see quadcast data export"
                ))
            });
        };
        let text = &fields[column].text;
        let rows = self.list.len();
        let row = text.parse::<usize>().ok().filter(|&row| row < rows).ok_or_else(|| {
            self.error(&format!("row {text:?} does not exist, rows run from 0 to {}", rows.saturating_sub(1)))
        })?;
        match (key, self.list.keys()[row]) {
            (Some(found), expected) if found != expected => Err(ScoreFileError::Key {
                path: self.path.to_owned(),
                line: Some(self.number),
                row,
                found,
                expected,
            }),
            _ => Ok(row),
        }
    }

    /// The entity of an id or a name.
    fn entity(&mut self, field: &Field<'_>) -> Result<EntityId, ScoreFileError> {
        let entities = self.names.len();
        if !field.quoted && field.text.bytes().all(|byte| byte.is_ascii_digit()) && !field.text.is_empty() {
            return match field.text.parse::<u32>() {
                Ok(id) if (id as usize) < entities => Ok(EntityId(id)),
                _ => Err(self.error(&format!(
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
                Err(self.error(&format!("several entities are called {:?}; give the id", field.text)))
            }
            None => Err(self.error(&format!(
                "there is no entity {:?}; expected an id from 0 to {} or a name of the dataset",
                field.text,
                entities.saturating_sub(1)
            ))),
        }
    }

    fn finish(mut self) -> Result<(Sparse, bool), ScoreFileError> {
        let path = || self.path.to_owned();
        if self.not_a_number > 0 {
            let (count, first) = (self.not_a_number, self.first_bad);
            return Err(ScoreFileError::NotANumber { path: path(), count, first });
        }
        let missing = self.present.iter().filter(|&&present| !present).count();
        if let Some(first) = self.present.iter().position(|&present| !present) {
            return Err(ScoreFileError::Missing { path: path(), missing, rows: self.list.len(), first });
        }
        let order = |cell: &Cell| (cell.row, cell.entity);
        if !self.cells.is_sorted_by_key(order) {
            self.cells.sort_unstable_by_key(order);
        }
        if let Some(pair) = self.cells.windows(2).find(|pair| order(&pair[0]) == order(&pair[1])) {
            let (row, entity) = (pair[0].row, pair[0].entity.0);
            let name = self.names.name(entity).into_owned();
            return Err(ScoreFileError::Repeated { path: self.path.to_owned(), row, entity, name });
        }
        let mut starts = vec![0; self.list.len() + 1];
        for cell in &self.cells {
            starts[cell.row as usize + 1] += 1;
        }
        for row in 0..self.list.len() {
            starts[row + 1] += starts[row];
        }
        let keyed = self.columns.is_some_and(|columns| columns.key.is_some());
        Ok((Sparse { cells: self.cells, starts }, keyed))
    }
}
