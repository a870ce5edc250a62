//! Sparse scores: a text file that lists the candidates a model reached, one per line. Only a window of rows is held in
//! memory, 16 bytes per line: that of the step that is asked about, if the file is in order of steps, else all rows.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quadcast_core::{EntityId, Names};

use super::lines::{Entry, LineReader};
use super::{QueryList, ScoreFileError};

/// One score.
#[derive(Clone, Copy, Debug)]
struct Cell {
    row: u32,
    entity: EntityId,
    score: f64,
}

impl Cell {
    const fn place(&self) -> (u32, EntityId) {
        (self.row, self.entity)
    }
}

/// The reached candidates of a window of rows.
pub(super) struct Sparse {
    path: PathBuf,
    names: Names,
    pub reader: LineReader,
    /// A line that was read and belongs to a later window.
    ahead: Option<Entry>,
    window: Range<usize>,
    /// Sorted by row and entity.
    cells: Vec<Cell>,
    /// Where each row of the window starts, plus the end of the last.
    starts: Vec<usize>,
    present: Vec<bool>,
    not_a_number: u64,
    first_bad: usize,
}

impl Sparse {
    /// Opens a file and holds nothing yet.
    pub fn open(path: &Path, list: &Arc<QueryList>, names: &Names) -> Result<Self, ScoreFileError> {
        Ok(Self {
            path: path.to_owned(),
            names: names.clone(),
            reader: LineReader::open(path, list, names)?,
            ahead: None,
            window: 0..0,
            cells: Vec::new(),
            starts: Vec::new(),
            present: vec![false; list.keys.len()],
            not_a_number: 0,
            first_bad: usize::MAX,
        })
    }

    /// Reads on until all rows of the window are held. A line about an earlier row is an error.
    pub fn hold(&mut self, window: Range<usize>) -> Result<(), ScoreFileError> {
        if window.start >= self.window.start && window.end <= self.window.end {
            return Ok(());
        }
        self.cells.clear();
        let mut counts = vec![0; window.len()];
        loop {
            let next = match self.ahead.take() {
                Some(entry) => Some(entry),
                None => self.reader.next()?,
            };
            let Some(entry) = next else { break };
            if entry.row < window.start {
                return Err(ScoreFileError::Unsorted { path: self.path.clone(), row: entry.row });
            }
            if entry.row >= window.end {
                self.ahead = Some(entry);
                break;
            }
            let count = &mut counts[entry.row - window.start];
            *count += 1;
            if *count > self.names.len().max(1) {
                let message = format!(
                    "row {} has more scores than the dataset has entities ({}); give every candidate once",
                    entry.row,
                    self.names.len()
                );
                return Err(self.reader.error(message));
            }
            self.take(entry);
        }
        self.window = window;
        self.sort()
    }

    fn take(&mut self, entry: Entry) {
        self.present[entry.row] = true;
        let Some((entity, score)) = entry.score else { return };
        if score.is_nan() {
            self.not_a_number += 1;
            self.first_bad = self.first_bad.min(entry.row);
        }
        self.cells.push(Cell { row: entry.row as u32, entity, score });
    }

    /// Brings the window in order of rows.
    fn sort(&mut self) -> Result<(), ScoreFileError> {
        if !self.cells.is_sorted_by_key(Cell::place) {
            self.cells.sort_unstable_by_key(Cell::place);
        }
        if let Some(pair) = self.cells.windows(2).find(|pair| pair[0].place() == pair[1].place()) {
            let (row, entity) = pair[0].place();
            let name = self.names.name(entity.0);
            let message = format!("row {row} scores entity {} ({name}) more than once", entity.0);
            return Err(ScoreFileError::file(&self.path, message));
        }
        self.starts.clear();
        self.starts.resize(self.window.len() + 1, 0);
        for cell in &self.cells {
            self.starts[cell.row as usize - self.window.start + 1] += 1;
        }
        for row in 0..self.window.len() {
            self.starts[row + 1] += self.starts[row];
        }
        Ok(())
    }

    /// Fills in the reached candidates of a row of the window.
    pub fn row(&self, row: usize, entities: &mut Vec<EntityId>, scores: &mut Vec<f64>) {
        let place = row - self.window.start;
        let cells = &self.cells[self.starts[place]..self.starts[place + 1]];
        entities.clear();
        entities.extend(cells.iter().map(|cell| cell.entity));
        scores.clear();
        scores.extend(cells.iter().map(|cell| cell.score));
    }

    /// To be called when all rows were held: an error if one was missing or held something that is not a number.
    pub fn check(&self) -> Result<(), ScoreFileError> {
        if self.not_a_number > 0 {
            return Err(ScoreFileError::not_a_number(&self.path, self.not_a_number, self.first_bad));
        }
        let Some(first) = self.present.iter().position(|&present| !present) else { return Ok(()) };
        let (rows, missing) = (self.present.len(), self.present.iter().filter(|&&present| !present).count());
        let message = format!(
            "{missing} of {rows} rows are missing, the first is row {first}. If the model has nothing to say about a \
             query, say so with a line that names its row or key and leaves entity and score empty"
        );
        Err(ScoreFileError::file(&self.path, message))
    }
}
