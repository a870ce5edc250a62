//! Trained models of changing graphs brought up to date with the real binary.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::common::Room;

/// Settings with which training takes a moment.
const QUICK: &str =
    "--set dimension=16 --set epochs=60 --set validate_every=20 --set batches=10 --set optimiser=adagrad";
const UNIVERSES: &str = "--set universes=12 --set validate_every=4 --set least_triples=50 --set most_triples=150 \
     --set least_epochs=20 --set most_epochs=40";

/// A newcomer to the first circle, whom everybody there likes, and somebody who is liked no more.
fn news() -> String {
    let mut news = String::new();
    for i in (6..60).step_by(6) {
        news += &format!("Nadia\tperson {i}\tlikes\t+\nperson {i}\tNadia\tlikes\t+\n");
    }
    news
}

/// The best answers to whom somebody likes.
fn liked_by(room: &Room, run: &str, subject: &str) -> Value {
    room.write("questions.csv", format!("subject,relation\n{subject},likes\n"));
    room.document(&format!("forecast {run} --queries questions.csv --top 60"))[0].take()
}

#[test]
fn a_model_learns_what_happened_and_the_old_version_stays() {
    let room = Room::with_circles();
    for model in ["transe", "incremental-transe"] {
        let run = format!("run --model {model} --data circles --procedure incremental {QUICK} --out {model}");
        room.quadcast(&run).success();
        let (before, graph) = (room.read(&format!("{model}/model.safetensors")), room.contents());
        room.write("news.txt", news());
        let update = room.quadcast(&format!("update {model} news.txt")).success();
        update.assert_fits();
        update.assert_says(&[&format!("{model} on circles"), "updated"]);
        assert_eq!(room.read(&format!("{model}/model.safetensors")), before, "the old version stays");
        assert!(graph.is_subset(&room.contents()));
        let record = room.record(&format!("{model}.v2"));
        assert_eq!(record["status"], "complete");
        assert_eq!(record["update"]["operations"], 18);
        assert_eq!(record["update"]["new_entities"], 1);
        assert_eq!(record["update"]["new_relations"], 0);
        assert_eq!(record["evolving"]["steps"].as_array().map(Vec::len), Some(1));

        // All of her circle come before all others but a few, and what she was told to like is known.
        let answers = liked_by(&room, &format!("{model}.v2"), "Nadia");
        let answers = answers["answers"].as_array().expect("answers").clone();
        assert!(answers.len() >= 60, "{}", answers.len());
        let own = |answer: &Value| (0..60).step_by(6).any(|i| answer["entity"] == format!("person {i}"));
        assert!(answers[..12].iter().filter(|answer| own(answer)).count() >= 7, "{model}: {answers:?}");
        let known = answers.iter().filter(|answer| answer["known"] == true).count();
        assert_eq!(known, 9, "{model}");

        // The next version follows from this one.
        let more = "Nadia\tperson 6\tlikes\t-\nNadia\tOmar\tadmires\t+\nperson 7\tOmar\tlikes\t+\n";
        room.write("more.txt", more);
        room.quadcast(&format!("update {model}.v2 more.txt")).success();
        let update = &room.record(&format!("{model}.v3"))["update"];
        assert_eq!((&update["new_entities"], &update["new_relations"]), (&1.into(), &1.into()));
        let answers = liked_by(&room, &format!("{model}.v3"), "Nadia");
        let answers = answers["answers"].as_array().expect("answers");
        assert_eq!(answers.iter().filter(|answer| answer["known"] == true).count(), 8);
    }
}

#[test]
fn universes_are_added_for_what_is_new() {
    let room = Room::with_circles();
    room.quadcast(&format!(
        "run --model putranse --data circles --procedure incremental {UNIVERSES} --out pu"
    ))
    .success();
    room.write("news.txt", news());
    room.quadcast("update pu news.txt").success();
    let answers = liked_by(&room, "pu.v2", "Nadia");
    assert!(answers["reached"].as_u64().is_some_and(|reached| reached > 0), "{answers}");
    room.quadcast("update pu.v2 news.txt --policy drop")
        .assert_error(2, &["nothing changes", "18 insertions of present"]);
}

