//! Graphs that change: `WikidataEvolve` and snapshot folders.

use quadcast_analysis::{Details, info};
use quadcast_core::{CategoryKind, EntityId, RelationId, Split, Triple, TripleOperation};
use quadcast_data::{Format, LoadOptions, load};

use crate::support::{assert_message, assert_notes, evolving, folder, loaded};

const UPDATES: [(&str, &[u8]); 19] = [
    ("entity2id.txt", b"0 220\n1 38\n2 90\n"),
    ("relation2id.txt", b"0 17\n1 22\n"),
    ("increments/1/train2id.txt", b"0 1 1\n"),
    ("updates/1/train-op2id.txt", b"0 1 1 +\n"),
    ("updates/1/valid2id.txt", b"1 0 0\n"),
    ("updates/1/test2id.txt", b"0 0 0\n"),
    ("updates/2/train-op2id.txt", b"0 1 1 -\n2 1 1 +\n"),
    ("updates/2/triple-op2id.txt", b"0 1 1 -\n2 1 1 +\n2 2 0 +\n"),
    ("updates/2/valid2id.txt", b"1 0 0\n"),
    ("updates/2/test2id.txt", b"2 2 0\n"),
    ("updates/2/valid2id_all.txt", b"1 0 0\n"),
    ("updates/2/test2id_all.txt", b"2 2 0\n0 0 0\n"),
    ("updates/2/tc_negative_deleted_train_triples.txt", b"0 1 1 0\n"),
    ("updates/2/tc_positive_oscillated_test_triples.txt", b"2 2 0 1\n"),
    ("updates/2/tc_negative_oscillated_valid_triples.txt", b"1 1 0 0\n"),
    ("updates/2/triple_classification_prepared_test_examples.txt", b"2 2 0 1\n1 2 0 0\n"),
    ("snapshots/2/entity2id.txt", b"0 2\n1 0\n"),
    // Both columns number the rows from 0: only the layout says which is which.
    ("snapshots/2/relation2id.txt", b"0 1\n1 0\n"),
    ("snapshots/2/valid2id.txt", b"7 7 7\n"),
];

#[test]
fn wikidata_evolve() {
    let read = loaded(&UPDATES);
    assert_eq!(read.format, Format::WikidataEvolve);
    let dataset = evolving(&read);
    assert_eq!(dataset.vocabulary.entities.name(0), "Q220");
    assert_eq!(dataset.vocabulary.relations.name(1), "P22");
    let [first, second] = &dataset.steps[..] else { panic!("two steps") };
    let operation = |triple, insert| TripleOperation { triple, insert };
    let (old, new) = (Triple::new(0, 1, 1), Triple::new(2, 1, 1));
    assert_eq!(first.training, [operation(old, true)]);
    assert_eq!((first.operations.is_none(), first.increment.as_deref()), (true, Some(&[old][..])));
    assert_eq!(second.training, [operation(old, false), operation(new, true)]);
    assert_eq!(second.operations.as_ref().map(Vec::len), Some(3));
    assert_eq!(second.evaluation.test, [Triple::new(2, 0, 2)]);
    assert_eq!(second.evaluation_all.as_ref().map(|all| all.test.len()), Some(2));
    let kinds: Vec<_> = second.categories.iter().map(|c| (c.kind, c.split, c.triples.len())).collect();
    assert_eq!(
        kinds,
        [
            (CategoryKind::Deleted, Split::Train, 1),
            (CategoryKind::Returned, Split::Test, 1),
            (CategoryKind::DeletedAgain, Split::Valid, 1)
        ]
    );
    assert_eq!(second.classification, [(Triple::new(2, 0, 2), true), (Triple::new(1, 0, 2), false)]);
    assert_eq!(second.entities, Some(vec![EntityId(0), EntityId(2)]));
    assert_eq!(second.relations, Some(vec![RelationId(0), RelationId(1)]));
}

#[test]
fn bare_numbers_are_what_the_compiler_says() {
    let read = |report: &'static [u8]| {
        let mut files = UPDATES.to_vec();
        files.push(("compile.json", report));
        let read = loaded(&files);
        let vocabulary = &evolving(&read).vocabulary;
        [vocabulary.entities.name(0).into_owned(), vocabulary.relations.name(1).into_owned()]
    };
    assert_eq!(read(b"{\"schema\": 1, \"stream\": {}}"), ["220", "22"]);
    assert_eq!(read(b"{\"schema\": 1, \"names\": \"wikidata-numbers\", \"stream\": {}}"), ["Q220", "P22"]);
    assert_eq!(read(b"[\"somebody else's\"]"), ["Q220", "P22"]);
}

