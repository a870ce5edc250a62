//! Small files that unpack to large ones.

use std::io::Write;

use quadcast_data::Compression;

use crate::support::{COMPRESSIONS, Desk, assert_texts, packed, questions, read};

const MIB: usize = 1 << 20;

#[test]
fn lines_without_end_are_refused_early() {
    for (compression, ending) in COMPRESSIONS {
        let bomb = packed(compression, "0 0 1 0\n", &vec![b'7'; MIB], 4);
        let desk = Desk::with_splits();
        desk.remove("train.txt");
        desk.write(&format!("train.txt.{ending}"), &bomb);
        assert_texts(&desk.refusal(), &[&format!("train.txt.{ending}:2:1: the line is longer than")]);
        let header = "subject,relation,object,date\n";
        for (reader, name, start) in [("operations", "o.txt", "0 1 0 +\n"), ("import", "t.csv", header)] {
            let bomb = packed(compression, start, &vec![b'7'; MIB], 4);
            let path = desk.write(&format!("{name}.{ending}"), &bomb);
            assert_texts(&read(reader, &path).expect_err(reader), &[":2:1: the line is longer than"]);
        }
    }
    for (compression, ending) in &COMPRESSIONS[..2] {
        let (scores, ranks) = ("row,entity,score\n", "row,gold,time_rank,static_rank,raw_rank\n");
        for (reader, name, start) in [("scores", "s.csv", scores), ("ranks", "r.csv", ranks)] {
            let desk = Desk::new();
            let bomb = packed(*compression, start, &vec![b'7'; MIB], 4);
            let path = desk.write(&format!("{name}.{ending}"), bomb);
            assert_texts(&read(reader, &path).expect_err(reader), &[":2:1: the line is longer than"]);
        }
    }
}

#[test]
fn rows_without_end_are_refused() {
    // 96 MiB of good rows in some kilobytes.
    let rows = b"0 0 1 0\n".repeat(MIB / 8);
    let desk = Desk::with_splits();
    desk.remove("train.txt");
    desk.write("train.txt.zst", packed(Compression::Zstandard, "", &rows, 96));
    let unpacks =
        ["train.txt.zst: the file unpacks to more than", "over 200 times its size", "decompress it first"];
    assert_texts(&desk.refusal(), &unpacks);
    let events = b"A,r,B,2031-01-01\n".repeat(MIB / 17);
    let desk = Desk::new();
    let bomb = packed(Compression::Zstandard, "subject,relation,object,date\n", &events, 96);
    let path = desk.write("t.csv.zst", bomb);
    assert_texts(&read("import", &path).expect_err("a bomb"), &["t.csv.zst", "unpacks to more than"]);
}

#[test]
fn repeated_scores_are_refused_before_they_fill_the_memory() {
    let desk = Desk::new();
    let (dataset, _) = questions();
    let line = b"0,1,0.5\n".repeat(1000);
    let path = desk.write("s.csv.zst", packed(Compression::Zstandard, "row,entity,score\n", &line, 2));
    let message = read("scores", &path).expect_err("a bomb");
    let entities = dataset.entities();
    assert_texts(
        &message,
        &[&format!("s.csv.zst:{}: ", entities + 2), "row 0", "more scores than the dataset has entities"],
    );
    let line = b"0,0,1,1,1\n".repeat(1000);
    let header = "row,gold,time_rank,static_rank,raw_rank\n";
    let path = desk.write("r.csv.zst", packed(Compression::Zstandard, header, &line, 2));
    assert_texts(
        &read("ranks", &path).expect_err("a bomb"),
        &["r.csv.zst:", "more ranks than the dataset has correct answers"],
    );
}

#[test]
fn arrays_unpack_to_what_their_shape_says() {
    let desk = Desk::new();
    let (dataset, list) = questions();
    let (rows, columns) = (list.keys.len(), dataset.entities());
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({rows}, {columns}), }}");
    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    array.extend((header.len() as u16).to_le_bytes());
    array.extend(header.as_bytes());
    array.resize(array.len() + rows * columns * 4, 0);
    let archive = |extra: usize| {
        let mut bytes = Vec::new();
        let mut archive = zip::ZipWriter::new(std::io::Cursor::new(&mut bytes));
        archive.start_file("scores.npy", zip::write::SimpleFileOptions::default()).expect("a file");
        archive.write_all(&array).expect("memory takes everything");
        let more = vec![0; MIB];
        (0..extra).for_each(|_| archive.write_all(&more).expect("memory takes everything"));
        archive.finish().expect("an archive");
        bytes
    };
    read("scores", &desk.write("s.npz", archive(0))).expect("good scores");
    let message = read("scores", &desk.write("s.npz", archive(64))).expect_err("a bomb");
    assert_texts(&message, &["s.npz", "something was appended"]);
    let unpacked = message.split(' ').filter_map(|word| word.parse::<usize>().ok()).max();
    assert!(unpacked.is_some_and(|bytes| bytes < MIB), "only a little is unpacked: {message}");
}