/// The test triples that the last step of a version asked about, as head, tail, relation.
fn asked(room: &Room, run: &str) -> BTreeSet<[u64; 3]> {
    let steps = room.json(&format!("{run}/questions.json"));
    let rows = steps.as_array().and_then(|steps| steps.last()?["test"].as_array()).expect("test triples");
    let id = |row: &Value, at: usize| row[at].as_u64().expect("an id");
    rows.iter().map(|row| [id(row, 0), id(row, 2), id(row, 1)]).collect()
}

/// What a run says that it was asked about, and the number of test triples at its last step.
fn counted(room: &Room, run: &str) -> (Value, u64) {
    let record = room.record(run);
    let steps = record["evolving"]["steps"].as_array().expect("steps");
    let test = steps.last().and_then(|step| step["sizes"]["test"].as_u64()).expect("a number");
    (record["asked"].clone(), test)
}

#[test]
fn an_update_asks_what_its_run_was_asked() {
    let room = Room::new();
    room.quadcast("data synth --operations 4000 --seed 2 --out ops.txt").success();
    room.quadcast("data compile ops.txt --filter off --intervals 2 --sample 20 --out bench").success();
    let text = room.text("bench/updates/2/test2id.txt");
    let row = |row: &str| -> [u64; 3] {
        let ids: Vec<u64> = row.split_whitespace().map(|id| id.parse().expect("an id")).collect();
        ids.try_into().expect("head, tail, relation")
    };
    let mut sample: BTreeSet<[u64; 3]> = text.lines().map(row).collect();
    let gone = sample.pop_first().expect("a sample");
    let [head, tail, relation] = gone;
    room.write("news.txt", format!("Nadia\tOmar\tlikes\t+\n#{head}\t#{tail}\t#{relation}\t-\n"));
    room.write("more.txt", "Omar\tNadia\tlikes\t+\n");
    for (out, all) in [("sampled", ""), ("whole", "--all")] {
        room.quadcast(&format!("run --model transe --data bench {QUICK} {all} --out {out}")).success();
        room.quadcast(&format!("update {out} news.txt")).success();
        room.quadcast(&format!("update {out}.v2 more.txt")).success();
    }
    assert_eq!(counted(&room, "sampled"), ("sample".into(), 20));
    for version in ["sampled.v2", "sampled.v3"] {
        assert_eq!(counted(&room, version), ("sample".into(), 19), "{version}");
        assert_eq!(asked(&room, version), sample, "{version}");
    }
    let (word, test) = counted(&room, "whole");
    assert!(word == "all" && test > 20, "{word} {test}");
    for version in ["whole.v2", "whole.v3"] {
        assert_eq!(counted(&room, version), ("all".into(), test - 1), "{version}");
    }
}

#[test]
fn the_same_update_gives_the_same_version() {
    let room = Room::with_circles();
    room.quadcast(&format!("run --model incremental-transe --data circles {QUICK} --out base")).success();
    room.write("news.txt", news());
    room.quadcast("update base news.txt --out one").success();
    room.quadcast("update base news.txt --out two").success();
    room.assert_same_files("one", "two", &["model.safetensors"]);
    let [one, two] = ["one", "two"].map(|run| room.record(run)["evolving"]["filtered"].take());
    assert_eq!(one, two);
}

