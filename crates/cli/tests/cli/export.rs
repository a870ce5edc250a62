//! What `quadcast data export` writes.

use std::collections::BTreeSet;

use crate::common::{Answer, Room, assert_texts};

const HEADER: &str = "row,step,time,direction,known_id,known,relation_id,relation,key";

fn with_small() -> Room {
    Room::with_splits("0 0 1 0\n", "0 0 1 24\n", "2 1 0 48\n0 0 1 48\n0 0 2 48\n0 0 2 72\n")
}

#[test]
fn queries_on_paper() {
    let room = with_small();
    let answer = room.quadcast("data export small --queries test --out queries.csv").success();
    answer.assert_says(&["7 test queries with 3 candidates each: queries.csv\n"]);
    let text = room.text("queries.csv");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], HEADER);
    // (step, known, relation, direction); the two answers of the first query are not listed.
    let expected = [
        "0,2,48,object,0,#0,0,#0,",
        "1,2,48,subject,0,#0,1,#1,",
        "2,2,48,subject,1,#1,0,#0,",
        "3,2,48,subject,2,#2,0,#0,",
        "4,2,48,object,2,#2,1,#1,",
        "5,3,72,object,0,#0,0,#0,",
        "6,3,72,subject,2,#2,0,#0,",
    ];
    assert_eq!(lines.len(), 1 + expected.len());
    for (line, expected) in lines[1..].iter().zip(expected) {
        assert!(line.starts_with(expected), "{line} {expected}");
    }
    let keys: BTreeSet<i64> =
        lines[1..].iter().map(|line| line.rsplit(',').next().unwrap().parse().expect("fits i64")).collect();
    assert_eq!(keys.len(), expected.len());
}

#[test]
fn names_are_quoted_and_dates_stay_dates() {
    let room = Room::new();
    room.place_days("named", "Smith, \"Jo\" B.\tmeets, greets\tHarbour", "");
    let answer = room.quadcast("data export named --queries test --out - --entities entities.csv").success();
    answer.assert_says(&["0,2,2014-01-03,object,", ",\"Smith, \"\"Jo\"\" B.\",0,\"meets, greets\","]);
    let entities = room.text("entities.csv");
    assert!(entities.starts_with("id,entity\n"), "{entities}");
    assert_eq!(entities.lines().count(), 3);
    assert_texts(&entities, &["\"Smith, \"\"Jo\"\" B.\"\n", "Harbour\n"]);
}

#[test]
fn splits_and_datasets_have_keys_of_their_own() {
    let room = with_small();
    let keys = |arguments: &str| -> BTreeSet<String> {
        let answer = room.quadcast(arguments).success();
        answer.stdout.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().to_owned()).collect()
    };
    let test = keys("data export small --queries test --out -");
    let valid = keys("data export small --queries valid --out -");
    assert_eq!((test.len(), valid.len()), (7, 2));
    assert!(test.is_disjoint(&valid));
    assert_eq!(test, keys("data export small --queries test --out -"));
    room.write("small/train.txt", "0 0 2 0\n");
    assert!(test.is_disjoint(&keys("data export small --queries test --out -")));
}

#[test]
fn machines_learn_what_was_written() {
    let room = Room::with_harbour();
    let document = room.document("data export harbour --queries test --out q.csv --entities e.csv");
    assert_eq!(document["split"], "test");
    assert_eq!(document["rows"], room.text("q.csv").lines().count() - 1);
    assert_eq!(document["candidates"], room.text("e.csv").lines().count() - 1);
    assert_eq!((&document["queries"], &document["entities"]), (&"q.csv".into(), &"e.csv".into()));
}

#[test]
fn wrong_usage() {
    let room = with_small();
    room.assert_refused("data export small --queries test --out - --json", &["both want standard output"]);
    room.assert_refused("data export absent --queries test --out q.csv", &["absent"]);
    let answer = room.quadcast("data export small --queries train --out q.csv");
    answer.assert_error(2, &["train", "test, valid"]);
    let answer = room.quadcast("data export small --queries test --out nowhere/q.csv");
    answer.assert_error(1, &["cannot write nowhere/q.csv", "--out"]);
}

#[test]
fn a_reader_that_stops_is_no_error() {
    let room = Room::with_harbour();
    let binary = assert_cmd::cargo::cargo_bin!("quadcast");
    let line = format!("{} data export harbour --queries test --out - | head -1", binary.display());
    let mut shell = assert_cmd::Command::new("sh");
    let answer = Answer::of(shell.args(["-c", &line]).current_dir(room.path("")), &line).success();
    assert_eq!(answer.stdout, format!("{HEADER}\n"));
}
