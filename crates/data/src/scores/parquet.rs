//! Sparse scores in Parquet files, handed to the reader of lines as the CSV text they stand for: every check is the
//! same. Integers and nothing (null) stay plain; text is quoted, so that digits in a column of text are a name.

use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Mutex;

use parquet::basic::{ConvertedType, LogicalType, Repetition, Type as Physical};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::reader::RowIter;
use parquet::record::{Field, Row};
use parquet::schema::types::{Type, TypePtr};

use super::ScoreFileError;
use super::csv::field;
use crate::files::open_file;
use crate::import::{WHOLE, guarded};

/// Text that is made at once.
const BUFFER: usize = 1 << 16;

/// The rows of a file as lines.
pub(super) struct CsvText {
    /// The reader may not be shared between threads, only moved. Nothing ever waits here.
    rows: Mutex<RowIter<'static>>,
    text: Vec<u8>,
    taken: usize,
    failed: Option<io::Error>,
}

impl CsvText {
    pub(super) fn open(path: &Path) -> Result<Self, ScoreFileError> {
        let file = open_file(path).map_err(|error| ScoreFileError::read(path, &error))?;
        let file = guarded(|| SerializedFileReader::new(file));
        let file = file.map_err(|error| ScoreFileError::damaged(path, error))?;
        let columns = file.metadata().file_metadata().schema().get_fields();
        check(columns).map_err(|message| ScoreFileError::line(path, 1, message))?;
        let header: Vec<_> = columns.iter().map(|column| field(column.name())).collect();
        let text = format!("{}\n", header.join(",")).into_bytes();
        let rows = guarded(|| Ok(RowIter::from_file_into(Box::new(file))));
        let rows = rows.map_err(|error| ScoreFileError::damaged(path, error))?;
        Ok(Self { rows: Mutex::new(rows), text, taken: 0, failed: None })
    }

    /// Makes the next lines; nothing at the end. An error waits until the lines before it are taken.
    fn fill(&mut self) -> io::Result<()> {
        self.text.clear();
        self.taken = 0;
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let rows = self.rows.get_mut().map_err(|_| io::Error::other("another thread stopped"))?;
        while self.text.len() < BUFFER {
            let complete = self.text.len();
            let next = guarded(|| rows.next().transpose());
            match next.and_then(|row| row.map(|row| put(&mut self.text, &row)).transpose()) {
                Ok(Some(())) => {}
                Ok(None) => break,
                Err(error) if complete == 0 => return Err(error),
                Err(error) => {
                    self.text.truncate(complete);
                    self.failed = Some(error);
                    break;
                }
            }
        }
        Ok(())
    }
}

impl Read for CsvText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.text.len() {
            self.fill()?;
        }
        let count = (&self.text[self.taken..]).read(buffer)?;
        self.taken += count;
        Ok(count)
    }
}

/// Refuses columns that cannot be read; that none is missing is checked with the header.
fn check(columns: &[TypePtr]) -> Result<(), String> {
    const NAMES: &str = "the columns are entity, score, and key or row (or both), and nothing else";
    const TYPES: &str = "row and key are whole numbers, entity is whole numbers or text, score is numbers";
    if !columns.iter().any(|column| column.name().eq_ignore_ascii_case("score")) {
        return Err(format!("there is no column \"score\"; {NAMES}"));
    }
    for column in columns {
        let name = column.name();
        match fits(column) {
            Some(true) => {}
            Some(false) => return Err(format!("the column {name:?} has the wrong type; {TYPES}")),
            None => return Err(format!("found the column {name:?}; {NAMES}")),
        }
    }
    Ok(())
}

/// Whether a column holds what its name promises; `None` if the name is not known.
fn fits(column: &Type) -> Option<bool> {
    use ConvertedType::{ENUM, NONE, UTF8};
    let info = column.get_basic_info();
    let single = column.is_primitive() && info.repetition() != Repetition::REPEATED;
    let is = |types: &[Physical]| single && types.contains(&column.get_physical_type());
    let logical = info.logical_type_ref();
    let converted = info.converted_type();
    // Moments in nanoseconds look like plain numbers but for the logical type.
    let number = matches!(logical, None | Some(LogicalType::Integer(_)))
        && (converted == NONE || WHOLE.contains(&converted));
    let whole = number && is(&[Physical::INT32, Physical::INT64]);
    let text = matches!(converted, NONE | UTF8 | ENUM) && is(&[Physical::BYTE_ARRAY]);
    let half = single && logical == Some(&LogicalType::Float16);
    match column.name().to_ascii_lowercase().as_str() {
        "row" | "key" => Some(whole),
        "entity" => Some(whole || text),
        "score" => Some(whole || half || is(&[Physical::FLOAT, Physical::DOUBLE])),
        _ => None,
    }
}

/// Writes a row as a line.
fn put(text: &mut Vec<u8>, row: &Row) -> io::Result<()> {
    for (position, (_, value)) in row.get_column_iter().enumerate() {
        if position > 0 {
            text.push(b',');
        }
        match value {
            Field::Null => {}
            Field::Str(name) => put_name(text, name)?,
            Field::Bytes(name) => put_name(text, name.as_utf8().map_err(io::Error::other)?)?,
            // Through f64, in which they are compared later: all digits of the number that was stored.
            Field::Float16(score) => write!(text, "{}", f64::from(*score))?,
            Field::Float(score) => write!(text, "{}", f64::from(*score))?,
            Field::Double(score) => write!(text, "{score}")?,
            other => write!(text, "{other}")?,
        }
    }
    text.push(b'\n');
    Ok(())
}

fn put_name(text: &mut Vec<u8>, name: &str) -> io::Result<()> {
    if name.contains('\n') {
        return Err(io::Error::other(format!("the name {name:?} holds a line end, which no dataset has")));
    }
    write!(text, "\"{}\"", name.replace('"', "\"\""))
}
