//! A run that was interrupted goes on, and ends like one that was not.

mod common;

use std::fs;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use assert_cmd::cargo::cargo_bin;
use common::{Answer, Room, kill, start};
use serde_json::Value;

const RUN: &str = "run --data harbour";
const RUN_KEPT: &str = "run --data harbour --out kept";
const JOURNAL: &str = "kept/ranks.partial";

/// Runs into `kept` as far as the last test step: the ranks cannot be written, because their place is taken.
fn interrupt(room: &Room, options: &str) {
    room.write("kept/ranks.csv.zst/in-the-way", "");
    let answer = room.quadcast(&format!("{RUN_KEPT} {options}"));
    answer.assert_error(1, &["cannot write kept/ranks.csv.zst"]);
    fs::remove_dir_all(room.path("kept/ranks.csv.zst")).expect("the obstacle");
    let record = room.json("kept/metrics.json");
    assert_eq!(record["status"], "incomplete");
    assert!(record["fitted"].is_string());
}

/// Where each entry of the journal ends. The first one says whose it is, the others are steps.
fn ends(journal: &[u8]) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut end = 0;
    while let Some(length) = journal.get(end..end + 4) {
        end += 4 + u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
        if end <= journal.len() {
            ends.push(end);
        }
    }
    ends
}

/// Runs again and asserts that the run starts afresh: it has nothing to say.
fn assert_afresh(room: &Room, command: &str) {
    room.quadcast(command).success();
    assert!(!room.path(JOURNAL).exists());
}

/// Runs again and asserts that the run goes on after some steps.
fn assert_goes_on(room: &Room, command: &str, done: usize) -> Answer {
    let answer = room.quadcast(command);
    assert_eq!(answer.stderr, format!("resuming kept: fitted, {done} of 20 test steps done\n"));
    assert_eq!(answer.code, 0);
    assert!(!room.path(JOURNAL).exists());
    answer
}

/// A room with the uninterrupted run in `whole` and the interrupted one in `kept`.
fn with_interrupted() -> Room {
    let room = Room::with_harbour();
    room.quadcast(&format!("{RUN} --out whole")).success();
    interrupt(&room, "");
    room
}

/// A training that takes minutes, in `kept`.
fn start_long_training(room: &Room) -> Child {
    std::process::Command::new(cargo_bin!("quadcast"))
        .args("run --model cygnet --data harbour --set epochs=100000 --out kept".split(' '))
        .current_dir(room.path(""))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts")
}

#[test]
fn a_second_process_is_told_and_ctrl_c_ends_the_first_cleanly() {
    let room = Room::with_harbour();
    let run = start_long_training(&room);
    let begun = Instant::now();
    while !room.path("kept/trace.jsonl").exists() && begun.elapsed() < Duration::from_mins(1) {
        sleep(Duration::from_millis(10));
    }
    room.quadcast(RUN_KEPT).assert_error(
        2,
        &["kept is in use by another process", &run.id().to_string(), "choose another --out"],
    );
    let signal = std::process::Command::new("kill").args(["-INT", &run.id().to_string()]).status();
    assert!(signal.expect("kill is there").success());
    let ended = run.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(130));
    let said = String::from_utf8(ended.stderr).expect("text");
    assert!(said.contains("the run in kept can be resumed: give the same command again"), "{said}");
    assert_eq!(room.json("kept/metrics.json")["status"], "incomplete");
    assert!(room.path("kept/checkpoint").is_dir(), "the training is kept");
    assert!(!room.path("kept/run.lock").exists(), "the folder is free");
}

#[test]
fn a_run_goes_on_after_any_step() {
    for (options, done) in [
        ("", 0),
        ("", 1),
        ("--validation withheld", 13),
        ("--setting multi-step --ties random --seed 3", 7),
        ("--set variant=strict --set lambda=0.05 --duplicates keep", 20),
    ] {
        let room = Room::with_harbour();
        room.quadcast(&format!("{RUN} --out whole {options}")).success();
        interrupt(&room, options);
        let journal = room.read(JOURNAL);
        let ends = ends(&journal);
        assert_eq!(ends.len(), 21);
        room.write(JOURNAL, &journal[..ends[done]]);
        assert_goes_on(&room, &format!("{RUN_KEPT} {options}"), done);
        room.assert_same("whole", "kept");
    }
}

