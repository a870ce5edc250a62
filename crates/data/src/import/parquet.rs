//! Parquet files: typed columns become the text that the other kinds of files hold, so that every later check is the
//! same. Dates and timestamps are written as ISO dates; only the columns of the roles are read.

use std::fs::File;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;

use jiff::{Timestamp, tz::Offset};
use parquet::basic::{ConvertedType, LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::{Type, TypePtr};

use super::columns::{Columns, Role, guess};
use super::error::ImportError;
use super::layout::{Layout, of_names};
use super::rows::{EventRow, Next, Rows, Stop};
use super::source::Source;
use crate::DataError;
use crate::files::open_file;
use crate::readers::date_of_day;

/// What a column holds, as far as its values need to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// Text, a number or a date: its value says which.
    Plain,
    /// Moments since 1970.
    Moments {
        /// Units in a second.
        per_second: i64,
        /// Whether they are in UTC, not in an unnamed zone.
        utc: bool,
    },
}

impl Content {
    /// What a column holds; `None` if it is nothing that a role could be.
    fn of(column: &Type) -> Option<Self> {
        let info = column.get_basic_info();
        if !column.is_primitive() || info.repetition() == Repetition::REPEATED {
            return None;
        }
        if let Some(LogicalType::Timestamp(kind)) = info.logical_type_ref() {
            let per_second = match kind.unit {
                TimeUnit::MILLIS => 1_000,
                TimeUnit::MICROS => 1_000_000,
                TimeUnit::NANOS => 1_000_000_000,
            };
            return Some(Self::Moments { per_second, utc: kind.is_adjusted_to_u_t_c });
        }
        let physical = column.get_physical_type();
        let moments = |per_second| Some(Self::Moments { per_second, utc: true });
        match (physical, info.converted_type()) {
            // The record reader gives the moments of the outdated type in milliseconds.
            (Physical::INT96, _) | (Physical::INT64, ConvertedType::TIMESTAMP_MILLIS) => moments(1_000),
            (Physical::INT64, ConvertedType::TIMESTAMP_MICROS) => moments(1_000_000),
            (Physical::FIXED_LEN_BYTE_ARRAY, _) => None,
            (_, ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::DATE) => {
                // Times of day in nanoseconds are known by their logical type only.
                (!matches!(info.logical_type_ref(), Some(LogicalType::Time(_)))).then_some(Self::Plain)
            }
            (Physical::INT32 | Physical::INT64, _) if WHOLE.contains(&info.converted_type()) => {
                Some(Self::Plain)
            }
            _ => None,
        }
    }
}

/// The types of whole numbers.
pub(crate) const WHOLE: [ConvertedType; 8] = {
    use ConvertedType::{INT_8, INT_16, INT_32, INT_64, UINT_8, UINT_16, UINT_32, UINT_64};
    [INT_8, INT_16, INT_32, INT_64, UINT_8, UINT_16, UINT_32, UINT_64]
};

/// An open file.
pub(super) struct ParquetFile {
    file: SerializedFileReader<File>,
    columns: Vec<TypePtr>,
}

impl ParquetFile {
    /// Opens a file and reads what it says about itself.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = open_file(path)?;
        let file = guarded(|| SerializedFileReader::new(file))?;
        let columns = file.metadata().file_metadata().schema().get_fields().to_vec();
        Ok(Self { file, columns })
    }

    pub(super) fn rows(&self, positions: [usize; 4]) -> Result<ParquetRows<'_>, Stop> {
        let mut wanted = positions.to_vec();
        wanted.sort_unstable();
        wanted.dedup();
        let values = self.values(&wanted).map_err(Stop::Read)?;
        // Every position is among the wanted ones.
        let order = positions.map(|position| wanted.binary_search(&position).unwrap_or_default());
        Ok(ParquetRows { values, order, columns: positions.map(|position| position + 1), row: 0 })
    }

    /// The values of some columns, in the order of the file.
    fn values(&self, wanted: &[usize]) -> io::Result<Values<'_>> {
        let fields: Vec<TypePtr> =
            wanted.iter().map(|&position| Arc::clone(&self.columns[position])).collect();
        let contents = fields.iter().map(|field| Content::of(field).unwrap_or(Content::Plain)).collect();
        let texts = vec![Vec::new(); fields.len()];
        let root = self.file.metadata().file_metadata().schema().name();
        let rows = guarded(|| {
            let projection = Type::group_type_builder(root).with_fields(fields).build()?;
            RowIter::from_file(Some(projection), &self.file)
        })?;
        Ok(Values { rows, contents, texts })
    }
}

