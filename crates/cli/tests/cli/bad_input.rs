//! Bad input and wrong usage: exit code 2, a message that says where and what to do, nothing left behind.

use std::io::Write;

use crate::common::Room;
use flate2::Compression;
use flate2::write::GzEncoder;

const TRAIN: &str = "0 0 1 0\n1 0 0 1\n";
const VALID: &str = "0 0 1 2\n";
const TEST: &str = "0 0 1 3\n";

/// Every command that reads a dataset.
const READERS: [&str; 3] =
    ["run --model recurrency --data small --out kept", "data info small", "data audit small"];

fn sound() -> Room {
    Room::with_splits(TRAIN, VALID, TEST)
}

/// Asserts that no command reads `small`, with a message that has all of these texts.
fn assert_unreadable(room: &Room, texts: &[&str]) {
    for command in READERS {
        room.assert_refused(command, texts);
    }
}

#[test]
fn the_sound_dataset_is_read() {
    let room = sound();
    for command in READERS {
        room.quadcast(command).success();
    }
}

#[test]
fn folders_and_files_that_are_missing() {
    assert_unreadable(&Room::new(), &["no dataset \"small\"", "no such folder", "$QUADCAST_DATA is not set"]);
    let room = sound();
    let answer = room.quadcast_in(&room.path(""), "run --data ICEWS99 --out kept");
    let store = room.path("").display().to_string();
    answer.assert_error(2, &["no dataset \"ICEWS99\"", "none of that name in $QUADCAST_DATA", &store]);
    assert!(!room.path("kept").exists());
    let texts = ["small/train.txt: this is a file, expected the folder"];
    room.assert_refused("run --model recurrency --data small/train.txt", &texts);
    std::fs::remove_file(room.path("small/test.txt")).expect("the file is there");
    let texts = ["small: no file for the test split", "tried test.txt", "found: train.txt, valid.txt"];
    assert_unreadable(&room, &texts);
    room.write("small/test.txt", "");
    assert_unreadable(&room, &["small/test.txt: the file holds no fact", "at least one"]);
}

#[test]
fn truncated_gzip() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    for time in 0..20_000 {
        writeln!(encoder, "0 0 1 {time}").expect("memory takes everything");
    }
    let whole = encoder.finish().expect("memory takes everything");
    for kept in [whole.len() / 2, 30, 5] {
        let room = sound();
        std::fs::remove_file(room.path("small/train.txt")).expect("the file is there");
        room.write("small/train.txt.gz", &whole[..kept]);
        assert_unreadable(&room, &["small/train.txt.gz: the gzip file is truncated or damaged"]);
    }
}

#[test]
fn invalid_utf8() {
    let room = Room::new();
    room.place_days("small", "A\tr\tB", "");
    room.write("small/valid.txt", b"A\tr\tB\t2014-01-02\nA\tr\t\xff\t2014-01-02\n");
    assert_unreadable(&room, &["small/valid.txt:2: byte 5 of the line is not valid UTF-8", "convert"]);
}

#[test]
fn single_fields() {
    let room = sound();
    for (row, texts) in [
        ("0 likes 1 1", &["2:2: found \"likes\"", "expected a relation id (a whole number from 0)"][..]),
        ("0 0 -1 1", &["2:3: found \"-1\"", "expected an entity id", "never negative"]),
        ("99999999999 0 1 0", &["2:1: found \"99999999999\"", "expected a number from 0 to", "out of range"]),
        ("0 0 1", &["2:4: the column is missing", "3 of the columns subject, relation, object, time"]),
        ("0 0 1 noon", &["2:4: found \"noon\"", "expected a time stamp", "--format labelled"]),
        ("0 0 1 99999999999999999999", &["2:4: found \"99999999999999999999\"", "out of range"]),
        ("0 0 1 9223372036854775807", &["2:4: found \"9223372036854775807\"", "out of range"]),
        ("0 0 1 -9223372036854775808", &["2:4: found \"-9223372036854775808\"", "out of range"]),
    ] {
        room.write("small/train.txt", format!("0 0 1 0\n{row}\n"));
        let place = format!("small/train.txt:{}", texts[0]);
        assert_unreadable(&room, &[&[place.as_str()], &texts[1..]].concat());
    }
    let room = Room::with_splits(TRAIN, VALID, "0 0 1 3\n2 0 1 3\n");
    room.write("small/entity2id.txt", "A\t0\nB\t1\n");
    let texts =
        ["small/test.txt:2:1: found entity id 2", "expected an id from 0 to 1", "largest in entity2id.txt"];
    assert_unreadable(&room, &texts);
}

