//! Parquet files are imported as the tables with the same rows are.

use parquet::basic::{Compression, ZstdLevel};
use quadcast_data::{Columns, Granularity};

use crate::parquet_writer::{Double, Int32, Int64, Text, Values, parquet};
use crate::support::{facts, imported, refusal};

const ROLES: &str =
    "optional binary subject (UTF8); optional binary relation (UTF8); optional binary object (UTF8); ";
const RELATIONS: [Option<&str>; 3] = [Some("r"), Some("r"), Some("s")];

/// 2031-01-01 in days since 1970.
const DAY: i32 = 22_280;
const SECONDS: i64 = DAY as i64 * 86_400;

/// Names in three rows, and dates that are written like this.
fn with_dates(kind: &str, dates: Values) -> Vec<u8> {
    let schema = format!("{ROLES} optional {kind};");
    let subjects = Text(vec![Some("A"), Some("B "), Some("A")]);
    let objects = Text(vec![Some("B"), Some("C, \"d\"\n"), Some("C")]);
    parquet(&schema, &[subjects, Text(RELATIONS.to_vec()), objects, dates], Compression::SNAPPY)
}

#[test]
fn dates_of_every_type_are_the_same_facts() {
    let scaled =
        |unit: i64| [0, 1, 2].map(|day| Some((SECONDS + day * 86_400 + 3_601) * unit + unit / 2)).to_vec();
    for (kind, dates) in [
        ("int32 date (DATE)", Int32(vec![Some(DAY), Some(DAY + 1), Some(DAY + 2)])),
        ("int64 date (TIMESTAMP_MILLIS)", Int64(scaled(1_000))),
        ("int64 date (TIMESTAMP(MICROS,false))", Int64(scaled(1_000_000))),
        ("int64 date (TIMESTAMP(NANOS,true))", Int64(scaled(1_000_000_000))),
        ("int64 date", Int64(vec![Some(20_310_101), Some(20_310_102), Some(20_310_103)])),
        ("int32 date (INTEGER(32,false))", Int32(vec![Some(20_310_101), Some(20_310_102), Some(20_310_103)])),
        ("double date", Double(vec![Some(20_310_101.0), Some(20_310_102.0), Some(20_310_103.0)])),
        ("binary date (UTF8)", Text(vec![Some("2031-01-01"), Some("2031-01-02"), Some("2031-01-03")])),
        ("binary date", Text(vec![Some("01.01.2031"), Some("02.01.2031"), Some("03.01.2031")])),
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
    let dates = Int64(vec![Some(-1), Some(SECONDS * 1_000), Some((SECONDS + 7_200) * 1_000)]);
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
    let days = Int32(vec![Some(DAY), Some(DAY + 1), Some(DAY + 2)]);
    let (who, whom) = (Int64(vec![Some(7), Some(-8), Some(7)]), Int64(vec![Some(8), Some(9), Some(9)]));
    // The list is null in every row.
    let columns = [days, who, Text(RELATIONS.to_vec()), Text(vec![None, None, None]), whom];
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
        let error = refusal("e.parquet", &content, |options| {
            options.columns = columns.map(|columns| columns.parse().expect("roles"));
        });
        for text in texts {
            assert!(error.contains(text), "{text}: {error}");
        }
    }
}

#[test]
fn bad_rows_have_places_and_can_be_skipped() {
    let days = vec![Some(DAY), Some(DAY + 1), Some(DAY + 2), None, Some(DAY + 3), Some(i32::MAX)];
    let names = Text(vec![Some("A"), Some("B"), Some("C"), Some("D"), None, Some("F")]);
    let schema = format!("{ROLES} optional int32 date (DATE);");
    let columns = [names, Text(vec![Some("r"); 6]), Text(vec![Some("Z"); 6]), Int32(days)];
    let content = parquet(&schema, &columns, Compression::UNCOMPRESSED);
    let error = refusal("e.parquet", &content, |_| {});
    assert!(error.contains("e.parquet:4:4: found \"\", expected a date"), "{error}");
    let (result, _) = imported("e.parquet", &content, |options| options.skip_bad = true);
    let report = result.expect("three rows are left");
    assert_eq!((report.facts, report.sources[0].rows, report.sources[0].skipped), (3, 6, 3));
}

#[test]
fn files_that_cannot_be_read() {
    let good = with_dates("int32 date (DATE)", Int32(vec![Some(DAY), Some(DAY + 1), Some(DAY + 2)]));
    let schema = format!("{ROLES} optional int32 date (DATE);");
    let empty =
        parquet(&schema, &[Text(vec![]), Text(vec![]), Text(vec![]), Int32(vec![])], Compression::SNAPPY);
    for (name, content, text) in [
        ("cut.parquet", good[..good.len() - 20].to_vec(), "the Parquet file is damaged"),
        ("empty.parquet", empty, "holds no row"),
        ("packed.parquet.zst", zstd::encode_all(&good[..], 1).expect("memory"), "save it as a plain file"),
    ] {
        let error = refusal(name, content, |_| {});
        assert!(error.contains(text), "{name}: {error}");
    }
}

#[test]
fn damage_is_no_panic() {
    let good = with_dates("int32 date (DATE)", Int32(vec![Some(DAY), Some(DAY + 1), Some(DAY + 2)]));
    for at in (4..good.len()).step_by(3) {
        for flip in [0x01, 0xff] {
            let mut bad = good.clone();
            bad[at] ^= flip;
            // Some damage goes unnoticed, as in text; none may end the program.
            let _ = imported("e.parquet", &bad, |_| {});
        }
    }
}