#[test]
fn the_fit_is_not_repeated() {
    let room = with_interrupted();
    let before = room.json("kept/metrics.json");
    assert_goes_on(&room, RUN_KEPT, 20);
    let after = room.json("kept/metrics.json");
    // No two fits take the same time to the last digit.
    assert_eq!(before["seconds"]["fit"], after["seconds"]["fit"]);
    assert_eq!(before["selection"], after["selection"]);
    assert_eq!(after.get("fitted"), None);
    let seconds = |record: &Value, part: &str| record["seconds"][part].as_f64().expect("a number");
    assert!(seconds(&after, "load") > seconds(&before, "load"), "the data was read twice");
}

#[test]
fn a_torn_journal_costs_one_step() {
    let room = Room::with_harbour();
    room.quadcast(&format!("{RUN} --out whole")).success();
    for torn in [1, 4, 20] {
        interrupt(&room, "");
        let journal = room.read(JOURNAL);
        room.write(JOURNAL, &journal[..ends(&journal)[5] + torn]);
        assert_goes_on(&room, RUN_KEPT, 5);
        room.assert_same("whole", "kept");
        fs::remove_dir_all(room.path("kept")).expect("the record");
    }
}

#[test]
fn a_journal_that_cannot_be_read_is_judged_anew() {
    for journal in [None, Some(""), Some("\0\0\0\0"), Some("not a journal at all")] {
        let room = with_interrupted();
        match journal {
            Some(text) => room.write(JOURNAL, text),
            None => fs::remove_file(room.path(JOURNAL)).expect("a journal"),
        }
        assert_goes_on(&room, RUN_KEPT, 0);
        room.assert_same("whole", "kept");
    }
}

#[test]
fn a_journal_of_other_settings_is_ignored() {
    let room = Room::with_harbour();
    room.quadcast(&format!("{RUN} --out whole")).success();
    interrupt(&room, "--set lambda=0.5");
    let foreign = room.read(JOURNAL);
    interrupt(&room, "");
    room.write(JOURNAL, foreign);
    assert_goes_on(&room, RUN_KEPT, 0);
    room.assert_same("whole", "kept");
}

#[test]
fn a_run_that_is_not_the_same_starts_afresh() {
    for options in ["--set lambda=0.5", "--seed 2", "--setting multi-step", "--ties mean"] {
        let room = with_interrupted();
        room.quadcast(&format!("{RUN} --out other {options}")).success();
        assert_afresh(&room, &format!("{RUN_KEPT} {options}"));
        room.assert_same("other", "kept");
    }
}

#[test]
fn a_run_on_other_data_starts_afresh() {
    let room = with_interrupted();
    let facts = room.text("harbour/test.txt");
    let fewer: Vec<&str> = facts.lines().skip(1).collect();
    room.write("harbour/test.txt", fewer.join("\n"));
    room.quadcast(&format!("{RUN} --out other")).success();
    assert_afresh(&room, RUN_KEPT);
    room.assert_same("other", "kept");
}

#[test]
fn where_the_data_lies_does_not_matter() {
    let room = with_interrupted();
    fs::rename(room.path("harbour"), room.path("moved")).expect("a folder can be moved");
    assert_goes_on(&room, "run --data moved --out kept", 20);
    assert_eq!(room.read("whole/ranks.csv.zst"), room.read("kept/ranks.csv.zst"));
}

#[test]
fn another_version_starts_afresh() {
    let room = with_interrupted();
    let mut record = room.json("kept/metrics.json");
    record["version"] = "0.0.0".into();
    room.write("kept/metrics.json", record.to_string());
    assert_afresh(&room, RUN_KEPT);
    room.assert_same("whole", "kept");
}

#[test]
fn overwrite_starts_afresh() {
    let room = with_interrupted();
    assert_afresh(&room, &format!("{RUN_KEPT} --overwrite"));
    room.assert_same("whole", "kept");
}

