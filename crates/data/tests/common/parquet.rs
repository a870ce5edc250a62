//! Parquet files, written by the crate that reads them.

use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

/// The values of a column; `None` is null, which the column's type must allow.
#[allow(dead_code, reason = "not every test has columns of all types")]
pub enum Values {
    Text(Vec<Option<&'static str>>),
    Int32(Vec<Option<i32>>),
    Int64(Vec<Option<i64>>),
    Single(Vec<Option<f32>>),
    Double(Vec<Option<f64>>),
}

pub use Values::{Double, Int32, Int64, Single, Text};

/// A file with one row group. All columns are optional.
pub fn parquet(schema: &str, columns: &[Values], compression: Compression) -> Vec<u8> {
    let schema = parse_message_type(&format!("message rows {{ {schema} }}")).expect("a schema");
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut file =
        SerializedFileWriter::new(Vec::new(), Arc::new(schema), Arc::new(properties)).expect("a file");
    let mut group = file.next_row_group().expect("a row group");
    for column in columns {
        let mut writer = group.next_column().expect("a column").expect("as many columns as in the schema");
        macro_rules! write {
            ($kind:ty, $values:expr, $convert:expr) => {{
                let levels: Vec<i16> = $values.iter().map(|value| i16::from(value.is_some())).collect();
                let values: Vec<_> = $values.iter().flatten().copied().map($convert).collect();
                writer
                    .typed::<$kind>()
                    .write_batch(&values, Some(&levels), Some(&vec![0; levels.len()]))
                    .expect("values")
            }};
        }
        match column {
            Text(values) => write!(ByteArrayType, values, ByteArray::from),
            Int32(values) => write!(Int32Type, values, std::convert::identity),
            Int64(values) => write!(Int64Type, values, std::convert::identity),
            Single(values) => write!(FloatType, values, std::convert::identity),
            Double(values) => write!(DoubleType, values, std::convert::identity),
        };
        writer.close().expect("a column");
    }
    group.close().expect("a row group");
    file.into_inner().expect("a file")
}
