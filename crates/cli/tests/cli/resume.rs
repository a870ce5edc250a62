//! A run that was interrupted goes on, and ends like one that was not.

use std::fs;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Answer, Files, MARKER, Room, wait_until};
use crate::record::status;

const RUN: &str = "run --model recurrency --data harbour";
const RUN_KEPT: &str = "run --model recurrency --data harbour --out kept";
const JOURNAL: &str = "kept/ranks.partial";

/// Runs into `kept` as far as the last test step.
fn interrupt(room: &Room, options: &str) {
    room.interrupt(&format!("{RUN_KEPT} {options}"));
    let record = room.record("kept");
    assert_eq!(record["status"], "incomplete");
    assert!(record["fitted"].is_string());
}

/// Where each entry of the journal ends, and how many steps there are up to there. The first entry says whose it is.
fn entries(journal: &[u8]) -> Vec<(usize, usize)> {
    let (mut entries, mut end, mut steps) = (Vec::new(), 0, 0);
    while let Some(length) = journal.get(end..end + 4) {
        let begin = end + 4;
        end = begin + u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
        let Some(packed) = journal.get(begin..end) else { break };
        if begin > 4 {
            let text = String::from_utf8(zstd::decode_all(packed).expect("an entry")).expect("text");
            // A step begins with a line of three fields, all other lines have more.
            steps += text.lines().filter(|line| line.split(',').count() == 3).count();
        }
        entries.push((end, steps));
    }
    entries
}

/// Steps that are in the journal of the run in `kept`.
fn steps_kept(room: &Room) -> usize {
    let journal = fs::read(room.path(JOURNAL)).unwrap_or_default();
    entries(&journal).last().map_or(0, |&(_, steps)| steps)
}

/// Runs again and asserts that the run starts afresh: it has nothing to say.
fn assert_afresh(room: &Room, command: &str) {
    room.quadcast(command).success();
    assert!(!room.path(JOURNAL).exists());
}

/// Runs again and asserts that the run goes on after some steps.
fn assert_goes_on(room: &Room, command: &str, done: usize) -> Answer {
    let answer = room.quadcast(command);
    answer.assert_remarks(&format!("resuming kept: fitted, {done} of 20 test steps done\n"));
    assert!(!room.path(JOURNAL).exists());
    answer
}

/// The uninterrupted run in `whole` and the interrupted one in `kept`.
static INTERRUPTED: LazyLock<Files> = LazyLock::new(|| {
    let room = Room::with_harbour();
    room.quadcast(&format!("{RUN} --out whole")).success();
    interrupt(&room, "");
    room.files()
});

fn with_interrupted() -> Room {
    Room::with_files(&INTERRUPTED)
}

#[test]
fn a_second_process_is_told_and_ctrl_c_ends_the_first_cleanly() {
    let room = Room::with_harbour();
    // A training that takes minutes.
    let run = room.start("run --model cygnet --data harbour --set epochs=100000 --out kept");
    wait_until(|| room.path("kept/trace.jsonl").exists());
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
    assert_eq!(room.record("kept")["status"], "incomplete");
    assert!(room.path("kept/checkpoint").is_dir(), "the training is kept");
    assert_eq!(room.text("kept/.quadcast-run"), MARKER, "the folder is free");
}

#[test]
fn a_run_goes_on_after_any_step() {
    for (options, share) in [
        ("", 0.0),
        ("", 0.1),
        ("--validation withheld", 0.7),
        ("--setting multi-step --ties random --seed 3", 0.4),
        ("--set variant=strict --set lambda=0.05 --duplicates keep", 1.0),
    ] {
        let room = Room::with_harbour();
        room.quadcast(&format!("{RUN} --out whole {options}")).success();
        interrupt(&room, options);
        let journal = room.read(JOURNAL);
        let entries = entries(&journal);
        assert_eq!(entries.last().expect("entries").1, 20);
        let (end, done) = entries[(share * (entries.len() - 1) as f64) as usize];
        room.write(JOURNAL, &journal[..end]);
        assert_goes_on(&room, &format!("{RUN_KEPT} {options}"), done);
        room.assert_same("whole", "kept");
    }
}

#[test]
fn the_fit_is_not_repeated() {
    let room = with_interrupted();
    let before = room.record("kept");
    assert_goes_on(&room, RUN_KEPT, 20);
    let after = room.record("kept");
    // No two fits take the same time to the last digit.
    assert_eq!(before["seconds"]["fit"], after["seconds"]["fit"]);
    assert_eq!(before["selection"], after["selection"]);
    assert_eq!(after.get("fitted"), None);
    let seconds = |record: &Value, part: &str| record["seconds"][part].as_f64().expect("a number");
    assert!(seconds(&after, "load") > seconds(&before, "load"), "the data was read twice");
}

