//! Damaged copies of good files, one after the other, for as long as `QUADCAST_FUZZ_SECONDS` says: no reader may panic, hang or ask
//! for memory without end. The same seed (`QUADCAST_FUZZ_SEED`) makes the same inputs in the same order.
//!
//! Good files are cut, spliced, repeated, and get bits flipped and telling bytes put in: NUL, carriage returns, huge numbers, text that
//! is not UTF-8. An input that fails is kept in the temporary folder and named.

#[cfg(feature = "parquet")]
#[path = "common/parquet.rs"]
mod parquet_writer;
#[path = "limits/support.rs"]
#[allow(dead_code)]
mod support;

use std::fs;
use std::path::Path;

use quadcast_data::scores::GoldAnswer;
use quadcast_data::{
    Compression, Content, FaultPolicy, Hold, StreamFormat, operations_of, read_operations, write_operations,
};
use quadcast_testing::mutation::{Numbers, Target, damage};
use quadcast_testing::{small, write_files};

use support::{COMPRESSIONS, Desk, READERS, gold_answers, good, packed, questions, read};

/// How long the test takes if nobody asks for more.
const SECONDS: u64 = 10;

/// Edits of one input at most.
const EDITS: u64 = 4;

/// Good files and what reads them.
struct Fixture {
    /// The reader of the only file, or the layout of a folder.
    reader: &'static str,
    files: Vec<(String, Vec<u8>)>,
}

impl Fixture {
    fn folder(reader: &'static str, files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec()));
        Self { reader, files: files.collect() }
    }

    fn file(reader: &'static str, name: &str, bytes: Vec<u8>) -> Self {
        Self { reader, files: vec![(name.to_owned(), bytes)] }
    }

    fn is_folder(&self) -> bool {
        READERS.iter().all(|(reader, _)| *reader != self.reader)
    }

    /// Reads the files; whether they are good.
    fn read(&self, desk: &Desk) -> bool {
        for (name, bytes) in &self.files {
            desk.write(name, bytes);
        }
        if self.is_folder() {
            desk.load().is_ok()
        } else {
            read(self.reader, &desk.path(&self.files[0].0)).is_ok()
        }
    }
}

/// The description of a division, which names layout and calendar.
const DIVIDED: &str =
    "{\"layout\":\"quads\",\"calendar\":{\"unit\":\"hour\",\"year_zero\":2014,\"day_zero\":1}}";

/// The same files, each compressed in another way.
fn compressed(files: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    let pack = |((name, text), (compression, ending)): (&(&str, &str), (Compression, &str))| {
        (format!("{name}.{ending}"), packed(compression, text, b"", 0))
    };
    files.iter().zip(COMPRESSIONS).map(pack).collect()
}

