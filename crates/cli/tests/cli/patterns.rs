//! `quadcast data patterns`, and the leakage part of `quadcast data audit`.

use serde_json::{Value, json};

use crate::common::{Room, assert_texts, real_data};

/// Two relations to count on paper: 0 is symmetric, 1 and 2 are inverse; the test facts have their other half in train.
fn mirrors() -> Room {
    Room::with_splits(
        "0 0 1 0\n1 0 0 0\n2 0 1 24\n1 0 2 24\n0 1 1 0\n1 2 0 0\n2 1 0 48\n0 2 2 48\n3 0 1 72\n3 1 1 72\n",
        "0 0 2 24\n",
        "1 0 3 72\n1 2 3 72\n3 0 2 0\n3 0 0 48\n",
    )
}

/// The entry of a list whose key has a value.
fn entry<'a>(list: &'a Value, key: &str, value: &str) -> &'a Value {
    let entries = list.as_array().expect("a list");
    entries.iter().find(|entry| entry[key] == value).unwrap_or_else(|| panic!("no {key} {value}"))
}

fn check<'a>(audit: &'a Value, id: &str) -> &'a Value {
    entry(&audit["leakage"]["checks"], "id", id)
}

#[test]
fn patterns_of_a_small_dataset() {
    let room = mirrors();
    let (text, found) = room.both_ways("data patterns small --min-support 2");
    assert_eq!((&found["facts"], &found["counted"]), (&json!(10), &json!("train")));
    let symmetric = entry(&found["relations"], "relation", "#0");
    assert_eq!(symmetric["symmetric"], json!({"same_time": 0.8, "any_time": 0.8}));
    let lags = json!({"0": 4, "1": 0, "2-7": 0, "8-30": 0, "more": 0, "never": 1});
    assert_eq!(symmetric["symmetric_lags"], lags);
    let inverse = &entry(&found["relations"], "relation", "#2")["inverse"];
    assert_eq!((&inverse["relation"], &inverse["forwards"]["same_time"]), (&json!("#1"), &json!(1.0)));
    assert_eq!(found["same_time"]["inverse"][0]["inverse"], "#2");
    text.assert_says(&["Symmetric relations at the same time: 1", "#1 <-> #2 66.7 / 100.0"]);
    let (_, all) = room.both_ways("data patterns small --min-support 2 --all");
    assert_eq!((&all["facts"], &all["counted"]), (&json!(15), &json!("all splits")));
    let (strict, _) = room.both_ways("data patterns small --min-support 2 --threshold 0.9");
    strict.assert_says(&["Symmetric relations at the same time: none"]);
}

