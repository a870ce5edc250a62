//! Files that cannot be imported as they are: each error names the place and what to do.

use quadcast_data::{DateOrder, Granularity};

use crate::support::{DAYS, imported, refusal};

/// The error starts at `place` of the file and has all of these texts.
fn assert_refused(name: &str, content: impl AsRef<[u8]>, place: &str, texts: &[&str]) {
    let (result, desk) = imported(name, content, |_| {});
    let error = result.expect_err(name).to_string();
    let start = format!("{}{place}", desk.path(name).display());
    assert!(error.starts_with(&start), "{error} does not start with {start}");
    for text in texts {
        assert!(error.contains(text), "{text:?} is missing in {error}");
    }
    assert!(!desk.path("out").exists(), "nothing is left behind");
    assert_eq!(std::fs::read_dir(desk.path("")).expect("the folder").count(), 1, "nothing is left behind");
}

/// [`DAYS`] with a row before the last.
fn with_row(row: &str) -> String {
    let (first, last) = DAYS.split_at(DAYS.len() - "A,s,C,2031-01-03\n".len());
    format!("{first}{row}\n{last}")
}

#[test]
fn rows() {
    for (row, place, texts) in [
        ("A,r,B", ":4:4: ", &["3 fields, expected 4", "complete the row", "--skip-bad"][..]),
        ("A,r,B,C,2031-01-02", ":4:5: ", &["5 fields, expected 4", "put quotation marks around a name"]),
        (",r,B,2031-01-02", ":4:1: ", &["expected the name of the subject", "complete the row"]),
        ("A, ,B,2031-01-02", ":4:2: ", &["expected the name of the relation"]),
        ("A,r,\"\",2031-01-02", ":4:3: ", &["expected the name of the object"]),
        ("A,r,B,", ":4:4: ", &["found \"\", expected a date such as"]),
        ("A,r,B,yesterday", ":4:4: ", &["found \"yesterday\", expected a date such as", "correct the date"]),
        ("A,r,B,2031-02-30", ":4:4: ", &["no calendar has this date"]),
        ("A,r,B,02.01.31", ":4:4: ", &["write the year with four digits"]),
        ("A,r,B,1935331507", ":4:4: ", &["another form (seconds since 1970-01-01)", "write all dates alike"]),
        ("\"A,r,B,2031-01-02", ":4:1: ", &["a quotation mark is opened in this row and never closed"]),
    ] {
        assert_refused("events.csv", with_row(row), place, texts);
    }
    let mut latin = with_row("A,r,M?nchen,2031-01-02").into_bytes();
    let at = latin.iter().position(|&byte| byte == b'?').expect("a mark");
    latin[at] = 0xfc;
    assert_refused("latin.csv", latin, ":4:3: ", &["is not UTF-8", "convert the file"]);
}

#[test]
fn files() {
    for (name, content, texts) in [
        ("empty.csv", &b""[..], &["holds no row"][..]),
        ("blank.csv", b"\n \n\n", &["holds no row"]),
        ("sheet.xlsx", b"PK\x03\x04\x14", &["a spreadsheet", "export the sheet as CSV"]),
        ("packed.csv", b"\x1f\x8b\x08", &["a gzip file", "give it the ending .gz"]),
        ("wide.csv", b"\xff\xfea\0,\0", &["UTF-16", "save it as UTF-8"]),
        ("page.csv", b"<html><body>Not found", &["markup", "check what was downloaded"]),
        ("list.json", b"[{\"subject\": \"A\"}]", &["a JSON array", "jq -c"]),
        (
            "words.csv",
            b"A r B 2031-01-01\n",
            &["1 column(s)", "--delimiter", "first line: \"A r B 2031-01-01\""],
        ),
        ("three.csv", b"A,r,B\nC,r,D\n", &["3 column(s)", "expected at least 4"]),
        ("quote.csv", b"\"A,r,B,2031-01-01\nC,r,D,2031-01-02\n", &["never closed"]),
    ] {
        assert_refused(name, content, ":1:1: ", texts);
    }
    let parquet: &[&str] = if cfg!(feature = "parquet") {
        &["the Parquet file is damaged"]
    } else {
        &["found a Parquet file", "export it as CSV", "cargo install --path crates/cli --features parquet"]
    };
    assert_refused("table.parquet", b"PAR1\x15\x04", ":", parquet);
    assert_refused("cut.csv.gz", b"\x1f\x8b\x08\x00\x00", ": ", &["truncated or damaged"]);
}

