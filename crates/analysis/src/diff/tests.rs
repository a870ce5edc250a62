//! Comparisons that can be checked on paper.

use quadcast_core::{
    Calendar, Dataset, Facts, Names, Quad, Splits, StaticGraph, TimeAxis, TimeUnit, Triple, Vocabulary,
};

use quadcast_data::{Content, Loaded};
use quadcast_testing::small::loaded;

use super::*;

fn named(names: &[&str]) -> Names {
    Names::new(names.iter().map(|name| Some((*name).to_owned())).collect(), None)
}

/// A dataset from rows of subject, relation, object and time.
fn temporal(entities: Names, calendar: Calendar, rows: [&[(u32, u32, u32, i64)]; 3]) -> Loaded {
    let axis = TimeAxis::new(rows.iter().flat_map(|rows| rows.iter().map(|row| row.3)).collect(), calendar);
    let [train, valid, test] = rows.map(|rows| {
        let quads = rows.iter().map(|&(s, r, o, time)| {
            Quad::new(s, r, o, axis.step(time).expect("every time is on the axis").0)
        });
        Facts::new(quads.collect(), axis.len())
    });
    let vocabulary = Vocabulary { entities, relations: named(&["visits"]) };
    let splits = Splits { train, valid, test };
    loaded(Content::Temporal(Dataset {
        name: "small".to_owned(),
        vocabulary,
        axis,
        splits,
        beyond: Facts::default(),
    }))
}

const HOURS: Calendar = Calendar::from_january_first(TimeUnit::Hour, 2014);
const DAYS: Calendar = Calendar::UNIX_DAYS;

/// Days since 1970 of 2014-01-01.
const DAY: i64 = 16071;

#[test]
fn other_ids_spelling_unit_and_splits() {
    let a = temporal(
        named(&["Ann Lee", "Bo", "Cy"]),
        HOURS,
        [&[(0, 0, 1, 0), (1, 0, 2, 24)], &[(2, 0, 0, 24)], &[(0, 0, 2, 72)]],
    );
    let b = temporal(
        named(&["Cy", "Bo", "Ann_Lee"]),
        DAYS,
        [&[(2, 0, 1, DAY), (2, 0, 0, DAY + 3)], &[(0, 0, 2, DAY + 1)], &[(1, 0, 0, DAY + 1)]],
    );
    let report = diff(&a, &b).expect("both have time");
    assert_eq!(report.verdict, "the same 4 facts, differently split");
    assert!(report.same_facts && !report.same_splits);
    assert_eq!((report.entities.exact, report.entities.respelt), (2, 1));
    let row = |train, valid, test| Splits { train, valid, test };
    assert_eq!(report.moved, Splits { train: row(1, 0, 1), valid: row(0, 1, 0), test: row(1, 0, 0) });
    assert_eq!(report.time.expect("time").by, "calendar");
    let same = diff(&a, &a).expect("both have time");
    assert_eq!(same.verdict, "the same 4 facts, in the same splits");
    assert!(same.same_splits);
}

#[test]
fn time_without_a_calendar() {
    let rows: [&[(u32, u32, u32, i64)]; 3] = [&[(0, 0, 1, 24)], &[(1, 0, 0, 48)], &[(0, 0, 1, 96)]];
    let names = || named(&["x", "y"]);
    let hours = temporal(names(), Calendar::UNKNOWN, rows);
    let days = [&[(0, 0, 1, DAY)][..], &[(1, 0, 0, DAY + 1)], &[(0, 0, 1, DAY + 3)]];
    let days = temporal(names(), DAYS, days);
    let report = diff(&hours, &days).expect("both have time");
    assert!(report.same_splits, "{}", report.verdict);
    let time = report.time.expect("time");
    assert!(time.by == "offset" && time.note.starts_with("A has no calendar"), "{}", time.note);
    // The first step of the second is missing: numbers align, distances do not.
    let later = temporal(names(), Calendar::UNKNOWN, [&[(1, 0, 0, 48)], &[(0, 0, 1, 96)], &[(0, 0, 1, 144)]]);
    let report = diff(&hours, &later).expect("both have time");
    assert_eq!((report.common, report.time.expect("time").by), (2, "number"));
    assert_eq!(report.verdict, "2 facts in common; 1 are only in A and 1 only in B");
    assert_eq!(report.examples.only_a, ["x · visits · y · 24"]);
    assert_eq!(report.only_b.test, 1);
}

#[test]
fn graphs_without_time_and_names() {
    let graph = |train: &[Triple], test: &[Triple]| {
        let vocabulary = Vocabulary { entities: Names::anonymous(3), relations: Names::anonymous(1) };
        let splits = Splits { train: train.to_vec(), valid: vec![], test: test.to_vec() };
        let name = "graph".to_owned();
        loaded(Content::Static(StaticGraph { name, vocabulary, splits, type_constraints: None }))
    };
    let t = Triple::new;
    let a = graph(&[t(0, 0, 1), t(0, 0, 1)], &[t(1, 0, 2)]);
    let b = graph(&[t(0, 0, 1), t(2, 0, 2)], &[t(1, 0, 2)]);
    let report = diff(&a, &b).expect("two graphs");
    assert_eq!(report.verdict, "all 2 facts of A are in B, which has 1 more");
    assert_eq!((report.a.repetitions, report.entities.by_name), (1, false));
    assert!(report.time.is_none());
    assert_eq!(report.examples.only_b, ["#2 · #0 · #2"]);
    let none = graph(&[t(1, 0, 0)], &[t(2, 0, 1)]);
    assert_eq!(diff(&a, &none).expect("two graphs").verdict, "no fact in common");

    let dated = temporal(named(&["x", "y"]), DAYS, [&[(0, 0, 1, 1)], &[(0, 0, 1, 2)], &[(0, 0, 1, 3)]]);
    let error = diff(&a, &dated).expect_err("one has time").to_string();
    assert!(error.contains("graph is a graph without time, small is a set of facts with time"), "{error}");
}
