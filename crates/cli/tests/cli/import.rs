//! `data import` and `data fetch` with the real binary.

use serde_json::json;

use crate::common::{Answer, Room, example};

fn market() -> Room {
    let room = Room::new();
    room.write("market/events.csv", example("market/events.csv"));
    room
}

const IMPORT: &str =
    "data import market/events.csv --columns subject=seller,relation=deal,object=buyer,date=day";

#[test]
fn a_table_becomes_a_dataset_that_runs() {
    let room = market();
    let answer = room.quadcast(&format!("{IMPORT} --out mine")).success();
    answer.assert_fits();
    answer.assert_says(&["300 rows", "297 facts, 12 entities", "3 rows repeat"]);
    answer.assert_says(&["Next: quadcast run --data mine"]);
    assert_eq!(answer.row("train")[1..3], ["238", "facts"]);
    let info = room.document("data info mine");
    assert_eq!(info["temporal"]["facts"], json!({"train": 238, "valid": 30, "test": 29}));
    assert_eq!(info["temporal"]["time"]["first"], "2032-01-05");
    room.quadcast("run --data mine --out run").success();
    room.quadcast("data audit mine").success();
}

#[test]
fn the_report_is_json_too() {
    let room = market();
    let report = room.document(&format!("{IMPORT} --granularity week --out mine"));
    assert_eq!((&report["granularity"], &report["rows"]), (&json!("week"), &json!(300)));
    assert_eq!(report["splits"]["train"]["first"], "2032-01-05");
    assert_eq!(report, room.json("mine/import.json"));
}

#[test]
fn unclear_columns_come_with_a_command_to_copy() {
    market().assert_refused(
        "data import market/events.csv --out mine",
        &[
            "market/events.csv:1:1: no column has a usual name for the subject",
            "--columns subject=2,relation=3,object=4,date=1 --out DIR",
        ],
    );
}

#[test]
fn a_full_folder_is_left_alone() {
    let room = market();
    room.quadcast(&format!("{IMPORT} --out mine")).success();
    room.assert_refused(&format!("{IMPORT} --out mine"), &["the folder is not empty", "--overwrite"]);
    room.quadcast(&format!("{IMPORT} --out mine --overwrite")).success();
    room.assert_refused(&format!("{IMPORT} --out market --overwrite"), &["nothing but an earlier import"]);
}

#[test]
fn standard_input_is_a_file() {
    let room = Room::new();
    let mut command = room.command("data import - --out mine");
    command.write_stdin("head,type,tail,year\nA,r,B,2001\nB,r,C,2002\nC,r,A,2003\n");
    let answer = Answer::of(&mut command, "-").success();
    answer.assert_says(&["stdin: 3 rows", "They were guessed from the names", "One step is one year"]);
}

#[test]
fn wrong_options_are_explained() {
    let room = market();
    for (options, text) in [
        ("--columns subject,object,date", "no column for the relation"),
        ("--split 50/50", "three shares above 0 that sum to 100"),
        ("--delimiter word", "expected comma, tab, semicolon, pipe or one character"),
    ] {
        room.assert_refused(&format!("data import market/events.csv {options} --out mine"), &[text]);
    }
}

#[test]
fn fetch_names_what_it_cannot_do() {
    let room = Room::new();
    room.assert_refused("data fetch ICEWS41", &["is not in the catalogue", "Did you mean ICEWS14?"]);
    room.assert_refused("data fetch WIKI", &["WIKI cannot be fetched", "source: "]);
    let texts = ["fetched datasets would lie in", "`quadcast data fetch ICEWS14`"];
    room.assert_refused("data info ICEWS14", &texts);
}

#[test]
fn fetched_datasets_are_found_by_name() {
    let room = Room::new();
    room.place_days("cache/tiny", "A\tr\tB", "");
    room.quadcast("data info tiny").success();
    room.place_days("store/tiny", "C\tr\tD", "");
    let info = room.quadcast_in(&room.path("store"), "data info TINY").success();
    info.assert_says(&["store/tiny"]);
}
