//! `data compile` and `data convert` with the real binary.

use serde_json::{Value, json};

use crate::common::{Room, real_data};

fn counts(report: &Value, pointer: &str) -> Vec<u64> {
    let steps = report["steps"].as_array().expect("steps");
    steps.iter().map(|step| step.pointer(pointer).and_then(Value::as_u64).expect("a count")).collect()
}

#[test]
fn a_stream_becomes_a_benchmark() {
    let room = Room::with_operations();
    let compile = "data compile ops.txt --intervals 4 --split 90/5/5 --min-entity 3 --min-relation 2";
    let answer = room.quadcast(&format!("{compile} --out made")).success();
    answer.assert_fits();
    answer.assert_says(&["4 000 operations on", "rare entities", "training triples", "category 2"]);
    answer.assert_says(&["made (layout wikidata-evolve)"]);
    let report = room.json("made/compile.json");
    assert_eq!(report["options"]["intervals"], json!({ "operations": 4 }));
    assert_eq!(counts(&report, "/interval"), [1000; 4]);
    let info = room.document("data info made");
    let graphs: Vec<u64> = counts(&info["evolving"], "/training_graph");
    assert_eq!(graphs, counts(&report, "/training_graph"));
    room.quadcast("data audit made").success();
    // The upstream names of the folders are read too, so that a benchmark can be handed on.
    assert!(room.text("made/updates/2/train-op2id.txt").lines().all(|row| row.ends_with([' ', '+', '-'])));
    let same = room.document(&format!("{compile} --threads 2 --out again"));
    assert_eq!(same["steps"], report["steps"]);
    room.assert_same_files("made", "again", &["updates/3/test2id.txt"]);
    room.quadcast(&format!("{compile} --seed 5 --out other")).success();
    assert_ne!(room.read("made/updates/3/test2id.txt"), room.read("other/updates/3/test2id.txt"));
}

#[test]
fn layouts_and_forms() {
    let room = Room::with_operations();
    room.quadcast("data convert ops.txt --out ops.qops").success();
    room.quadcast("data convert ops.qops --out back.txt").success();
    assert_eq!(room.read("ops.txt"), room.read("back.txt"));
    for layout in ["snapshots", "lkge"] {
        let compile =
            format!("data compile ops.qops --filter off --size 1000 --layout {layout} --out {layout}");
        let answer = room.quadcast(&compile).success();
        answer.assert_says(&[layout, "training triples"]);
        // Neither layout has room for them.
        assert!(!answer.stdout.contains("category"), "{}", answer.stdout);
        assert!(room.json(&format!("{layout}/compile.json"))["steps"][0]["examples_test"].is_null());
        room.quadcast(&format!("data info {layout}")).success().assert_says(&[layout]);
    }
    room.quadcast("data compile ops.txt --filter off --export binary --keep last --out first").success();
    let given = "--filter off --by steps --split given --keep-ids --export text";
    room.quadcast(&format!("data compile first/operations.qops {given} --out second")).success();
    let files = ["updates/4/train-op2id.txt", "updates/3/triple-op2id.txt", "increments/2/train2id.txt"];
    room.assert_same_files("first", "second", &files);
    room.assert_same_files("first", "second", &["entity2id.txt"]);
    assert!(room.text("second/mapped_triple-op2id.txt").lines().all(|row| row.ends_with('Z')));
}

/// Settings with which training takes a moment.
const QUICK: &str = "--set dimension=16 --set epochs=20 --set batches=2";

/// `66 62 399` is what the stream calls them, and so does everything that is made from it.
#[test]
fn numbers_of_a_stream_stay_its_names() {
    let room = Room::new();
    let ring = (0..40).map(|i| format!("{} {} 399 +\n", 60 + i, 60 + (i + 1) % 40));
    room.write("ops.txt", ring.collect::<String>());
    room.quadcast("data compile ops.txt --filter off --intervals 2 --out made").success();
    assert!(room.text("made/entity2id.txt").starts_with("0 60\n1 61\n"));
    room.quadcast(&format!("run --model transe --data made {QUICK} --out run")).success();
    room.quadcast("forecast run --subject 66 --relation 399").success();
    room.write("news.txt", "66 62 399 +\n");
    room.quadcast("update run news.txt").success();
    let record = room.record("run.v2");
    let new = [&record["update"]["new_entities"], &record["update"]["new_relations"]];
    assert_eq!(new, [&json!(0), &json!(0)]);
}

