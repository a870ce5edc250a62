//! Score files that cannot be judged: exit code 2, the file and the place are named, nothing is left behind.

use crate::common::Room;
use crate::scores::{floats, keys_array, npy, npy_ordered, npz, with_small};

/// Asserts that a score file is refused, even if its order need not be proven.
fn assert_bad(room: &Room, file: &str, content: impl AsRef<[u8]>, texts: &[&str]) {
    room.write(file, content);
    let mut texts = texts.to_vec();
    texts.push(file);
    room.assert_refused(&format!("evaluate --data small --scores {file} --unchecked-order"), &texts);
}

/// Scores of the small dataset.
pub const GOOD: &str = "0,1,0.5\n1,2,0.5\n2,0,0.5\n3,1,0.5\n";

#[test]
fn shapes_of_dense_files() {
    let (room, _) = with_small();
    for (shape, count, texts) in [
        ("(3, 3)", 9, &["scores has the shape (3, 3), expected (4, 3)"][..]),
        ("(5, 3)", 15, &["shape (5, 3), expected (4, 3)", "one row per query"]),
        ("(4, 4)", 16, &["shape (4, 4)", "one column per entity"]),
        ("(12,)", 12, &["shape (12), expected (4, 3)"]),
        ("(4, 3)", 11, &["truncated", "bytes"]),
        ("(4, 3)", 13, &["something was appended"]),
    ] {
        assert_bad(&room, "s.npy", npy("<f4", shape, &floats(&vec![0.5; count])), texts);
    }
}

#[test]
fn types_of_dense_files() {
    let (room, keys) = with_small();
    let numbers = vec![0; 96];
    for kind in ["<f8", ">f4", "<i4", "|b1"] {
        assert_bad(&room, "s.npy", npy(kind, "(4, 3)", &numbers), &["the type", kind, "astype"]);
    }
    let fortran = npy_ordered("<f4", "(4, 3)", "True", &floats(&[0.5; 12]));
    assert_bad(&room, "s.npy", fortran, &["Fortran order", "ascontiguousarray"]);
    let scores = npy("<f4", "(4, 3)", &floats(&[0.5; 12]));
    let archive = |keys: &[u8]| npz(&[("scores", &scores), ("keys", keys)], false);
    let doubles = npy("<f8", "(4,)", &[0; 32]);
    assert_bad(&room, "s.npz", archive(&doubles), &["keys has the type <f8", "64-bit integers"]);
    assert_bad(&room, "s.npz", archive(&keys_array(&keys[..3])), &["keys has the shape (3), expected (4,)"]);
}

#[test]
fn damaged_dense_files() {
    let (room, keys) = with_small();
    assert_bad(&room, "s.npy", b"PK\x03\x04 something else", &["damaged", "does not start as numpy"]);
    assert_bad(&room, "s.npy", b"\x93NUMPY\x01", &["damaged", "ends within the header"]);
    assert_bad(&room, "s.npy", npy("<f4", "(4, x)", &[]), &["damaged", "header"]);
    assert_bad(&room, "s.npy", b"", &["damaged"]);
    let scores = npy("<f4", "(4, 3)", &floats(&[0.5; 12]));
    for compressed in [false, true] {
        let archive = npz(&[("scores", &scores), ("keys", &keys_array(&keys))], compressed);
        assert_bad(&room, "s.npz", &archive[..archive.len() / 2], &["damaged"]);
    }
    let mut archive = npz(&[("scores", &scores)], true);
    // Somewhere in the compressed numbers.
    archive[60] ^= 0x55;
    assert_bad(&room, "s.npz", &archive, &["damaged"]);
    let two = npz(&[("a", &scores), ("b", &scores)], false);
    assert_bad(&room, "s.npz", two, &["holds the arrays \"a\", \"b\"", "expected an array \"scores\""]);
    assert_bad(&room, "s.npz", npz(&[("keys", &keys_array(&keys))], false), &["no array of scores"]);
}

#[test]
fn not_a_number() {
    let (room, keys) = with_small();
    let mut numbers = [0.5; 12];
    (numbers[4], numbers[10], numbers[11]) = (f32::NAN, f32::NAN, f32::NAN);
    let scores = npy("<f4", "(4, 3)", &floats(&numbers));
    let message = "3 scores are not a number, the first in row 1";
    assert_bad(&room, "s.npy", &scores, &[message]);
    assert_bad(&room, "s.npz", npz(&[("scores", &scores), ("keys", &keys_array(&keys))], true), &[message]);
    let text = GOOD.replace("1,2,0.5", "1,2,nan").replace("3,1,0.5", "3,1,NaN");
    assert_bad(&room, "s.csv", text, &["2 scores are not a number, the first in row 1"]);
}

