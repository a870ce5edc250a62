//! Small streams whose benchmark can be worked out on paper.

use std::collections::BTreeMap;

use quadcast_analysis::{
    CompileOptions, FrequencyFilter, FrequencyRule, HeldOut, IdRule, IntervalRule, KeptOperation,
    OperationOrder, SplitRule, compile,
};
use quadcast_core::CategoryKind::{self, Deleted, DeletedAgain, Returned};
use quadcast_core::{EvolvingStep, Split, Triple, TripleOperation};
use quadcast_data::{
    FaultPolicy, Hold, LoadOptions, StreamClock, StreamFormat, load, operations_of, read_operations,
    with_numbers_as_ids,
};
use tempfile::TempDir;

use crate::support::{Numbers, compiled, original, stream, stream_with, unfiltered, write_whole};

/// Three intervals of five operations. 7 1 3 comes, goes and comes again; 5 1 3 comes and goes within the first.
const STREAM: &str = "\
7 1 3 + 2013-04-12T16:12:19Z
5 1 3 + 2013-04-12T16:12:20Z
9 1 3 + 2013-04-12T16:12:20Z
5 1 3 - 2013-04-12T16:12:21Z
1 9 4 + 2013-04-12T16:12:22Z
7 1 3 - 2013-05-01T00:00:00Z
9 1 3 - 2013-05-01T00:00:00Z
9 1 3 + 2013-05-01T00:00:01Z
9 1 3 - 2013-05-01T00:00:02Z
5 1 3 + 2013-05-01T00:00:02Z
7 1 3 + 2013-06-01T00:00:00Z
2 9 4 + 2013-06-01T00:00:00Z
2 7 4 + 2013-06-01T00:00:00Z
10 7 4 + 2013-06-01T00:00:00Z
5 1 3 - 2013-06-01T00:00:01Z
";

fn three() -> CompileOptions {
    CompileOptions { intervals: IntervalRule::Operations(3), ..unfiltered() }
}

/// Updates in the numbers of the file.
fn updates(options: &CompileOptions) -> Vec<Vec<(Numbers, bool)>> {
    let compiled = compiled(&stream(STREAM), options);
    let row = |o: &TripleOperation| (original(o.triple, &compiled.dataset.vocabulary), o.insert);
    let steps = compiled.dataset.steps.iter();
    steps.map(|step| step.operations.iter().flatten().map(row).collect()).collect()
}

#[test]
fn one_operation_per_triple_and_interval() {
    assert_eq!(
        updates(&three()),
        [
            vec![((7, 1, 3), true), ((9, 1, 3), true), ((1, 9, 4), true)],
            vec![((7, 1, 3), false), ((9, 1, 3), false), ((5, 1, 3), true)],
            // By time, then head, tail and relation as numbers: 10 comes last.
            vec![
                ((2, 7, 4), true),
                ((2, 9, 4), true),
                ((7, 1, 3), true),
                ((10, 7, 4), true),
                ((5, 1, 3), false)
            ],
        ]
    );
    let lexical = CompileOptions { order: OperationOrder::Lexical, ..three() };
    assert_eq!(updates(&lexical)[2][0], ((10, 7, 4), true));
    // The last of three operations on 9 1 3 is two seconds later, as the insertion of 5 1 3, which now precedes it.
    let last = CompileOptions { keep: KeptOperation::Last, ..three() };
    assert_eq!(updates(&last)[1], [((7, 1, 3), false), ((5, 1, 3), true), ((9, 1, 3), false)]);
    // The published code left the updates in order of first appearance.
    let published = CompileOptions { compat: true, keep: KeptOperation::Last, ..three() };
    assert_eq!(updates(&published)[1], [((7, 1, 3), false), ((9, 1, 3), false), ((5, 1, 3), true)]);
}

#[test]
fn ids_follow_the_updates() {
    let names = |options: &CompileOptions| -> Vec<String> {
        let compiled = compiled(&stream(STREAM), options);
        compiled.dataset.vocabulary.entities.iter().map(|(_, name)| name.to_owned()).collect()
    };
    // 5 is in no update before the second, although it stands second in the file.
    assert_eq!(names(&three()), ["7", "1", "9", "5", "2", "10"]);
    let kept = CompileOptions { ids: IdRule::Source, ..three() };
    assert_eq!(names(&kept), ["7", "1", "5", "9", "2", "10"]);
    // With the numbers of the text as ids, 9 is 9, and numbers that do not occur are ids too.
    let numbered = with_numbers_as_ids(stream(STREAM)).expect("small numbers");
    let kept = compiled(&numbered, &kept).dataset;
    assert_eq!((kept.vocabulary.entities.len(), kept.vocabulary.entities.name(8)), (11, "8".into()));
    let first: Vec<Triple> = kept.steps[0].operations.iter().flatten().map(|o| o.triple).collect();
    assert_eq!(first, [Triple::new(7, 3, 1), Triple::new(9, 3, 1), Triple::new(1, 4, 9)]);
}

