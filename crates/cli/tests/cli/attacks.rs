//! What an attack on the tool once achieved, and what happens now: folders of others, sizes without end, results that flatter.

use std::fmt::Write;

use crate::bad_scores::GOOD;
use crate::common::{Room, assert_texts};
use crate::evolving;
use crate::scores::{floats, npy, with_small};

#[test]
fn no_command_writes_into_a_folder_of_others() {
    let assert_untouched = |room: &Room, command: &str| {
        for file in ["model.safetensors", "metrics.json", "checkpoint/state"] {
            room.write(format!("mine/{file}"), "two years of work");
            for options in ["", "--overwrite"] {
                let texts = ["mine holds files that quadcast run did not make", "choose another --out"];
                room.assert_refused(&format!("{command} --out mine {options}"), &texts);
            }
            assert_eq!(room.text(&format!("mine/{file}")), "two years of work");
            room.remove("mine");
        }
    };
    let (room, _) = with_small();
    room.write("good.csv", GOOD);
    assert_untouched(&room, "evaluate --data small --scores good.csv --unchecked-order");
    let room = Room::with_circles();
    let run = format!("run --model transe --data circles {}", evolving::QUICK);
    assert_untouched(&room, &run);
    room.quadcast(&format!("{run} --out base")).success();
    room.write("news.txt", "Nadia\tperson 1\tlikes\t+\n");
    assert_untouched(&room, "update base news.txt");
}

#[test]
fn a_world_is_replaced_only_if_it_is_ours() {
    let room = Room::new();
    let texts =
        ["mine", "contains other files", "replaces only synthetic datasets", "remove the folder yourself"];
    let refuse = |made: &str, file: &str| {
        room.write(format!("mine/{file}"), "two years of work");
        room.assert_refused(&format!("{made} --overwrite"), &texts);
        assert_eq!(room.text(&format!("mine/{file}")), "two years of work");
        room.remove("mine");
    };
    let made = "data synth --world rules-only --out mine";
    for world in ["{}", "not JSON", "{\"files\": [\"thesis.txt\"]}", "{\"files\": {\"thesis.txt\": \"\"}}"] {
        room.write("mine/world.json", world);
        refuse(made, "thesis.txt");
    }
    // Files of somebody else among ours, and ours with other content.
    for file in ["thesis.txt", "thesis/1.txt", "train.txt", "world.json"] {
        room.quadcast(made).success();
        refuse(made, file);
    }
    let made = "data synth --world evolving --out mine";
    for file in ["updates/1/thesis.txt", "updates/1/train-op2id.txt"] {
        room.quadcast(made).success();
        refuse(made, file);
    }
    room.quadcast(made).success();
    room.quadcast(&format!("{made} --overwrite")).success();
    // Earlier versions listed names without checksums.
    let mut world = room.json("mine/world.json");
    let names: Vec<String> = world["files"].as_object().expect("checksums").keys().cloned().collect();
    world["files"] = names.into();
    room.write("mine/world.json", world.to_string());
    room.assert_refused(&format!("{made} --overwrite"), &texts);
}

/// Settings that would take more memory than there is, or never end.
const TOO_LARGE: [(&str, &str, &str); 5] = [
    ("re-gcn", "dimension", "100000000"),
    ("tntcomplex", "dimension", "100000000"),
    ("ttranse", "negatives", "100000000"),
    ("re-gcn", "layers", "9007199254740992"),
    ("cygnet", "dimension", "9007199254740992"),
];

#[test]
fn sizes_without_end_are_refused_wherever_they_come_from() {
    let room = Room::with_harbour();
    for (model, key, value) in TOO_LARGE {
        let (place, shared) = (format!("{key} = {value} is out of range"), key == "negatives");
        let texts = [place.as_str(), "at most"];
        let sampler = if shared { "--set sampler=shared" } else { "" };
        let run = format!("run --model {model} --data harbour --set {key}={value} {sampler} --out run");
        room.quadcast(&run).assert_error(2, &texts);
        let sampler = if shared { "sampler = \"shared\"" } else { "" };
        let plan = format!("model = \"{model}\"\ndata = \"harbour\"\n[config]\n{key} = {value}\n{sampler}\n");
        room.write("plan.toml", plan);
        room.quadcast("run plan.toml --out planned").assert_error(2, &texts);
    }
}