#[test]
fn lines_that_cannot_be_used() {
    let (room, _) = with_small();
    room.write("good.csv", GOOD);
    room.quadcast("evaluate --data small --scores good.csv --unchecked-order").success();
    let cases = [
        ("9,1,0.5", "row \"9\" does not exist, rows run from 0 to 3"),
        ("-1,1,0.5", "row \"-1\" does not exist"),
        ("2,3,0.5", "entity 3 does not exist, ids run from 0 to 2"),
        ("2,Atlantis,0.5", "there is no entity \"Atlantis\""),
        ("2,99999999999,0.5", "entity 99999999999 does not exist"),
        ("2,\"2\",0.5", "there is no entity \"2\""),
        ("2,2,high", "the score \"high\" is not a number"),
        ("2,2,", "the score \"\" is not a number"),
        ("2,,0.5", "there is no entity \"\""),
        ("2,2", "2 fields, expected 3: row,entity,score"),
        ("2,\"2,0.5", "a quote is not closed"),
    ];
    for (line, message) in cases {
        let text = GOOD.replace("2,0,0.5", line);
        assert_bad(&room, "s.csv", text, &["s.csv:3: ", message]);
    }
    let mut bytes = GOOD.as_bytes().to_vec();
    bytes.extend(b"\xff\xfe\n");
    assert_bad(&room, "s.csv", bytes, &["this is not text"]);
}

#[test]
fn headers_that_cannot_be_used() {
    let (room, keys) = with_small();
    for header in ["entity,score", "row,score", "row,entity,score,score", "row,entity,score,rank"] {
        assert_bad(&room, "s.csv", format!("{header}\n{GOOD}"), &["s.csv:1: the header"]);
    }
    let line = |key: u64| format!("{key},1,0.5\n");
    let text = format!("key,entity,score\n{}{}", line(keys[0]), line(keys[1] + 1));
    assert_bad(&room, "s.csv", text, &["s.csv:3: no query has the key", "another dataset or split"]);
    assert_bad(&room, "s.csv", "key,entity,score\nx,1,0.5\n", &["s.csv:2: the key \"x\""]);
}

#[test]
fn missing_and_repeated() {
    let (room, _) = with_small();
    let text = GOOD.replace("1,2,0.5\n", "").replace("3,1,0.5\n", "");
    assert_bad(&room, "s.csv", text, &["2 of 4 rows are missing, the first is row 1", "nothing to say"]);
    assert_bad(&room, "s.csv", "", &["4 of 4 rows are missing"]);
    let text = format!("{GOOD}2,1,0.5\n2,0,0.25\n");
    assert_bad(&room, "s.csv", text, &["row 2 scores entity 0 (#0) more than once"]);
    room.write("empty.csv", GOOD.replace("1,2,0.5", "1,,"));
    let record = room.document("evaluate --data small --scores empty.csv --unchecked-order");
    assert_eq!(record["unreached"], 0.25);
}

#[test]
fn disorder_hides_no_error() {
    // Two test steps; the first line is about the second of them.
    let room = Room::with_splits("0 0 1 0\n", "0 0 2 1\n", "0 0 1 2\n1 0 2 3\n");
    let text = "2,2,0.5\n3,1,0.5\n0,1,0.5\n1,0,0.5\n";
    room.write("good.csv", text);
    room.quadcast("evaluate --data small --scores good.csv --unchecked-order").success();
    assert_bad(&room, "s.csv", format!("{text}9,9,9\n"), &["s.csv:5: row \"9\""]);
    assert_bad(&room, "s.csv", format!("{text}2,2,1\n"), &["row 2 scores entity 2 (#2) more than once"]);
    let missing = text.replace("1,0,0.5\n", "");
    assert_bad(&room, "s.csv", missing, &["1 of 4 rows are missing, the first is row 1"]);
    assert_bad(&room, "s.csv", text.replace("1,0,0.5", "1,0,nan"), &["1 scores are not a number"]);
}

#[test]
fn compressed_text_that_breaks_off() {
    let (room, _) = with_small();
    let packed = zstd::encode_all(GOOD.repeat(2000).as_bytes(), 1).expect("memory takes everything");
    assert_bad(&room, "s.csv.zst", &packed[..packed.len() / 2], &["compressed data"]);
    assert_bad(&room, "s.csv.gz", b"not gzip", &["compressed data"]);
}

#[test]
fn files_that_are_not_there_or_not_known() {
    let (room, _) = with_small();
    room.assert_refused("evaluate --data small --scores none.npz", &["cannot read none.npz"]);
    assert_bad(&room, "s.xlsx", "PK", &["the ending", ".npz"]);
    let said = if cfg!(feature = "parquet") { "is damaged" } else { "--features parquet" };
    assert_bad(&room, "s.parquet", "PAR1", &[said]);
    room.write("good.csv", GOOD);
    room.assert_refused("evaluate --data none --scores good.csv", &["none"]);
}

#[test]
fn keys_of_another_split_or_dataset() {
    let (room, keys) = with_small();
    let scores = npy("<f4", "(4, 3)", &floats(&[0.5; 12]));
    room.write("s.npz", npz(&[("scores", &scores), ("keys", &keys_array(&keys))], false));
    room.quadcast("evaluate --data small --scores s.npz").success();
    room.write("small/train.txt", "0 0 2 0\n");
    let texts = ["row 0 has the key", "another dataset or split"];
    room.assert_refused("evaluate --data small --scores s.npz", &texts);
}