#[test]
fn faults_are_told_with_their_place() {
    let room = Room::with_circles();
    room.quadcast(&format!("run --model transe --data circles {QUICK} --out base")).success();
    for (news, texts) in [
        ("person 0\tperson 1\tlikes\t-\n", ["news.txt:1", "absent"]),
        ("Nadia\tperson 1\tlikes\t+\nNadia\tperson 1\tlikes\t+\n", ["news.txt:2", "present already"]),
        ("Nadia\tperson 1\tlikes\t*\n", ["news.txt:1", "expected + (insertion)"]),
        ("Nadia\tperson 1\tlikes\n", ["news.txt:1", "head, tail, relation"]),
        ("Nadia\tperson 1\tlikes\t+\t7\nNadia\tperson 2\tlikes\t+\t6\n", ["news.txt:2", "in order of time"]),
        ("Nadia\t\tlikes\t+\n", ["news.txt:1", "expected the name of an entity"]),
        ("Nadia\tperson 1\tlikes\t+\nNadia\tperson 1\tlikes\t-\n", ["news.txt", "cancel out"]),
        ("", ["news.txt", "holds no operation"]),
        ("#999999\tperson 1\tlikes\t+\n", ["news.txt:1:1: found \"#999999\"", "an id below 60"]),
        ("Nadia\t#60\tlikes\t+\n", ["news.txt:1:2: found \"#60\"", "begin with # followed by digits"]),
        ("Nadia\tperson 1\t#77\t+\n", ["news.txt:1:3: found \"#77\"", "an id below 1,"]),
    ] {
        room.write("news.txt", news);
        room.assert_refused("update base news.txt", &texts);
        assert!(!room.path("base.v2").exists(), "nothing half-written");
    }
    room.quadcast("data synth --operations 50 --out ops.qops").success();
    room.assert_refused("update base ops.qops", &["ops.qops: found a stream in the binary form", "text"]);
    room.assert_refused("update circles news.txt", &["metrics.json"]);
    room.write("news.txt", news());
    room.assert_refused("update base news.txt --set dimension=8", &["do not fit"]);
    room.quadcast("update base news.txt").success();
    room.assert_refused("run base.v2/run.toml", &["quadcast update"]);
    room.assert_refused("forecast base.v2 --subject Nadia --relation likes --explain", &["without --at"]);
}

#[test]
fn an_update_says_what_was_forgotten() {
    let room = Room::with_circles();
    room.quadcast(&format!("run --model transe --data circles --procedure incremental {QUICK} --out a"))
        .success();
    room.write("news.txt", news());
    room.write("more.txt", "Nadia\tOmar\tlikes\t+\n");
    room.quadcast("update a news.txt").success();
    room.quadcast("update a.v2 more.txt").success();
    let records = ["a", "a.v2", "a.v3"].map(|run| room.record(run));
    let own = |record: &Value| -> Vec<Value> {
        let steps = record["evolving"]["steps"].as_array().expect("steps").iter();
        steps.map(|step| step["link"]["filtered"]["hits@10"].clone()).collect()
    };
    let told = |record: &Value| -> Vec<Value> {
        let learned = record["update"]["learned"].as_array().expect("what was known").iter();
        learned.map(|learned| learned["hits@10"].clone()).collect()
    };
    let mut known = own(&records[0]);
    for record in &records[1..] {
        assert_eq!(told(record), known);
        let transfer = record["evolving"]["steps"][0]["transfer"].as_array().expect("earlier steps");
        assert_eq!(transfer.len(), known.len());
        let changes = transfer
            .iter()
            .zip(&known)
            .map(|(now, then)| now["hits@10"].as_f64().expect("a number") - then.as_f64().expect("a number"));
        let mean = changes.sum::<f64>() / known.len() as f64;
        let said = record["evolving"]["backward_transfer"].as_f64().expect("a number");
        assert!((said - mean).abs() < 1e-12, "{said} {mean}");
        known.extend(own(record));
    }
}

#[test]
fn versions_never_replace_what_they_come_from() {
    let room = Room::with_circles();
    let run = format!("run --model transe --data circles {QUICK}");
    room.quadcast(&format!("{run} --out a")).success();
    room.write("news.txt", news());
    let before = room.read("a/model.safetensors");
    for same in ["a", "./a/", "a/../a"] {
        room.quadcast(&format!("update a news.txt --out {same} --overwrite"))
            .assert_error(2, &["the run itself", "choose another --out"]);
    }
    assert_eq!(room.read("a/model.safetensors"), before);
    room.quadcast("update a news.txt").success();
    // A second version of the same run says that the first is not in it; --overwrite replaces the first.
    room.write("more.txt", "Nadia\tOmar\tlikes\t+\n");
    let second = room.quadcast("update a more.txt");
    assert_eq!(second.code, 0, "{}", second.stderr);
    assert!(second.stderr.contains("a.v2 was made from this run already"), "{}", second.stderr);
    assert_eq!(room.record("a.v3")["update"]["operations"], 1);
    room.quadcast("update a more.txt --overwrite").success();
    assert_eq!(room.record("a.v2")["update"]["operations"], 1);
    // A run in the place of a version is one, and can be asked.
    room.quadcast(&format!("{run} --out a.v2 --overwrite")).success();
    assert!(!room.path("a.v2/graph.qops").exists() && !room.path("a.v2/questions.json").exists());
    liked_by(&room, "a.v2", "person 6");
}
