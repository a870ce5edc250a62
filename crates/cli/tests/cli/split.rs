//! `data split` and `data diff` with the real binary.

use serde_json::{Value, json};

use crate::common::{Room, real_data};

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
    answer.assert_says(&["harbour divided anew: leakage-free, seed 1", "1 468 facts", "symmetric: meets"]);
    answer.assert_says(&["a mirror by the lists, (o, q, s, t)", "written to new (layout labelled)"]);
    let division = room.json("new/division.json");
    assert_eq!((&division["method"], &division["seed"]), (&json!("leakage-free"), &json!(1)));
    assert_eq!((&division["after"]["listed"], &division["after"]["mirrored"]), (&json!(0), &json!(0)));
    assert_eq!(facts(&division).iter().sum::<u64>(), 1468);
    // The facts and names are the same, and every reader takes the folder.
    let diff = room.document("data diff harbour new");
    assert_eq!((&diff["same_facts"], &diff["same_splits"]), (&json!(true), &json!(false)));
    let info = room.document("data info new");
    assert_eq!(info["temporal"]["time"]["first"], "2031-03-01");
}

#[test]
fn time_divides_between_steps() {
    let room = Room::with_harbour();
    let report = room.document("data split harbour --method chronological --valid 0.2 --test 0.2 --out new");
    assert_eq!(report["seed"], Value::Null);
    let [train, valid, test] = facts(&report);
    assert!(train.abs_diff(881) < 15 && valid.abs_diff(294) < 15 && test.abs_diff(294) < 15, "{report}");
    let day = |split: &str, end: usize| report["periods"][split][end].as_str().expect("a date").to_owned();
    assert!(day("train", 1) < day("valid", 0) && day("valid", 1) < day("test", 0));
    room.quadcast("run --model recurrency --data new --out record").success();
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
        room.assert_same_files(&format!("{method}/a"), &format!("{method}/b"), &FILES);
        let train = |out: &str| room.read(&format!("{method}/{out}/train.txt"));
        assert!(train("a") != train("c"), "{method}");
        let counts = |out: &str| facts(&room.json(&format!("{method}/{out}/division.json")));
        assert_eq!(counts("a"), counts("c"), "{method}");
    }
}