#[test]
fn numbers_of_a_model_file_are_checked_as_settings_are() {
    let room = Room::with_harbour();
    let run = "run --model re-gcn --data harbour --set dimension=8 --set epochs=1 --out run";
    room.quadcast(run).success();
    let sound = room.text("run/model.json");
    for (key, value, text) in [
        ("dimension", 100_000_000, "shape [37, 8] instead of [37, 100000000]"),
        ("layers", 1_u64 << 53, "layers = 9007199254740992 is out of range"),
        ("history", 0, "history = 0 is out of range"),
    ] {
        let mut model = room.json("run/model.json");
        model["state"]["config"][key] = value.into();
        room.write("run/model.json", model.to_string());
        room.forge_checksums("run");
        room.quadcast("forecast run --subject #0 --relation #0").assert_error(2, &["run/model.json", text]);
        room.write("run/model.json", &sound);
    }
    room.forge_checksums("run");
    room.quadcast("forecast run --subject #0 --relation #0").success();
}

/// The row of a check in a report.
fn check(room: &Room, run: &str, id: &str) -> String {
    let report = room.quadcast(&format!("report {run} --format md")).success().stdout;
    let row = report.lines().find(|line| line.starts_with(&format!("| {id} |")));
    row.unwrap_or_else(|| panic!("no check {id}: {report}")).to_owned()
}

#[test]
fn equal_scores_do_not_pass_for_a_perfect_model() {
    let (room, _) = with_small();
    room.write("zeros.npy", npy("<f4", "(4, 3)", &floats(&[0.0; 12])));
    let run = "evaluate --data small --scores zeros.npy --unchecked-order";
    room.quadcast(&format!("{run} --ties optimistic --out zeros")).success();
    assert_eq!(room.record("zeros")["metrics"]["time"]["mrr"], 1.0, "that is what optimistic means");
    assert_texts(&check(&room, "zeros", "F1"), &["warn", "100.0 % of the correct answers are tied"]);
    // Nobody knows what the maker of these scores saw.
    for id in ["S2", "L1"] {
        assert_texts(&check(&room, "zeros", id), &["not known", "external scores"]);
    }
    room.quadcast(&format!("{run} --out fair")).success();
    let mrr = room.record("fair")["metrics"]["time"]["mrr"].as_f64().expect("a number");
    assert!(mrr < 0.8, "{mrr}");
}

#[test]
fn selection_on_the_test_facts_fails() {
    let mut train = String::new();
    for i in 0..30 {
        writeln!(train, "guest {i}\tvisits\thost {}\t2031-02-0{}", i % 7, 1 + i % 9).expect("a string");
    }
    let same = "guest 1\tvisits\thost 2\t2031-02-03\nguest 3\tvisits\thost 2\t2031-02-04\n";
    let room = Room::with_splits(&train, same, same);
    let settings = "--set dimension=8 --set epochs=4 --set validate_every=2 --set batch=32";
    let run = room.quadcast(&format!("run --model tntcomplex --data small {settings} --out run"));
    assert_eq!(run.code, 0, "{}", run.stderr);
    assert_texts(&check(&room, "run", "L1"), &["fail", "2 of 2 test facts are validation facts"]);
}

#[test]
fn a_model_that_learned_from_the_test_steps_is_not_judged_on_them() {
    let room = Room::with_circles();
    room.quadcast(&format!("run --model transe --data circles {} --out base", evolving::QUICK)).success();
    room.assert_refused(
        "run --trained-by base --out again",
        &["has learned from all its steps", "quadcast update"],
    );
}
