//! What `quadcast compare` says, and which pairs it refuses.

mod common;

use common::Room;
use serde_json::Value;

/// A room with a run of the default model and one of a weaker variant.
fn with_two_runs() -> Room {
    let room = Room::with_harbour();
    room.quadcast("run --data harbour --out full").success();
    room.quadcast("run --data harbour --set variant=relaxed --out weak").success();
    room
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn a_clear_difference_is_said_in_words() {
    let room = with_two_runs();
    let answer = room.quadcast("compare weak full").success();
    answer.assert_fits();
    answer.assert_says(&[
        "harbour · single-step · ties expected · 416 queries, 20 steps\n",
        "first   recurrency, seed 1: weak\n",
        "second  recurrency, seed 1: full\n",
        "second better",
        "The second run is better by ",
        "points of time-aware MRR (p = 0.016).",
        "bootstrap over blocks of 3 steps. p: sign flips of 7 blocks, all 128 patterns, two-sided.",
    ]);
    assert_eq!(answer.stdout.lines().filter(|line| line.contains("MRR  ")).count(), 3);
    let back = room.quadcast("compare full weak").success();
    back.assert_says(&["first better", "The first run is better by "]);
}

#[test]
fn machines_read_fractions() {
    let room = with_two_runs();
    let document = room.quadcast("compare weak full --json").success().json();
    let runs = [room.json("weak/metrics.json"), room.json("full/metrics.json")];
    for filter in ["time", "static", "raw"] {
        for metric in ["mrr", "hits@1", "hits@3", "hits@10"] {
            let difference = &document["differences"][filter][metric];
            let means = [0, 1].map(|run: usize| number(&runs[run]["metrics"][filter][metric]));
            assert!((number(&difference["first"]) - means[0]).abs() < 1e-12);
            assert!((number(&difference["second"]) - means[1]).abs() < 1e-12);
            let size = number(&difference["difference"]);
            assert!((size - (means[1] - means[0])).abs() < 1e-12);
            let [low, high] = [0, 1].map(|end: usize| number(&difference["ci95"][end]));
            assert!(low <= size && size <= high, "{filter} {metric}");
            assert!((0.0..=1.0).contains(&number(&difference["p"])));
        }
    }
    assert_eq!(document["permutation"]["blocks"], 7);
    assert_eq!(document["second"]["record"], "full");
    assert_eq!(document["dataset"], runs[0]["dataset"]);
}

#[test]
fn a_run_equals_itself() {
    let room = Room::with_harbour();
    room.quadcast("run --data harbour --out one").success();
    let answer = room.quadcast("compare one one").success();
    answer.assert_says(&["equal", "The two runs are equal in time-aware MRR.", "0.00 – 0.00", "1.000"]);
}

#[test]
fn one_step_has_no_interval_and_no_verdict() {
    let room = Room::with_splits("0 0 1 0\n2 0 3 0\n", "0 0 1 1\n", "0 0 1 2\n2 0 1 2\n");
    room.quadcast("run --data small --out one").success();
    room.quadcast("run --data small --set variant=relaxed --out two").success();
    let answer = room.quadcast("compare one two").success();
    answer.assert_says(&["–", "1.000", "Too few steps for a verdict: 1 blocks cannot give a p below 1.000."]);
    assert!(!answer.stdout.contains("better"), "{}", answer.stdout);
}

#[test]
fn another_protocol_is_refused() {
    let room = with_two_runs();
    room.quadcast("run --data harbour --setting multi-step --ties mean --out other").success();
    room.assert_refused(
        "compare full other",
        &[
            "full and other cannot be compared",
            "setting: single-step and multi-step",
            "ties: expected and mean",
        ],
    );
}

#[test]
fn other_data_is_refused() {
    let room = Room::with_harbour();
    room.quadcast("run --data harbour --out one").success();
    let first_line = room.text("harbour/test.txt").lines().next().map(str::to_owned).expect("a fact");
    let rest = room.text("harbour/test.txt").replacen(&format!("{first_line}\n"), "", 1);
    room.write("harbour/test.txt", rest);
    room.quadcast("run --data harbour --out two").success();
    room.assert_refused("compare one two", &["dataset: harbour (fingerprint ", "and harbour (fingerprint "]);
}

#[test]
fn other_queries_are_refused() {
    let room = with_two_runs();
    let ranks = zstd::decode_all(room.read("weak/ranks.csv.zst").as_slice()).expect("whole frames");
    let text = String::from_utf8(ranks).expect("text");
    let write = |text: &str| {
        let packed = zstd::encode_all(text.as_bytes(), 1).expect("memory takes everything");
        room.write("weak/ranks.csv.zst", packed);
    };
    let last = text.trim_end().rfind('\n').expect("many lines");
    write(&text[..=last]);
    room.assert_refused(
        "compare weak full",
        &["do not answer the same queries", "the first answers 415 queries, the second 416"],
    );
    write(&text.replacen(",object,4,0,6,", ",object,4,0,7,", 1));
    room.assert_refused("compare full weak", &["they differ from row 1 of their rank files on"]);
    write(&text.replacen(",object,", ",sideways,", 1));
    room.assert_refused("compare full weak", &["weak/ranks.csv.zst", "line 2", "damaged"]);
}

#[test]
fn incomplete_records_are_refused() {
    let room = with_two_runs();
    let record = room.text("weak/metrics.json");
    for (status, reason) in
        [("incomplete", "weak holds a run that is not complete"), ("failed", "weak holds a run that failed")]
    {
        let changed = record.replacen("\"complete\"", &format!("\"{status}\""), 1);
        room.write("weak/metrics.json", changed);
        room.assert_refused("compare full weak", &[reason]);
    }
    room.assert_refused("compare full absent", &["there is no folder absent"]);
    room.write("weak/metrics.json", "{}");
    room.assert_refused("compare full weak", &["weak/metrics.json is not a run record"]);
    room.write("weak/metrics.json", record);
    std::fs::remove_file(room.path("weak/ranks.csv.zst")).expect("the ranks");
    room.assert_refused("compare full weak", &["cannot read weak/ranks.csv.zst"]);
}
