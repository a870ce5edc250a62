//! Neural models on the real binary: training, interruptions, one training for several settings.

use crate::common::Room;

const MODELS: [(&str, &str); 3] = [
    ("cygnet", "--set dimension=8 --set epochs=3 --set first_validation=1"),
    ("re-gcn", "--set dimension=8 --set epochs=3"),
    ("cen", "--set dimension=8 --set epochs=2 --set shortest=2 --set longest=3"),
];

/// The files that a run leaves and that nothing but the request may decide.
fn results(room: &Room, folder: &str) -> Vec<Vec<u8>> {
    // Completion models give no reasons.
    let reasons = Some("explanations.json").filter(|file| room.path(format!("{folder}/{file}")).exists());
    let files = ["model.safetensors", "model.json", "ranks.csv.zst"].into_iter().chain(reasons);
    files.map(|file| room.read(&format!("{folder}/{file}"))).collect()
}

#[test]
fn the_number_of_threads_does_not_matter_and_answers_have_reasons() {
    let room = Room::with_harbour();
    for (model, settings) in MODELS {
        for threads in [1, 2] {
            let run = format!("run --model {model} --data harbour {settings} --threads {threads}");
            room.quadcast(&format!("{run} --out {model}-{threads}")).success();
        }
        assert_eq!(results(&room, &format!("{model}-1")), results(&room, &format!("{model}-2")), "{model}");
        let events = room.json_lines(&format!("{model}-1/trace.jsonl"));
        assert!(events.iter().any(|event| event["event"] == "epoch" && event["loss"].is_f64()), "{model}");
        assert!(events.iter().any(|event| event["event"] == "trained"), "{model}");
        assert!(!room.path(format!("{model}-1/checkpoint")).exists(), "{model}");

        // Answers come with reasons.
        let asked = format!("forecast {model}-1 --subject #0 --relation #0 --top 2 --explain");
        let reason = &room.document(&asked)["answers"][0]["why"];
        let given = ["facts", "also"].map(|kind| reason[kind].as_array().map_or(0, Vec::len));
        assert!(given.iter().sum::<usize>() > 0, "{model}: {reason}");
        room.quadcast(&asked).success();
    }
}

#[test]
fn a_training_that_was_killed_ends_as_if_it_had_not_been() {
    let room = Room::with_harbour();
    for (model, settings) in [
        ("re-gcn", "--set dimension=32 --set epochs=6"),
        ("tntcomplex", "--set dimension=64 --set epochs=30 --set validate_every=3"),
        ("ttranse", "--set dimension=32 --set epochs=12 --set validate_every=3"),
    ] {
        let request = format!("run --model {model} --data harbour {settings} --out {model}");
        room.quadcast(&format!("{request}-whole")).success();
        let (whole, killed) = (format!("{model}-whole"), format!("{model}-killed"));
        let trace = room.path(format!("{killed}/trace.jsonl"));
        let trained = || std::fs::read_to_string(&trace).is_ok_and(|text| text.lines().count() >= 4);
        room.kill_when(&format!("{request}-killed"), trained);
        assert!(room.path(format!("{killed}/checkpoint")).exists(), "{model} was killed in training");
        room.quadcast(&format!("{request}-killed")).success();
        let events = room.json_lines(&format!("{killed}/trace.jsonl"));
        assert!(events.iter().any(|event| event["event"] == "resumed"), "{model}");
        assert!(results(&room, &whole) == results(&room, &killed), "{model} is another one after a kill");
    }
}

#[test]
fn a_time_budget_ends_training_and_a_larger_one_goes_on() {
    let room = Room::with_harbour();
    let request = "run --model re-gcn --data harbour --set dimension=8 --set epochs=3 --out";
    room.quadcast(&format!("{request} whole")).success();
    // The first epoch always comes to its end.
    room.quadcast(&format!("{request} part --time-budget 0.001s")).success();
    let record = room.record("part");
    assert_eq!(record["training"][0]["ending"], "time-budget");
    assert_eq!(record["training"][0]["epochs"], 1);
    // Another run cannot go on with it, and does not destroy it either.
    let texts = ["training of another run", "dropout = 0.3"];
    room.assert_refused(&format!("{request} part --resume --time-budget 10m --set dropout=0.3"), &texts);
    room.quadcast(&format!("{request} part --resume --time-budget 10m")).success();
    assert_eq!(room.record("part")["training"][0]["ending"], "epochs");
    assert_eq!(results(&room, "whole"), results(&room, "part"));
    room.assert_refused(&format!("{request} part --resume"), &["no training to resume"]);
    room.assert_refused(&format!("{request} other --time-budget soon"), &["90s, 45m or 2h"]);
}

#[test]
fn one_training_serves_several_settings() {
    let room = Room::with_harbour();
    let (model, settings) = MODELS[2];
    room.quadcast(&format!("run --model {model} --data harbour {settings} --out single")).success();
    for setting in ["multi-step", "online"] {
        room.quadcast(&format!("run --trained-by single --setting {setting} --out {setting}")).success();
        let record = room.record(setting);
        assert_eq!(record["protocol"]["setting"], setting);
        let metric = record["selection"]["metric"].as_str().expect("it was chosen on validation");
        assert!(metric.contains("single-step"), "{metric}");
        // What is learned online belongs to the evaluation.
        room.assert_same_files("single", setting, &["model.safetensors"]);
        assert_ne!(room.read("single/ranks.csv.zst"), room.read(&format!("{setting}/ranks.csv.zst")));
    }
    // A repetition of the request finds the model again.
    room.quadcast("run online/run.toml --out again").success();
    room.assert_same_files("online", "again", &["ranks.csv.zst"]);
    room.assert_refused("run --trained-by single --model re-gcn --out no", &["--trained-by"]);
    room.assert_refused("run --trained-by nowhere --out no", &["nowhere"]);
}

#[test]
fn devices_that_are_not_there_are_refused() {
    let room = Room::with_harbour();
    room.assert_refused("run --model re-gcn --data harbour --device gpu", &["cpu, cuda, wgpu and metal"]);
    if !cfg!(feature = "wgpu") {
        room.assert_refused("run --model re-gcn --data harbour --device wgpu", &["--features wgpu"]);
    }
    room.quadcast("run --model recurrency --data harbour --device cpu --out cpu").success();
}
