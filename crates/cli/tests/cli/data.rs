//! `quadcast data info`, `audit` and `list`.

use serde_json::{Value, json};

use crate::common::{Room, real_data};

/// A dataset to count on paper: a repeated row, a self loop, a gap, an entity and a relation that train does not know.
fn small() -> Room {
    Room::with_splits(
        "0 0 1 0\n0 0 1 0\n1 0 0 24\n0 0 2 24\n",
        "0 0 1 48\n2 1 2 48\n",
        "0 0 1 120\n3 1 0 120\n",
    )
}

/// A dataset with names and dates.
fn named(room: &Room, folder: &str) {
    room.place_days(folder, "A\tr\tB", "");
}

/// A dataset whose rows look like intervals.
fn dated() -> Room {
    let room = Room::new();
    room.place_days("dated", "0\t0\t1", "\t2014-02-01");
    room
}

#[test]
fn info_counts_a_small_dataset() {
    let (text, info) = small().both_ways("data info small");
    assert_eq!(info["kind"], "temporal");
    assert_eq!(info["format"], "quads");
    assert_eq!((&info["entities"]["size"], &info["relations"]["size"]), (&json!(4), &json!(2)));
    let temporal = &info["temporal"];
    let splits = |train, valid, test| json!({"train": train, "valid": valid, "test": test});
    assert_eq!(temporal["facts"], splits(4, 2, 2));
    assert_eq!(temporal["duplicates"], splits(1, 0, 0));
    assert_eq!(temporal["self_loops"], splits(0, 1, 0));
    assert_eq!(temporal["time_stamps"], splits(2, 1, 1));
    assert_eq!(temporal["split_order"], "ordered");
    assert_eq!((&temporal["time"]["steps"], &temporal["time"]["gaps"]), (&json!(4), &json!(1)));
    text.assert_says(&["small: facts with time stamps", "4 ids, 4 used"]);
    text.assert_says(&["quads (subject relation object time"]);
    text.assert_says(&["Layout quads, because train.txt has numbers in columns 1 to 4."]);
    assert_eq!(text.row("facts"), ["facts", "4", "2", "2"]);
    let entities = &temporal["entity_novelty"];
    assert_eq!(entities["in_train"], 3);
    assert_eq!(entities["unseen_in_train"]["ids"], 1);
    let relations = &temporal["relation_novelty"];
    assert_eq!(relations["unseen_in_train"]["ids"], 1);
    assert_eq!(relations["unseen_in_train"]["test_facts"], 1);
    assert_eq!(relations["unseen_in_train_and_valid"]["ids"], 0);
    assert_eq!(temporal["recurrency"]["earlier"], json!({"count": 1, "share": 0.5}));
    assert_eq!(temporal["recurrency"]["previous"], json!({"count": 1, "share": 0.5}));
}

#[test]
fn info_on_the_example() {
    let (text, info) = Room::with_harbour().both_ways("data info harbour");
    assert_eq!(info["temporal"]["facts"], json!({"train": 1060, "valid": 200, "test": 208}));
    assert_eq!(info["temporal"]["time"]["first"], "2031-03-01");
    assert_eq!(info["catalogue"], Value::Null);
    text.assert_says(&["37 ids, 37 used", "7 ids, 7 used", "2031-03-01 to 2031-07-28", "Nadia Crewe"]);
}

#[test]
fn audit_on_the_example() {
    let (text, audit) = Room::with_harbour().both_ways("data audit harbour");
    text.assert_says(&["Audit of harbour: warn", "D1 warn", "D2 pass", "D3 pass", "D4 warn", "D5 pass"]);
    let checks = audit["checks"].as_array().expect("a list of checks");
    let ids: Vec<&str> = checks.iter().filter_map(|check| check["id"].as_str()).collect();
    assert_eq!(ids, ["D1", "D2", "D3", "D4", "D5"]);
}

#[test]
fn audit_finds_a_validation_set_that_is_the_test_set() {
    let room = Room::with_splits("0 0 1 0\n", "0 0 1 1\n", "0 0 1 1\n");
    let answer = room.quadcast("data audit small");
    answer.assert_error(2, &["the audit failed"]);
    answer.assert_says(&["D3 fail", "the validation set is the test set"]);
}

