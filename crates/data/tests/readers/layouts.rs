//! Layouts of temporal, static and interval data, and their quirks.

use std::io::{Read, Write};

use quadcast_core::{Calendar, PartialDate, Split, TimeUnit, Triple};
use quadcast_data::{Content, Format, LoadOptions, load};

use crate::support::{assert_message, assert_notes, facts, folder, loaded, temporal, with_train};

#[test]
fn quads_with_every_quirk_at_once() {
    let read = loaded(&[
        ("train.txt", b"\xef\xbb\xbf0  \t0 \t1\t24\t-1\r\n\r\n1 0 2 0 -1\r\n  2\t1\t0\t48\t-1  "),
        ("valid.txt", b"0\t0\t2\t72\t-1\n\n\n"),
        ("test.txt", b"0\t1\t1\t144\t-1"),
        ("entity2id.txt", "Găgăuzia\u{a0}\t1\t1913-##-##\t####-##-##\nA \"B\" C\t0\nD E\t2\n\n".as_bytes()),
        ("relation2id.txt", b"0 makes a visit\n1 consults\n"),
        ("stat.txt", b"4\t2\t0"),
    ]);
    assert_eq!(read.format, Format::Quads);
    let dataset = temporal(&read);
    assert_eq!(facts(dataset, Split::Train), [(1, 0, 2, 0), (0, 0, 1, 24), (2, 1, 0, 48)]);
    assert_eq!((dataset.entities(), dataset.relations()), (3, 2));
    assert_eq!(dataset.vocabulary.entities.declared(), Some(4));
    assert_eq!(dataset.vocabulary.entities.name(1), "Găgăuzia\u{a0}");
    assert_eq!(dataset.vocabulary.entities.name(0), "A \"B\" C");
    assert_eq!(dataset.vocabulary.relations.name(0), "makes a visit");
    assert_eq!(dataset.axis.granularity(), 24);
    let unit = dataset.axis.calendar();
    assert_eq!((unit.unit, unit.year_zero), (TimeUnit::Hour, None));
    assert_notes(&read, &["CRLF", "padded", "last one is ignored", "byte order mark", "1 gaps"]);
    assert_notes(&read, &["declared count of 4 entities", "relation2id.txt (id, then name)"]);
    assert_notes(&read, &["entity2id.txt (name, then id)"]);
}

#[test]
fn quads_keep_the_evidence_of_their_lines() {
    let files: [(&str, &[u8]); 3] = [
        ("train_.txt", b"\n0 0 1 5\n0 0 1 9\n0 0 1 9\n0 0 1 2\n0 0 1 3\n"),
        ("valid_.txt", b"0 0 1 10"),
        ("test_.txt", b"0 0 1 11"),
    ];
    let sources = loaded(&files).sources.expect("temporal data has sources");
    let train = &sources.train;
    assert_eq!(
        (train.rows, train.unsorted_at, train.earliest_at, train.latest_at),
        (5, Some(5), Some(5), Some(3))
    );
    assert!(train.path.ends_with("train_.txt"));
    assert_eq!((sources.test.unsorted_at, sources.test.earliest_at), (None, Some(1)));
}

#[test]
fn quads_without_id_files() {
    let mut files = with_train(b"0 0 7 -3\n", b"1 2 3 5\n").to_vec();
    let sizes = |files: &[(&str, &[u8])]| {
        let read = loaded(files);
        let dataset = temporal(&read);
        (
            dataset.entities(),
            dataset.relations(),
            dataset.vocabulary.entities.declared(),
            dataset.axis.times()[0],
        )
    };
    assert_eq!(sizes(&files), (8, 3, None, -3));
    files.push(("stat.txt", b"10 2 0\n"));
    assert_eq!(sizes(&files), (10, 3, Some(10), -3));
    // An absurd count is kept as a declaration but reserves no memory.
    *files.last_mut().expect("the stat file") = ("stat.txt", b"9000000000 2\n");
    assert_eq!(sizes(&files).0, 8);
}

#[test]
fn quarters_of_an_hour_and_plain_steps() {
    let unit =
        |train: &[u8], others: &[u8]| temporal(&loaded(&with_train(train, others))).axis.calendar().unit;
    assert_eq!(unit(b"0 0 1 0\n", b"0 0 1 15\n"), TimeUnit::Minute);
    assert_eq!(unit(b"0 0 1 0\n", b"0 0 1 1\n"), TimeUnit::Step);
}

