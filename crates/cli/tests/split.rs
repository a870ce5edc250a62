//! `data split` with the real binary.

mod common;

use common::{Room, real_data};
use serde_json::{Value, json};

const FILES: [&str; 6] =
    ["train.txt", "valid.txt", "test.txt", "entity2id.json", "relation2id.json", "division.json"];

fn facts(report: &Value) -> [u64; 3] {
    ["train", "valid", "test"].map(|split| report["splits"][split].as_u64().expect("a count"))
}

#[test]
fn mirrored_facts_stay_together() {
    let room = Room::with_harbour();
    let answer =
        room.quadcast("data split harbour --method leakage-free --threshold 0.4 --out new").success();
    answer.assert_fits();
    answer.assert_says(&[
        "harbour divided anew: leakage-free, seed 1",
        "1 468 facts",
        "symmetric: meets",
        "a mirror by the lists, (o, q, s, t)",
        "written to new (layout labelled)",
    ]);
    let division = room.json("new/division.json");
    assert_eq!((&division["method"], &division["seed"]), (&json!("leakage-free"), &json!(1)));
    assert_eq!((&division["after"]["listed"], &division["after"]["mirrored"]), (&json!(0), &json!(0)));
    assert_eq!(facts(&division).iter().sum::<u64>(), 1468);
    // The facts and names are the same, and every reader takes the folder.
    let diff = room.quadcast("data diff harbour new --json").success().json();
    assert_eq!((&diff["same_facts"], &diff["same_splits"]), (&json!(true), &json!(false)));
    let info = room.quadcast("data info new --json").success().json();
    assert_eq!(info["temporal"]["time"]["first"], "2031-03-01");
}

#[test]
fn time_divides_between_steps() {
    let room = Room::with_harbour();
    let answer = room
        .quadcast("data split harbour --method chronological --valid 0.2 --test 0.2 --out new --json")
        .success();
    let report = answer.json();
    assert_eq!(report["seed"], Value::Null);
    let [train, valid, test] = facts(&report);
    assert!(train.abs_diff(881) < 15 && valid.abs_diff(294) < 15 && test.abs_diff(294) < 15, "{report}");
    let day = |split: &str, end: usize| report["periods"][split][end].as_str().expect("a date").to_owned();
    assert!(day("train", 1) < day("valid", 0) && day("valid", 1) < day("test", 0));
    room.quadcast("run --data new --out record").success();
    room.quadcast("data audit new").success();
}

#[test]
fn seeds_and_threads() {
    let room = Room::with_harbour();
    for method in ["random", "leakage-free"] {
        for (out, options) in
            [("a", "--seed 5 --threads 1"), ("b", "--seed 5 --threads 2"), ("c", "--seed 6 --threads 2")]
        {
            room.quadcast(&format!("data split harbour --method {method} {options} --out {method}/{out}"))
                .success();
        }
        let read = |out: &str, file: &str| room.read(&format!("{method}/{out}/{file}"));
        for file in FILES {
            assert!(read("a", file) == read("b", file), "{method} {file}");
        }
        assert!(read("a", "train.txt") != read("c", "train.txt"), "{method}");
        let counts = |out: &str| facts(&room.json(&format!("{method}/{out}/division.json")));
        assert_eq!(counts("a"), counts("c"), "{method}");
    }
}

#[test]
fn lists_by_name_and_by_file() {
    let room = Room::with_harbour();
    let split = "data split harbour --method leakage-free";
    let given = room
        .quadcast(&format!("{split} --symmetric Meets --inverse docks_at=inspects --out given --json"))
        .success()
        .json();
    let lists = &given["lists"];
    assert_eq!(lists["symmetric"], json!(["meets"]));
    let pair = lists["inverse"][0].as_array().expect("a pair");
    assert!(pair.contains(&json!("docks at")) && pair.contains(&json!("inspects")), "{lists}");
    assert_eq!((&lists["origin"], &lists["detection"]), (&json!("given by name"), &Value::Null));
    room.quadcast(&format!("{split} --lists given/division.json --out again")).success();
    for file in &FILES[..5] {
        assert!(room.read(&format!("given/{file}")) == room.read(&format!("again/{file}")), "{file}");
    }
}

