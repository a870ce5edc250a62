//! What a run leaves behind: complete, repeatable, never half written.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::{MARKER, Room, real_data, skip};

const FILES: [&str; 7] = [
    ".quadcast-run",
    "SHA256SUMS",
    "explanations.json",
    "metrics.json",
    "model.json",
    "ranks.csv.zst",
    "run.toml",
];

/// How far a run has come, after checks that hold at any moment.
pub fn status(room: &Room, run: &str) -> Option<String> {
    if room.path(format!("{run}/run.toml")).exists() {
        let configuration = room.text(&format!("{run}/run.toml"));
        configuration.parse::<toml::Table>().expect("a whole configuration");
    }
    if !room.path(format!("{run}/metrics.json")).exists() {
        return None;
    }
    let record = room.record(run);
    let status = record["status"].as_str().expect("a record says how far it is").to_owned();
    let complete = status == "complete";
    assert_eq!(record.get("metrics").is_some(), complete);
    for file in FILES {
        assert!(!complete || room.path(format!("{run}/{file}")).is_file(), "{file} is missing");
    }
    Some(status)
}

/// Asserts that an object has these keys (separated by blanks) and no others.
fn assert_keys(value: &Value, expected: &str) {
    let keys: BTreeSet<&str> = value.as_object().expect("an object").keys().map(String::as_str).collect();
    assert_eq!(keys, expected.split_whitespace().collect());
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

#[test]
fn files_and_keys_of_the_record() {
    let room = Room::with_runs();
    let files = std::fs::read_dir(room.path("combined")).expect("the record");
    let names: BTreeSet<_> = files.map(|file| file.expect("a file").file_name()).collect();
    assert_eq!(names, FILES.map(Into::into).into());
    assert_eq!(status(&room, "combined").as_deref(), Some("complete"));
    assert!(room.json("combined/model.json").is_object());
    let record = room.record("combined");
    assert_keys(
        &record,
        "schema task status dataset model protocol seed version metrics by_step by_relation seconds peak_memory_bytes \
         unreached not_a_number repeated_queries latest_read isolation selection bootstrap digest checksum",
    );
    assert_keys(&record["isolation"], "verdict questions steps largest_difference");
    assert_keys(&record["dataset"], "name variant fingerprint entities relations train valid test");
    assert_keys(&record["model"], "name config");
    assert_keys(&record["protocol"], "task setting validation ties candidates duplicates selection");
    assert_keys(&record["seconds"], "load fit evaluate");
    assert_keys(&record["by_step"][0], "step time queries mrr hits@1 hits@3 hits@10 mr");
    assert_keys(&record["by_relation"][0], "id relation direction queries mrr hits@1 hits@3 hits@10 mr");
    assert_eq!((&record["schema"], &record["status"]), (&3.into(), &"complete".into()));
    assert_eq!(record["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(record["peak_memory_bytes"].is_u64(), cfg!(target_os = "linux"));
    assert_keys(&record["metrics"], "time static raw");
    for filter in ["time", "static", "raw"] {
        let outcome = &record["metrics"][filter];
        let means = "mrr hits@1 hits@3 hits@10 mr";
        assert_keys(outcome, &format!("{means} queries ties ci95 object subject seen unseen policy"));
        for part in ["object", "subject", "seen", "unseen"] {
            assert_keys(&outcome[part], &format!("{means} queries"));
        }
        assert_keys(&outcome["policy"], "expected mean optimistic ordinal pessimistic random");
        for policy in ["optimistic", "mean", "pessimistic"] {
            assert_keys(&outcome["policy"][policy], means);
        }
        let [low, high] = [0, 1].map(|end| number(&outcome["ci95"]["mrr"][end]));
        assert!(low <= number(&outcome["mrr"]) && number(&outcome["mrr"]) <= high, "{filter}");
    }
}

#[test]
fn parts_of_the_record_and_ranks_agree() {
    let room = Room::with_runs();
    let record = room.record("combined");
    let total = number(&record["metrics"]["time"]["queries"]);
    let mrr = number(&record["metrics"]["time"]["mrr"]);
    for part in ["by_step", "by_relation"] {
        let rows = record[part].as_array().expect("rows");
        let queries = |row: &Value| number(&row["queries"]);
        assert_eq!(rows.iter().map(queries).sum::<f64>(), total, "{part}");
        let weighted = rows.iter().map(|row| queries(row) * number(&row["mrr"])).sum::<f64>();
        assert!((weighted / total - mrr).abs() < 1e-12, "{part}");
    }
    let text = room.unpacked("combined/ranks.csv.zst");
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 1 + 416);
    for filter in ["time", "static", "raw"] {
        let column = rows[0].iter().position(|name| *name == format!("{filter}_rank")).expect("a column");
        let reciprocal = |row: &Vec<&str>| 1.0 / row[column].parse::<f64>().expect("a rank");
        let mrr = rows[1..].iter().map(reciprocal).sum::<f64>() / 416.0;
        let expected = &record["metrics"][filter]["policy"]["optimistic"]["mrr"];
        assert!((mrr - number(expected)).abs() < 1e-12, "{filter}");
    }
}

#[test]
fn threads_and_repetition_change_nothing() {
    let room = Room::with_harbour();
    for (threads, out) in [(1, "one"), (2, "two"), (5, "five"), (2, "again")] {
        room.quadcast(&format!(
            "run --model recurrency --data harbour --threads {threads} --seed 3 --out {out}"
        ))
        .success();
    }
    for other in ["two", "five", "again"] {
        room.assert_same("one", other);
    }
}

#[test]
fn threads_change_nothing_on_a_real_benchmark() {
    let Some(store) = real_data("forecasting/ICEWS14") else { return };
    let room = Room::new();
    for (threads, out) in [(1, "one"), (2, "two")] {
        let command =
            format!("run --model recurrency --data forecasting/ICEWS14 --threads {threads} --out {out}");
        room.quadcast_in(&store, &command).success();
    }
    room.assert_same("one", "two");
}

#[test]
fn a_record_repeats_its_run() {
    let room = Room::with_harbour();
    let options = "--setting multi-step --ties random --seed 5 --set variant=strict --set lambda=0.05";
    room.quadcast(&format!("run --model recurrency --data harbour --out kept {options}")).success();
    room.quadcast("run kept/run.toml --out other").success();
    room.assert_same("kept", "other");
}

#[test]
fn a_record_is_repeated_on_the_same_data_only() {
    let room = Room::with_splits("0 0 1 0\n", "0 0 1 1\n", "0 0 1 2\n");
    room.quadcast("run --model recurrency --data small --out kept").success();
    room.write("small/test.txt", "1 0 0 2\n");
    room.assert_refused("run kept/run.toml --out other", &["small has changed", "fingerprint", "--data"]);
    room.quadcast("run kept/run.toml --data small --out other").success();
}

#[test]
fn a_run_that_cannot_be_judged_is_not_complete() {
    let room = Room::with_splits("0 0 1 0\n", "0 0 1 1\n", "0 0 1 1\n");
    let answer = room.quadcast("run --model recurrency --data small --out kept");
    answer.assert_error(2, &["1 facts are in both valid and test"]);
    assert_eq!(answer.stdout, "");
    assert!(matches!(status(&room, "kept").as_deref(), None | Some("failed")));
    room.write("small/test.txt", "0 0 1 2\n");
    room.quadcast("run --model recurrency --data small --out kept").success();
    assert_eq!(status(&room, "kept").as_deref(), Some("complete"));
}

#[test]
fn a_complete_record_is_not_overwritten_by_accident() {
    let room = Room::with_runs();
    let before = room.read("combined/metrics.json");
    let texts = ["combined holds a complete run already", "--out", "--overwrite"];
    room.assert_refused("run --model recurrency --data harbour --seed 2 --out combined", &texts);
    assert_eq!(room.read("combined/metrics.json"), before);
    room.quadcast("run --model recurrency --data harbour --seed 2 --out combined --overwrite").success();
    assert_eq!(room.record("combined")["seed"], 2);
}

#[test]
fn runs_that_start_together_do_not_disturb_each_other() {
    let room = Room::with_harbour();
    let options = ["", "--set lambda=0.5", "--ties mean", ""];
    let runs: Vec<_> =
        options.map(|options| room.start(&format!("run --model recurrency --data harbour {options}"))).into();
    for run in runs {
        assert!(run.wait_with_output().expect("it ends").status.success());
    }
    let mut lambdas = Vec::new();
    let name = "runs/recurrency-harbour-single-step-1";
    for folder in [name.to_owned(), format!("{name}.2"), format!("{name}.3"), format!("{name}.4")] {
        room.quadcast(&format!("verify {folder}")).success().assert_says(&["all the same"]);
        let record = room.record(&folder);
        lambdas.push(format!("{} {}", record["model"]["config"]["lambda"], record["protocol"]["ties"]));
    }
    lambdas.sort();
    assert_eq!(lambdas.iter().filter(|one| **one == "\"search\" \"expected\"").count(), 2, "{lambdas:?}");
    lambdas.dedup();
    assert_eq!(lambdas.len(), 3, "{lambdas:?}");
}

#[test]
fn files_of_others_are_not_touched() {
    let room = Room::with_harbour();
    for file in ["model.safetensors", "checkpoint/state", "metrics.json", "trace.jsonl"] {
        room.write(format!("mine/{file}"), "two years of work");
        for options in ["", "--overwrite", "--seed 2"] {
            let texts = ["mine holds files that quadcast run did not make", "choose another --out"];
            room.assert_refused(&format!("run --data harbour --out mine {options}"), &texts);
        }
        assert_eq!(room.text(&format!("mine/{file}")), "two years of work");
        room.remove("mine");
    }
}

#[test]
fn the_default_folder_is_numbered() {
    let room = Room::with_harbour();
    let name = "runs/recurrency-harbour-single-step-1";
    for folder in [name.to_owned(), format!("{name}.2"), format!("{name}.3")] {
        let answer = room.quadcast("run --model recurrency --data harbour").success();
        answer.assert_says(&[&format!("record: {folder}\n")]);
        assert_eq!(status(&room, &folder).as_deref(), Some("complete"));
    }
    let answer = room.quadcast("run --model recurrency --data harbour --overwrite").success();
    answer.assert_says(&[&format!("record: {name}\n")]);
}

#[test]
fn leftovers_are_not_fatal() {
    let room = Room::with_harbour();
    room.write("kept/.quadcast-run", MARKER);
    room.write("kept/metrics.json", "{\"schema\": 1, \"sta");
    room.write("kept/metrics.json.tmp", "{");
    room.write("kept/run.toml.tmp", "model = ");
    room.write("kept/ranks.csv.zst.tmp", b"\x28\xb5\x2f\xfd");
    room.quadcast("run --model recurrency --data harbour --out kept").success();
    assert_eq!(status(&room, "kept").as_deref(), Some("complete"));
    let rest = room.contents().into_iter().filter(|path| path.extension().is_some_and(|end| end == "tmp"));
    assert_eq!(rest.count(), 0);
}

#[test]
fn an_output_folder_that_cannot_be_made_is_named() {
    let room = Room::with_harbour();
    room.write("file", "in the way");
    for out in ["file", "file/below"] {
        let answer = room.quadcast(&format!("run --model recurrency --data harbour --out {out}"));
        answer.assert_error(1, &[&format!("cannot create the output folder {out}:"), "with --out"]);
        assert_eq!(answer.stdout, "");
    }
    assert_eq!(room.text("file"), "in the way");
}

#[cfg(unix)]
#[test]
fn a_read_only_output_folder_is_named() {
    use std::os::unix::fs::PermissionsExt;

    let room = Room::with_harbour();
    std::fs::create_dir(room.path("kept")).expect("a folder");
    std::fs::set_permissions(room.path("kept"), std::fs::Permissions::from_mode(0o555))
        .expect("the owner may");
    if std::fs::write(room.path("kept/probe"), "").is_ok() {
        return skip("this user may write everywhere");
    }
    let answer = room.quadcast("run --model recurrency --data harbour --out kept");
    answer.assert_error(1, &["cannot write kept/", "not writable", "--out"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_leaves_no_half_record() {
    let room = Room::with_harbour();
    for file in FILES.into_iter().filter(|file| *file != ".quadcast-run") {
        let run = format!("out-{file}");
        room.write(format!("{run}/.quadcast-run"), MARKER);
        // The temporary file of an atomic write, on a device that is always full.
        std::os::unix::fs::symlink("/dev/full", room.path(format!("{run}/.{file}.tmp"))).expect("a link");
        let answer = room.quadcast(&format!("run --model recurrency --data harbour --out {run}"));
        answer.assert_error(1, &[&format!("cannot write {run}/{file}:"), "The disk is full", "--out"]);
        assert_eq!(answer.stdout, "");
        let expected = (file != "metrics.json").then(|| "incomplete".to_owned());
        assert_eq!(status(&room, &run), expected, "{file}");
        room.quadcast(&format!("run --model recurrency --data harbour --out {run} --quiet")).success();
    }
}
