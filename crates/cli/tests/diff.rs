//! `data diff` with the real binary.

mod common;

use common::{Room, real_data};
use serde_json::json;

/// Two datasets of the same four facts: other ids, spelling, quoting, unit of time and splits.
fn relatives() -> Room {
    let room = Room::new();
    room.write("named/train.txt", "Ann \"A\" Lee\tvisits\tBo\t2014-01-01\nBo\tvisits\tCy\t2014-01-02\n");
    room.write("named/valid.txt", "Cy\tvisits\tAnn \"A\" Lee\t2014-01-02\n");
    room.write("named/test.txt", "Ann \"A\" Lee\tvisits\tCy\t2014-01-04\n");
    room.write("numbered/train.txt", "2 0 1 0\n2 0 0 72\n");
    room.write("numbered/valid.txt", "0 0 2 24\n");
    room.write("numbered/test.txt", "1 0 0 24\n");
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
    let report = room.quadcast("data diff named numbered --json").success().json();
    assert_eq!(report["moved"]["train"], json!({"train": 1, "valid": 0, "test": 1}));
    assert_eq!((&report["same_facts"], &report["same_splits"]), (&json!(true), &json!(false)));
    let report = room.quadcast("data diff named named --json").success().json();
    assert_eq!(report["verdict"], "the same 4 facts, in the same splits");
}

#[test]
fn what_differs_is_named() {
    let room = relatives();
    room.write("numbered/test.txt", "1 0 3 24\n");
    room.write("numbered/entity2id.txt", "Cy\t0\nBo\t1\nDi\t3\nAnn \"A\" Lee\t2\n");
    let answer = room.quadcast("data diff named numbered").success();
    answer.assert_says(&[
        "1 only in B: \"Di\"",
        "Only in A, for example:\n  Bo · visits · Cy · 2014-01-02",
        "Only in B, for example:\n  Bo · visits · Di · 24",
        "3 facts in common; 1 are only in A and 1 only in B",
    ]);
    answer.assert_fits();
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let room = relatives();
    for split in ["train", "valid", "test"] {
        room.write(&format!("graph/{split}2id.txt"), "1\n0 1 0\n");
    }
    room.assert_refused(
        "data diff named graph",
        &["graph is a graph without time", "two datasets of one kind"],
    );
    room.assert_refused("data diff named nowhere", &["there is no dataset \"nowhere\""]);
    room.quadcast("data synth --world evolving --out evolving").success();
    room.assert_refused("data diff evolving evolving", &["insertions and deletions"]);
    let answer = room.quadcast("data diff named");
    assert_eq!(answer.code, 2);
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