#[test]
fn wikidata_evolve_errors_have_places() {
    let (train, test, listed) =
        ("updates/2/train-op2id.txt", "updates/2/test2id.txt", "snapshots/2/entity2id.txt");
    let examples = "updates/2/triple_classification_prepared_test_examples.txt";
    let cases: [(&str, &'static [u8], &str); 6] = [
        (train, b"0 1 1 +\n0 1 1 *\n", ":2:4: found \"*\", expected + (insertion)"),
        (test, b"0 3 1\n", ":1:2: found entity id 3, expected an id from 0 to 2"),
        (listed, b"0 9\n", ":1:2: found entity id 9"),
        (examples, b"0 0 0 2\n", ":1:4: found \"2\", expected 1 (true) or 0 (false)"),
        (test, b"2 2 0 7\n", ":1:4: found a column \"7\" too many"),
        (train, b"0 1 1 -\n2 1 1 + 2013\n", ":2:5: found a column \"2013\" too many"),
    ];
    for (name, bytes, text) in cases {
        assert_message(&with(name, bytes), &[&format!("{name}{text}")]);
    }
    let without: Vec<_> = UPDATES.into_iter().filter(|file| file.0 != "updates/2/train-op2id.txt").collect();
    assert_message(&without, &["wikidata-evolve needs train-op2id.txt", "triple-op2id.txt"]);
}

/// The files with one of them replaced.
fn with(name: &str, bytes: &'static [u8]) -> Vec<(&'static str, &'static [u8])> {
    let mut files = UPDATES.to_vec();
    files.iter_mut().find(|file| file.0 == name).expect("a file to replace").1 = bytes;
    files
}

#[test]
fn operations_that_contradict_the_graph_have_places() {
    let (train, full) = ("updates/2/train-op2id.txt", "updates/2/triple-op2id.txt");
    let present = "found + for the triple Q90 Q38 P22 (ids 2 1 1), which is present already";
    let absent = "found - for the triple Q220 Q38 P22 (ids 0 1 1), which is absent";
    // The valid triple of the first step, which lists no full update: what is present follows from its other files.
    let held_out = "found + for the triple Q38 Q220 P17 (ids 1 0 0), which is present already";
    let cases: [(&str, &'static [u8], u64, &str); 8] = [
        (train, b"0 1 1 -\n2 1 1 +\n2 1 1 +\n", 3, present),
        (train, b"0 1 1 -\n2 1 1 +\n0 1 1 -\n", 3, absent),
        // Blank lines count, and so does a line with the number of rows.
        (train, b"3\n0 1 1 -\n\n2 1 1 +\n2 1 1 +\n", 5, present),
        (train, b"0 1 1 +\n", 1, "found + for the triple Q220 Q38 P22 (ids 0 1 1), which is present already"),
        (full, b"0 1 1 -\n2 1 1 +\n2 2 0 +\n2 1 1 +\n", 4, present),
        (full, b"0 1 1 -\n2 1 1 +\n2 2 0 +\n0 1 1 -\n", 4, absent),
        (full, b"0 1 1 -\n1 0 0 +\n", 2, held_out),
        (full, b"2 1 0 -\n", 1, "found - for the triple Q90 Q38 P17 (ids 2 1 0), which is absent"),
    ];
    for (file, bytes, line, fault) in cases {
        let fault = format!("{file}:{line}:4: {fault}");
        assert_message(&with(file, bytes), &[&fault, "data audit", "--policy drop"]);
    }
}

#[test]
fn full_updates_follow_each_other() {
    let mut files = with("updates/2/triple-op2id.txt", b"0 1 1 -\n2 1 1 +\n0 0 0 +\n");
    files.push(("updates/1/triple-op2id.txt", b"0 1 1 +\n1 0 0 +\n0 0 0 +\n"));
    assert_message(&files, &["updates/2/triple-op2id.txt:3:4: found + for the triple Q220 Q220 P17"]);
}

#[test]
fn an_increment_that_stands_in_is_checked_too() {
    let mut files = with("increments/1/train2id.txt", b"0 1 1\n0 1 1\n");
    files.retain(|file| file.0 != "updates/1/train-op2id.txt");
    assert_message(&files, &["increments/1/train2id.txt:2:1: found + for the triple Q220 Q38 P22"]);
}

#[test]
fn contradictions_can_be_read_to_be_counted() {
    let files = with("updates/2/train-op2id.txt", b"0 1 1 -\n2 1 1 +\n2 1 1 +\n1 2 0 -\n");
    let options = LoadOptions { contradictory: true, ..LoadOptions::default() };
    let read = load(folder(&files).path(), &options).expect("it is asked for");
    assert_eq!(evolving(&read).steps[1].training.len(), 4);
    let Details::Evolving(part) = info(&read).details else { panic!("an evolving graph") };
    assert_eq!(part.steps[1].checks.void_operations, 2);
}

#[test]
fn the_first_update_may_be_its_increment() {
    let without: Vec<_> = UPDATES.into_iter().filter(|file| file.0 != "updates/1/train-op2id.txt").collect();
    let read = loaded(&without);
    assert_eq!(evolving(&read).steps[0].training.len(), 1);
    assert_notes(&read, &["its increment is read as insertions"]);
}

#[test]
fn snapshots_are_aligned_by_name_in_numeric_order() {
    let read = loaded(&[
        ("snapshot2/entity2id.txt", b"2\nB C\t0\nA\t1\n"),
        ("snapshot2/relation2id.txt", b"1\nr\t0\n"),
        ("snapshot2/train2id.txt", b"1\n1 0 0\n"),
        ("snapshot2/valid2id.txt", b"1\n0 0 0\n"),
        ("snapshot2/test2id.txt", b"1\n1 1 0\n"),
        ("snapshot10/entity2id.txt", b"3\nD\t0\nA\t1\nB C\t2\n"),
        ("snapshot10/relation2id.txt", b"1\nr\t0\n"),
        ("snapshot10/train2id.txt", b"3\n1 0 0\n2 2 0\n2 2 0\n"),
        ("snapshot10/valid2id.txt", b"1\n2 2 0\n"),
    ]);
    assert_eq!(read.format, Format::Snapshots);
    let dataset = evolving(&read);
    let names: Vec<&str> = dataset.vocabulary.entities.iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["B C", "A", "D"]);
    let [first, second] = &dataset.steps[..] else { panic!("two steps") };
    assert_eq!((first.label.as_str(), second.label.as_str()), ("snapshot2", "snapshot10"));
    let operation = |s, o, insert| TripleOperation { triple: Triple::new(s, 0, o), insert };
    assert_eq!(first.training, [operation(1, 0, true)]);
    assert_eq!(second.training, [operation(1, 0, false), operation(0, 0, true), operation(1, 2, true)]);
    assert_eq!(second.evaluation.valid, [Triple::new(0, 0, 0)]);
    assert_eq!(second.entities.as_ref().map(Vec::len), Some(3));
    assert_notes(&read, &["snapshot10 has no test file", "repeats 1 training triples"]);
}

#[test]
fn snapshots_need_one_name_per_id() {
    let cases: [(&[u8], &str); 2] = [
        (b"2\nA\t0\nA\t1\n", "entity2id.txt:3:1: found the name \"A\" again"),
        (b"2\nA\t0\nB\t2\n", "no line for entity id 1"),
    ];
    let train: (&str, &[u8]) = ("snapshot1/train2id.txt", b"1\n0 0 0\n");
    for (entities, text) in cases {
        let relations: (&str, &[u8]) = ("snapshot1/relation2id.txt", b"1\nr\t0\n");
        assert_message(&[("snapshot1/entity2id.txt", entities), relations, train], &[text]);
    }
    assert_message(&[train], &["snapshots needs entity2id.txt"]);
}

#[test]
fn folders_of_new_facts() {
    let files: [(&str, &[u8]); 8] = [
        ("0/train.txt", b"Ann\tknows\tBo\nBo\tknows\tCy Dee\n"),
        ("0/valid.txt", b"Ann\tlikes\tCy Dee\n"),
        ("0/test.txt", b"Cy Dee\tlikes\tAnn\n"),
        ("0/entity2id.txt", b"Ann\t0\nBo\t1\nCy Dee\t2\n"),
        ("0/train_id.txt", b"0\t0\t1\n"),
        ("1/train.txt", b"Eve\tknows\tAnn\nAnn\tknows\tBo\n"),
        ("1/test.txt", b"Eve\tlikes\tBo\n"),
        ("10/train.txt", b""),
    ];
    let read = loaded(&files);
    assert_eq!(read.format, Format::Lkge);
    let dataset = evolving(&read);
    let names: Vec<&str> = dataset.vocabulary.entities.iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["Ann", "Bo", "Cy Dee", "Eve"]);
    let [first, second, third] = &dataset.steps[..] else { panic!("three steps") };
    assert_eq!(first.increment, Some(vec![Triple::new(0, 0, 1), Triple::new(1, 0, 2)]));
    assert_eq!(first.evaluation.valid, [Triple::new(0, 1, 2)]);
    assert_eq!(second.training, [TripleOperation { triple: Triple::new(3, 0, 0), insert: true }]);
    assert_eq!(second.evaluation.test, [Triple::new(3, 1, 1)]);
    let full = second.evaluation_all.as_ref().expect("all so far");
    assert_eq!(full.test, [Triple::new(2, 1, 0), Triple::new(3, 1, 1)]);
    assert_eq!((third.label.as_str(), third.training.len()), ("10", 0));
    assert_notes(&read, &["1 repeats 1 training triples"]);
    let cases: [(&[u8], &str); 3] = [
        (b"Ann\tknows\tBo\nAnn\tknows\n", "2:3: the column is missing, the row has 2 of the columns"),
        (b"Ann\tknows\tBo\t\nAnn\tknows\tCy\t2014-01-01\n", "2:4: found a column \"2014-01-01\" too many"),
        (b"Ann\t\tBo\n", "1:2: found nothing, expected the name of a relation"),
    ];
    for (train, text) in cases {
        assert_message(&[("0/train.txt", train)], &[&format!("0/train.txt:{text}")]);
    }
}