/// Which columns a file has and which of them are the roles.
pub(super) fn layout(source: &Source, columns: Option<&Columns>) -> Result<Layout, DataError> {
    let failed = |error: io::Error| damaged(&source.path, &error);
    let table = ParquetFile::open(&source.path).map_err(failed)?;
    let names: Vec<String> = table.columns.iter().map(|column| column.name().to_owned()).collect();
    let usable: Vec<usize> = (0..names.len()).filter(|&i| Content::of(&table.columns[i]).is_some()).collect();
    let mut sample = vec!["(nested, binary or without a known type)".to_owned(); names.len()];
    // Without a usable column there is no sample either, and every role is refused.
    if !usable.is_empty() {
        let mut values = table.values(&usable).map_err(failed)?;
        if !values.advance().map_err(failed)? {
            return Err(ImportError::no_rows(&source.path).into());
        }
        for (&position, text) in usable.iter().zip(&values.texts) {
            sample[position] = String::from_utf8_lossy(text).into_owned();
        }
    }
    let positions = positions(&names, &usable, columns);
    let groups = table.file.num_row_groups();
    let note = format!("Parquet: {} columns in {groups} row group(s).", names.len());
    Ok(of_names(source, (1, &names, &sample), positions, columns.is_none(), note)?)
}

/// The positions of the roles by name, or else in the order of `--columns`; or what is wrong with them.
fn positions(names: &[String], usable: &[usize], columns: Option<&Columns>) -> Result<[usize; 4], String> {
    let positions = match columns {
        None => guess(names)?,
        Some(columns) => match (columns.by_name(names), columns.by_position()) {
            (Ok(positions), _) => positions,
            (Err(_), Some(positions)) if columns.width() <= names.len() => positions,
            (Err(missing), _) => return Err(format!("there is no column {missing:?}")),
        },
    };
    match Role::ALL.into_iter().find(|role| !usable.contains(&positions[*role as usize])) {
        None => Ok(positions),
        Some(role) => {
            let name = &names[positions[role as usize]];
            Err(format!("the column {name:?} ({role}) holds neither text nor numbers nor dates"))
        }
    }
}

/// The values of one row after the other, as text.
struct Values<'a> {
    rows: RowIter<'a>,
    contents: Vec<Content>,
    texts: Vec<Vec<u8>>,
}

impl Values<'_> {
    /// Reads the next row; false at the end.
    fn advance(&mut self) -> io::Result<bool> {
        let Some(row) = guarded(|| self.rows.next().transpose())? else { return Ok(false) };
        let fields = row.get_column_iter().map(|(_, field)| field);
        for ((text, content), field) in self.texts.iter_mut().zip(&self.contents).zip(fields) {
            text.clear();
            put(text, *content, field)?;
        }
        Ok(true)
    }
}

/// Writes a value as the other kinds of files hold it; nothing for null.
fn put(text: &mut Vec<u8>, content: Content, field: &Field) -> io::Result<()> {
    match (content, field) {
        (_, Field::Null) => Ok(()),
        (
            Content::Moments { per_second, utc },
            Field::Long(units) | Field::TimestampMillis(units) | Field::TimestampMicros(units),
        ) => match Timestamp::from_second(units.div_euclid(per_second)) {
            Ok(moment) => {
                let zone = if utc { "Z" } else { "" };
                write!(text, "{}{zone}", Offset::UTC.to_datetime(moment))
            }
            Err(_) => write!(text, "{units}"),
        },
        (_, Field::Date(days)) => match date_of_day(i64::from(*days)) {
            Some(day) => write!(text, "{day}"),
            None => write!(text, "{days}"),
        },
        (_, Field::Str(value)) => text.write_all(value.as_bytes()),
        (_, Field::Bytes(value)) => text.write_all(value.data()),
        // Numbers and truth values are written as they are in JSON: without a fraction where there is none.
        (_, Field::Float(value)) => write!(text, "{value}"),
        (_, Field::Double(value)) => write!(text, "{value}"),
        (_, other) => write!(text, "{other}"),
    }
}

/// The rows of a file. Places count rows from 1.
pub(super) struct ParquetRows<'a> {
    values: Values<'a>,
    /// Where each role stands among the values.
    order: [usize; 4],
    columns: [usize; 4],
    row: u64,
}

impl Rows for ParquetRows<'_> {
    fn next(&mut self) -> Result<Next<'_>, Stop> {
        if !self.values.advance().map_err(Stop::Read)? {
            return Ok(Next::End);
        }
        self.row += 1;
        let fields = self.order.map(|place| self.values.texts[place].as_slice());
        Ok(Next::Row(EventRow::new(self.row, self.columns, fields)))
    }
}

/// Reads with a decoder that trusts lengths in the file: where they are wrong, it panics. That is damage like any other.
/// Nothing is read after an error, so a decoder in disorder is never used.
pub(crate) fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> io::Result<T> {
    match catch_unwind(AssertUnwindSafe(read)) {
        Ok(result) => result.map_err(io::Error::other),
        Err(_) => Err(io::Error::other("the data contradict the description of the columns")),
    }
}

/// The error of a file that cannot be read.
pub(super) fn damaged(path: &Path, error: &io::Error) -> DataError {
    let message = format!(
        "{}: the Parquet file is damaged or compressed with something else than snappy, gzip or zstd: {error}; write or \
         download it again",
        path.display()
    );
    ImportError::Unusable(message).into()
}
