//! Bad input and wrong usage: exit code 2, a message that says where and what to do, nothing left behind.

mod common;

use std::io::Write;

use common::Room;
use flate2::Compression;
use flate2::write::GzEncoder;

const TRAIN: &str = "0 0 1 0\n1 0 0 1\n";
const VALID: &str = "0 0 1 2\n";
const TEST: &str = "0 0 1 3\n";

/// Every command that reads a dataset.
const READERS: [&str; 3] = ["run --data small --out kept", "data info small", "data audit small"];

fn sound() -> Room {
    Room::with_splits(TRAIN, VALID, TEST)
}

/// Asserts that no command reads `small`, with a message that has all of these texts.
fn assert_unreadable(room: &Room, texts: &[&str]) {
    for command in READERS {
        room.assert_refused(command, texts);
    }
}

/// The same for a training file.
fn assert_bad_train(train: impl AsRef<[u8]>, texts: &[&str]) {
    let room = sound();
    room.write("small/train.txt", train);
    assert_unreadable(&room, texts);
}

#[test]
fn the_sound_dataset_is_read() {
    let room = sound();
    for command in READERS {
        room.quadcast(command).success();
    }
}

// Folders and files.

#[test]
fn missing_folder() {
    assert_unreadable(&Room::new(), &["no dataset \"small\"", "no such folder", "$QUADCAST_DATA is not set"]);
}

#[test]
fn unknown_name() {
    let room = sound();
    let answer = room.quadcast_in(&room.path(""), "run --data ICEWS99 --out kept");
    let store = room.path("").display().to_string();
    answer.assert_error(2, &["no dataset \"ICEWS99\"", "none of that name in $QUADCAST_DATA", &store]);
    assert!(!room.path("kept").exists());
}

#[test]
fn a_file_instead_of_a_folder() {
    sound().assert_refused(
        "run --data small/train.txt",
        &["small/train.txt: this is a file, expected the folder"],
    );
}

#[test]
fn missing_split() {
    let room = sound();
    std::fs::remove_file(room.path("small/test.txt")).expect("the file is there");
    let texts = ["small: no file for the test split", "tried test.txt", "found: train.txt, valid.txt"];
    assert_unreadable(&room, &texts);
}

