//! Every error says where, what was found, what was expected and what to do.

use std::path::Path;

use quadcast_data::Format;

use crate::support::{assert_message, assert_texts, folder, message, message_as, try_load, with_train};

const GOOD: &[u8] = b"0 0 1 0\n";

/// Asserts that the message about a training file contains all of the texts.
fn assert_train(train: &[u8], texts: &[&str]) {
    assert_message(&with_train(train, GOOD), texts);
}

#[test]
fn fields_of_quads() {
    assert_train(
        b"0 0 1 0\n\n0 abc 1 0\n",
        &["train.txt:3:2: found \"abc\"", "a relation id (a whole number from 0)"],
    );
    assert_train(b"0 0 1 0\n0 0 -1 0\n", &["train.txt:2:3: found \"-1\"", "an entity id", "never negative"]);
    assert_train(
        b"0 0 1 0\r\n0 0 1\r\n",
        &["train.txt:2:4: the column is missing", "has 3 of the columns", "time"],
    );
    assert_train(
        b"0 0 1 0\n0 0 1 12:00\n",
        &["train.txt:2:4: found \"12:00\"", "a time stamp", "--format labelled"],
    );
    assert_train(
        b"0 0 1 0\n99999999999 0 1 0\n",
        &["train.txt:2:1: found \"99999999999\"", "from 0 to 4294967294"],
    );
    assert_train(b"0 0 1 0\n0 0 1 99999999999999999999\n", &["train.txt:2:4", "out of range"]);
    assert_train(
        b"0 0 1 0\n4000000000 0 1 0\n",
        &["train.txt:2:1: found entity id 4000000000", "numbered from 0"],
    );
}

#[test]
fn long_lines_give_short_messages() {
    let mut train = b"0 0 1 0\n0 0 ".to_vec();
    train.extend(std::iter::repeat_n(b'x', 500_000));
    train.extend(b" 0");
    let text = message(&with_train(&train, GOOD));
    assert_texts(&text, &["train.txt:2:3: found \"xxx", "…"]);
    assert!(text.len() < 500);
}

#[test]
fn ids_beyond_the_id_file() {
    let mut files = with_train(b"0 0 1 0\n0 0 2 0\n", GOOD).to_vec();
    files.push(("entity2id.txt", b"A\t0\nB\t1\n"));
    assert_message(&files, &["train.txt:2:3: found entity id 2", "from 0 to 1", "entity2id.txt"]);
    files[3].1 = b"A\t0\nB\t1\nC\t1\n";
    assert_message(&files, &["entity2id.txt:3:2: found id 1 again", "line 2 has it already"]);
    files[3].1 = b"A\t0\nB\n";
    assert_message(&files, &["entity2id.txt:2:2: the column is missing"]);
    files[3].1 = b"A\t0\nB\tx\nC\t2\n";
    assert_message(&files, &["entity2id.txt:2:2: found \"x\"", "an entity id"]);
    files[3].1 = b"A\t0\nB\xff\t1\nC\t2\n";
    assert_message(&files, &["entity2id.txt:2: byte 2 of the line is not valid UTF-8"]);
    files[3].1 = b"5\nA\t0\nB\t1\nC\t2\n";
    assert_message(&files, &["entity2id.txt:1:1: the count says 5, but 3 follow"]);
    files[3].1 = b"A\t0\nB\t4000000000\n";
    assert_message(&files, &["entity2id.txt:2:2: found entity id 4000000000", "without large holes"]);
}

#[test]
fn dates() {
    let files = with_train(b"A\tr\tB\t2014-01-01\nA\tr\tB\t2014-02-30\n", b"A\tr\tB\t2014-01-01\n");
    assert_message(&files, &["train.txt:2:4: found \"2014-02-30\"", "YYYY-MM-DD"]);
    let files = with_train(b"A\tr\tB\t2014-01-01\n\tr\tB\t2014-02-20\n", b"A\tr\tB\t2014-01-01\n");
    assert_message(&files, &["train.txt:2:1: found nothing", "the name of an entity"]);
    let files = with_train(b"A\tr\tB\t2014-01-01\nA\tr\tB\n", b"A\tr\tB\t2014-01-01\n");
    assert_message(&files, &["train.txt:2:4: the column is missing", "separated by tabs"]);
    let files = with_train(b"A\tr\tB\t2014-01-01\nA\tr\t\xc3\t2014-01-01\n", b"A\tr\tB\t2014-01-01\n");
    assert_message(&files, &["train.txt:2: byte 5 of the line is not valid UTF-8"]);
    let files =
        with_train(b"0\t0\t1\t1926-##-##\t####-##-##\n0\t0\t1\t1926-x\t####\n", b"0\t0\t1\t1926\t####\n");
    assert_message(&files, &["train.txt:2:4: found \"1926-x\"", "# for unknown digits"]);
}

