//! No input makes a reader panic: random bytes and damaged copies of good files only give `Ok` or `Err`.

use proptest::collection::vec;
use proptest::prelude::*;
use quadcast_data::{Format, LoadOptions, load};

use crate::support::{folder, loaded};

/// File names that reach every part of every reader.
const NAMES: [&str; 17] = [
    "train.txt",
    "valid.txt",
    "test.txt",
    "train2id.txt",
    "valid2id.txt",
    "test2id.txt",
    "entity2id.txt",
    "relation2id.txt",
    "stat.txt",
    "x_eid.json",
    "x_rid.json",
    "type_constrain.txt",
    "triple2id.txt",
    "updates/1/train-op2id.txt",
    "snapshot1/train2id.txt",
    "0/train.txt",
    "train.txt.gz",
];

const FORMATS: [Option<Format>; 8] = [
    None,
    Some(Format::Quads),
    Some(Format::Labelled),
    Some(Format::Intervals),
    Some(Format::Openke),
    Some(Format::WikidataEvolve),
    Some(Format::Snapshots),
    Some(Format::Lkge),
];

/// Good folders, one per layout.
fn good() -> Vec<Vec<(&'static str, Vec<u8>)>> {
    let own =
        |files: &[(&'static str, &str)]| files.iter().map(|(n, t)| (*n, t.as_bytes().to_vec())).collect();
    let (quads, names) =
        ("0\t0\t1\t0\t-1\r\n1 0 2 24 -1\n", "\"A \"\"B\"\"\"\tr\tC\t2014-01-01\nC\tr\tC\t2014-01-02\n");
    let (dates, triples) =
        ("0\t0\t1\t1926-##-##\t####-##-##\n1\t0\t2\t-431-##-##\t19##-##-##\n", "2\n0 1 0\n2 1 0\n");
    let (entities, relations) = ("A\t0\nB\t1\nC C\t2\n", "r\t0\n");
    vec![
        own(&[
            ("train.txt", quads),
            ("valid.txt", quads),
            ("test.txt", quads),
            ("entity2id.txt", entities),
            ("stat.txt", "3\t1\t0"),
        ]),
        own(&[
            ("train", names),
            ("valid", names),
            ("test", names),
            ("x_eid.json", "{\"A \\\"B\\\"\": 0, \"C\": 1}"),
        ]),
        own(&[("train.txt", dates), ("valid.txt", dates), ("test.txt", dates), ("triple2id.txt", dates)]),
        own(&[
            ("train2id.txt", triples),
            ("valid2id.txt", triples),
            ("test2id.txt", triples),
            ("entity2id.txt", entities),
            ("relation2id.txt", relations),
            ("type_constrain.txt", "1\n0\t1\t2\n0\t2\t0\t1\n"),
        ]),
        own(&[
            ("entity2id.txt", "0 220\n1 38\n2 9\n"),
            ("relation2id.txt", "0 17\n"),
            ("updates/1/train-op2id.txt", "0 1 0 +\n"),
            ("updates/1/valid2id.txt", "0 1 0\n"),
            ("updates/1/test2id.txt", "0 2 0\n"),
            ("snapshots/1/entity2id.txt", "0 2\n"),
        ]),
        own(&[
            ("snapshot1/entity2id.txt", entities),
            ("snapshot1/relation2id.txt", relations),
            ("snapshot1/train2id.txt", triples),
            ("snapshot1/test2id.txt", triples),
        ]),
    ]
}

fn borrowed<'a>(files: &'a [(&str, Vec<u8>)]) -> Vec<(&'a str, &'a [u8])> {
    files.iter().map(|(name, bytes)| (*name, bytes.as_slice())).collect()
}

fn read(files: &[(&str, Vec<u8>)]) {
    let folder = folder(&borrowed(files));
    for format in FORMATS {
        match load(folder.path(), &LoadOptions { format, ..LoadOptions::default() }) {
            Ok(loaded) => assert!(!loaded.notes.is_empty()),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

/// Bytes that occur in the formats, so that random text gets past the first check.
fn telling_bytes() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![8 => proptest::sample::select(b"0123456789\t\t \n\n\r-#\"{}:,+A".to_vec()), 1 => any::<u8>()];
    vec(byte, 0..120)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes(files in vec((proptest::sample::select(NAMES.to_vec()), telling_bytes()), 1..8)) {
        read(&files);
    }

    #[test]
    fn damaged_files(
        which in 0..6_usize,
        edits in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), telling_bytes(), 0..6_usize), 1..4),
    ) {
        let mut files = good().swap_remove(which);
        for (file, place, mut bytes, cut) in edits {
            let file = file.index(files.len());
            let text = &mut files[file].1;
            let start = place.index(text.len() + 1);
            let end = (start + cut).min(text.len());
            bytes.truncate(6);
            text.splice(start..end, bytes);
        }
        read(&files);
    }
}

#[test]
fn the_undamaged_files_are_good() {
    for files in good() {
        loaded(&borrowed(&files));
    }
}