#[test]
fn categories_follow_the_lives_of_triples() {
    let text = "1 2 9 +\n3 4 9 +\n1 2 9 -\n5 6 9 +\n1 2 9 +\n3 4 9 -\n1 2 9 -\n7 8 9 +\n1 2 9 +\n3 4 9 +\n";
    let compiled =
        compiled(&stream(text), &CompileOptions { intervals: IntervalRule::Operations(5), ..unfiltered() });
    let vocabulary = &compiled.dataset.vocabulary;
    let row = |step: &EvolvingStep| -> Vec<(CategoryKind, Numbers)> {
        let named = step.categories.iter().flat_map(|category| {
            category.triples.iter().map(|&triple| (category.kind, original(triple, vocabulary)))
        });
        let mut named: Vec<_> = named.collect();
        named.sort_unstable();
        named
    };
    let rows: Vec<_> = compiled.dataset.steps.iter().map(row).collect();
    assert_eq!(
        rows,
        [
            vec![],
            vec![(Deleted, (1, 2, 9))],
            vec![(Deleted, (3, 4, 9)), (Returned, (1, 2, 9))],
            vec![(Deleted, (3, 4, 9)), (DeletedAgain, (1, 2, 9))],
            vec![(Returned, (1, 2, 9)), (Returned, (3, 4, 9))],
        ]
    );
}

#[test]
fn filters_differ_where_rarity_spreads() {
    // A triangle of 1, 2, 3 in relation 8; 4 hangs on it by relation 9, which has no other triple.
    let text = "1 2 8 +\n2 3 8 +\n3 1 8 +\n4 1 9 +\n4 2 8 +\n";
    let left = |rule| {
        let filter = FrequencyFilter { rule, min_entity: 2, min_relation: 2 };
        let intervals = IntervalRule::Operations(1);
        compiled(&stream(text), &CompileOptions { intervals, filter, ..unfiltered() }).report.steps[0].graph
    };
    // 4 has two triples and stays; then relation 9 goes, and 4 is left with one.
    for (rule, graph) in [
        (FrequencyRule::Sequential, 4),
        (FrequencyRule::Joint, 4),
        (FrequencyRule::Fixpoint, 3),
        (FrequencyRule::Off, 5),
    ] {
        assert_eq!(left(rule), graph, "{rule:?}");
    }
}

#[test]
fn covered_splits_leave_no_unknown_element_in_evaluation() {
    let rows: Vec<String> = (0..40).map(|i| format!("{i} {} {} +", 100 + i % 7, 200 + i % 3)).collect();
    let text = rows.join("\n");
    let unseen = |cover_train| {
        let options = CompileOptions { intervals: IntervalRule::Operations(2), cover_train, ..unfiltered() };
        let compiled = compiled(&stream(&text), &options);
        let step = &compiled.dataset.steps[1];
        let all = step.evaluation_all.as_ref().expect("full sets");
        let steps = &compiled.dataset.steps;
        let known: Vec<u32> = steps.iter().flat_map(|s| &s.training).map(|o| o.triple.subject.0).collect();
        all.valid.iter().chain(&all.test).filter(|triple| !known.contains(&triple.subject.0)).count()
    };
    assert_eq!((unseen(false), unseen(true)), (4, 0));
}

#[test]
fn hashed_splits_belong_to_names() {
    let split = SplitRule::Hashed(HeldOut::new(0.1, 0.2).expect("shares"));
    // By the numbers of the file: the splits of all triples.
    let splits = |text: &str, options: &CompileOptions| -> BTreeMap<Numbers, Split> {
        let compiled = compiled(&stream(text), options);
        let vocabulary = &compiled.dataset.vocabulary;
        let mut splits = BTreeMap::new();
        for step in &compiled.dataset.steps {
            let all = step.evaluation_all.as_ref().expect("full sets");
            let train: Vec<Triple> = step.training.iter().map(|operation| operation.triple).collect();
            for (split, triples) in
                [(Split::Train, &train), (Split::Valid, &all.valid), (Split::Test, &all.test)]
            {
                splits.extend(triples.iter().map(|&triple| (original(triple, vocabulary), split)));
            }
        }
        splits
    };
    let row = |i: u32, sign: char| format!("{} {} {} {sign}\n", i, 10_000 + i % 97, i % 5);
    let forth: String = (0..4000).map(|i| row(i, '+')).collect();
    let options = CompileOptions { split, ..three() };
    let first = splits(&forth, &options);
    let count = |split| first.values().filter(|&&own| own == split).count() as f64;
    // Within five standard deviations.
    assert!((count(Split::Test) - 800.0).abs() < 5.0 * (4000.0_f64 * 0.2 * 0.8).sqrt());
    assert!((count(Split::Valid) - 400.0).abs() < 5.0 * (4000.0_f64 * 0.1 * 0.9).sqrt());
    // Others before them, in another order, gone and back, in other intervals.
    let back: String = (0..5000).rev().flat_map(|i| [row(i, '+'), row(i, '-'), row(i, '+')]).collect();
    let second = splits(&back, &CompileOptions { intervals: IntervalRule::Operations(2), ..options.clone() });
    assert_eq!(second.len(), 5000);
    assert!(first.iter().all(|(triple, split)| second[triple] == *split));
    let other = splits(&forth, &CompileOptions { seed: 2, ..options });
    assert_ne!(first, other, "the seed is part of the hash");
}

