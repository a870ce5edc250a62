//! Datasets small enough to count on paper.

use std::path::PathBuf;

use quadcast_core::{
    Calendar, CategoryKind, CategoryTriples, Dataset, EvolvingDataset, EvolvingStep, Facts, IntervalDataset,
    IntervalFact, Names, PartialDate, Quad, Split, SplitTriples, Splits, StaticGraph, TimeAxis, TimeUnit,
    Triple, TripleOperation, Vocabulary,
};
use quadcast_data::{Content, Format, Loaded, SourceFile, identify};

/// Entities `a`, `b`, `c`, … and relations `r0`, `r1`, ….
pub fn vocabulary(entities: u8, relations: u8, declared: Option<usize>) -> Vocabulary {
    let letters = (0..entities).map(|id| Some(char::from(b'a' + id).to_string())).collect();
    let numbers = (0..relations).map(|id| Some(format!("r{id}"))).collect();
    Vocabulary { entities: Names::new(letters, declared), relations: Names::new(numbers, None) }
}

/// A dataset of days in 2014, written in hours, from rows of subject, relation, object, day.
pub fn days(name: &str, ids: Vocabulary, rows: [&[[u32; 4]]; 3]) -> Dataset {
    let times = rows.iter().flat_map(|rows| rows.iter().map(|row| i64::from(row[3]) * 24)).collect();
    let axis = TimeAxis::new(times, Calendar::from_january_first(TimeUnit::Hour, 2014));
    let facts = |rows: &[[u32; 4]]| {
        let quads = rows.iter().map(|&[s, r, o, day]| {
            let step = axis.step(i64::from(day) * 24).expect("every time is on the axis");
            Quad::new(s, r, o, step.0)
        });
        Facts::new(quads.collect(), axis.len())
    };
    let splits = Splits { train: facts(rows[0]), valid: facts(rows[1]), test: facts(rows[2]) };
    Dataset { name: name.to_owned(), vocabulary: ids, axis, splits, beyond: Facts::default() }
}

/// A forecasting dataset: one repeated row in train and in test, a self loop, a gap of three days, entity `e` unused.
pub fn forecasting() -> Dataset {
    days(
        "small",
        vocabulary(5, 2, Some(6)),
        [
            &[[0, 0, 1, 0], [0, 0, 1, 0], [1, 0, 0, 1], [0, 0, 2, 1]],
            &[[0, 0, 1, 2], [2, 1, 2, 2]],
            &[[0, 0, 1, 5], [0, 0, 1, 5], [3, 1, 0, 5], [1, 0, 0, 5]],
        ],
    )
}

/// A completion dataset: five test facts in the middle of train.
pub fn completion() -> Dataset {
    days(
        "between",
        vocabulary(3, 2, None),
        [
            &[[0, 0, 1, 0], [1, 0, 0, 1], [0, 0, 1, 2], [2, 1, 0, 3]],
            &[[1, 1, 2, 0]],
            &[[0, 0, 1, 1], [0, 0, 2, 3], [2, 1, 0, 0], [1, 0, 0, 2], [1, 0, 0, 0]],
        ],
    )
}

/// A graph with one repeated triple, one triple in train and test, and one reversed pair.
pub fn graph() -> StaticGraph {
    let t = Triple::new;
    StaticGraph {
        name: "graph".to_owned(),
        vocabulary: vocabulary(4, 2, None),
        splits: Splits {
            train: vec![t(0, 0, 1), t(1, 1, 2), t(0, 0, 1)],
            valid: vec![t(2, 0, 2)],
            test: vec![t(1, 1, 0), t(1, 1, 2), t(3, 0, 0)],
        },
        type_constraints: None,
    }
}

/// A date of which only the year is known.
pub fn year(year: i32) -> PartialDate {
    PartialDate { year: Some(year), ..PartialDate::default() }
}

/// Facts over intervals, with every oddity once.
pub fn intervals() -> IntervalDataset {
    let open = PartialDate::default();
    let coarse = PartialDate { coarse_year: Some((19, 2)), ..open };
    let fact = |s, r, o, start, end| IntervalFact { triple: Triple::new(s, r, o), start, end };
    IntervalDataset {
        name: "spans".to_owned(),
        vocabulary: vocabulary(3, 1, None),
        splits: Splits {
            train: vec![
                fact(0, 0, 1, year(1900), year(1900)),
                fact(0, 0, 1, year(1910), open),
                fact(1, 0, 0, coarse, open),
            ],
            valid: vec![fact(1, 0, 1, year(1950), year(1940))],
            test: vec![fact(0, 0, 1, year(1920), year(1925)), fact(2, 0, 1, open, year(-431))],
        },
        unsplit: None,
    }
}

/// An insertion.
pub(crate) fn plus(s: u32, r: u32, o: u32) -> TripleOperation {
    TripleOperation { triple: Triple::new(s, r, o), insert: true }
}

/// A deletion.
pub(crate) fn minus(s: u32, r: u32, o: u32) -> TripleOperation {
    TripleOperation { triple: Triple::new(s, r, o), insert: false }
}

/// Two steps. The second deletes `a`'s only training triple, inserts a test triple and repeats an operation in vain.
pub fn evolving() -> EvolvingDataset {
    let t = Triple::new;
    let evaluation = || SplitTriples { valid: vec![t(1, 0, 3)], test: vec![t(2, 0, 3)] };
    EvolvingDataset {
        name: "growing".to_owned(),
        vocabulary: vocabulary(4, 1, None),
        steps: vec![
            EvolvingStep {
                label: "1".to_owned(),
                training: vec![plus(0, 0, 1), plus(1, 0, 2)],
                increment: Some(vec![t(1, 0, 2), t(0, 0, 1)]),
                evaluation: evaluation(),
                ..EvolvingStep::default()
            },
            EvolvingStep {
                label: "2".to_owned(),
                training: vec![minus(0, 0, 1), plus(2, 0, 3), plus(2, 0, 3)],
                increment: Some(vec![]),
                evaluation: evaluation(),
                categories: vec![CategoryTriples {
                    kind: CategoryKind::Deleted,
                    split: Split::Train,
                    triples: vec![t(0, 0, 1), t(1, 0, 2)],
                }],
                classification: vec![(t(2, 0, 3), true), (t(1, 0, 2), false), (t(0, 0, 3), false)],
                ..EvolvingStep::default()
            },
        ],
    }
}

/// What `load` would have returned.
pub fn loaded(content: Content) -> Loaded {
    let format = match content {
        Content::Temporal(_) => Format::Quads,
        Content::Static(_) => Format::Openke,
        Content::Intervals(_) => Format::Intervals,
        Content::Evolving(_) => Format::Snapshots,
    };
    let variant = identify(&content);
    Loaded { path: PathBuf::from("folder"), format, notes: vec![], content, sources: None, variant }
}

/// A file of a split as the reader describes it.
pub fn source(file: &str, unsorted_at: Option<u64>, earliest_at: u64, latest_at: u64) -> SourceFile {
    SourceFile {
        path: PathBuf::from("folder").join(file),
        rows: 4,
        unsorted_at,
        earliest_at: Some(earliest_at),
        latest_at: Some(latest_at),
    }
}