#[test]
fn every_compression() {
    let text = b"0\t0\t1\t0\n1\t0\t0\t1\n";
    let packed = [
        ("gz", read_all(flate2::read::GzEncoder::new(&text[..], flate2::Compression::default()))),
        ("bz2", read_all(bzip2::read::BzEncoder::new(&text[..], bzip2::Compression::default()))),
        ("xz", read_all(liblzma::read::XzEncoder::new(&text[..], 6))),
        ("zst", zstd::encode_all(&text[..], 3).expect("memory takes it")),
        ("zip", zipped(&[("inner.txt", text)])),
    ];
    for (ending, bytes) in &packed {
        let train = format!("train.txt.{ending}");
        let files: [(&str, &[u8]); 3] = [(&train, bytes), ("valid", b"0 0 1 2"), ("test", b"0 0 1 3")];
        let read = loaded(&files);
        assert_eq!(facts(temporal(&read), Split::Train), [(0, 0, 1, 0), (1, 0, 0, 1)], "{ending}");
        assert_notes(&read, &[&train]);
        // Every shorter file is damaged and must be called so.
        let cut = [(train.as_str(), &bytes[..bytes.len() - 5]), files[1], files[2]];
        assert_message(&cut, &[&train, "truncated or damaged"]);
    }
    let two = zipped(&[("a.txt", text), ("b.txt", text)]);
    let files: [(&str, &[u8]); 3] = [("train.zip", &two), ("valid", b"0 0 1 2"), ("test", b"0 0 1 3")];
    assert_message(&files, &["train.zip: the archive holds 2 files"]);
}

fn read_all(mut source: impl Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes).expect("memory takes it");
    bytes
}

fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, bytes) in files {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).expect("memory takes it");
        archive.write_all(bytes).expect("memory takes it");
    }
    archive.finish().expect("memory takes it").into_inner()
}

#[test]
fn a_plain_file_wins_over_its_compressed_copy() {
    let mut files = with_train(b"0 0 1 0\n", b"0 0 1 1\n").to_vec();
    files.push(("train.txt.gz", b"not even gzip"));
    assert_eq!(temporal(&loaded(&files)).splits.train.len(), 1);
}

#[test]
fn labelled_by_first_appearance_keeps_names_as_they_are() {
    let train = "Nicholas \"Nick\" X\tvisits\tGăgăuzia\u{a0}\t2014-01-02\n\
                 Găgăuzia\tvisits\tNicholas \"Nick\" X\t2014-01-01\n";
    let read = loaded(&[
        ("icews_2014_train.txt", train.as_bytes()),
        ("icews_2014_valid.txt", b"Z\tleaves \tZ\t2014-01-05\r\n"),
        ("icews_2014_test.txt", b"Z\tleaves\tZ\t2014-01-05"),
    ]);
    assert_eq!(read.format, Format::Labelled);
    let dataset = temporal(&read);
    assert_eq!(facts(dataset, Split::Train), [(2, 0, 0, 16071), (0, 0, 1, 16072)]);
    let entities: Vec<&str> = dataset.vocabulary.entities.iter().map(|(_, name)| name).collect();
    assert_eq!(entities, ["Nicholas \"Nick\" X", "Găgăuzia\u{a0}", "Găgăuzia", "Z"]);
    assert_eq!(dataset.relations(), 3, "a blank at the end makes another name");
    assert_eq!(dataset.axis.calendar(), Calendar::UNIX_DAYS);
    assert_notes(&read, &["Quotes are part of the names"]);
}