#[test]
fn test_before_train() {
    let room = Room::with_splits("0 0 1 0\n1 0 0 9\n", "0 0 1 10\n", "0 0 1 11\n1 0 0 4\n");
    let texts = [
        "small is not a forecasting dataset",
        "small/test.txt:2 is dated 4",
        "small/valid.txt:1 is dated 10",
        "splits that follow each other",
    ];
    room.assert_refused("run --model recurrency --data small --out kept", &texts);

    let audit = room.quadcast("data audit small");
    audit.assert_error(2, &["the audit failed"]);
    audit.assert_says(&["Audit of small: fail", "D2 fail", "test.txt:2 (4) lies before train.txt:2 (9)"]);
    audit.assert_fits();
    let audit = room.quadcast("data audit small --json");
    audit.assert_error(2, &["the audit failed"]);
    assert_eq!(audit.json()["checks"][1]["verdict"], "fail");
}

#[test]
fn a_graph_without_time() {
    let room = Room::new();
    room.place_graph("openke");
    let texts = ["openke is a graph without time", "needs facts with time stamps"];
    room.assert_refused("run --model recurrency --data openke --out kept", &texts);
}

#[test]
fn models_settings_and_options() {
    let room = sound();
    for (command, texts) in [
        (
            "run --data small --model recurency",
            &["no model \"recurency\"", "did you mean \"recurrency\"?", "known models: "][..],
        ),
        (
            "run --model recurrency --data small --set alpa=0.5",
            &["no setting \"alpa\"", "did you mean \"alpha\"?", "known settings: "],
        ),
        (
            "run --model recurrency --data small --set alpha=2",
            &["alpha = 2 is out of range", "expected", "a number from 0 to 1"],
        ),
        (
            "run --model recurrency --data small --set alpha",
            &["\"alpha\" is not a setting", "key=value", "--set "],
        ),
        (
            "run --model recurrency --data small --out kept --setting online",
            &["does not support online", "supports single-step, multi-step"],
        ),
        ("run plan.toml --data small", &["cannot read the configuration plan.toml"]),
        ("run", &["which dataset?", "--data examples/harbour"]),
        ("data info", &["required arguments were not provided", "PATH|NAME"]),
        ("run --model recurrency --data small --threads=0", &["'0' for '--threads <N>'", "invalid"]),
        ("run --model recurrency --data small --threads=-1", &["'-1' for '--threads <N>'", "invalid"]),
        (
            "run --model recurrency --data small --threads=1000000",
            &["'1000000' for '--threads <N>'", "invalid"],
        ),
        ("run --model recurrency --data small --threads=many", &["'many' for '--threads <N>'", "invalid"]),
        ("run --model recurrency --data small --setting daily", &["'daily' for '--setting", "multi-step"]),
        ("run --model recurrency --data small --ties none", &["'none' for '--ties", "pessimistic"]),
        ("data info small --format csv", &["'csv' for '--format", "labelled"]),
        ("rum --data small", &["unrecognized subcommand 'rum'", "run"]),
        ("run --dat small", &["unexpected argument '--dat'", "--data"]),
    ] {
        room.assert_refused(command, texts);
    }
}

#[test]
fn configuration_files() {
    let room = sound();
    for (content, texts) in [
        (&b"mdel = \"x\""[..], &["line 1, column 1", "unknown field `mdel`", "`model`"][..]),
        (b"seed = 1\n[protocol]\nfilter = 1\n", &["line 3", "unknown field `filter`"]),
        (
            b"model = \"recurrency\"\n[config]\nlamda = 0.5\n",
            &["no setting \"lamda\"", "did you mean \"lambda\"?"],
        ),
        (b"{\"model\": \"recurrency\"}", &["TOML parse error at line 1"]),
        (b"model = \xff", &["valid UTF-8"]),
        (b"seed = -1", &["line 1, column 8", "-1"]),
    ] {
        room.write("plan.toml", content);
        room.assert_refused("run plan.toml --data small", &[&["plan.toml"], texts].concat());
    }
}