#[test]
fn the_detection_is_stated_and_the_format_can_be_named() {
    let room = dated();
    named(&room, "named");
    room.quadcast("data info named").success().assert_says(&[
        "Layout labelled, because train.txt has names in columns 1 to 3 and ISO dates in column 4.",
    ]);
    assert_eq!(room.document("data info dated")["kind"], "intervals");
    assert_eq!(room.document("data info dated --format labelled")["kind"], "temporal");
    room.assert_refused("data info dated --format quads", &["dated/train.txt:1:4: found \"2014-01-01\""]);
}

#[test]
fn a_named_format_is_part_of_the_record() {
    let room = dated();
    assert_eq!(room.quadcast("run --data dated --out intervals").code, 0, "taken for facts with intervals");
    assert_eq!(room.record("intervals")["protocol"]["intervals"], "start");
    room.quadcast("run --model recurrency --data dated --format labelled --out kept").success();
    room.quadcast("run kept/run.toml --out again").success();
    assert_eq!(room.text("kept/run.toml"), room.text("again/run.toml"));
}

#[test]
fn names_are_found_in_stores_and_a_path_comes_first() {
    let room = Room::new();
    for folder in
        ["store/forecasting/Both", "store/a/tiny", "store/b/Tiny", "store/Top", "other/x", "other/y", "y"]
    {
        named(&room, folder);
    }
    room.place_harbour("store/harbour");
    let stores = std::env::join_paths([room.path("store"), room.path("other")]).expect("plain paths");
    for (name, folder) in [
        ("Both", "store/forecasting/Both"),
        ("both", "store/forecasting/Both"),
        ("BOTH", "store/forecasting/Both"),
        ("forecasting/Both", "store/forecasting/Both"),
        ("Top", "store/Top"),
        ("top", "store/Top"),
        ("tiny", "store/a/tiny"),
        ("Tiny", "store/b/Tiny"),
        ("X", "other/x"),
    ] {
        let info = room.quadcast_in(stores.as_ref(), &format!("data info {name} --json")).success().json();
        assert_eq!(info["path"], room.path(folder).display().to_string(), "{name}");
    }
    let info = room.quadcast_in(stores.as_ref(), "data info y").success();
    assert_eq!(info.row("folder")[1], "y");
    let answer = room.quadcast_in(stores.as_ref(), "run --model recurrency --data Harbour").success();
    answer.assert_says(&["record: runs/recurrency-harbour-single-step-1"]);
}

#[test]
fn list_of_benchmarks() {
    let (text, list) = Room::new().both_ways("data list");
    let stored = |name: &str| {
        let variants = list.as_array().expect("a list");
        variants.iter().find(|variant| variant["name"] == name).expect("a listed name")["stored"].clone()
    };
    assert_eq!((stored("ICEWS14"), stored("GDELT")), (json!(true), json!(false)));
    assert_eq!(text.row("ICEWS14")[..4], ["ICEWS14", "✓↓", "7", "128"]);
    assert_eq!(text.row("GDELT")[..3], ["GDELT", "7", "691"]);
    for family in ["forecasting", "completion", "intervals", "evolving", "static"] {
        assert_eq!(text.row(family), [family]);
    }
    let verbose = Room::new().quadcast("data list --verbose").success();
    verbose.assert_says(&["source: ", "licence: "]);
}

#[test]
fn a_real_benchmark_is_recognised() {
    let Some(store) = real_data("forecasting/ICEWS14") else { return };
    let room = Room::new();
    let info = room.quadcast_in(&store, "data info forecasting/ICEWS14 --json").success().json();
    assert_eq!(info["catalogue"], json!({"kind": "exact", "name": "ICEWS14"}));
    assert_eq!(info["temporal"]["facts"], json!({"train": 74845, "valid": 8514, "test": 7371}));
    for command in ["data info forecasting/ICEWS14", "data audit forecasting/ICEWS14"] {
        room.quadcast_in(&store, command).success().assert_fits();
    }
}
