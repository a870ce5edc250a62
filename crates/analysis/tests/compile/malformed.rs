//! Streams that are wrong: every fault is an error that names the file, the line and the column, and never a panic.

use std::path::PathBuf;

use proptest::collection::vec;
use proptest::prelude::*;
use quadcast_analysis::{CompileOptions, compile, synth_operations};
use quadcast_data::{
    FaultPolicy, OperationStream, StreamFormat, operations_target, read_operations, write_operations,
};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

fn file(name: &str, content: &[u8]) -> (TempDir, PathBuf) {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join(name);
    std::fs::write(&path, content).expect("a file");
    (folder, path)
}

fn message(name: &str, content: &[u8]) -> String {
    let (_folder, path) = file(name, content);
    let text = read_operations(&path, FaultPolicy::Error).expect_err("this file is wrong").to_string();
    assert!(text.lines().count() == 1, "{text}");
    text
}

fn assert_parts(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is missing in: {text}");
    }
}

#[test]
fn text_faults_have_places() {
    for (content, texts) in [
        ("1 2 3 -\n", &["ops.txt:1:4: found - for the triple 1 2 3, which is absent", "--policy drop"][..]),
        ("1 2 3 +\n\n1 2 3 +\n", &["ops.txt:3:4: found + for the triple 1 2 3, which is present already"]),
        ("1 2 3 +\n1 2 3 *\n", &["ops.txt:2:4: found \"*\", expected + (insertion) or - (deletion)"]),
        ("1 2 3 +\n1 99999999999 3 -\n", &["ops.txt:2:2: found \"99999999999\"", "from 0 to 4294967294"]),
        ("1 2 3 +\n-7 2 3 +\n", &["ops.txt:2:1: found \"-7\"", "an entity id", "never negative"]),
        ("1 2 x +\n", &["ops.txt:1:3: found \"x\"", "a relation id"]),
        ("1 2 3 + 9\n2 3 3 + 8\n", &["ops.txt:2:5: found the time 8 after 9", "sort the file"]),
        (
            "1 2 3 + 2013-04-12T16:12:19Z\n2 3 3 + 2013-04-12T16:12:18Z\n",
            &["ops.txt:2:5: found the time 2013-04-12T16:12:18Z after 2013-04-12T16:12:19Z"],
        ),
        ("1 2 3 + 9\n2 3 3 + 2013-04-12T16:12:18Z\n", &["ops.txt:2:5", "a time as a whole number"]),
        ("1 2 3 + soon\n", &["ops.txt:1:5: found \"soon\"", "2013-04-12T16:12:19Z"]),
        ("1 2 3 + 9\n2 3 3 +\n", &["ops.txt:2:5: the column is missing", "has 4 of the columns"]),
        ("1 2 3 +\n2 3 3 + 8\n", &["ops.txt:2:5: found a column \"8\" too many"]),
        ("1 2 3 +\n2 3\n", &["ops.txt:2:3: the column is missing"]),
        ("3\n1 2 3 +\n2 3 3 +\n", &["ops.txt:1:1: the count says 3, but 2 follow"]),
        ("", &["ops.txt: the stream holds no operation"]),
        ("\n \n", &["the stream holds no operation"]),
    ] {
        assert_parts(&message("ops.txt", content.as_bytes()), texts);
    }
}

#[test]
fn a_stream_in_which_nothing_happens_says_why() {
    let (_folder, path) = file("loops.txt", b"1 1 3 +\n2 2 3 +\n4 5 3 -\n");
    let stream = read_operations(&path, FaultPolicy::Drop).expect("rows that can be read");
    let text = compile(&stream, &CompileOptions::default()).expect_err("nothing is left").to_string();
    let loops = "2 of its rows lead from an entity to itself";
    assert_parts(&text, &["loops.txt: no operation is left", loops, "1 contradict"]);
}

#[test]
fn compressed_streams_may_be_cut_off() {
    let rows: Vec<String> = (0..5000).map(|i| format!("{i} {} 3 +", i + 1)).collect();
    let text = rows.join("\n");
    let whole = zstd::encode_all(text.as_bytes(), 3).expect("memory takes everything");
    let (_folder, path) = file("ops.txt.zst", &whole);
    assert_eq!(read_operations(&path, FaultPolicy::Error).expect("a whole file").len(), 5000);
    let text = message("ops.txt.zst", &whole[..whole.len() / 2]);
    assert!(text.contains("ops.txt.zst: the zstd file is truncated or damaged"), "{text}");
}

/// A small stream in the binary form.
fn binary() -> Vec<u8> {
    let (_folder, path) = file("small.qops", b"");
    write_operations(&path, &synth_operations(60, 2), StreamFormat::Binary).expect("a disk");
    std::fs::read(&path).expect("what was written")
}

#[test]
fn both_forms_come_back() {
    let made = synth_operations(3000, 5);
    let folder = TempDir::new().expect("a folder");
    let [text, binary, again] = ["a.txt", "b.qops", "c.txt"].map(|name| folder.path().join(name));
    write_operations(&text, &made, StreamFormat::Text).expect("a disk");
    let read = read_operations(&text, FaultPolicy::Error).expect("text");
    assert_eq!(read.len(), made.len());
    write_operations(&binary, &read, StreamFormat::Binary).expect("a disk");
    let back = read_operations(&binary, FaultPolicy::Error).expect("binary");
    let nameless = |mut stream: OperationStream| {
        stream.name.clear();
        stream
    };
    assert_eq!(nameless(back.clone()), nameless(read));
    write_operations(&again, &back, StreamFormat::Text).expect("a disk");
    assert!(std::fs::read(&text).expect("text") == std::fs::read(&again).expect("text"));
    let [text, binary] = [&text, &binary].map(|path| std::fs::metadata(path).expect("a file").len());
    assert!(3 * binary < 2 * text, "{binary} bytes for {text}");
}