#[test]
fn empty_split() {
    let room = Room::with_splits(TRAIN, VALID, "");
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

// Single fields.

#[test]
fn text_in_an_id_column() {
    assert_bad_train(
        "0 0 1 0\n0 likes 1 1\n",
        &["small/train.txt:2:2: found \"likes\"", "expected a relation id (a whole number from 0)"],
    );
}

#[test]
fn negative_id() {
    assert_bad_train(
        "0 0 1 0\n0 0 -1 1\n",
        &["small/train.txt:2:3: found \"-1\"", "expected an entity id", "never negative"],
    );
}

#[test]
fn id_beyond_the_vocabulary() {
    let room = Room::with_splits(TRAIN, VALID, "0 0 1 3\n2 0 1 3\n");
    room.write("small/entity2id.txt", "A\t0\nB\t1\n");
    let texts =
        ["small/test.txt:2:1: found entity id 2", "expected an id from 0 to 1", "largest in entity2id.txt"];
    assert_unreadable(&room, &texts);
}

#[test]
fn id_overflow() {
    assert_bad_train(
        "0 0 1 0\n99999999999 0 1 0\n",
        &["small/train.txt:2:1: found \"99999999999\"", "expected a number from 0 to", "out of range"],
    );
}

#[test]
fn missing_column() {
    assert_bad_train(
        "0 0 1 0\n0 0 1\n",
        &["small/train.txt:2:4: the column is missing", "3 of the columns subject, relation, object, time"],
    );
}

#[test]
fn time_that_is_no_number() {
    assert_bad_train(
        "0 0 1 0\n0 0 1 noon\n",
        &["small/train.txt:2:4: found \"noon\"", "expected a time stamp", "--format labelled"],
    );
}

#[test]
fn time_overflow() {
    for time in ["99999999999999999999", "9223372036854775807", "-9223372036854775808"] {
        let found = format!("small/train.txt:2:4: found \"{time}\"");
        assert_bad_train(format!("0 0 1 0\n0 0 1 {time}\n"), &[&found, "out of range"]);
    }
}

// Datasets that forecasting cannot use.

#[test]
fn test_before_train() {
    let room = Room::with_splits("0 0 1 0\n1 0 0 9\n", "0 0 1 10\n", "0 0 1 11\n1 0 0 4\n");
    let lines =
        ["small/test.txt:2 is dated 4", "small/valid.txt:1 is dated 10", "splits that follow each other"];
    room.assert_refused("run --data small --out kept", &["small is not a forecasting dataset"]);
    room.assert_refused("run --data small --out kept", &lines);

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
    for split in ["train", "valid", "test"] {
        room.write(&format!("openke/{split}2id.txt"), "1\n0 1 0\n");
    }
    let texts = ["openke is a graph without time", "needs facts with time stamps"];
    room.assert_refused("run --model recurrency --data openke --out kept", &texts);
}

// Models and their settings.

#[test]
fn unknown_model() {
    sound().assert_refused(
        "run --data small --model recurency",
        &["no model \"recurency\"", "did you mean \"recurrency\"?", "known models: "],
    );
}

#[test]
fn unknown_setting_of_the_model() {
    sound().assert_refused(
        "run --data small --set alpa=0.5",
        &["no setting \"alpa\"", "did you mean \"alpha\"?", "known settings: "],
    );
}

#[test]
fn value_out_of_range() {
    sound().assert_refused(
        "run --data small --set alpha=2",
        &["alpha = 2 is out of range", "expected", "a number from 0 to 1"],
    );
}

#[test]
fn setting_without_a_value() {
    sound().assert_refused(
        "run --data small --set alpha",
        &["\"alpha\" is not a setting", "key=value", "--set "],
    );
}

#[test]
fn unsupported_setting() {
    sound().assert_refused(
        "run --data small --out kept --setting online",
        &["does not support online", "supports single-step, multi-step"],
    );
}

// Configuration files.

/// Asserts that a run refuses a configuration file with this content.
fn assert_bad_configuration(content: &[u8], texts: &[&str]) {
    let room = sound();
    room.write("plan.toml", content);
    room.assert_refused("run plan.toml --data small", &["plan.toml"]);
    room.assert_refused("run plan.toml --data small", texts);
}

#[test]
fn missing_configuration() {
    sound().assert_refused("run plan.toml --data small", &["cannot read the configuration plan.toml"]);
}

#[test]
fn unknown_key_in_a_configuration() {
    assert_bad_configuration(b"mdel = \"x\"", &["line 1, column 1", "unknown field `mdel`", "`model`"]);
    assert_bad_configuration(b"seed = 1\n[protocol]\nfilter = 1\n", &["line 3", "unknown field `filter`"]);
    assert_bad_configuration(
        b"[config]\nlamda = 0.5\n",
        &["no setting \"lamda\"", "did you mean \"lambda\"?"],
    );
}

#[test]
fn configuration_that_is_not_toml() {
    assert_bad_configuration(b"{\"model\": \"recurrency\"}", &["TOML parse error at line 1"]);
    assert_bad_configuration(b"model = \xff", &["valid UTF-8"]);
}

#[test]
fn wrong_value_in_a_configuration() {
    assert_bad_configuration(b"seed = -1", &["line 1, column 8", "-1"]);
}

// Options.

#[test]
fn no_dataset() {
    Room::new().assert_refused("run", &["which dataset?", "--data examples/harbour"]);
    Room::new().assert_refused("data info", &["required arguments were not provided", "PATH|NAME"]);
}

#[test]
fn impossible_numbers_of_threads() {
    for threads in ["0", "-1", "1000000", "many"] {
        let texts = [&format!("'{threads}' for '--threads <N>'"), "invalid"];
        sound().assert_refused(&format!("run --data small --threads={threads}"), &texts);
    }
}

#[test]
fn words_that_an_option_does_not_know() {
    sound().assert_refused("run --data small --setting daily", &["'daily' for '--setting", "multi-step"]);
    sound().assert_refused("run --data small --ties none", &["'none' for '--ties", "pessimistic"]);
    sound().assert_refused("data info small --format csv", &["'csv' for '--format", "labelled"]);
}

#[test]
fn unknown_commands() {
    sound().assert_refused("rum --data small", &["unrecognized subcommand 'rum'", "run"]);
    sound().assert_refused("run --dat small", &["unexpected argument '--dat'", "--data"]);
}