#[test]
fn labelled_with_quoting_and_json_ids() {
    let mut files: Vec<(&str, &[u8])> = vec![
        ("train", b"\"N \"\"Nick\"\" X\"\tr\tB\t2014-01-01\n"),
        ("valid", b"B\tr\tB\t2014-01-01\n"),
        ("test", b"B\tr\tB\t2014-01-02\n"),
        ("ICEWS14_eid.json", br#"{"B": 1, "N \"Nick\" X": 0, "unused": 2}"#),
        ("ICEWS14_rid.json", br#"{"r": 0}"#),
        ("ICEWS14_tid.json", br#"{"2014-01-01": 0}"#),
    ];
    let read = loaded(&files);
    let dataset = temporal(&read);
    assert_eq!(facts(dataset, Split::Train), [(0, 0, 1, 16071)]);
    assert_eq!((dataset.entities(), dataset.vocabulary.entities.name(0)), (3, "N \"Nick\" X".into()));
    assert_notes(&read, &["quoted as in CSV", "Not used: ICEWS14_tid.json"]);
    files[1].1 = b"C\tr\tB\t2014-01-01\n";
    assert_message(&files, &["valid:1:1: found entity \"C\", which ICEWS14_eid.json does not list"]);
}

#[test]
fn intervals_with_unknown_parts() {
    let mut files: Vec<(&str, &[u8])> = with_train(
        b"0\t0\t1\t1926-##-##\t####-##-##\n1\t0\t0\t-431-##-##\t19##-##-##\n1\t0\t0\t307-13047-09\t978-##-##\n",
        b"0\t0\t1\t1945-11-07\t1945-11-08\n",
    )
    .to_vec();
    files.push(("triple2id.txt", b"0\t0\t1\t1946\t####\n"));
    let read = loaded(&files);
    assert_eq!(read.format, Format::Intervals);
    let Content::Intervals(dataset) = &read.content else { panic!("expected intervals") };
    let year = |year| PartialDate { year: Some(year), ..PartialDate::default() };
    let train = &dataset.splits.train;
    assert_eq!((train[0].start, train[0].end.is_open()), (year(1926), true));
    assert_eq!((train[1].start, train[1].end.coarse_year), (year(-431), Some((19, 2))));
    assert_eq!(train[2].start, year(307));
    let unsplit = dataset.unsplit.as_ref().expect("triple2id.txt is there");
    assert_eq!((unsplit[0].start, unsplit[0].end.is_open()), (year(1946), true));
    assert_notes(&read, &["1 dates in train.txt have an impossible month or day"]);
}

#[test]
fn openke_with_and_without_count_lines() {
    let with: [(&str, &[u8]); 6] = [
        ("train2id.txt", b"2\n0 1 0\n1\t2\t1\n"),
        ("valid2id.txt", b"1\n2 0 0\n"),
        ("test2id.txt", b"1\n2 1 1\n"),
        ("entity2id.txt", b"3\r\n05451384\t0\r\n02\t1\r\n1\t2\r\n"),
        ("relation2id.txt", b"2\r\n_hypernym\t0\r\n_part\t1\r\n"),
        ("type_constrain.txt", b"2\n1\t2\t2\t1\n1\t1\t0\n0\t1\t0\n0\t0\n"),
    ];
    let read = loaded(&with);
    assert_eq!(read.format, Format::Openke);
    let Content::Static(graph) = &read.content else { panic!("expected a graph without time") };
    assert_eq!(graph.splits.train, [Triple::new(0, 0, 1), Triple::new(1, 1, 2)], "the relation comes last");
    assert_eq!(graph.vocabulary.entities.name(0), "05451384");
    assert_eq!((graph.vocabulary.entities.len(), graph.vocabulary.entities.declared()), (3, Some(3)));
    let types = graph.type_constraints.as_ref().expect("type_constrain.txt is there");
    assert_eq!(types.subjects, [vec![0], vec![1, 2]]);
    assert_eq!(types.objects, [vec![], vec![0]]);

    let without: [(&str, &[u8]); 3] =
        [("train2id.txt", b"0 1 0\n1 2 1\n"), ("valid2id.txt", b"1\n2 0 0\n"), ("test2id.txt", b"2 1 1\n")];
    let read = loaded(&without);
    assert_notes(&read, &["No count line in train2id.txt, test2id.txt"]);
}

#[test]
fn the_layout_can_be_forced() {
    let folder = folder(&with_train(b"0 1 0 1946 ####\n", b"0 1 0 1946 1950\n"));
    let read = load(folder.path(), &LoadOptions { format: Some(Format::Openke), ..LoadOptions::default() })
        .expect("three columns are enough");
    assert!(matches!(read.content, Content::Static(_)));
    assert_notes(&read, &["as asked for", "those after column 3 are ignored"]);
}
