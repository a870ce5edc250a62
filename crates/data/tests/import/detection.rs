//! Delimiter, header, columns and dates are found out, and said.

use quadcast_data::{DateOrder, Granularity, ImportReport};

use crate::support::{facts, imported};

/// Imports rows of `A r B` on dates, separated by commas, and gives the report and the labels of the steps.
fn dated(dates: &[&str], granularity: Option<Granularity>) -> (ImportReport, Vec<String>) {
    let rows = dates.iter().map(|date| ["A,r,B,", date, "\n"].concat()).collect::<String>();
    let (result, desk) = imported("x.csv", format!("subject,relation,object,date\n{rows}"), |options| {
        options.granularity = granularity;
    });
    (result.expect("an import"), facts(&desk.load()).into_iter().map(|[.., date]| date).collect())
}

#[test]
fn every_form_of_date() {
    let days = ["2031-01-30", "2031-02-01", "2031-02-03"];
    for dates in [
        ["2031-01-30", "2031-02-01", "2031-02-03"],
        ["2031/1/30", "2031/2/1", "2031/2/3"],
        ["30.01.2031", "01.02.2031", "3.2.2031"],
        ["30/01/2031", "01/02/2031", "03/02/2031"],
        ["01/30/2031", "02/01/2031", "02/03/2031"],
        ["20310130", "20310201", "20310203"],
        ["2031-01-30T23:59:59Z", "2031-02-01 00:00", "2031-02-03T01:00+02:00"],
        ["1927497600", "1927670400", "1927843200"],
        ["1927497600000", "1927670400000", "1927843200000"],
    ] {
        let (report, labels) = dated(&dates, None);
        let expected =
            if dates[2].ends_with("+02:00") { ["2031-01-30", "2031-02-01", "2031-02-02"] } else { days };
        assert_eq!(labels, expected, "{dates:?}");
        assert_eq!(report.granularity, Granularity::Day);
        assert!(report.notes[0].starts_with("Dates are read as "), "{:?}", report.notes);
    }
}

#[test]
fn the_data_decides_between_day_and_month() {
    let (report, _) = dated(&["01/02/2031", "02/02/2031", "13/02/2031"], None);
    assert_eq!(report.date_order, Some(DateOrder::Dmy));
    assert!(report.notes.iter().any(|note| note.contains("\"13/02/2031\" at") && note.contains("x.csv:4:4")));
    let (report, _) = dated(&["01/02/2031", "02/02/2031", "02/13/2031"], None);
    assert_eq!(report.date_order, Some(DateOrder::Mdy));
}

#[test]
fn every_granularity() {
    let times =
        ["2031-01-01T10:20", "2031-01-01T11:50", "2031-02-03T10:00", "2032-02-05T10:00", "2034-02-05T10:00"];
    for (granularity, expected) in [
        (
            Granularity::Hour,
            &[
                "2031-01-01 10:00",
                "2031-01-01 11:00",
                "2031-02-03 10:00",
                "2032-02-05 10:00",
                "2034-02-05 10:00",
            ][..],
        ),
        (Granularity::Day, &["2031-01-01", "2031-02-03", "2032-02-05", "2034-02-05"]),
        (Granularity::Week, &["2030-12-30", "2031-02-03", "2032-02-02", "2034-01-30"]),
        (Granularity::Month, &["2031-01", "2031-02", "2032-02", "2034-02"]),
        (Granularity::Year, &["2031", "2032", "2034"]),
    ] {
        assert_eq!(dated(&times, Some(granularity)).1, expected, "{granularity}");
    }
    let (report, labels) = dated(&["2031", "2032", "2033"], None);
    assert_eq!(
        (report.granularity, labels),
        (Granularity::Year, vec!["2031".into(), "2032".into(), "2033".into()])
    );
    assert_eq!(dated(&["2031-01", "2031-02", "2031-03"], None).0.granularity, Granularity::Month);
}

#[test]
fn months_are_one_unit_apart() {
    let rows = "subject,relation,object,date\nA,r,B,2031-01\nA,r,B,2031-02\nA,r,B,2031-03\nA,r,B,2031-05\n";
    let (_, desk) = imported("x.csv", rows, |_| {});
    let axis = desk.load().axis;
    assert_eq!(axis.granularity(), 1);
    assert_eq!(axis.gaps().count(), 1, "only April is missing");
}

#[test]
fn delimiters_and_headers() {
    let rows =
        [["A x", "r", "B", "2031-01-01"], ["B", "r", "C", "2031-01-02"], ["A x", "s", "C", "2031-01-03"]];
    for (delimiter, word) in [(",", "comma"), ("\t", "tab"), (";", "semicolon")] {
        for header in
            [None, Some(["subject", "relation", "object", "date"]), Some(["von", "tut", "an", "am"])]
        {
            let lines =
                header.iter().chain(&rows).map(|row| row.join(delimiter) + "\r\n").collect::<String>();
            let (result, desk) = imported("x.txt", lines, |options| {
                options.columns = Some("subject,relation,object,date".parse().expect("columns"));
            });
            let report = result.expect("an import");
            assert_eq!(report.sources[0].delimiter.as_deref(), Some(word));
            assert_eq!(report.sources[0].header, header.is_some(), "{header:?}");
            assert!(report.sources[0].notes.iter().any(|note| note.contains(word)));
            assert_eq!((report.rows, report.names.trimmed_rows), (3, 0));
            assert_eq!(facts(&desk.load()), rows.map(|row| row.map(str::to_owned)));
        }
    }
}

#[test]
fn columns_by_name_position_and_guess() {
    let table = "id,Day,Target,Source,Action\n1,2031-01-01,B,A,r\n2,2031-01-02,C,B,r\n3,2031-01-03,D,C,r\n";
    let given = [
        "subject=source,relation=Action,object=3,date=Day",
        "subject=4,relation=5,object=3,date=2",
        "_,date,object,subject,relation",
    ];
    for columns in given.map(Some).into_iter().chain([None]) {
        let (result, desk) = imported("x.csv", table, |options| {
            options.columns = columns.map(|columns| columns.parse().expect("columns"));
        });
        let report = result.expect("an import");
        assert_eq!(report.sources[0].guessed, columns.is_none());
        let positions = report.sources[0].columns.each_ref().map(|column| column.position);
        assert_eq!(positions, [4, 5, 3, 2], "{columns:?}");
        assert_eq!(facts(&desk.load())[0], ["A", "r", "B", "2031-01-01"].map(str::to_owned));
    }
}

#[test]
fn json_lines_of_any_value() {
    let lines = "\n{\"time\": 2031, \"head\": 7, \"tail\": \"B\\u00fc\", \"type\": true, \"more\": {\"x\": []}}\n\
                 {\"type\": \"r\", \"head\": \"A\", \"time\": \"2032\", \"tail\": \"C\"}\r\n\
                 {\"type\": \"r\", \"head\": \"A\", \"time\": 2033, \"tail\": \"C\"}";
    let (result, desk) = imported("x.ndjson", lines, |_| {});
    assert_eq!(result.expect("an import").sources[0].format, "json-lines");
    assert_eq!(facts(&desk.load())[0], ["7", "true", "Bü", "2031"].map(str::to_owned));
}
