//! What was imported is what the readers load.

use std::fs;
use std::io::Write;

use quadcast_core::{Duplicates, Step};
use quadcast_data::import;

use crate::support::{DAYS, Desk, facts, imported};

#[test]
fn odd_names_come_back() {
    let names = ["Nicholas \"Nick\" X", "\"", "\"quoted\"", "a, b", "Ĝ\u{a0}", "1", "2031", "#", "a''b", "-"];
    let mut rows = String::from("subject,relation,object,date\n");
    for (day, name) in names.iter().enumerate() {
        rows.push_str(&format!(
            "\"{}\",\"r \"\"1\"\"\",B,2031-01-{:02}\n",
            name.replace('"', "\"\""),
            day + 1
        ));
    }
    let (result, desk) = imported("x.csv", rows, |_| {});
    result.expect("an import");
    let loaded = facts(&desk.load());
    assert_eq!(loaded.iter().map(|fact| fact[0].as_str()).collect::<Vec<_>>(), names);
    assert!(loaded.iter().all(|fact| fact[1] == "r \"1\""));
}

#[test]
fn names_that_do_not_fit_are_changed_and_counted() {
    let rows = "subject,relation,object,date\n\"A\tx\",r,\"B\ny\",2031-01-01\n A x ,r,B y,2031-01-02\nA x,r,B y,2031-01-03\n";
    let (result, desk) = imported("x.csv", rows, |_| {});
    let report = result.expect("an import");
    assert_eq!((report.names.cleaned, report.names.trimmed_rows, report.entities), (2, 1, 2));
    assert_eq!(facts(&desk.load())[0], ["A x", "r", "B y", "2031-01-01"].map(str::to_owned));
}

#[test]
fn numeric_names_are_names() {
    let rows =
        "subject,relation,object,date\n1 2,3,2031,2031-01-01\n1 2,3,2031,2031-01-02\n1 2,3,2031,2031-01-03\n";
    let (_, desk) = imported("x.csv", rows, |_| {});
    assert_eq!(facts(&desk.load())[0][0], "1 2");
}

#[test]
fn the_counts_that_are_read_are_those_of_the_report() {
    let desk = Desk::new();
    let mut rows = String::from("subject;relation;object;date\n");
    for day in 1..=20 {
        for fact in 0..=day % 4 {
            rows.push_str(&format!("e{fact};r{};e{};{day:02}.03.2031\n", day % 3, fact + 1));
        }
    }
    let report = import(&desk.with("x.csv", rows)).expect("an import");
    let read = desk.load();
    for ((split, written), (_, facts)) in report.splits.iter().zip(read.splits.iter()) {
        assert_eq!(written.facts, facts.len(), "{split}");
    }
    assert_eq!(read.axis.label(Step(0)), report.splits.train.first);
    assert_eq!((read.entities(), read.relations()), (report.entities, report.relations));
    let described: serde_json::Value =
        serde_json::from_slice(&fs::read(desk.path("out/import.json")).expect("a file")).expect("JSON");
    assert_eq!(described["facts"], report.facts);
    assert_eq!(described["splits"]["test"]["first"], report.splits.test.first.as_str());
}

#[test]
fn repetitions_are_dropped_or_kept() {
    let rows = format!("{DAYS}A,r,B,2031-01-01\nA,r,B,2031-01-02\n");
    for (policy, facts) in [(Duplicates::Drop, 4), (Duplicates::Keep, 5)] {
        let (result, _desk) = imported("x.csv", &rows, |options| options.duplicates = policy);
        let report = result.expect("an import");
        assert_eq!((report.duplicates.rows, report.facts), (1, facts));
    }
}

#[test]
fn several_files_and_compression() {
    let desk = Desk::new();
    let packed = |text: &[u8]| {
        let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 1).expect("an encoder");
        encoder.write_all(text).expect("memory");
        encoder.finish().expect("memory")
    };
    let mut options = desk.with("a.csv.zst", packed(DAYS.as_bytes()));
    options
        .inputs
        .extend(desk.with("b.tsv", "date\tobject\tsubject\trelation\n2030-12-31\tA\tB\tr\n").inputs);
    let report = import(&options).expect("two files");
    assert_eq!((report.rows, report.sources.len()), (4, 2));
    assert!(report.sources[0].notes[0].contains("zstd"));
    assert_eq!(facts(&desk.load())[0], ["B", "r", "A", "2030-12-31"].map(str::to_owned));
}

#[test]
fn an_earlier_import_is_replaced_only_if_asked() {
    let desk = Desk::new();
    let mut options = desk.with("x.csv", DAYS);
    import(&options).expect("the first");
    let error = import(&options).expect_err("it is there").to_string();
    assert!(error.contains("the folder is not empty") && error.contains("--overwrite"), "{error}");
    options.overwrite = true;
    fs::write(desk.path("x.csv"), DAYS.replace("2031", "2032")).expect("a file");
    import(&options).expect("the second");
    assert_eq!(facts(&desk.load())[0][3], "2032-01-01");
    assert_eq!(fs::read_dir(desk.path("")).expect("the folder").count(), 2, "table and folder, nothing else");
}
