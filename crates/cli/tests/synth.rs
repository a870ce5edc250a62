//! `quadcast data synth`: the real binary makes worlds that the other commands read.

mod common;

use common::Room;

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
    let answer = room.quadcast("data synth --out village --json").success().json();
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
    let truth = zstd::decode_all(&room.read("village/truth.csv.zst")[..]).expect("zstd");
    let truth = String::from_utf8(truth).expect("text");
    assert!(truth.starts_with("split,time,subject,relation,object,process,probability\n"), "{truth:.80}");
    let facts: u64 =
        ["train", "valid", "test"].iter().map(|s| world["sizes"]["facts"][s].as_u64().unwrap()).sum();
    assert_eq!(truth.lines().count() as u64, facts + 1);

    let record = room.quadcast("run --data village --out record --json").success().json();
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
    for name in names {
        assert!(room.read(&format!("world-1/{name}")) == room.read(&format!("world-2/{name}")), "{name}");
        assert!(room.read(&format!("world-1/{name}")) != room.read(&format!("other/{name}")), "{name}");
    }
}

#[test]
fn wrong_requests_are_refused_before_anything_is_written() {
    let room = Room::new();
    room.assert_refused(
        "data synth --world vilage --out a",
        &["vilage", "did you mean village?", "rules-only"],
    );
    room.write("mine/notes.txt", "do not lose me");
    room.assert_refused("data synth --out mine", &["mine", "not empty", "--overwrite"]);
    room.assert_refused("data synth --out mine --overwrite", &["mine", "no synthetic world"]);
    room.assert_refused("data synth --out mine/notes.txt", &["this is a file"]);
    room.quadcast("data synth --world rules-only --out made").success();
    room.assert_refused("data synth --world rules-only --out made", &["made", "--overwrite"]);
    room.quadcast("data synth --world rules-only --out made --overwrite").success();
}
