//! Line ends, long lines, NUL, large id files, and files that nothing is read from.

use std::fmt::Write;

use quadcast_data::{Content, Loaded};

use crate::support::{Desk, FACTS, READERS, assert_texts, good, read};

/// Folders of text, one per layout.
fn folders() -> Vec<Vec<(&'static str, &'static str)>> {
    let names = "A\tr\tB\t2014-01-01\nC D\tr\tA\t2014-01-02\n";
    let spans = "0\t0\t1\t1926-##-##\t####-##-##\n1\t0\t2\t1900-01-01\t1901\n";
    let (entities, relations, triples) = ("3\nA\t0\nB B\t1\nC\t2\n", "r\t0\n", "2\n0 1 0\n2 1 0\n");
    vec![
        vec![("train.txt", "0 0 1 0\n1 0 2 1\n"), ("valid.txt", "0 0 1 2\n"), ("test.txt", "0 0 1 3\n")],
        vec![("train.txt", names), ("valid.txt", names), ("test.txt", names)],
        vec![("train.txt", spans), ("valid.txt", spans), ("test.txt", spans)],
        vec![
            ("train2id.txt", triples),
            ("valid2id.txt", triples),
            ("test2id.txt", triples),
            ("entity2id.txt", entities),
            ("relation2id.txt", relations),
            ("type_constrain.txt", "1\n0\t1\t2\n0\t2\t0\t1\n"),
        ],
        vec![
            ("snapshot1/train2id.txt", triples),
            ("snapshot1/entity2id.txt", entities),
            ("snapshot1/relation2id.txt", relations),
        ],
        vec![
            ("0/train.txt", "A\tr\tB\nB\tr\tC\n"),
            ("0/valid.txt", "A\tr\tC\n"),
            ("0/test.txt", "C\tr\tA\n"),
        ],
        vec![
            ("entity2id.txt", "0 220\n1 38\n2 9\n"),
            ("relation2id.txt", "0 17\n"),
            ("updates/1/train-op2id.txt", "0 1 0 +\n1 2 0 +\n"),
            ("updates/1/valid2id.txt", "0 1 0\n"),
            ("updates/1/test2id.txt", "0 2 0\n"),
        ],
    ]
}

/// The folder with every line end replaced.
fn loaded(files: &[(&str, &str)], end: &str) -> Loaded {
    let desk = Desk::new();
    for (name, text) in files {
        desk.write(name, text.replace('\n', end));
    }
    desk.load().unwrap_or_else(|error| panic!("{error}"))
}

/// What was read, without the name of the folder.
fn content(loaded: &Loaded) -> String {
    format!("{:?}", loaded.content).replace(loaded.content.name(), "")
}

#[test]
fn folders_with_returns_alone_are_read_as_any_other() {
    for files in folders() {
        let expected = content(&loaded(&files, "\n"));
        for end in ["\r\n", "\r"] {
            assert_eq!(content(&loaded(&files, end)), expected, "{files:?} with {end:?}");
        }
    }
    let notes = loaded(&folders()[0], "\r").notes;
    assert!(notes.iter().any(|note| note.contains("carriage return alone")), "{notes:?}");
}

#[test]
fn files_with_returns_alone_are_read_as_any_other() {
    for (reader, name) in READERS {
        let desk = Desk::new();
        let expected = read(reader, &desk.write(name, good(reader))).expect("a good file");
        for end in ["\r\n", "\r"] {
            let found = read(reader, &desk.write(name, good(reader).replace('\n', end)));
            assert_eq!(found.as_ref(), Ok(&expected), "{reader} with {end:?}");
        }
    }
}

#[test]
fn errors_in_files_with_returns_alone_have_their_line() {
    let desk = Desk::with_splits();
    desk.write("train.txt", "0 0 1 0\r0 0 1 1\r0 0 x 1\r");
    assert_texts(&desk.refusal(), &["train.txt:3:3: found \"x\""]);
}

#[test]
fn long_lines_are_refused_at_their_place() {
    let long = "7".repeat(3 << 20);
    let desk = Desk::with_splits();
    desk.write("train.txt", format!("0 0 1 0\n\n{long}\n"));
    assert_texts(&desk.refusal(), &["train.txt:3:1: the line is longer than 1048576 bytes"]);
    for (reader, name) in READERS {
        let text = good(reader);
        let (first, rest) = text.split_once('\n').expect("lines");
        let path = desk.write(name, format!("{first}\n{long}\n{rest}"));
        assert_texts(&read(reader, &path).expect_err(reader), &[&format!("{name}:2:1: the line is longer")]);
    }
}

#[test]
fn a_map_in_one_long_line_is_fine() {
    let mut map = "{\"A\": 0, \"B\": 1".to_owned();
    (2..200_000).for_each(|id| write!(map, ", \"entity {id}\": {id}").expect("writing to a string"));
    assert!(map.len() > 2 << 20);
    let desk = Desk::new();
    for name in ["train.txt", "valid.txt", "test.txt"] {
        desk.write(name, "A\tr\tB\t2014-01-01\n");
    }
    desk.write("entity2id.json", map + "}");
    let Content::Temporal(dataset) = desk.load().expect("a good folder").content else { panic!("facts") };
    assert_eq!(dataset.entities(), 200_000);
}

