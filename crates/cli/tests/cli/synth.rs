//! `quadcast data synth` makes worlds that the other commands read, and `quadcast demo` plays with one.

use crate::common::Room;

#[test]
fn every_small_world_is_made_read_and_sound() {
    let room = Room::new();
    for world in ["village", "recurrence-only", "rules-only", "chains-only", "evolving"] {
        let answer =
            room.quadcast(&format!("data synth --world {world} --seed 3 --out made/{world}")).success();
        answer.assert_says(&[world, "seed 3", &format!("made/{world}")]);
        answer.assert_fits();
        room.quadcast(&format!("data info made/{world}")).success();
        room.quadcast(&format!("data audit made/{world}")).success();
        assert_eq!(room.json(&format!("made/{world}/world.json"))["seed"], 3);
    }
}

#[test]
fn the_best_score_stands_in_the_world_file() {
    let room = Room::new();
    let answer = room.document("data synth --out village");
    let world = room.json("village/world.json");
    assert_eq!(world["best"], answer["best"]);
    for setting in ["single-step", "multi-step"] {
        for filter in ["time", "static", "raw"] {
            let part = &world["best"][setting][filter];
            let mrr = part["mrr"].as_f64().expect("a number");
            let ends = [0, 1].map(|end| part["ci95"]["mrr"][end].as_f64().expect("a number"));
            assert!(0.0 < ends[0] && ends[0] <= mrr && mrr <= ends[1] && ends[1] < 1.0, "{setting} {filter}");
        }
    }
    assert_eq!(world["best"]["multi-step"]["rollouts"], 200);
    let truth = room.unpacked("village/truth.csv.zst");
    assert!(truth.starts_with("split,time,subject,relation,object,process,probability\n"), "{truth:.80}");
    let facts: u64 =
        ["train", "valid", "test"].iter().map(|s| world["sizes"]["facts"][s].as_u64().unwrap()).sum();
    assert_eq!(truth.lines().count() as u64, facts + 1);

    let record = room.document("run --model recurrency --data village --out record");
    let mrr = record["metrics"]["time"]["mrr"].as_f64().expect("a number");
    assert!(mrr < world["best"]["single-step"]["time"]["mrr"].as_f64().expect("a number"));
    assert_eq!(record["dataset"]["fingerprint"], world["fingerprint"]);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let room = Room::new();
    let names = ["train.txt", "valid.txt", "test.txt", "entity2id.json", "truth.csv.zst", "world.json"];
    for threads in [1, 2] {
        room.quadcast(&format!("data synth --seed 5 --out world-{threads} --threads {threads}")).success();
    }
    room.quadcast("data synth --seed 6 --out other").success();
    room.assert_same_files("world-1", "world-2", &names);
    for name in names {
        assert!(room.read(&format!("world-1/{name}")) != room.read(&format!("other/{name}")), "{name}");
    }
}

#[test]
fn wrong_requests_are_refused_before_anything_is_written() {
    let room = Room::new();
    let texts = ["vilage", "did you mean village?", "rules-only"];
    room.assert_refused("data synth --world vilage --out a", &texts);
    room.write("mine/notes.txt", "do not lose me");
    room.assert_refused("data synth --out mine", &["mine", "not empty", "--overwrite"]);
    room.assert_refused(
        "data synth --out mine --overwrite",
        &["mine", "contains other files", "replaces only synthetic datasets"],
    );
    room.assert_refused("data synth --out mine/notes.txt", &["this is a file"]);
    room.quadcast("data synth --world rules-only --out made").success();
    room.assert_refused("data synth --world rules-only --out made", &["made", "--overwrite"]);
    room.quadcast("data synth --world rules-only --out made --overwrite").success();
}

#[test]
fn one_command_makes_a_world_a_table_and_a_report() {
    let room = Room::new();
    let answer = room.quadcast("demo").success();
    answer.assert_fits();
    answer.assert_says(&["Demo: a synthetic village", "audit: D1 warn, D2 pass"]);
    answer.assert_says(&["single-step   best possible", "multi-step    recurrency"]);
    answer.assert_says(&["report: quadcast-demo/report.html"]);
    let (_, next) = answer.stdout.split_once("next: quadcast ").expect("a next command");
    room.quadcast(&next.replace("\\\n", " ")).success().assert_says(&["candidates scored"]);
    let page = room.text("quadcast-demo/report.html");
    assert!(page.starts_with("<!doctype html>") || page.starts_with("<!DOCTYPE html>"), "a page");
    assert!(page.contains("best possible"), "the reference row is in the report");
    for run in ["recurrency-single-step", "recurrency-strict-multi-step"] {
        assert_eq!(room.record(&format!("quadcast-demo/runs/{run}"))["status"], "complete");
    }
}

#[test]
fn the_world_can_be_asked_and_a_second_demonstration_replaces_only_the_first() {
    let room = Room::new();
    let first = room.document("demo --out here");
    assert!(first["rows"].as_array().unwrap().len() >= 8);
    for row in first["rows"].as_array().unwrap() {
        let share = row["share_of_best"].as_f64().unwrap();
        assert!(share > 0.0 && share <= 1.05, "nobody beats the oracle by more than chance: {row}");
    }
    room.quadcast("data info here/village").success();
    room.quadcast("forecast here/runs/recurrency-single-step --subject #0 --relation #0").success();
    assert_eq!(room.document("demo --out here"), first);
    assert_eq!(room.text("here/village/train.txt").lines().count(), 4378);
    room.write("mine/thesis.txt", "two years of work");
    room.assert_refused("demo --out mine", &["mine", "--out"]);
}