#[test]
fn lists_by_name_and_by_file() {
    let room = Room::with_harbour();
    let split = "data split harbour --method leakage-free";
    let given = room.document(&format!("{split} --symmetric Meets --inverse docks_at=inspects --out given"));
    let lists = &given["lists"];
    assert_eq!(lists["symmetric"], json!(["meets"]));
    let pair = lists["inverse"][0].as_array().expect("a pair");
    assert!(pair.contains(&json!("docks at")) && pair.contains(&json!("inspects")), "{lists}");
    assert_eq!((&lists["origin"], &lists["detection"]), (&json!("given by name"), &Value::Null));
    room.quadcast(&format!("{split} --lists given/division.json --out again")).success();
    room.assert_same_files("given", "again", &FILES[..5]);
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
fn lists_are_text_of_a_sensible_size() {
    let room = Room::with_harbour();
    let split = "data split harbour --method leakage-free --out a --lists";
    room.write("lists.json", "{\"symmetric\":\n[\"me\0ets\"]}");
    room.assert_refused(&format!("{split} lists.json"), &["lists.json:2:1: found a NUL byte"]);
    room.write("lists.json", " ".repeat(2 << 20));
    room.assert_refused(&format!("{split} lists.json"), &["lists.json:1:1: the line is longer than"]);
}

#[cfg(unix)]
#[test]
fn lists_do_not_come_from_pipes_and_devices() {
    let room = Room::with_harbour();
    let split = "data split harbour --method leakage-free --out a --lists";
    room.assert_refused(&format!("{split} /dev/zero"), &["/dev/zero: this is a device"]);
    if room.pipe("lists.json") {
        room.assert_refused(&format!("{split} lists.json"), &["lists.json: this is a pipe"]);
    }
}

#[test]
fn graphs_without_time() {
    let room = Room::with_operations();
    let triples = |from: u32, to: u32| {
        let rows: Vec<String> = (from..to).flat_map(|i| [format!("{i} 99 0"), format!("99 {i} 1")]).collect();
        format!("{}\n{}\n", rows.len(), rows.join("\n"))
    };
    for (split, from, to) in [("train", 0, 60), ("valid", 60, 70), ("test", 70, 80)] {
        room.write(format!("graph/{split}2id.txt"), triples(from, to));
    }
    let answer = room.quadcast("data split graph --method leakage-free --out new").success();
    answer.assert_fits();
    answer.assert_says(&["inverse: #0 ↔ #1", "the mirror (o, r, s), any relation", "(layout openke)"]);
    let division = room.json("new/division.json");
    assert_eq!(facts(&division), [128, 16, 16]);
    assert_eq!(division["after"]["reversed"], 0);
    let diff = room.quadcast("data diff graph new").success();
    diff.assert_says(&["Entities by id", "the same 160 facts, differently split"]);
    let texts = ["graph is a graph without time", "--method random or leakage-free"];
    room.assert_refused("data split graph --method chronological --out other", &texts);
    room.assert_refused(
        "data split world --method random --out other",
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

/// Two datasets of the same four facts (other ids, spelling, quoting, unit of time and splits), and an evolving graph in `world`.
fn relatives() -> Room {
    let room = Room::with_operations();
    let facts = [
        "Ann \"A\" Lee\tvisits\tBo\t2014-01-01\nBo\tvisits\tCy\t2014-01-02\n",
        "Cy\tvisits\tAnn \"A\" Lee\t2014-01-02\n",
        "Ann \"A\" Lee\tvisits\tCy\t2014-01-04\n",
    ];
    room.place_splits("named", facts);
    room.place_splits("numbered", ["2 0 1 0\n2 0 0 72\n", "0 0 2 24\n", "1 0 0 24\n"]);
    room.write("numbered/entity2id.txt", "Cy\t0\nBo\t1\n\"Ann_\"\"A\"\"_Lee\"\t2\n");
    room.write("numbered/relation2id.txt", "visits\t0\n");
    room
}

#[test]
fn the_same_facts_in_other_clothes() {
    let room = relatives();
    let answer = room.quadcast("data diff named numbered").success();
    answer.assert_fits();
    answer.assert_says(&[
        "Entities by name: 2 alike, 1 but for spelling (blank or underscore 1, CSV quotes 1).",
        "B has no calendar: times are compared by their distance from the first step",
        "in both 4, only in A 0, only in B 0",
    ]);
    assert_eq!(answer.stdout.lines().last(), Some("the same 4 facts, differently split"));
    assert_eq!(answer.row("train")[1..], ["1", "0", "1", "0", "2"]);
    let report = room.document("data diff named numbered");
    assert_eq!(report["moved"]["train"], json!({"train": 1, "valid": 0, "test": 1}));
    assert_eq!((&report["same_facts"], &report["same_splits"]), (&json!(true), &json!(false)));
    let report = room.document("data diff named named");
    assert_eq!(report["verdict"], "the same 4 facts, in the same splits");
}

#[test]
fn what_differs_is_named() {
    let room = relatives();
    room.write("numbered/test.txt", "1 0 3 24\n");
    room.write("numbered/entity2id.txt", "Cy\t0\nBo\t1\nDi\t3\nAnn \"A\" Lee\t2\n");
    let answer = room.quadcast("data diff named numbered").success();
    answer.assert_says(&["1 only in B: \"Di\"", "Only in A, for example:\n  Bo · visits · Cy · 2014-01-02"]);
    answer.assert_says(&["Only in B, for example:\n  Bo · visits · Di · 24"]);
    answer.assert_says(&["3 facts in common; 1 are only in A and 1 only in B"]);
    answer.assert_fits();
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let room = relatives();
    room.place_graph("graph");
    let texts = ["graph is a graph without time", "two datasets of one kind"];
    room.assert_refused("data diff named graph", &texts);
    room.assert_refused("data diff named nowhere", &["there is no dataset \"nowhere\""]);
    room.assert_refused("data diff world world", &["insertions and deletions"]);
    assert_eq!(room.quadcast("data diff named").code, 2);
}

#[test]
fn four_splits_of_icews14() {
    let Some(root) = real_data("completion/icews14") else { return };
    let room = Room::new();
    for other in ["completion/ICEWS14RR", "forecasting/ICEWS14", "forecasting/ICEWS14-b"] {
        let answer = room.quadcast_in(&root, &format!("data diff completion/icews14 {other}")).success();
        answer.assert_says(&["in both 90 730, only in A 0, only in B 0", "by calendar date"]);
        answer.assert_says(&["the same 90730 facts, differently split"]);
        answer.assert_fits();
    }
}