#[test]
fn nul_is_refused_at_its_place() {
    let desk = Desk::with_splits();
    desk.write("train.txt", b"0 0 1 0\n0 0 1\0 0\n");
    assert_texts(&desk.refusal(), &["train.txt:2:3: found a NUL byte", "UTF-8"]);
    desk.write("train.txt", FACTS);
    desk.write("entity2id.txt", b"A\t0\nB\0\t1\nC\t2\n");
    assert_texts(&desk.refusal(), &["entity2id.txt:2:1: found a NUL byte"]);
    for (name, at) in [("train", "train.txt:2:3"), ("valid", "valid.txt:2:3")] {
        let desk = Desk::new();
        for split in ["train", "valid", "test"] {
            let end = if split == name { "B\0" } else { "B" };
            desk.write(&format!("{split}.txt"), format!("A\tr\tB\t2014-01-01\nA\tr\t{end}\t2014-01-02\n"));
        }
        assert_texts(&desk.refusal(), &[at, "found a NUL byte"]);
    }
    let desk = Desk::new();
    for name in ["train.txt", "valid.txt", "test.txt"] {
        desk.write(name, "A\tr\tB\t2014-01-01\n");
    }
    desk.write("entity2id.json", "{\"A\": 0,\n\"B\": 1, \"C\\u0000\": 2}");
    assert_texts(&desk.refusal(), &["entity2id.json:2:", "NUL"]);
}

#[test]
fn nul_is_refused_in_single_files() {
    let desk = Desk::new();
    let refused = |reader: &str, name: &str, text: &str, place: &str| {
        let path = desk.write(name, text);
        assert_texts(&read(reader, &path).expect_err(reader), &[place, "NUL"]);
    };
    refused("lines", "l.csv", "a,b\n1,2\0\n", "l.csv:2:2");
    refused("operations", "o.txt", "0 1 0 +\n1 2\0 0 +\n", "o.txt:2:2");
    refused("extension", "e.txt", "a\tb\t0\t+\nx y\tz\0\t0\t+\n", "e.txt:2:2");
    refused("scores", "s.csv", "row,entity,score\n0,\"a\0\",0.5\n", "s.csv:2:2");
    refused("ranks", "r.csv", "row,gold,time_rank,static_rank,raw_rank\n0,0,1,1\0,1\n", "r.csv:2:4");
    let rows = "subject,relation,object,date\nA,r,B,2031-01-01\nA,r,\"B\0\",2031-01-02\n";
    refused("import", "t.csv", rows, "t.csv:3:3");
    let lines = "{\"subject\":\"A\",\"relation\":\"r\\u0000\",\"object\":\"B\",\"date\":\"2031-01-01\"}\n";
    refused("import", "t.jsonl", lines, "t.jsonl:1:2");
}

#[test]
fn an_id_file_of_millions_is_right_for_a_few_facts() {
    const ENTITIES: u32 = 2_000_000;
    let mut list = String::with_capacity(32 << 20);
    (0..ENTITIES).for_each(|id| writeln!(list, "entity {id}\t{id}").expect("writing to a string"));
    let facts = format!("0 0 {} 0\n", ENTITIES - 1);
    let desk = Desk::new();
    for name in ["train.txt", "valid.txt", "test.txt"] {
        desk.write(name, &facts);
    }
    desk.write("entity2id.txt", list);
    let Content::Temporal(dataset) = desk.load().expect("a good folder").content else { panic!("facts") };
    assert_eq!(dataset.entities(), ENTITIES as usize);
    // The relations have no file: their ids must still be plausible.
    desk.write("train.txt", format!("0 {} 1 0\n", ENTITIES - 1));
    assert_texts(&desk.refusal(), &["train.txt:1:2: found relation id 1999999", "without large holes"]);
}

#[test]
fn garbage_in_files_that_repeat_others_is_noted() {
    let desk = Desk::new();
    for (name, text) in &folders()[6] {
        desk.write(name, text);
    }
    desk.write("snapshots/1/entity2id.txt", "0 0\n1 1\n2 2\n");
    desk.write("snapshots/1/relation2id.txt", "0 0\n");
    desk.write("snapshots/1/train2id.txt", "0 1 0\n1 2 0\n");
    let noted = |texts: &[&str]| {
        let notes = desk.load().expect("a good folder").notes;
        for text in texts {
            assert!(notes.iter().any(|note| note.contains(text)), "{text:?} is missing in {notes:?}");
        }
        notes
    };
    assert!(noted(&[]).iter().all(|note| !note.contains("not used")), "nothing is wrong");
    desk.write("snapshots/1/train2id.txt", "0 1 0\ngarbage\n");
    desk.write("snapshots/1/test2id.txt", b"\0\xff\x01");
    desk.write("snapshots/1/valid2id.txt.gz", "no gzip");
    noted(&[
        "train2id.txt:2:2: the column is missing",
        "test2id.txt:1:1: found a NUL byte",
        "valid2id.txt.gz",
    ]);
    desk.write("increments/1/notes.txt", "whatever");
    noted(&["Not used", "increments/1/notes.txt"]);

    let desk = Desk::new();
    for (name, text) in &folders()[5] {
        desk.write(name, text);
    }
    desk.write("0/train2id.txt", "0 0 1\nx 0 1\n");
    desk.write("0/entity2id.txt", "A\t0\nB\0\t1\n");
    let notes = desk.load().expect("a good folder").notes.join("\n");
    assert_texts(&notes, &["train2id.txt:2:1: found \"x\"", "entity2id.txt:2:1: found a NUL byte"]);
}