#[test]
fn a_torn_journal_costs_one_step_and_an_unreadable_one_all() {
    let journal = with_interrupted().read(JOURNAL);
    let entries = entries(&journal);
    // The last entry but one.
    let (end, steps) = entries[entries.len() - 2];
    for (left, done) in [
        (Some(&journal[..=end]), steps),
        (Some(&journal[..end + 4]), steps),
        (Some(&journal[..end + 20]), steps),
        (Some(&b""[..]), 0),
        (Some(b"\0\0\0\0"), 0),
        (Some(b"not a journal at all"), 0),
        (None, 0),
    ] {
        let room = with_interrupted();
        match left {
            Some(bytes) => room.write(JOURNAL, bytes),
            None => fs::remove_file(room.path(JOURNAL)).expect("a journal"),
        }
        assert_goes_on(&room, RUN_KEPT, done);
        room.assert_same("whole", "kept");
    }
}

#[test]
fn a_journal_of_other_settings_is_ignored() {
    let other = Room::with_harbour();
    interrupt(&other, "--set lambda=0.5");
    let room = with_interrupted();
    room.write(JOURNAL, other.read(JOURNAL));
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
    assert_goes_on(&room, "run --model recurrency --data moved --out kept", 20);
    assert_eq!(room.read("whole/ranks.csv.zst"), room.read("kept/ranks.csv.zst"));
}

#[test]
fn another_version_or_a_wish_starts_afresh() {
    let room = with_interrupted();
    let mut record = room.record("kept");
    record["version"] = "0.0.0".into();
    room.write("kept/metrics.json", record.to_string());
    assert_afresh(&room, RUN_KEPT);
    room.assert_same("whole", "kept");
    let room = with_interrupted();
    assert_afresh(&room, &format!("{RUN_KEPT} --overwrite"));
    room.assert_same("whole", "kept");
}

#[test]
fn a_model_that_cannot_be_read_is_fitted_anew() {
    // Damage that leaves something that can be read.
    let mut parameters_missing = with_interrupted().json("kept/model.json");
    parameters_missing["state"]["parameters"].as_array_mut().expect("pairs").pop();
    for model in [
        "",
        "{\"model\": \"recurrency\", \"sta",
        "{\"model\": \"of old\", \"state\": null}",
        "{}",
        &parameters_missing.to_string(),
    ] {
        let room = with_interrupted();
        room.write("kept/model.json", model);
        assert_afresh(&room, RUN_KEPT);
        room.assert_same("whole", "kept");
    }
    let room = with_interrupted();
    fs::remove_file(room.path("kept/model.json")).expect("a model");
    assert_afresh(&room, RUN_KEPT);
    room.assert_same("whole", "kept");
}

#[test]
fn quiet_says_nothing_and_json_is_not_disturbed() {
    let room = with_interrupted();
    room.quadcast(&format!("{RUN_KEPT} --quiet")).success();
    room.assert_same("whole", "kept");
    let room = with_interrupted();
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

fn is_complete(room: &Room) -> bool {
    match status(room, "kept").as_deref() {
        None | Some("incomplete") => false,
        Some("complete") => true,
        Some(other) => panic!("a killed run says {other}"),
    }
}

#[test]
fn a_run_that_is_killed_again_and_again_arrives() {
    let room = Room::with_busy_dataset();
    let run = "run --model recurrency --data small --out kept";
    room.quadcast("run --model recurrency --data small --out whole").success();
    let mut most = 0;
    for wanted in [0, 1, 3, 7, 11, 15, 19] {
        room.kill_when(run, || room.path(JOURNAL).exists() && steps_kept(&room) >= wanted);
        if is_complete(&room) {
            // It was faster than we are.
            break;
        }
        // Nothing that was on the disk is lost.
        assert!(steps_kept(&room) >= most, "{} steps after {most}", steps_kept(&room));
        most = steps_kept(&room);
    }
    if !is_complete(&room) {
        assert_goes_on(&room, run, most);
    }
    room.assert_same("whole", "kept");
}

#[test]
fn a_run_that_is_killed_at_any_moment_can_be_taken_up() {
    let room = Room::with_busy_dataset();
    room.quadcast("run --model recurrency --data small --out whole").success();
    let take_up = || {
        if !is_complete(&room) {
            room.quadcast("run --model recurrency --data small --out kept --quiet").success();
        }
        room.assert_same("whole", "kept");
        room.remove("kept");
    };
    for milliseconds in [0, 5, 20, 50, 80, 150, 300, 400, 450, 500, 550, 600, 650, 700] {
        let begun = Instant::now();
        let moment = Duration::from_millis(milliseconds);
        room.kill_when("run --model recurrency --data small --out kept", || begun.elapsed() >= moment);
        take_up();
    }
    room.kill_when("run --model recurrency --data small --out kept", || {
        room.path("kept/metrics.json").exists()
    });
    take_up();
}