fn folders() -> Vec<Fixture> {
    let (quads, names) =
        ("0\t0\t1\t0\n1 0 2 24\n", "\"A \"\"B\"\"\"\tr\tC\t2014-01-01\nC\tr\tC\t2014-01-02\n");
    let (months, hours) = (
        "A\tr\tC\t2014-01-01\nC\tr\tC\t2014-02-01\n",
        "A\tr\tC\t2014-01-01T06:00\nC\tr\tC\t2014-01-02T07:30\n",
    );
    let spans = "0\t0\t1\t1926-##-##\t####-##-##\n1\t0\t2\t-431-##-##\t19##-##-##\n";
    let (entities, relations, triples) = ("3\nA\t0\nB\t1\nC C\t2\n", "r\t0\n", "2\n0 1 0\n2 1 0\n");
    let splits = |text| [("train.txt", text), ("valid.txt", text), ("test.txt", text)];
    let with = |text, more: &[(&'static str, &'static str)]| [&splits(text)[..], more].concat();
    let ids = [("entity2id.txt", entities), ("relation2id.txt", relations)];
    let stat = ("stat.txt", "3\t1\t0");
    let maps = [("x_eid.json", "{\"A \\\"B\\\"\": 0, \"C\": 1}"), ("x_rid.json", "{\"r\": 0}")];
    let openke = [("train2id.txt", triples), ("valid2id.txt", triples), ("test2id.txt", triples)];
    let allowed = ("type_constrain.txt", "1\n0\t1\t2\n0\t2\t0\t1\n");
    vec![
        Fixture::folder("quads", &with(quads, &[ids[0], ids[1], stat])),
        Fixture::folder("divided", &with(quads, &[ids[0], ("division.json", DIVIDED)])),
        Fixture { reader: "compressed", files: compressed(&with(quads, &ids)) },
        Fixture::folder("labelled", &with(names, &maps)),
        Fixture::folder("imported", &with(months, &[("import.json", "{\"granularity\":\"month\"}")])),
        Fixture::folder("hours", &with(hours, &[])),
        Fixture::folder("intervals", &with(spans, &[("triple2id.txt", spans)])),
        Fixture::folder("openke", &[&openke[..], &ids, &[allowed]].concat()),
        Fixture::folder(
            "wikidata-evolve",
            &[
                ("entity2id.txt", "0 220\n1 38\n2 9\n"),
                ("relation2id.txt", "0 17\n"),
                ("compile.json", "{\"schema\":1,\"stream\":{},\"names\":\"wikidata-numbers\"}"),
                ("updates/1/train-op2id.txt", "0 1 0 +\n1 2 0 +\n"),
                ("updates/1/triple-op2id.txt", "0 1 0 +\n1 2 0 +\n"),
                ("updates/1/valid2id.txt", "0 1 0\n"),
                ("updates/1/test2id.txt", "0 2 0\n"),
                ("updates/1/tc_negative_deleted_test_triples.txt", "0 2 0 0\n"),
                ("snapshots/1/entity2id.txt", "0 2\n"),
                ("snapshots/1/train2id.txt", "0 0 0\n"),
                ("increments/1/train2id.txt", "0 1 0\n1 2 0\n"),
                ("updates/2/train-op2id.txt", "0 1 0 -\n2 0 0 +\n"),
                ("updates/2/triple-op2id.txt", "0 1 0 -\n2 0 0 +\n"),
                ("updates/2/valid2id.txt", "1 2 0\n"),
                ("updates/2/test2id.txt", "2 0 0\n"),
                ("updates/2/valid2id_all.txt", "1 2 0\n"),
                ("updates/2/test2id_all.txt", "2 0 0\n"),
                ("updates/2/triple_classification_prepared_valid_examples.txt", "1 2 0 1\n0 1 0 0\n"),
                ("updates/2/triple_classification_prepared_test_examples.txt", "2 0 0 1\n0 1 0 0\n"),
            ],
        ),
        Fixture::folder(
            "snapshots",
            &[
                ("snapshot1/entity2id.txt", entities),
                ("snapshot1/relation2id.txt", relations),
                ("snapshot1/train2id.txt", triples),
                ("snapshot1/test2id.txt", triples),
                ("snapshot2/entity2id.txt", "3\nB\t0\nD\t1\nA\t2\n"),
                ("snapshot2/relation2id.txt", relations),
                ("snapshot2/train2id.txt", triples),
                ("snapshot2/valid2id.txt", triples),
            ],
        ),
        Fixture::folder(
            "lkge",
            &[
                ("0/train.txt", "A\tr\tB\nB\tr\tC\n"),
                ("0/test.txt", "C\tr\tA\n"),
                ("0/entity2id.txt", "A\t0\n"),
                ("1/train.txt", "C\tq\tD\nA\tr\tB\n"),
                ("1/valid.txt", "A\tq\tD\n"),
                ("1/test.txt", "D\tr\tA\n"),
                ("1/train2id.txt", "0 1 0\n"),
            ],
        ),
    ]
}

