//! Scores from files are judged as scores from models are.

use std::sync::LazyLock;

use quadcast_core::Setting;
use serde_json::Value;

use crate::common::{Room, assert_texts, real_data};
use crate::scores::{Scores, floats, half, keys_array, keys_of, npy, npz, single};

/// What the baseline says about the example dataset, and the keys of its queries.
static SCORES: LazyLock<(Scores, Vec<u64>)> = LazyLock::new(|| {
    let room = Room::with_harbour();
    let scores = Scores::of_recurrency(&room.path("harbour"), Setting::SingleStep, &[]);
    let list = room.quadcast("data export harbour --queries test --out -").success().stdout;
    let keys = keys_of(&list);
    assert_eq!(keys.len(), scores.rows.len());
    (scores, keys)
});

/// A room with the example dataset and its runs, with the scores and keys.
fn with_scores() -> (Room, &'static Scores, &'static [u64]) {
    (Room::with_runs(), &SCORES.0, &SCORES.1)
}

/// Judges a file and asserts that the results are those of the run in `combined`, number by number.
fn assert_as_own(room: &Room, scores: &str, options: &str) -> Value {
    let command = format!("evaluate --data harbour --scores {scores} --out judged --overwrite {options}");
    let (record, own) = (room.document(&command), room.record("combined"));
    for part in ["metrics", "by_step", "by_relation", "bootstrap", "protocol", "dataset", "repeated_queries"]
    {
        assert_eq!(record[part], own[part], "{scores}: {part}");
    }
    record
}

/// Asserts that a file is refused.
fn assert_refused(room: &Room, scores: &str, texts: &[&str]) {
    room.assert_refused(&format!("evaluate --data harbour --scores {scores}"), texts);
}

#[test]
fn sparse_scores_give_the_numbers_of_the_run() {
    let (room, scores, keys) = with_scores();
    let text = scores.csv(keys);
    room.write("scores.csv", &text);
    let record = assert_as_own(&room, "scores.csv", "");
    assert_eq!(record["unreached"], room.record("combined")["unreached"]);
    room.assert_same_files("judged", "combined", &["ranks.csv.zst"]);
    let packed = zstd::encode_all(text.as_bytes(), 1).expect("memory takes everything");
    room.write("scores.csv.zst", packed);
    assert_as_own(&room, "scores.csv.zst", "");
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut gzip, text.as_bytes()).expect("memory takes everything");
    room.write("scores.csv.gz", gzip.finish().expect("memory takes everything"));
    assert_as_own(&room, "scores.csv.gz", "");
}

#[test]
fn lines_may_come_in_any_order_and_columns_too() {
    let (room, scores, keys) = with_scores();
    let text = scores.lines("row,key,entity,score", |row| format!("{row},{}", keys[row]));
    let (header, body) = text.split_once('\n').expect("a header");
    let mut lines: Vec<&str> = body.lines().collect();
    lines.sort_unstable_by_key(|line| line.bytes().rev().collect::<Vec<_>>());
    room.write("mixed.csv", format!("\u{feff}{header}\r\n{}\r\n\r\n", lines.join("\r\n")));
    let record = assert_as_own(&room, "mixed.csv", "");
    assert_eq!(record["scores"]["order_verified"], true);
    let text = scores.csv(keys);
    let answer = room.quadcast("evaluate --data harbour --scores mixed.csv --out judged --overwrite -v");
    assert_eq!(answer.code, 0, "{}", answer.stderr);
    assert_texts(&answer.stderr, &["not in order of steps", "held in memory as a whole"]);
    let swapped = text.lines().map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        format!("{}, {} ,{}\n", fields[2], fields[0], fields[1])
    });
    room.write("swapped.csv", swapped.collect::<String>());
    assert_as_own(&room, "swapped.csv", "");
}