#[test]
fn wikidata_numbers_are_written_as_published() {
    let room = Room::new();
    let ids: Vec<String> = (0..20).map(|i| format!("{i} {}\n", 300 - i)).collect();
    room.write("wd/entity2id.txt", ids.concat());
    room.write("wd/relation2id.txt", "0 17\n");
    let ring = |of: &dyn Fn(u32) -> u32, relation: u32| -> String {
        let line = |i| format!("{} {} {relation} +\n", of(i), of((i + 1) % 20));
        (0..20).map(line).collect::<Vec<_>>().concat()
    };
    room.write("wd/updates/1/train-op2id.txt", ring(&|i| i, 0));
    room.write("wd/updates/1/valid2id.txt", "0 5 0\n");
    room.write("wd/updates/1/test2id.txt", "3 9 0\n");
    room.quadcast("data convert wd --out wd.txt").success();
    let text = ring(&|i| 300 - i, 17) + "300 295 17 +\n297 291 17 +\n";
    assert_eq!(room.text("wd.txt"), text);
    let given = "--by steps --split given --keep-ids --filter off";
    room.quadcast(&format!("data compile wd {given} --out again")).success();
    assert_eq!(room.read("again/entity2id.txt"), room.read("wd/entity2id.txt"));
    assert_eq!(room.json("again/compile.json")["names"], "wikidata-numbers");
    // A bare number is the item of that number, not a new entity.
    room.quadcast(&format!("run --model transe --data again {QUICK} --out run")).success();
    room.write("news.txt", "300 290 17 +\nQ299 Q5 P17 +\n");
    room.quadcast("update run news.txt").success();
    assert_eq!(room.record("run.v2")["update"]["new_entities"], 1);
}

#[test]
fn streams_are_compressed_as_their_names_say() {
    let room = Room::with_operations();
    for name in ["a.txt.gz", "a.txt.zst", "a.qops.zst", "a.qops.xz"] {
        room.quadcast(&format!("data convert ops.txt --out {name}")).success();
        room.quadcast(&format!("data convert {name} --out back.txt --overwrite")).success();
        assert_eq!(room.read("ops.txt"), room.read("back.txt"), "{name}");
        assert_ne!(room.read("ops.txt"), room.read(name), "{name}");
    }
    for command in ["data convert ops.txt --out a.txt.zip", "data synth --operations 50000 --out a.qops.zip"]
    {
        room.assert_refused(command, &["cannot be written as an archive", ".zst"]);
    }
}

#[test]
fn text_keeps_its_numbers_as_ids() {
    let room = Room::new();
    room.write("dense.txt", "3 0 1 +\n0 2 0 +\n2 3 1 +\n");
    room.quadcast("data compile dense.txt --intervals 1 --filter off --keep-ids --out kept").success();
    assert_eq!(room.text("kept/entity2id.txt"), "0 0\n1 1\n2 2\n3 3\n");
    assert_eq!(room.text("kept/updates/1/triple-op2id.txt"), "3 0 1 +\n0 2 0 +\n2 3 1 +\n");
    room.write("sparse.txt", "3000 0 1 +\n0 2 0 +\n");
    room.assert_refused(
        "data compile sparse.txt --intervals 1 --filter off --keep-ids --out a",
        &["sparse.txt: --keep-ids cannot make an id of the entity number 3000", "leave --keep-ids out"],
    );
}

#[test]
fn datasets_are_streams_too() {
    let room = Room::with_operations();
    room.place_harbour("harbour");
    room.quadcast("data compile harbour --filter off --intervals 3 --hold 7 --out harbour-evolving")
        .success();
    room.quadcast("data audit harbour-evolving").success();
    let compile = "data compile world --by steps --split given --keep-ids --filter off --out same";
    room.quadcast(compile).success();
    for step in 1..=10 {
        let update = format!("updates/{step}/triple-op2id.txt");
        let increment = format!("increments/{step}/train2id.txt");
        room.assert_same_files("world", "same", &[&update, &increment]);
    }
    room.place_graph("graph");
    let texts = ["graph is a graph without time", "a file of operations"];
    room.assert_refused("data compile graph --out a", &texts);
}

#[test]
fn malformed_streams_are_refused() {
    let room = Room::new();
    for (name, content, texts) in [
        (
            "absent.txt",
            "1 2 3 +\n2 1 3 -\n",
            &["absent.txt:2:4: found - for the triple 2 1 3", "--policy drop"][..],
        ),
        ("present.txt", "1 2 3 +\n1 2 3 +\n", &["present.txt:2:4: found + for the triple 1 2 3"]),
        ("sign.txt", "1 2 3 +\n1 2 3 ~\n", &["sign.txt:2:4: found \"~\", expected + (insertion)"]),
        ("range.txt", "1 2 4294967295 +\n", &["range.txt:1:3: found \"4294967295\"", "from 0 to 4294967294"]),
        ("time.txt", "1 2 3 + 20\n1 2 3 - 10\n", &["time.txt:2:5: found the time 10 after 20"]),
        ("cut.txt", "1 2 3 + 20\n1 2 3", &["cut.txt:2:4: the column is missing"]),
        ("cut.qops", "QCASTOPS\u{1}", &["cut.qops: byte 0: the file ends"]),
        ("nothing.txt", "\n", &["nothing.txt: the stream holds no operation"]),
        (
            "loops.txt",
            "1 1 3 +\n2 2 3 +\n",
            &["loops.txt: no operation is left", "2 of its rows lead from an entity to itself"],
        ),
        ("damaged.txt.gz", "1 2 3 +\n", &["damaged.txt.gz: the gzip file is truncated or damaged"]),
    ] {
        room.write(name, content);
        room.assert_refused(&format!("data compile {name} --intervals 1 --filter off --out a"), texts);
    }
    let drop = "data compile absent.txt --policy drop --intervals 1 --filter off --out dropped";
    room.quadcast(drop).success().assert_says(&["left out: 1 deletions of absent triples"]);
}