fn single_files(desk: &Desk) -> Vec<Fixture> {
    let mut fixtures = Vec::new();
    for (reader, name) in READERS {
        let text = good(reader);
        fixtures.push(Fixture::file(reader, name, text.clone().into_bytes()));
        for (compression, ending) in COMPRESSIONS {
            let packed = packed(compression, &text, b"", 0);
            // Rules are never compressed, scores and ranks in two ways only; others would test the name.
            let read_so = match reader {
                "rules" => false,
                "scores" | "ranks" => ["zst", "gz"].contains(&ending),
                _ => true,
            };
            if read_so {
                fixtures.push(Fixture::file(reader, &format!("{name}.{ending}"), packed));
            }
        }
    }
    let stream = desk.write("o.txt", "0 1 0 + 2013-04-12T16:12:19Z\n1 2 0 + 2013-04-12T16:12:20Z\n");
    let stream = read_operations(&stream, FaultPolicy::Error).expect("a stream");
    write_operations(&desk.path("o.qops"), &stream, StreamFormat::Binary).expect("a file");
    let bytes = fs::read(desk.path("o.qops")).expect("a file");
    let packed_stream = packed(Compression::Zstandard, "", &bytes, 1);
    fixtures.push(Fixture::file("operations", "o.qops", bytes));
    fixtures.push(Fixture::file("operations", "o.qops.zst", packed_stream));
    // With names, steps and splits.
    let graph = Content::Evolving(small::evolving());
    let stream = operations_of(&graph, Hold::default(), FaultPolicy::Drop).expect("a stream");
    write_operations(&desk.path("g.qops"), &stream, StreamFormat::Binary).expect("a file");
    fixtures.push(Fixture::file("operations", "g.qops", fs::read(desk.path("g.qops")).expect("a file")));
    let event = |day| {
        format!("{{\"subject\":\"A\",\"relation\":\"r\",\"object\":\"B\",\"date\":\"2031-01-0{day}\"}}\n")
    };
    let events: String = (1..=8).map(event).collect();
    fixtures.push(Fixture::file("import", "t.jsonl", events.into_bytes()));
    fixtures.push(Fixture::file("import", "t.tsv", good("import").replace(',', "\t").into_bytes()));
    fixtures.extend(keyed_files());
    fixtures
}

/// Scores and ranks whose rows are named by the keys of their queries, and arrays of scores with and without keys.
fn keyed_files() -> Vec<Fixture> {
    let (dataset, list) = questions();
    let score = |key: &u64| format!("{key},\"a\",0.5\n");
    let scores: String = list.keys.iter().map(score).collect();
    let rank =
        |answer: GoldAnswer| format!("{},{},1,1,1,2,2,2,1,1,1\n", list.keys[answer.row], answer.gold.0);
    let ranks: String = gold_answers(&dataset, &list).into_iter().map(rank).collect();
    let ties = "time_tied,static_tied,raw_tied,time_tied_before,static_tied_before,raw_tied_before";
    let ranks = format!("key,gold,time_rank,static_rank,raw_rank,{ties}\n{ranks}");
    let (rows, columns) = (list.keys.len(), dataset.entities());
    let array = npy("<f4", &format!("({rows}, {columns})"), &vec![0; rows * columns * 4]);
    let keys: Vec<u8> = list.keys.iter().flat_map(|key| key.to_le_bytes()).collect();
    let keys = npy("<u8", &format!("({rows},)"), &keys);
    let named = ("scores.npy", array.as_slice());
    let [alone, keyed] = [npz(&[named]), npz(&[named, ("keys.npy", keys.as_slice())])];
    vec![
        Fixture::file("scores", "s.csv", format!("key,entity,score\n{scores}").into_bytes()),
        Fixture::file("ranks", "r.csv", ranks.into_bytes()),
        Fixture::file("scores", "s.npy", array),
        Fixture::file("scores", "s.npz", alone),
        Fixture::file("scores", "k.npz", keyed),
    ]
}

/// An array as numpy saves it.
fn npy(kind: &str, shape: &str, numbers: &[u8]) -> Vec<u8> {
    let header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    let length = (header.len() as u16).to_le_bytes();
    [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes(), numbers].concat()
}

/// An archive of arrays.
fn npz(arrays: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, array) in arrays {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).expect("a file");
        std::io::Write::write_all(&mut archive, array).expect("memory takes everything");
    }
    archive.finish().expect("an archive").into_inner()
}