#[test]
fn nothing_left_is_an_error() {
    let filter = FrequencyFilter { rule: FrequencyRule::Joint, min_entity: 50, min_relation: 1 };
    for (options, text) in [
        (CompileOptions { filter, ..three() }, "lower --min-entity 50"),
        (
            CompileOptions { split: SplitRule::Given, ..three() },
            "does not say which split a triple belongs to",
        ),
    ] {
        let error = compile(&stream(STREAM), &options).expect_err("nothing to compile").to_string();
        assert!(error.contains(text), "{error}");
    }
}

#[test]
fn faults_are_dropped_and_counted() {
    let text = "1 2 3 -\n1 2 3 +\n1 2 3 +\n4 4 3 +\n1 2 3 -\n";
    let stream = stream_with(text, FaultPolicy::Drop);
    assert_eq!((stream.len(), stream.clock), (2, StreamClock::Order));
    let dropped = stream.dropped;
    assert_eq!((dropped.void_inserts, dropped.void_deletes, dropped.reflexive), (1, 1, 1));
}

#[test]
fn facts_with_time_stamps_come_and_go() {
    let folder = TempDir::new().expect("a folder");
    // The axis has the times 10, 20, 30, 50.
    for (split, rows) in
        [("train", "0 0 1 10\n0 0 1 20\n2 0 1 20\n"), ("valid", "2 0 1 30\n"), ("test", "0 0 1 50\n")]
    {
        std::fs::write(folder.path().join(format!("{split}.txt")), rows).expect("a file");
    }
    let loaded = load(folder.path(), &LoadOptions::default()).expect("quads");
    let held =
        |hold| operations_of(&loaded.content, hold, FaultPolicy::Error).expect("facts with time stamps");
    let changes = |hold| -> Vec<(i64, bool, Triple)> {
        let timed = held(hold);
        timed.iter().map(|timed| (timed.moment, timed.operation.insert, timed.operation.triple)).collect()
    };
    let (a, b) = (Triple::new(0, 0, 1), Triple::new(2, 0, 1));
    assert_eq!(
        changes(Hold::Steps(1)),
        [(10, true, a), (20, true, b), (30, false, a), (50, false, b), (50, true, a)]
    );
    assert_eq!(changes(Hold::Steps(2)), [(10, true, a), (20, true, b)]);
    assert_eq!(changes(Hold::Ever), [(10, true, a), (20, true, b)]);
    // Nothing changes at 30 and 50, and they are steps all the same.
    for (hold, updates) in [(Hold::Steps(1), [1, 1, 1, 2]), (Hold::Ever, [1, 1, 0, 0])] {
        let options = CompileOptions { intervals: IntervalRule::Steps, ..unfiltered() };
        let steps = compiled(&held(hold), &options).report.steps;
        assert_eq!(steps.iter().map(|step| step.operations.total()).collect::<Vec<_>>(), updates);
    }
}

#[test]
fn what_was_compiled_compiles_to_itself() {
    let first = compiled(&stream(STREAM), &three());
    let folder = TempDir::new().expect("a folder");
    let benchmark = folder.path().join("benchmark");
    write_whole(&benchmark, &stream(STREAM), &three(), Some(StreamFormat::Binary));
    let path = benchmark.join("operations.qops");
    let again = read_operations(&path, FaultPolicy::Error).expect("what was written");
    let second = compiled(&again, &CompileOptions::as_given());
    for (a, b) in first.dataset.steps.iter().zip(&second.dataset.steps) {
        assert_eq!((&a.operations, &a.training, &a.increment), (&b.operations, &b.training, &b.increment));
        assert_eq!(a.categories.len(), b.categories.len());
        assert_eq!((&a.entities, &a.relations), (&b.entities, &b.relations));
    }
    assert_eq!(first.dataset.vocabulary, second.dataset.vocabulary);
}