#[test]
fn json_lines() {
    let good = "{\"subject\":\"A\",\"relation\":\"r\",\"object\":\"B\",\"date\":\"2031-01-01\"}\n";
    for (line, place, texts) in [
        ("{\"subject\":\"A\",\"relation\":", ":2:", &["not usable as JSON (EOF", "one object per line"][..]),
        ("[1, 2]", ":2:", &["not usable as JSON", "expected an object"]),
        (
            "{\"subject\":\"A\",\"relation\":\"r\",\"date\":2031}",
            ":2:4: ",
            &["the key \"object\"", "is missing"],
        ),
        (
            "{\"subject\":[],\"relation\":\"r\",\"object\":\"B\",\"date\":\"2031\"}",
            ":2:",
            &["text or a number for \"subject\""],
        ),
        (
            "{\"subject\":null,\"relation\":\"r\",\"object\":\"B\",\"date\":\"2031-01-01\"}",
            ":2:1: ",
            &["name of the subject"],
        ),
        (
            "{\"date\":\"x\",\"subject\":1,\"relation\":\"r\",\"object\":\"B\"}",
            ":2:1: ",
            &["found \"x\", expected a date"],
        ),
    ] {
        assert_refused("log.jsonl", format!("{good}{line}\n"), place, texts);
    }
    assert_refused("log.jsonl", "nothing\nof use\n", ":1:1: ", &["no line is a JSON object"]);
}

#[test]
fn columns_that_are_not_clear() {
    let table = "when,who,does what,whom\n2031-01-01,Anna,meets,Bert\n";
    assert_refused(
        "events.csv",
        table,
        ":1:1: ",
        &[
            "no column has a usual name for the subject",
            "2  \"who\"  for example \"Anna\"",
            "--columns subject=2,relation=3,object=4,date=1 --out DIR",
        ],
    );
    assert_refused(
        "rows.csv",
        "A,r,B,2031-01-01\nB,r,C,2031-01-02\n",
        ":1:1: ",
        &["--columns subject=1,relation=2,object=3,date=4"],
    );
    for (columns, problem) in [
        ("subject=Who,relation=3,object=4,date=day", "no column \"day\""),
        ("subject=2,relation=3,object=4,date=9", "no column 9"),
    ] {
        let error = refusal("events.csv", table, |options| {
            options.columns = Some(columns.parse().expect("columns"));
        });
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn dates_that_leave_a_choice() {
    let open = "subject,relation,object,date\nA,r,B,04/05/2031\nA,r,B,05/06/2031\nA,r,B,06/07/2031\n";
    assert_refused("open.csv", open, ":2:4: ", &["\"04/05/2031\"", "--date-format dmy or --date-format mdy"]);
    let mixed = format!("{open}A,r,B,30/04/2031\nA,r,B,04/30/2031\n");
    assert_refused("mixed.csv", &mixed, ":6:4: ", &["\"04/30/2031\"", "\"30/04/2031\" at", "--date-format"]);
    let error = refusal("mixed.csv", &mixed, |options| options.date_order = Some(DateOrder::Dmy));
    assert!(error.contains("mixed.csv:6:4: ") && error.contains("no calendar has this date"), "{error}");
}

#[test]
fn steps_that_the_data_does_not_have() {
    let with = |granularity| refusal("days.csv", DAYS, |options| options.granularity = Some(granularity));
    let error = with(Granularity::Hour);
    assert!(error.contains("days.csv:2:4: ") && error.contains("--granularity day"), "{error}");
    let error = with(Granularity::Month);
    assert!(error.contains("1 different month(s)") && error.contains("--granularity week"), "{error}");
    let error = refusal("head.csv", "subject,relation,object,date\n", |_| {});
    assert!(error.contains("holds no row"), "{error}");
}

#[test]
fn skipped_rows_are_counted_with_examples() {
    let rows = with_row("A,r,B\nA,r,B,never\nA,r,B,soon\n,r,B,2031-01-01");
    let (result, desk) = imported("events.csv", rows, |options| options.skip_bad = true);
    let report = result.expect("good rows are left");
    assert_eq!((report.rows, report.facts), (7, 3));
    let counts: Vec<(u64, usize)> = report.skipped.iter().map(|s| (s.rows, s.examples.len())).collect();
    assert_eq!(counts, [(1, 1), (1, 1), (2, 2)]);
    assert!(report.skipped[2].examples[0].contains("events.csv:5:4: found \"never\""));
    assert_eq!(report.skipped[2].reason.words(), "the date is missing or not understood");
    assert_eq!(desk.load().splits.train.len(), 1);
    let error = refusal("bad.csv", "subject,relation,object,date\nA,r,B,x\n", |o| o.skip_bad = true);
    assert!(error.contains("1 rows were skipped; the first: "), "{error}");
}