#[test]
fn entities_may_be_named() {
    let (room, scores, keys) = with_scores();
    room.quadcast("data export harbour --queries test --out q.csv --entities e.csv").success();
    let entities = room.text("e.csv");
    let names: Vec<&str> = entities.lines().skip(1).map(|line| line.split_once(',').unwrap().1).collect();
    let text = scores.csv(keys);
    let named = text.lines().map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        let name = fields[1].parse::<usize>().map_or(fields[1], |id| names[id]);
        format!("{},{name},{}\n", fields[0], fields[2])
    });
    room.write("named.csv", named.collect::<String>());
    assert_as_own(&room, "named.csv", "");
}

#[test]
fn dense_scores_give_the_numbers_of_the_run() {
    let (room, scores, keys) = with_scores();
    let levels = scores.levels();
    let keys = keys_array(keys);
    for (kind, array) in [("float32", single(&levels)), ("float16", half(&levels))] {
        for compressed in [false, true] {
            room.write("dense.npz", npz(&[("scores", &array), ("keys", &keys)], compressed));
            let record = assert_as_own(&room, "dense.npz", "");
            assert_eq!(record["scores"]["layout"], kind);
            assert_eq!(record["scores"]["order_verified"], true);
            assert_eq!(record["unreached"], 0.0);
        }
        room.write("dense.npy", &array);
        let record = assert_as_own(&room, "dense.npy", "--unchecked-order");
        assert_eq!(record["scores"]["order_verified"], false);
    }
    // An array of another name, if it is the only one; threads do not matter.
    room.write("other.npz", npz(&[("keys", &keys), ("arr_0", &single(&levels))], false));
    for threads in [1, 2, 5] {
        assert_as_own(&room, "other.npz", &format!("--threads {threads}"));
    }
}

#[test]
fn the_record_says_where_the_scores_came_from() {
    let (room, scores, keys) = with_scores();
    room.write("mine.v2.csv", scores.csv(keys));
    let answer = room.quadcast("evaluate --data harbour --scores mine.v2.csv --setting multi-step").success();
    answer.assert_fits();
    answer.assert_says(&[
        "external:mine on harbour · multi-step · ties expected · seed 1\n",
        "history: nothing of the test period known, validation facts observed (as declared)\n",
        " kB, mine.v2.csv\n",
        "record: runs/external-mine-harbour-multi-step-1\n",
    ]);
    let folder = "runs/external-mine-harbour-multi-step-1";
    let record = room.record(folder);
    assert_eq!((&record["status"], &record["model"]["name"]), (&"complete".into(), &"external:mine".into()));
    assert_eq!(record["scores"]["file"], "mine.v2.csv");
    assert_eq!(record["scores"]["bytes"], room.read("mine.v2.csv").len());
    assert_eq!(record["protocol"]["setting"], "multi-step");
    assert!(record.get("latest_read").is_none() && record.get("selection").is_none());
    let file: toml::Table = room.text(&format!("{folder}/run.toml")).parse().expect("a configuration");
    assert_eq!(file["model"].as_str(), Some("external:mine"));
    assert_eq!(file["config"]["scores"].as_str(), Some("mine.v2.csv"));
    room.assert_refused(&format!("run {folder}/run.toml"), &["external:mine", "quadcast evaluate"]);
    let texts = ["holds a complete run already", "--overwrite"];
    assert_refused(&room, &format!("mine.v2.csv --out {folder}"), &texts);
    for name in ["../up", "a/b", ".hidden"] {
        let texts = [name, "cannot name a model", "--name"];
        assert_refused(&room, &format!("mine.v2.csv --name {name}"), &texts);
    }
}

#[test]
fn runs_and_files_can_be_compared() {
    let (room, scores, keys) = with_scores();
    room.write("mine.csv", scores.csv(keys));
    room.quadcast("evaluate --data harbour --scores mine.csv --out mine").success();
    let answer = room.quadcast("compare combined mine").success();
    answer.assert_says(&["equal", "external:mine"]);
    assert!(!answer.stdout.contains("warning"), "{}", answer.stdout);
    room.write("rows.csv", scores.lines("row,entity,score", |row| row.to_string()));
    room.quadcast("evaluate --data harbour --scores rows.csv --unchecked-order --out rows").success();
    let answer = room.quadcast("compare combined rows").success();
    answer.assert_says(&["warning: the second run comes from scores whose row order was not verified\n"]);
    let document = room.document("compare combined rows");
    assert_eq!(document["second"]["scores"]["file"], "rows.csv");
    assert!(document["first"].get("scores").is_none());
}