#[test]
fn wrong_requests_write_nothing() {
    let room = Room::with_harbour();
    room.write("full/notes.txt", "do not lose me");
    room.write("lists.json", "{\"symmetrical\": [\"meets\"]}");
    room.write("broken.json", "{\"symmetric\": [7]}");
    for (options, texts) in [
        ("--method random --out full", &["full: the folder is not empty", "--out"][..]),
        ("--method random --out full/notes.txt", &["this is a file"]),
        ("--method random --valid 0.5 --test 0.5 --out a", &["--valid 0.5 --test 0.5", "leave something"]),
        ("--method random --test 0 --out a", &["shares above 0"]),
        ("--method random --symmetric meets --out a", &["--symmetric has no effect", "leakage-free"]),
        ("--method chronological --seed 3 --out a", &["--seed has no effect", "nothing is drawn"]),
        ("--method chronological --threshold 0.4 --out a", &["--threshold has no effect"]),
        ("--method leakage-free --threshold 1 --out a", &["--threshold 1", "below 1"]),
        ("--method leakage-free --symmetric meet --out a", &["no relation \"meet\"", "\"meets\""]),
        ("--method leakage-free --inverse meets --out a", &["NAME=NAME"]),
        ("--method leakage-free --inverse meets=sells --out a", &["no relation \"sells\""]),
        ("--method leakage-free --lists icews14 --out a", &["has no relation Consult", "lists of your own"]),
        ("--method leakage-free --lists icews18 --out a", &["icews14, icews05-15", "\"symmetric\""]),
        ("--method leakage-free --lists lists.json --out a", &["it names no relation"]),
        ("--method leakage-free --lists broken.json --out a", &["invalid type"]),
    ] {
        room.assert_refused(&format!("data split harbour {options}"), texts);
    }
    let answer = room.quadcast("data split harbour --method leakage-free --lists a --threshold 0.4 --out a");
    assert_eq!(answer.code, 2);
    let few = Room::with_splits("0 0 1 0\n", "1 0 0 1\n", "0 0 1 2\n");
    few.assert_refused("data split small --method random --out a", &["found 3 facts", "would be empty"]);
}

#[test]
fn graphs_without_time() {
    let room = Room::new();
    let triples = |from: u32, to: u32| {
        let rows: Vec<String> = (from..to).flat_map(|i| [format!("{i} 99 0"), format!("99 {i} 1")]).collect();
        format!("{}\n{}\n", rows.len(), rows.join("\n"))
    };
    for (split, from, to) in [("train", 0, 60), ("valid", 60, 70), ("test", 70, 80)] {
        room.write(&format!("graph/{split}2id.txt"), triples(from, to));
    }
    let answer = room.quadcast("data split graph --method leakage-free --out new").success();
    answer.assert_fits();
    answer.assert_says(&["inverse: #0 ↔ #1", "the mirror (o, r, s), any relation", "(layout openke)"]);
    let division = room.json("new/division.json");
    assert_eq!(facts(&division), [128, 16, 16]);
    assert_eq!(division["after"]["reversed"], 0);
    let diff = room.quadcast("data diff graph new").success();
    diff.assert_says(&["Entities by id", "the same 160 facts, differently split"]);
    room.assert_refused(
        "data split graph --method chronological --out other",
        &["graph is a graph without time", "--method random or leakage-free"],
    );
    room.quadcast("data synth --world evolving --out evolving").success();
    room.assert_refused(
        "data split evolving --method random --out other",
        &["changes by insertions and deletions", "only facts with time stamps and graphs without time"],
    );
}

#[test]
fn icews14_as_published() {
    let Some(root) = real_data("completion/icews14") else { return };
    let room = Room::new();
    let answer = room
        .quadcast_in(&root, "data split completion/icews14 --method leakage-free --lists icews14 --out rr")
        .success();
    answer.assert_fits();
    answer.assert_says(&["published for icews14", "72 581", "9 073", "9 076", "18.28 %"]);
    let division = room.json("rr/division.json");
    assert_eq!(facts(&division), [72581, 9073, 9076]);
    let share =
        |part: &Value| part["mirrored"].as_f64().expect("a count") / part["facts"].as_f64().expect("a count");
    assert!(share(&division["after"]) < 0.03, "{}", division["after"]);
    let diff = room.quadcast_in(&root, "data diff completion/ICEWS14RR rr").success();
    diff.assert_says(&["the same 90730 facts, differently split"]);
    diff.assert_fits();
}