/// Parquet files for every reader of them: typed columns, nulls, dates, all compressions.
#[cfg(feature = "parquet")]
fn parquet_files() -> Vec<Fixture> {
    use parquet::basic::{Compression, ZstdLevel};
    use parquet_writer::{Double, Int32, Int64, Single, Text, parquet};

    let names = |texts: [&'static str; 8]| Text(texts.map(Some).to_vec());
    let events = |date: &str, dates, compression| {
        let schema = format!(
            "optional binary subject (UTF8); optional binary relation (UTF8); optional binary object (UTF8); optional {date};"
        );
        let subjects = names(["A", "B", "C", "A", "B", "C", "A", "B, \"b\""]);
        parquet(&schema, &[subjects, names(["r"; 8]), names(["Z"; 8]), dates], compression)
    };
    let days = Int32((22_280..22_288).map(Some).collect());
    let moments = Int64((0..8).map(|day| Some(1_925_000_000_000 + day * 86_400_000)).collect());
    let texts = names([
        "2031-01-01",
        "2031-01-02",
        "2031-01-03",
        "2031-01-04",
        "2031-01-05",
        "2031-01-06",
        "2031-01-07",
        "2031-01-08",
    ]);
    let (_, list) = questions();
    let keys: Vec<Option<i64>> = list.keys.iter().map(|&key| i64::try_from(key).ok()).collect();
    let rows = keys.len();
    let doubles = Double((0..rows).map(|row| (row > 0).then_some(row as f64 / 3.0)).collect());
    let by_key = "optional int64 key; optional int64 entity; optional double score;";
    let by_name = "optional int32 row; optional binary entity (UTF8); optional float score;";
    let first = (0..rows).map(|row| i32::try_from(row).ok()).collect();
    let entities = Int64((0..rows).map(|row| (row > 0).then_some(1)).collect());
    let singles = Single((0..rows).map(|row| (row > 0).then_some(0.5)).collect());
    let called = Text((0..rows).map(|row| (row > 0).then_some("a")).collect());
    let zstd = Compression::ZSTD(ZstdLevel::default());
    let gzip = Compression::GZIP(parquet::basic::GzipLevel::default());
    vec![
        Fixture::file("import", "d.parquet", events("int32 date (DATE)", days, Compression::SNAPPY)),
        Fixture::file("import", "m.parquet", events("int64 date (TIMESTAMP_MILLIS)", moments, zstd)),
        Fixture::file("import", "t.parquet", events("binary date (UTF8)", texts, Compression::UNCOMPRESSED)),
        Fixture::file("scores", "k.parquet", parquet(by_key, &[Int64(keys), entities, doubles], gzip)),
        Fixture::file(
            "scores",
            "n.parquet",
            parquet(by_name, &[Int32(first), called, singles], Compression::SNAPPY),
        ),
    ]
}

/// An input: some damage to the files of a fixture.
fn input(fixtures: &[Fixture], numbers: &mut Numbers) -> Fixture {
    let chosen = &fixtures[numbers.below(fixtures.len())];
    let mut files = chosen.files.clone();
    for _ in 0..=numbers.draw() % EDITS {
        let other = &fixtures[numbers.below(fixtures.len())].files;
        let other = &other[numbers.below(other.len())].1;
        let file = numbers.below(files.len());
        damage(&mut files[file].1, other, numbers);
    }
    Fixture { reader: chosen.reader, files }
}

/// Tries damaged copies of good files.
fn try_damaged(name: &str, fixtures: &[Fixture]) {
    for fixture in fixtures {
        assert!(fixture.read(&Desk::new()), "{} {}", fixture.reader, fixture.files[0].0);
    }
    let keep = |folder: &Path, input: &Fixture| {
        write_files(folder, input.files.iter().map(|(name, bytes)| (name, bytes)));
    };
    let input = |numbers: &mut Numbers| input(fixtures, numbers);
    let target = Target { name, seconds: SECONDS, input: &input, keep: &keep };
    target.try_inputs(|input| Ok(input.read(&Desk::new())));
}

#[test]
fn the_same_seed_makes_the_same_inputs() {
    let fixtures = folders();
    let files = |number| input(&fixtures, &mut Numbers::new(7, number)).files;
    assert!((0..50).all(|number| files(number) == files(number)));
    assert!((1..50).any(|number| files(number) != files(0)));
}

#[test]
fn no_reader_panics_or_hangs() {
    let mut fixtures = folders();
    fixtures.extend(single_files(&Desk::new()));
    try_damaged(&format!("{} formats", fixtures.len()), &fixtures);
}

/// Beside the other formats, which are tried as often as without the feature.
#[cfg(feature = "parquet")]
#[test]
fn no_reader_of_parquet_panics_or_hangs() {
    try_damaged("Parquet", &parquet_files());
}