#[test]
fn unverified_order_is_warned_about() {
    let (room, scores, _) = with_scores();
    let text = scores.lines("row,entity,score", |row| row.to_string());
    room.write("rows.csv", &text);
    let texts = ["rows.csv does not say which query", "a column \"key\"", "--unchecked-order"];
    assert_refused(&room, "rows.csv", &texts);
    let answer = room.quadcast("evaluate --data harbour --scores rows.csv --unchecked-order").success();
    answer.assert_says(&["warning: row order not verified"]);
    assert_as_own(&room, "rows.csv", "--unchecked-order");
    room.write("bare.csv", text.split_once('\n').expect("a header").1);
    assert_as_own(&room, "bare.csv", "--unchecked-order");
    let array = single(&scores.levels());
    room.write("a.npy", &array);
    assert_refused(&room, "a.npy", &["a.npy", "numpy.savez", "--unchecked-order"]);
    room.write("a.npz", npz(&[("scores", &array)], false));
    assert_refused(&room, "a.npz", &["a.npz", "\"keys\"", "--unchecked-order"]);
}

#[test]
fn permuted_rows_are_an_error() {
    let (room, scores, keys) = with_scores();
    let mut permuted = keys.to_vec();
    permuted.swap(3, 200);
    let arrays: [(&str, &[u8]); 2] =
        [("scores", &single(&scores.levels())), ("keys", &keys_array(&permuted))];
    room.write("p.npz", npz(&arrays, false));
    let texts = ["p.npz: row 3 has the key", &keys[200].to_string(), &keys[3].to_string(), "permuted"];
    assert_refused(&room, "p.npz", &texts);
    room.write("p.csv", scores.lines("row,key,entity,score", |row| format!("{row},{}", permuted[row])));
    assert_refused(&room, "p.csv", &["p.csv:", ": row 3 has the key", "permuted"]);
    // Also with the flag: keys that are there are checked.
    assert_refused(&room, "p.csv --unchecked-order", &["permuted"]);
}

#[test]
fn a_real_benchmark_gives_the_numbers_of_the_run() {
    let Some(store) = real_data("forecasting/ICEWS14") else { return };
    let room = Room::new();
    let data = store.join("forecasting/ICEWS14");
    let options = ["variant=strict", "lambda=0.1"];
    let scores = Scores::of_recurrency(&data, Setting::MultiStep, &options);
    room.quadcast_in(&store, "data export forecasting/ICEWS14 --queries test --out q.csv").success();
    let keys = keys_of(&room.text("q.csv"));
    room.write("s.csv", scores.csv(&keys));
    let common = "--data forecasting/ICEWS14 --setting multi-step --json";
    let run = format!("run --model recurrency {common} --set variant=strict --set lambda=0.1 --out own");
    let own = room.quadcast_in(&store, &run).success().json();
    let judged = room.quadcast_in(&store, &format!("evaluate {common} --scores s.csv")).success().json();
    assert_eq!(judged["metrics"], own["metrics"]);
    assert_eq!(own["metrics"]["time"]["queries"], 14742);
}

#[test]
fn infinite_scores_are_scores() {
    let room = Room::with_splits("0 0 1 0\n", "0 0 1 1\n", "0 0 1 2\n");
    let numbers = floats(&[1.0, f32::INFINITY, f32::INFINITY, f32::NEG_INFINITY]);
    room.write("inf.npy", npy("<f4", "(2, 2)", &numbers));
    let record = room.document("evaluate --data small --scores inf.npy --unchecked-order");
    assert_eq!(record["metrics"]["time"]["mrr"], 1.0);
}
