//! Parquet files are judged as the CSV files with the same rows are.
#![cfg(feature = "parquet")]

#[path = "common/parquet.rs"]
mod parquet_files;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parquet::basic::Compression;
use parquet_files::{Double, Int64, Single, Text, Values};
use quadcast_core::{Dataset, Direction, Names, Quad, Query, ScoreRow, Split, Vocabulary};
use quadcast_data::scores::{OpenOptions, QueryList, ScoreFile, ScoreFileError};
use quadcast_testing::small::days;
use tempfile::TempDir;

fn parquet(schema: &str, columns: &[Values]) -> Vec<u8> {
    parquet_files::parquet(schema, columns, Compression::UNCOMPRESSED)
}

/// Three entities, one of them with digits for a name; one fact, so two queries.
struct Desk {
    folder: TempDir,
    dataset: Dataset,
    list: Arc<QueryList>,
}

impl Desk {
    fn new() -> Self {
        let names =
            |names: &[&str]| Names::new(names.iter().map(|name| Some((*name).to_owned())).collect(), None);
        let vocabulary =
            Vocabulary { entities: names(&["Ann, \"A\"", "Ben", "7"]), relations: names(&["likes"]) };
        let dataset = days("small", vocabulary, [&[], &[], &[[0, 0, 1, 0]]]);
        let fact = Quad::new(0, 0, 1, 0);
        let mut queries =
            [Direction::Subject, Direction::Object].map(|side| Query::hide(fact, side).0).to_vec();
        queries.sort_unstable();
        let list = Arc::new(QueryList::new(&dataset, Split::Test, queries));
        Self { folder: TempDir::new().expect("a temporary folder"), dataset, list }
    }

    fn keys(&self) -> [i64; 2] {
        [0, 1].map(|row: usize| i64::try_from(self.list.keys[row]).expect("63 bits"))
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, content).expect("a file");
        path
    }

    /// What a file says about every query, after all checks.
    fn answers(&self, path: &Path) -> Result<Vec<Vec<(u32, f64)>>, ScoreFileError> {
        let options = OpenOptions { unchecked_order: false, hold_all: true };
        let file = ScoreFile::open(path, &self.dataset, &self.list, options)?;
        file.check()?;
        let mut reached = vec![Vec::new(); self.list.queries.len()];
        file.rows::<ScoreFileError>(&self.list.queries, |place, row| {
            let ScoreRow::Sparse { ids, scores, .. } = row else { panic!("a sparse row") };
            reached[place] = ids.iter().map(|id| id.0).zip(scores.iter().copied()).collect();
            Ok(())
        })?;
        Ok(reached)
    }

    fn assert_refused(&self, schema: &str, columns: &[Values], text: &str) {
        let path = self.write("bad.parquet", parquet(schema, columns));
        let error = self.answers(&path).expect_err(text).to_string();
        assert!(error.contains(text), "{text}: {error}");
    }
}

#[test]
fn ids_names_and_nothing() {
    let desk = Desk::new();
    let [first, second] = desk.keys();
    let csv =
        desk.write("s.csv", format!("key,entity,score\n{second},,\n{first},1,0.1\n{first},0,-2.5e-9\n"));
    let expected = vec![vec![(0, -2.5e-9), (1, 0.1)], vec![]];
    assert_eq!(desk.answers(&csv).expect("good CSV"), expected);

    let keys = || Int64(vec![Some(second), Some(first), Some(first)]);
    let scores = || Double(vec![None, Some(0.1), Some(-2.5e-9)]);
    let ids = Int64(vec![None, Some(1), Some(0)]);
    let schema = "optional int64 key; optional int64 entity; optional double score;";
    let path = desk.write("ids.parquet", parquet(schema, &[keys(), ids, scores()]));
    assert_eq!(desk.answers(&path).expect("ids"), expected);

    let schema = "optional double Score; optional binary entity (UTF8); optional int64 key (INTEGER(64,false)); \
                  optional int64 row;";
    let names = Text(vec![None, Some("Ben"), Some("Ann, \"A\"")]);
    let rows = Int64(vec![Some(1), Some(0), Some(0)]);
    let path = desk.write("names.parquet", parquet(schema, &[scores(), names, keys(), rows]));
    assert_eq!(desk.answers(&path).expect("names"), expected);
}

