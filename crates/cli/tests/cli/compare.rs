//! What `quadcast compare` says, and which pairs it refuses.

use crate::common::Room;
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn a_clear_difference_is_said_in_words() {
    let room = Room::with_runs();
    let answer = room.quadcast("compare relaxed combined").success();
    answer.assert_fits();
    answer.assert_says(&[
        "harbour · single-step · ties expected · 416 queries, 20 steps\n",
        "first   recurrency, seed 1: relaxed\n",
        "second  recurrency, seed 1: combined\n",
        "second better",
        "The second run is better by ",
        "points of time-aware MRR (p = 0.016).",
        "bootstrap over blocks of 3 steps. p: sign flips of 7 blocks, all 128 patterns, two-sided.",
    ]);
    assert_eq!(answer.stdout.lines().filter(|line| line.contains("MRR  ")).count(), 3);
    let back = room.quadcast("compare combined relaxed").success();
    back.assert_says(&["first better", "The first run is better by "]);
}

#[test]
fn machines_read_fractions() {
    let room = Room::with_runs();
    let document = room.document("compare relaxed combined");
    let runs = ["relaxed", "combined"].map(|run| room.record(run));
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
    assert_eq!(document["second"]["record"], "combined");
    assert_eq!(document["dataset"], runs[0]["dataset"]);
}

#[test]
fn a_run_equals_itself() {
    let room = Room::with_runs();
    let answer = room.quadcast("compare strict strict").success();
    answer.assert_says(&["equal", "The two runs are equal in time-aware MRR.", "0.00 – 0.00", "1.000"]);
}

#[test]
fn one_step_has_no_interval_and_no_verdict() {
    let room = Room::with_splits("0 0 1 0\n2 0 3 0\n", "0 0 1 1\n", "0 0 1 2\n2 0 1 2\n");
    room.quadcast("run --model recurrency --data small --out one").success();
    room.quadcast("run --model recurrency --data small --set variant=relaxed --out two").success();
    let answer = room.quadcast("compare one two").success();
    answer.assert_says(&["–", "1.000", "Too few steps for a verdict: 1 blocks cannot give a p below 1.000."]);
    assert!(!answer.stdout.contains("better"), "{}", answer.stdout);
}

#[test]
fn another_protocol_is_refused() {
    let room = Room::with_runs();
    room.quadcast("run --model recurrency --data harbour --setting multi-step --ties mean --out other")
        .success();
    room.assert_refused(
        "compare combined other",
        &[
            "combined and other cannot be compared",
            "setting: single-step and multi-step",
            "ties: expected and mean",
        ],
    );
}

#[test]
fn other_data_is_refused() {
    let room = Room::with_runs();
    let facts = room.text("harbour/test.txt");
    room.write("harbour/test.txt", facts.split_once('\n').expect("facts").1);
    room.quadcast("run --model recurrency --data harbour --out other").success();
    let texts = ["dataset: harbour (fingerprint ", "and harbour (fingerprint "];
    room.assert_refused("compare combined other", &texts);
}

#[test]
fn edited_ranks_are_refused() {
    let room = Room::with_runs();
    let text = room.unpacked("relaxed/ranks.csv.zst");
    let last = text.trim_end().rfind('\n').expect("many lines");
    for edited in [text[..=last].to_owned(), text.replacen(",object,4,0,6,", ",object,4,0,7,", 1)] {
        assert_ne!(edited, text);
        let packed = zstd::encode_all(edited.as_bytes(), 1).expect("memory takes everything");
        room.write("relaxed/ranks.csv.zst", packed);
        room.assert_refused("compare combined relaxed", &["relaxed/ranks.csv.zst is damaged or edited"]);
    }
}

#[test]
fn incomplete_records_are_refused() {
    let room = Room::with_runs();
    let record = room.text("relaxed/metrics.json");
    for (status, reason) in [
        ("incomplete", "relaxed holds a run that is not complete"),
        ("failed", "relaxed holds a run that failed"),
    ] {
        room.edit_record("relaxed", |record| record["status"] = status.into());
        room.assert_refused("compare combined relaxed", &[reason]);
    }
    room.write("relaxed/metrics.json", record.replacen("\"complete\"", "\"failed\"", 1));
    room.assert_refused("compare combined relaxed", &["relaxed/metrics.json is damaged or edited"]);
    room.assert_refused("compare combined absent", &["there is no folder absent"]);
    room.write("relaxed/metrics.json", "{}");
    room.assert_refused("compare combined relaxed", &["relaxed/metrics.json is not a run record"]);
    room.write("relaxed/metrics.json", record);
    std::fs::remove_file(room.path("relaxed/ranks.csv.zst")).expect("the ranks");
    room.assert_refused("compare combined relaxed", &["relaxed/ranks.csv.zst: there is no such file"]);
}