#[test]
fn a_page_with_a_map() {
    let room = Room::with_harbour();
    let answer = room.quadcast("data patterns harbour --out map.html").success();
    answer.assert_says(&["Patterns of harbour", "report: map.html"]);
    let page = room.text("map.html");
    let texts = ["<!doctype html>", "Patterns of harbour", "at the same time", "at any time", "meets"];
    assert_texts(&page, &texts);
    assert_eq!(page.matches("<svg class=\"chart heat\"").count(), 4);
    for outside in ["http:", "https:", "src=", "<link", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    let said = room.document("data patterns harbour --out again.html");
    assert_eq!(said["report"], "again.html");
    assert_eq!(page, room.text("again.html"));
}

#[test]
fn bad_input_is_refused() {
    let room = mirrors();
    for (command, text) in [
        ("data patterns nowhere", "nowhere"),
        ("data patterns nowhere --out map.html", "nowhere"),
        ("data patterns small --out small", "is a folder"),
        ("data patterns small --threshold 1.5", "a share from 0 to 1"),
        ("data audit small --max-leakage half", "\"half\" is no number"),
        ("data audit nowhere --max-leakage 0.1", "nowhere"),
    ] {
        room.assert_refused(command, &[text]);
    }
    let answer = room.quadcast("data patterns small --out no/such/folder/map.html");
    answer.assert_error(1, &["cannot write no/such/folder/map.html"]);
}

#[test]
fn the_audit_measures_leakage() {
    let room = mirrors();
    // The splits interleave: D2 fails, whatever leaks.
    let answer = room.quadcast("data audit small --min-support 2 --json");
    answer.assert_error(2, &["the audit failed"]);
    let audit = answer.json();
    let leakage = &audit["leakage"];
    assert_eq!((&leakage["split_kind"], &leakage["verdict"]), (&json!("completion"), &json!("warn")));
    assert_eq!(leakage["leaked"], json!({"count": 2, "share": 0.5}));
    let counts = ["symmetric", "inverse"].map(|id| &check(&audit, id)["count"]);
    assert_eq!(counts, [&json!(1), &json!(1)]);
    let example = &check(&audit, "inverse")["examples"][0];
    assert_eq!(example["test"], json!({"subject": "#1", "relation": "#2", "object": "#3", "time": "72"}));
    assert_eq!(example["by"], json!({"subject": "#3", "relation": "#1", "object": "#1", "time": "72"}));
    let text = room.quadcast("data audit small --min-support 2");
    text.assert_fits();
    text.assert_says(&["Leakage warn: 2 of 4 test facts (50.00 %)", "(#1, #2, #3, 72) <- (#3, #1, #1, 72)"]);
}

#[test]
fn forecasting_datasets_cannot_leak() {
    let room = Room::with_harbour();
    let (text, audit) = room.both_ways("data audit harbour --max-leakage 0");
    assert_eq!(audit["leakage"]["split_kind"], "forecasting");
    assert_eq!(audit["leakage"]["verdict"], "pass");
    text.assert_says(&["Leakage pass", "train cannot hold facts of the same"]);
    text.assert_says(&["earlier, at most 7 days away"]);
    assert!(!text.stdout.contains("p symmetric\n") && !text.stdout.contains("the fact itself"));
}

#[test]
fn too_much_leakage_fails() {
    let room = Room::new();
    for (file, rows) in [
        ("train2id.txt", "4\n0 1 0\n1 0 0\n2 3 0\n0 2 0\n"),
        ("valid2id.txt", "1\n0 3 0\n"),
        ("test2id.txt", "2\n3 2 0\n1 3 0\n"),
        ("entity2id.txt", "4\na 0\nb 1\nc 2\nd 3\n"),
        ("relation2id.txt", "1\nknows 0\n"),
    ] {
        room.write(format!("graph/{file}"), rows);
    }
    let command = "data audit graph --min-support 2 --threshold 0.4";
    let (text, audit) = room.both_ways(command);
    assert_eq!(audit["leakage"]["leaked"], json!({"count": 1, "share": 0.5}));
    text.assert_says(&["Leakage warn", "(d, knows, c) <- (c, knows, d)"]);
    room.quadcast(&format!("{command} --max-leakage 0.5")).success();
    let answer = room.quadcast(&format!("{command} --max-leakage 0.4"));
    answer.assert_error(2, &["the audit failed"]);
    answer.assert_says(&["Audit of graph: fail", "Leakage fail", "allowed are 40.00 %"]);
}

#[test]
fn the_reversed_pairs_of_a_real_benchmark_are_found() {
    let Some(store) = real_data("static/WN18") else { return };
    let room = Room::new();
    let audit = room.quadcast_in(&store, "data audit static/WN18 --json").success().json();
    let share = check(&audit, "reversed-pair")["share"].as_f64().expect("a share");
    assert!((share - 0.9396).abs() < 5e-5, "{share}");
    assert_eq!(check(&audit, "reversed-pair")["examples"].as_array().map(Vec::len), Some(10));
    for command in ["data audit static/WN18", "data patterns static/WN18", "data patterns evolving/YAGO-3SP"]
    {
        room.quadcast_in(&store, command).success().assert_fits();
    }
}