#[test]
fn json_maps() {
    let mut files = with_train(b"A\tr\tB\t2014-01-01\n", b"A\tr\tB\t2014-01-01\n").to_vec();
    files.push(("entity2id.json", b"{\"A\": 0,\n \"B\": 0}"));
    assert_message(&files, &["entity2id.json:2:", "id 0 of \"B\" is taken"]);
    files[3].1 = b"{\"A\": \"x\"}";
    assert_message(&files, &["entity2id.json:1:", "invalid type"]);
    files[3].1 = b"{\"A\": 4000000000}";
    assert_message(&files, &["entity2id.json", "large holes"]);
}

#[test]
fn count_lines() {
    let mut files: Vec<(&str, &[u8])> = vec![
        ("train2id.txt", b"3\n0 1 0\n1 0 0\n"),
        ("valid2id.txt", b"1\n0 1 0\n"),
        ("test2id.txt", b"1\n0 1 0\n"),
    ];
    assert_message(&files, &["train2id.txt:1:1: the count says 3, but 2 follow"]);
    files[0].1 = b"2\n0 1 0\n1 0\n";
    assert_message(&files, &["train2id.txt:3:3: the column is missing", "head, tail, relation"]);
    files[0].1 = b"2\n0 1 0\n1 0 0 5 6\n";
    assert_message(
        &files,
        &["train2id.txt:3:4: found a column \"5\" too many", "expected the columns head, tail, relation"],
    );
    files[0].1 = b"1\n0 1 0\n";
    files.push(("type_constrain.txt", b"1\n0\t2\t0\n0\t1\t1\n"));
    assert_message(&files, &["type_constrain.txt:2:2: the count says 2, but 1 follow"]);
    files[3].1 = b"1\n0\t1\t5\n0\t1\t1\n";
    assert_message(&files, &["type_constrain.txt:2:3: found entity id 5"]);
    files[3].1 = b"1\n0\t1\t0\n0\t1\t1\n0\t1\t1\n";
    assert_message(&files, &["type_constrain.txt:4:1: found id 0 again"]);
}

#[test]
fn folders_and_files() {
    let missing = try_load(Path::new("no/such/folder")).expect_err("it is not there").to_string();
    assert_texts(&missing, &["no/such/folder: there is no such folder"]);
    let holder = folder(&[("train.txt", GOOD)]);
    let file = try_load(&holder.path().join("train.txt")).expect_err("a file is not a folder").to_string();
    assert_texts(&file, &["train.txt: this is a file, expected the folder"]);
    assert_message(&[], &["the folder is empty", "known layouts: quads", "--format"]);
    assert_message(&[("notes.md", b"x")], &["found: notes.md", "snapshot1", "--format"]);
    assert_message(
        &[("train.txt", GOOD), ("test.txt", GOOD)],
        &["no file for the valid split", "tried valid.txt", "*_valid.txt", "found: test.txt, train.txt"],
    );
    assert_message(&with_train(b"\n \n", GOOD), &["train.txt: the file holds no fact"]);
    assert_message(&with_train(b"", b""), &["train.txt: the file holds no fact"]);
    assert_message(&with_train(b"a b c\n", b"a b c\n"), &["train.txt fit no layout (line 1 is \"a b c\")"]);
    assert_message(
        &[("a_train.txt", GOOD), ("b_train.txt", GOOD), ("valid.txt", GOOD), ("test.txt", GOOD)],
        &["several files could be the train split: a_train.txt, b_train.txt"],
    );
}

#[test]
fn forced_layouts_say_what_they_miss() {
    let files = with_train(b"A\tr\tB\t2014-01-01\n", b"A\tr\tB\t2014-01-01\n");
    assert_texts(&message_as(Format::Quads, &files), &["train.txt:1:1: found \"A\"", "--format", "labelled"]);
    assert_texts(&message_as(Format::Snapshots, &files), &["snapshots needs folders snapshot1"]);
    assert_texts(&message_as(Format::WikidataEvolve, &files), &["wikidata-evolve needs entity2id.txt"]);
    assert_texts(
        &message_as(Format::Intervals, &with_train(GOOD, GOOD)),
        &["train.txt:1:5: the column is missing"],
    );
}

#[cfg(unix)]
#[test]
fn unreadable_files_are_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder(&with_train(GOOD, GOOD));
    let path = folder.path().join("test.txt");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("permissions can be set");
    if std::fs::read(&path).is_ok() {
        quadcast_testing::real::skip("this user may read everything");
        return;
    }
    let text = try_load(folder.path()).expect_err("the file cannot be read").to_string();
    assert_texts(&text, &["test.txt: cannot be read", "check that"]);
}