#[test]
fn benchmarks_that_contradict_themselves_are_refused_with_the_line() {
    let room = Room::with_operations();
    let readers = [
        "run --model transe --data world --out run",
        "data compile world --by steps --split given --filter off --out made",
        "data convert world --out made.qops",
    ];
    for file in ["train-op2id.txt", "triple-op2id.txt"] {
        let path = format!("world/updates/2/{file}");
        let good = room.text(&path);
        let line = good.lines().count() + 1;
        for (mark, state) in [("+", "which is present already"), ("-", "which is absent")] {
            let row = good.lines().find(|row| row.ends_with(mark)).expect("triples come and go");
            room.write(&path, format!("{good}{row}\n"));
            let place = format!("{path}:{line}:4: found {mark} for the triple ");
            for reader in readers {
                room.assert_refused(reader, &[&place, state, "correct the file", "--policy drop"]);
            }
            let info = room.document("data info world");
            let void = info["evolving"]["steps"][1]["checks"]["void_operations"].as_u64();
            assert_eq!(void, Some(u64::from(file == "train-op2id.txt")), "{file} {mark}");
            let convert = "data convert world --policy drop --out dropped.qops --overwrite";
            let dropped = room.quadcast(convert).success();
            assert_eq!(dropped.stdout.contains("left out: 1 "), file == "triple-op2id.txt", "{file} {mark}");
        }
        room.write(&path, good);
    }
    room.quadcast("data convert world --out made.qops").success();
}

#[cfg(unix)]
#[test]
fn a_pipe_is_no_dataset() {
    let room = Room::new();
    if !room.pipe("pipe") {
        return;
    }
    for command in ["data compile pipe --out a", "run --data pipe --out a", "data info pipe"] {
        room.assert_refused(
            command,
            &["pipe: this is neither a file nor a folder", "save its output to a file first"],
        );
    }
}

#[test]
fn wrong_requests_write_nothing() {
    let room = Room::with_operations();
    room.write("full/notes.txt", "do not lose me");
    for (options, texts) in [
        ("--hold 3", &["--hold is for facts with time stamps", "ops.txt is a stream of operations"][..]),
        ("--intervals 0", &["--intervals 0: expected 1 to 4000"]),
        ("--intervals 4001", &["--intervals 4001"]),
        ("--by steps", &["ops.txt is not cut into steps", "--by ops"]),
        ("--by size", &["--by size needs --size"]),
        ("--by time --size 5", &["--size has no effect with --by time"]),
        ("--size 0", &["--size 0"]),
        (
            "--borders 2013-01-01,2012-01-01",
            &["--borders: found 2012-01-01 after 2013-01-01", "ascending order"],
        ),
        (
            // Noon in Almaty is six in the morning.
            "--borders 2012-10-29T12:00:00Z,2012-10-29T12:00:00+06:00",
            &["found 2012-10-29T12:00:00+06:00 after 2012-10-29T12:00:00Z"],
        ),
        ("--borders 2040-01-01", &["2040-01-01 cuts off nothing of ops.txt", "from 2012-10-29T"]),
        ("--borders soon", &["--borders soon: expected a date"]),
        ("--layout lkge --sample 5", &["--sample has no effect with --layout lkge"]),
        ("--layout snapshots --sample 5", &["--sample has no effect with --layout snapshots"]),
        ("--split given", &["does not say which split", "--split 90/5/5"]),
        ("--filter off --min-entity 3", &["--min-entity has no effect with --filter off"]),
        ("--min-entity 100000", &["leaves no operation", "--filter off"]),
    ] {
        room.assert_refused(&format!("data compile ops.txt {options} --out a"), texts);
    }
    let full = ["full: the folder is not empty", "--out"];
    room.assert_refused("data compile ops.txt --out full", &full);
    room.assert_refused("data convert ops.txt --out ops.txt", &["ops.txt: the file exists", "--overwrite"]);
    room.assert_refused("data compile nowhere.txt --out a", &["nowhere.txt"]);
    let held = "data compile world --by steps --hold ever --out a";
    room.assert_refused(held, &["--hold is for facts with time stamps", "world is a graph that changes"]);
    assert_eq!(room.quadcast("data compile ops.txt --split 90/5 --out a").code, 2);
}

#[test]
fn wikidata_evolve_as_published() {
    let Some(root) = real_data("evolving/WikidataEvolve") else { return };
    let room = Room::new();
    let compile =
        "data compile evolving/WikidataEvolve --by steps --split given --keep-ids --filter off --out made";
    let answer = room.quadcast_in(&root, compile).success();
    answer.assert_fits();
    answer.assert_says(&["304 647", "667 224", "37 020", "2 087", "135"]);
    let info = room.document("data info made");
    assert_eq!(counts(&info["evolving"], "/training/deletes"), [0, 7238, 10203, 17902]);
    assert_eq!(counts(&info["evolving"], "/classification/negatives_in_graph"), [0; 4]);
}