#[test]
fn every_cut_of_a_binary_file_is_an_error() {
    let whole = binary();
    for length in 8..whole.len() {
        let (_folder, path) = file("cut.qops", &whole[..length]);
        let text = read_operations(&path, FaultPolicy::Error).expect_err("a cut file").to_string();
        assert_parts(&text, &["cut.qops: byte ", "truncated or damaged"]);
    }
}

/// The place of a section's payload.
fn payload(bytes: &[u8], tag: &[u8; 4]) -> std::ops::Range<usize> {
    // Sections follow the magic and the version: tag, length, payload, checksum.
    let mut at = 12;
    loop {
        let length = u64::from_le_bytes(bytes[at + 4..at + 12].try_into().expect("eight bytes")) as usize;
        let payload = at + 12..at + 12 + length;
        if &bytes[at..at + 4] == tag {
            return payload;
        }
        at = payload.end + 8;
    }
}

/// Changes a section and makes its checksum right again: what somebody would do who means harm.
fn forged(tag: &[u8; 4], change: impl FnOnce(&mut [u8])) -> Vec<u8> {
    let mut bytes = binary();
    let place = payload(&bytes, tag);
    change(&mut bytes[place.clone()]);
    let sum: [u8; 32] = Sha256::digest(&bytes[place.clone()]).into();
    bytes[place.end..place.end + 8].copy_from_slice(&sum[..8]);
    bytes
}

#[test]
fn counts_that_lie_are_errors() {
    let whole = binary();
    let [triples, operations] = [b"TRIP", b"OPER"].map(|tag| payload(&whole, tag).len());
    // The head holds the clock, then the numbers of triples and operations.
    for (at, count, what, found) in [
        (1, 5_u64, "triples, expected 60", triples),
        (1, u64::MAX, "triples, expected", triples),
        // Times the size of a row, these come back to the true sizes in 64 bits.
        (1, triples as u64 / 12 + (1 << 62), "triples, expected", triples),
        (9, operations as u64 / 4 + (1 << 62), "operations, expected", operations),
        (9, u64::MAX, "operations, expected", operations),
    ] {
        let forged = forged(b"HEAD", |head| head[at..at + 8].copy_from_slice(&count.to_le_bytes()));
        let text = message("forged.qops", &forged);
        assert!(text.contains(&format!("found {found} bytes of {what}")), "{text}");
    }
}

#[test]
fn a_triple_that_stands_twice_is_an_error() {
    let forged = forged(b"TRIP", |triples| triples.copy_within(..12, 12));
    let text = message("forged.qops", &forged);
    assert_parts(&text, &["forged.qops: byte ", "twice, expected every triple once"]);
}

#[test]
fn files_are_compressed_as_their_names_say() {
    let made = synth_operations(2000, 5);
    let folder = TempDir::new().expect("a folder");
    let size = |name: &str| {
        let path = folder.path().join(name);
        write_operations(&path, &made, StreamFormat::of(&path)).expect("a disk");
        let back = read_operations(&path, FaultPolicy::Error).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(back.iter().count(), made.iter().count(), "{name}");
        std::fs::read(&path).expect("what was written")
    };
    let [text, binary] = ["a.txt", "a.qops"].map(|name| size(name).len());
    for (ending, magic) in
        [("gz", &b"\x1f\x8b"[..]), ("bz2", b"BZh"), ("xz", b"\xfd7zXZ"), ("zst", b"\x28\xb5\x2f\xfd")]
    {
        for (name, plain) in [("b.txt", text), ("b.qops", binary)] {
            let bytes = size(&format!("{name}.{ending}"));
            assert!(bytes.starts_with(magic) && bytes.len() < plain, "{name}.{ending}");
        }
    }
    let archive = folder.path().join("c.txt.zip");
    let error = write_operations(&archive, &made, StreamFormat::Text).expect_err("archives are not written");
    assert!(error.to_string().contains("c.txt.zip: a stream cannot be written as an archive"), "{error}");
    assert!(!archive.exists() && operations_target(&archive).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn damaged_binary_files_are_errors(at in 0.0..1.0_f64, bit in 0..8_u32) {
        let mut bytes = binary();
        let place = (at * bytes.len() as f64) as usize;
        bytes[place] ^= 1 << bit;
        let (_folder, path) = file("damaged.qops", &bytes);
        prop_assert!(read_operations(&path, FaultPolicy::Error).is_err());
    }

    #[test]
    fn random_text_never_panics(bytes in vec(prop::sample::select(b"0123 +-\n\tTZ:x\xff".to_vec()), 0..200)) {
        let (_folder, path) = file("random.txt", &bytes);
        for policy in [FaultPolicy::Error, FaultPolicy::Drop] {
            if let Err(error) = read_operations(&path, policy) {
                prop_assert!(error.to_string().contains("random.txt"));
            }
        }
    }
}