#[test]
fn a_model_that_cannot_be_read_is_fitted_anew() {
    let room = Room::with_harbour();
    room.quadcast(&format!("{RUN} --out whole")).success();
    for model in ["", "{\"model\": \"recurrency\", \"sta", "{\"model\": \"of old\", \"state\": null}", "{}"] {
        interrupt(&room, "");
        room.write("kept/model.json", model);
        assert_afresh(&room, RUN_KEPT);
        room.assert_same("whole", "kept");
        fs::remove_dir_all(room.path("kept")).expect("the record");
    }
    // Damage that leaves something that can be read, and nothing at all.
    interrupt(&room, "");
    let mut model = room.json("kept/model.json");
    model["state"]["parameters"].as_array_mut().expect("pairs").pop();
    room.write("kept/model.json", model.to_string());
    assert_afresh(&room, RUN_KEPT);
    room.assert_same("whole", "kept");
    fs::remove_dir_all(room.path("kept")).expect("the record");
    interrupt(&room, "");
    fs::remove_file(room.path("kept/model.json")).expect("a model");
    assert_afresh(&room, RUN_KEPT);
    room.assert_same("whole", "kept");
}

#[test]
fn quiet_says_nothing_and_json_is_not_disturbed() {
    let room = with_interrupted();
    room.quadcast(&format!("{RUN_KEPT} --quiet")).success();
    room.assert_same("whole", "kept");
    fs::remove_dir_all(room.path("kept")).expect("the record");
    interrupt(&room, "");
    let answer = assert_goes_on(&room, &format!("{RUN_KEPT} --json"), 20);
    assert_eq!(answer.json()["status"], "complete");
}

#[test]
fn the_default_folder_is_looked_at() {
    let room = with_interrupted();
    let name = "runs/recurrency-harbour-single-step-1";
    fs::create_dir(room.path("runs")).expect("a folder");
    fs::rename(room.path("kept"), room.path(name)).expect("a folder can be moved");
    let answer = room.quadcast(RUN);
    assert_eq!(answer.stderr, format!("resuming {name}: fitted, 20 of 20 test steps done\n"));
    room.assert_same("whole", name);
}

/// Waits until the journal of `kept` holds some entries, or the run is over.
fn wait_for_entries(room: &Room, run: &mut Child, entries: usize) {
    while run.try_wait().expect("a child has a state").is_none() {
        let journal = fs::read(room.path(JOURNAL)).unwrap_or_default();
        if ends(&journal).len() >= entries {
            return;
        }
        sleep(Duration::from_millis(1));
    }
}

fn is_complete(room: &Room) -> bool {
    let path = room.path("kept/metrics.json");
    path.exists() && room.json("kept/metrics.json")["status"] == "complete"
}

#[test]
fn a_run_that_is_killed_again_and_again_arrives() {
    let room = Room::with_busy_dataset();
    room.quadcast("run --data small --out whole").success();
    let mut most = 0;
    for entries in [1, 2, 4, 8, 12, 16, 20] {
        let mut run = start(&room, "kept");
        wait_for_entries(&room, &mut run, entries);
        kill(run);
        if is_complete(&room) {
            // It was faster than we are.
            break;
        }
        // Nothing that was on the disk is lost.
        let kept = ends(&room.read(JOURNAL)).len();
        assert!(kept >= most, "{kept} entries after {most}");
        most = kept;
    }
    if !is_complete(&room) {
        assert_goes_on(&room, "run --data small --out kept", most - 1);
    }
    room.assert_same("whole", "kept");
}

#[test]
fn a_run_that_is_killed_at_any_moment_can_be_taken_up() {
    let room = Room::with_busy_dataset();
    room.quadcast("run --data small --out whole").success();
    for milliseconds in [5, 50, 150, 300, 400, 450, 500, 550, 600, 650, 700] {
        let run = start(&room, "kept");
        sleep(Duration::from_millis(milliseconds));
        kill(run);
        if !is_complete(&room) {
            room.quadcast("run --data small --out kept --quiet").success();
        }
        room.assert_same("whole", "kept");
        fs::remove_dir_all(room.path("kept")).expect("the record");
    }
}