#[test]
fn text_is_a_name_and_single_precision_keeps_its_value() {
    let desk = Desk::new();
    let [first, second] = desk.keys();
    let schema = "optional int64 key; optional binary entity; optional float score;";
    let columns = [
        Int64(vec![Some(first), Some(second)]),
        Text(vec![Some("7"), Some("Ben")]),
        Single(vec![Some(0.1), Some(f32::MIN_POSITIVE)]),
    ];
    let path = desk.write("s.parquet", parquet(schema, &columns));
    let expected = vec![vec![(2, f64::from(0.1_f32))], vec![(1, f64::from(f32::MIN_POSITIVE))]];
    assert_eq!(desk.answers(&path).expect("names"), expected);
}

#[test]
fn the_checks_are_those_of_csv() {
    let desk = Desk::new();
    let [first, second] = desk.keys();
    let schema = "optional int64 key; optional int64 entity; optional double score;";
    let with = |keys: [i64; 2], ids: [i64; 2], scores: [f64; 2]| {
        [Int64(keys.map(Some).to_vec()), Int64(ids.map(Some).to_vec()), Double(scores.map(Some).to_vec())]
    };
    for (columns, text) in [
        (with([first, first], [0, 1], [0.5; 2]), "1 of 2 rows are missing"),
        (with([first, 12], [0, 1], [0.5; 2]), "bad.parquet:2: no query has the key 12"),
        (with([first, second], [3, 1], [0.5; 2]), "bad.parquet:1: entity 3 does not exist"),
        (with([first, first], [0, 0], [0.5; 2]), "more than once"),
        (with([first, second], [0, 1], [0.5, f64::NAN]), "not a number, the first in row 1"),
    ] {
        desk.assert_refused(schema, &columns, text);
    }
    let whole = |values: [i64; 2]| Int64(values.map(Some).to_vec());
    let schema = "optional int64 row; optional int64 entity; optional int64 score;";
    desk.assert_refused(schema, &[whole([0, 1]), whole([0, 1]), whole([5, 6])], "--unchecked-order");
    let schema = "optional int64 key; optional int64 row; optional int64 entity; optional int64 score;";
    let permuted = [whole([second, first]), whole([0, 1]), whole([0, 1]), whole([5, 6])];
    desk.assert_refused(schema, &permuted, "rows were permuted");
}

#[test]
fn columns_that_do_not_fit_and_files_that_are_cut() {
    let desk = Desk::new();
    let [first, second] = desk.keys();
    let key = || Int64(vec![Some(first), Some(second)]);
    let text = || Text(vec![Some("Ben"), Some("Ben")]);
    for (schema, columns, said) in [
        (
            "optional int64 key; optional binary score (UTF8);",
            [key(), text()],
            "\"score\" has the wrong type",
        ),
        (
            "optional int64 key (TIMESTAMP_MILLIS); optional binary score;",
            [key(), text()],
            "\"key\" has the wrong",
        ),
        ("optional int64 key; optional binary entity (UTF8);", [key(), text()], "no column \"score\""),
        ("optional int64 score; optional binary entity (UTF8);", [key(), text()], "needs the columns"),
        ("optional int64 score; optional binary note (UTF8);", [key(), text()], "found the column \"note\""),
    ] {
        desk.assert_refused(schema, &columns, said);
    }
    let schema = "optional int64 key; optional binary entity (UTF8); optional int64 score;";
    desk.assert_refused(
        schema,
        &[key(), Text(vec![Some("Ben"), Some("Ann\nAnn")]), Int64(vec![Some(1); 2])],
        "bad.parquet:2: this row cannot be read (compression may be snappy, gzip or zstd): the name \"Ann\\nAnn\" holds a line end",
    );
    let good = parquet("optional int64 key; optional int64 score;", &[key(), key()]);
    let path = desk.write("cut.parquet", &good[..good.len() - 9]);
    let error = desk.answers(&path).expect_err("a cut file").to_string();
    assert!(error.contains("is damaged"), "{error}");
}
