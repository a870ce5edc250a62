//! Parquet files, written by the crate that reads them.

use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use quadcast_data::{Columns, Granularity};

use crate::support::{facts, imported};

/// The values of a column; `None` is null, which the column's type must allow.
enum Values<'a> {
    Text(&'a [Option<&'a str>]),
    Int32(&'a [Option<i32>]),
    Int64(&'a [Option<i64>]),
    Double(&'a [Option<f64>]),
}

use Values::{Double, Int32, Int64, Text};

/// A file with one row group. All columns are optional.
fn parquet(schema: &str, columns: &[Values<'_>], compression: Compression) -> Vec<u8> {
    let schema = parse_message_type(&format!("message events {{ {schema} }}")).expect("a schema");
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
            Double(values) => write!(DoubleType, values, std::convert::identity),
        };
        writer.close().expect("a column");
    }
    group.close().expect("a row group");
    file.into_inner().expect("a file")
}

const ROLES: &str =
    "optional binary subject (UTF8); optional binary relation (UTF8); optional binary object (UTF8); ";
const SUBJECTS: Values<'static> = Text(&[Some("A"), Some("B "), Some("A")]);
const RELATIONS: Values<'static> = Text(&[Some("r"), Some("r"), Some("s")]);
const OBJECTS: Values<'static> = Text(&[Some("B"), Some("C, \"d\"\n"), Some("C")]);

/// 2031-01-01 in days since 1970.
const DAY: i32 = 22_280;
const SECONDS: i64 = DAY as i64 * 86_400;

/// Names in three rows, and dates that are written like this.
fn with_dates(kind: &str, dates: Values<'_>) -> Vec<u8> {
    let schema = format!("{ROLES} optional {kind};");
    parquet(&schema, &[SUBJECTS, RELATIONS, OBJECTS, dates], Compression::SNAPPY)
}

#[test]
fn dates_of_every_type_are_the_same_facts() {
    let scaled = |unit: i64| [0, 1, 2].map(|day| Some((SECONDS + day * 86_400 + 3_601) * unit + unit / 2));
    for (kind, dates) in [
        ("int32 date (DATE)", Int32(&[Some(DAY), Some(DAY + 1), Some(DAY + 2)])),
        ("int64 date (TIMESTAMP_MILLIS)", Int64(&scaled(1_000))),
        ("int64 date (TIMESTAMP(MICROS,false))", Int64(&scaled(1_000_000))),
        ("int64 date (TIMESTAMP(NANOS,true))", Int64(&scaled(1_000_000_000))),
        ("int64 date", Int64(&[Some(20_310_101), Some(20_310_102), Some(20_310_103)])),
        ("int32 date (INTEGER(32,false))", Int32(&[Some(20_310_101), Some(20_310_102), Some(20_310_103)])),
        ("double date", Double(&[Some(20_310_101.0), Some(20_310_102.0), Some(20_310_103.0)])),
        ("binary date (UTF8)", Text(&[Some("2031-01-01"), Some("2031-01-02"), Some("2031-01-03")])),
        ("binary date", Text(&[Some("01.01.2031"), Some("02.01.2031"), Some("03.01.2031")])),
    ] {
        let (result, desk) = imported("events.parquet", with_dates(kind, dates), |_| {});
        let report = result.unwrap_or_else(|error| panic!("{kind}: {error}"));
        let source = &report.sources[0];
        assert_eq!((source.format, source.rows, source.guessed), ("parquet", 3, true), "{kind}");
        assert_eq!(source.columns[3].name.as_deref(), Some("date"));
        assert!(source.notes[0].contains("4 columns in 1 row group"), "{:?}", source.notes);
        assert_eq!((report.granularity, report.names.trimmed_rows), (Granularity::Day, 1), "{kind}");
        let expected = [
            ["A", "r", "B", "2031-01-01"],
            ["B", "r", "C, \"d\"", "2031-01-02"],
            ["A", "s", "C", "2031-01-03"],
        ];
        assert_eq!(facts(&desk.load()), expected, "{kind}");
    }
}

#[test]
fn hours_and_times_before_1970() {
    let dates = Int64(&[Some(-1), Some(SECONDS * 1_000), Some((SECONDS + 7_200) * 1_000)]);
    let content = with_dates("int64 date (TIMESTAMP_MILLIS)", dates);
    let (result, _) = imported("e.parquet", content, |options| options.granularity = Some(Granularity::Hour));
    let splits = result.expect("an import").splits;
    assert!(splits.train.first.starts_with("1969-12-31"), "{:?}", splits.train);
    assert!(splits.test.first.contains("02"), "{:?}", splits.test);
}

#[test]
fn columns_by_name_position_and_order() {
    let schema = "optional int32 day (DATE); optional int64 who; optional binary does (UTF8); \
                  optional group tags (LIST) { repeated group list { optional binary element (UTF8); } } \
                  optional int64 whom;";
    let days = Int32(&[Some(DAY), Some(DAY + 1), Some(DAY + 2)]);
    let (who, whom) = (Int64(&[Some(7), Some(-8), Some(7)]), Int64(&[Some(8), Some(9), Some(9)]));
    // The list is null in every row.
    let columns = [days, who, RELATIONS, Text(&[None, None, None]), whom];
    let content = parquet(schema, &columns, Compression::ZSTD(ZstdLevel::default()));
    for columns in [
        "date,subject,relation,_,object",
        "date=DAY,subject=who,relation=does,object=whom",
        "date=1,subject=2,relation=3,object=5",
    ] {
        let (result, desk) = imported("e.parquet", &content, |options| {
            options.columns = Some(columns.parse::<Columns>().expect("roles"));
        });
        result.unwrap_or_else(|error| panic!("{columns}: {error}"));
        assert_eq!(facts(&desk.load())[1], ["-8", "r", "9", "2031-01-02"], "{columns}");
    }
    for (columns, texts) in [
        (None, &["no column has a usual name for the subject", " 2  \"who\"  for example \"7\""][..]),
        (Some("date=day,subject=you,relation=does,object=whom"), &["there is no column \"you\""]),
        (
            Some("date=day,subject=tags,relation=does,object=whom"),
            &["the column \"tags\" (subject) holds neither text nor numbers nor dates"],
        ),
        (Some("date,subject,relation,_,_,object"), &["there is no column \"subject\""]),
    ] {
        let (result, _) = imported("e.parquet", &content, |options| {
            options.columns = columns.map(|columns| columns.parse().expect("roles"));
        });
        let error = result.expect_err("unclear columns").to_string();
        for text in texts {
            assert!(error.contains(text), "{text}: {error}");
        }
    }
}

#[test]
fn bad_rows_have_places_and_can_be_skipped() {
    let days = &[Some(DAY), Some(DAY + 1), Some(DAY + 2), None, Some(DAY + 3), Some(i32::MAX)];
    let names = Text(&[Some("A"), Some("B"), Some("C"), Some("D"), None, Some("F")]);
    let schema = format!("{ROLES} optional int32 date (DATE);");
    let columns = [names, Text(&[Some("r"); 6]), Text(&[Some("Z"); 6]), Int32(days)];
    let content = parquet(&schema, &columns, Compression::UNCOMPRESSED);
    let (result, _) = imported("e.parquet", &content, |_| {});
    let error = result.expect_err("a null").to_string();
    assert!(error.contains("e.parquet:4:4: found \"\", expected a date"), "{error}");
    let (result, _) = imported("e.parquet", &content, |options| options.skip_bad = true);
    let report = result.expect("three rows are left");
    assert_eq!((report.facts, report.sources[0].rows, report.sources[0].skipped), (3, 6, 3));
}

#[test]
fn files_that_cannot_be_read() {
    let good = with_dates("int32 date (DATE)", Int32(&[Some(DAY), Some(DAY + 1), Some(DAY + 2)]));
    let schema = format!("{ROLES} optional int32 date (DATE);");
    let empty = parquet(&schema, &[Text(&[]), Text(&[]), Text(&[]), Int32(&[])], Compression::SNAPPY);
    for (name, content, text) in [
        ("cut.parquet", good[..good.len() - 20].to_vec(), "the Parquet file is damaged"),
        ("empty.parquet", empty, "holds no row"),
        ("packed.parquet.zst", zstd::encode_all(&good[..], 1).expect("memory"), "save it as a plain file"),
    ] {
        let error = imported(name, content, |_| {}).0.expect_err(name).to_string();
        assert!(error.contains(text), "{name}: {error}");
    }
}

#[test]
fn damage_is_no_panic() {
    let good = with_dates("int32 date (DATE)", Int32(&[Some(DAY), Some(DAY + 1), Some(DAY + 2)]));
    for at in (4..good.len()).step_by(3) {
        for flip in [0x01, 0xff] {
            let mut bad = good.clone();
            bad[at] ^= flip;
            // Some damage goes unnoticed, as in text; none may end the program.
            let _ = imported("e.parquet", &bad, |_| {});
        }
    }
}
