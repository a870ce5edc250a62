//! Invariants of divisions, on graphs that are drawn and on one that can be counted on paper.

use proptest::prelude::*;
use quadcast_core::{Detection, Mirrors, Quad, RelationId, Split, Splits};
use quadcast_testing::small;

use super::process::by_time;
use super::units::Partners;
use super::*;
use quadcast_data::{Content, Format, LoadOptions, Loaded, load};

const R: fn(u32) -> RelationId = RelationId;

/// Subject, relation, object, day, and split.
type Row = (u32, u32, u32, u32, u8);

fn dataset(rows: &[Row]) -> Loaded {
    let of = |wanted: u8| -> Vec<[u32; 4]> {
        rows.iter().filter(|row| row.4 == wanted).map(|&(s, r, o, day, _)| [s, r, o, day]).collect()
    };
    let dataset = small::days("drawn", small::vocabulary(6, 4, None), [&of(0), &of(1), &of(2)]);
    small::loaded(Content::Temporal(dataset))
}

fn facts(content: &Content) -> Splits<Vec<Quad>> {
    let Content::Temporal(dataset) = content else { panic!("facts with time") };
    dataset.splits.map(|facts| facts.iter().collect())
}

fn all(content: &Content) -> Vec<Quad> {
    let mut all: Vec<Quad> = facts(content).iter().flat_map(|(_, facts)| facts.clone()).collect();
    all.sort_unstable();
    all
}

fn leakage_free(mirrors: Mirrors, seed: u64) -> DivideOptions {
    let patterns = PatternSource::Given { mirrors, origin: "given".to_owned() };
    DivideOptions { seed, patterns, ..DivideOptions::new(DivisionMethod::LeakageFree) }
}

prop_compose! {
    /// Dense enough for mirrors, duplicates and facts of an entity with itself.
    fn rows()(rows in prop::collection::vec((0_u32..6, 0_u32..4, 0_u32..6, 0_u32..4, 0_u8..3), 40..160))
        -> Vec<Row> { rows }
}

proptest! {
    #[test]
    fn mirrors_stay_together(rows in rows(), seed in 0_u64..1000) {
        let source = dataset(&rows);
        // Relation 1 is in two pairs, so that units can be larger than pairs.
        let mirrors = Mirrors { symmetric: vec![R(0)], inverse: vec![(R(1), R(2)), (R(1), R(3))] };
        let partners = Partners::new(&mirrors, 4);
        let divided = divide(&source, &leakage_free(mirrors, seed)).expect("enough facts");
        let splits = facts(&divided.content);

        // I1: a partition of the facts, in the numbers that the rule says.
        let mut distinct = all(&source.content);
        distinct.dedup();
        prop_assert_eq!(all(&divided.content), distinct.clone());
        for stratum in &divided.report.strata {
            let [valid, test] = HeldOut::default().counts(stratum.units);
            let train = stratum.units - valid - test;
            prop_assert_eq!(stratum.splits, Splits { train, valid, test });
        }
        let units: usize = divided.report.strata.iter().map(|stratum| stratum.facts).sum();
        prop_assert_eq!(units, distinct.len());

        // I2: a fact and its partners are in one split.
        let split_of = |fact: &Quad| splits.iter().find(|(_, facts)| facts.contains(fact)).map(|(split, _)| split);
        for (split, facts) in splits.iter() {
            for fact in facts {
                for mirror in partners.of(*fact).filter(|mirror| distinct.contains(mirror)) {
                    prop_assert_eq!(split_of(&mirror), Some(split));
                }
            }
        }

        // I3: the first naive rule, who is in the mirrored role at that time in train, never finds the answer.
        for held in [&splits.valid, &splits.test] {
            let finds = |fact: &Quad| {
                let answers = |q| splits.train.iter().filter(move |known| {
                    (known.relation, known.object, known.step) == (q, fact.subject, fact.step)
                });
                let partner: Option<RelationId> = match fact.relation.0 { 0 => Some(R(0)), 1 => Some(R(2)), _ => Some(R(1)) };
                partner.into_iter().flat_map(answers).any(|known| known.subject == fact.object)
            };
            prop_assert!(!held.iter().any(finds));
        }
        prop_assert_eq!(divided.report.after.listed, Some(0));

        // I4: the same seed gives the same, another seed the same numbers.
        let again = |seed| {
            let mirrors = Mirrors { symmetric: vec![R(0)], inverse: vec![(R(2), R(1)), (R(3), R(1))] };
            divide(&source, &leakage_free(mirrors, seed)).expect("enough facts")
        };
        prop_assert_eq!(&facts(&again(seed).content), &splits);
        prop_assert_eq!(again(seed + 1).report.splits, divided.report.splits);
        prop_assert_eq!(&again(seed + 1).report.strata, &divided.report.strata);

        // I5: the vocabulary is that of all facts.
        let (Content::Temporal(before), Content::Temporal(after)) = (&source.content, &divided.content) else {
            panic!("facts with time")
        };
        prop_assert_eq!(&before.vocabulary, &after.vocabulary);
    }

    #[test]
    fn other_methods_part_the_facts(rows in rows(), seed in 0_u64..1000) {
        let source = dataset(&rows);
        let mut distinct = all(&source.content);
        distinct.dedup();
        let random = DivideOptions { seed, ..DivideOptions::new(DivisionMethod::Random) };
        let drawn = divide(&source, &random).expect("enough facts");
        prop_assert_eq!(all(&drawn.content), distinct.clone());
        let [valid, test] = HeldOut::default().counts(distinct.len());
        prop_assert_eq!(drawn.report.splits, Splits { train: distinct.len() - valid - test, valid, test });

        let steps = distinct.chunk_by(|a, b| a.step == b.step).count();
        let chronological = divide(&source, &DivideOptions::new(DivisionMethod::Chronological));
        if steps < 3 {
            prop_assert!(chronological.is_err());
        } else {
            let chronological = chronological.expect("enough steps");
            let splits = facts(&chronological.content);
            prop_assert_eq!(all(&chronological.content), distinct);
            let ends = |facts: &[Quad]| (facts[0].step, facts[facts.len() - 1].step);
            prop_assert!(ends(&splits.train).1 < ends(&splits.valid).0);
            prop_assert!(ends(&splits.valid).1 < ends(&splits.test).0);
            prop_assert_eq!(chronological.report.seed, None);
        }
    }

    #[test]
    fn what_is_written_is_read_back(rows in rows()) {
        let source = dataset(&rows);
        let divided = divide(&source, &DivideOptions::new(DivisionMethod::LeakageFree)).expect("enough facts");
        let folder = tempfile::tempdir().expect("a folder");
        let out = folder.path().join("new");
        divided.write(&out).expect("a disk");
        let read = load(&out, &LoadOptions::default()).expect("a dataset");
        prop_assert_eq!(read.format, Format::Labelled);
        prop_assert_eq!(facts(&read.content), facts(&divided.content));
        prop_assert!(divided.write(&out).is_err(), "the folder is full now");
    }
}

#[test]
fn borders_of_time() {
    let facts: Vec<Quad> = (0..10).map(|day| Quad::new(0, 0, 1, day)).collect();
    let splits = by_time(&facts, HeldOut::default()).expect("ten steps");
    assert_eq!(splits[7..], [Split::Train, Split::Valid, Split::Test]);
    assert_eq!(by_time(&facts[..2], HeldOut::default()), Err(2));
    assert_eq!(by_time(&[], HeldOut::default()), Err(0));
}

#[test]
fn patterns_are_detected_in_all_splits_together() {
    // Of relation 0, every fact is mirrored the same day; the mirror is in another split. Relation 2 answers
    // relation 1, mostly a day later.
    let mut rows = Vec::new();
    for day in 0..12 {
        rows.push((0, 0, 1, day, 0));
        rows.push((1, 0, 0, day, 2));
        rows.push((2, 1, 3, day, 0));
        if day % 4 == 0 {
            rows.push((3, 2, 2, day, 1));
        }
        rows.push((4, 3, 5, day, 1));
    }
    let source = dataset(&rows);
    let patterns = PatternSource::Detected(Detection { min_support: 3, ..Detection::default() });
    let options = DivideOptions { patterns, ..DivideOptions::new(DivisionMethod::LeakageFree) };
    let report = divide(&source, &options).expect("enough facts").report;
    let lists = report.lists.expect("lists");
    assert_eq!(lists.symmetric, ["r0"]);
    assert_eq!(lists.inverse, [["r1".to_owned(), "r2".to_owned()]], "dynamic inverses count");
    let units: Vec<(usize, usize)> = report.strata.iter().map(|s| (s.units, s.facts)).collect();
    assert_eq!(units, [(12, 24), (3, 6), (21, 21)]);
    assert_eq!((report.before.mirrored, report.before.listed), (12, Some(12)));
    assert_eq!((report.after.mirrored, report.after.listed), (0, Some(0)));
    let options = DivideOptions::new(DivisionMethod::LeakageFree);
    let lists = divide(&source, &options).expect("enough facts").report.lists.expect("lists");
    assert_eq!((lists.symmetric.len(), lists.inverse.len()), (1, 0), "too little support for the pair");
}

#[test]
fn too_little_is_refused() {
    let source = dataset(&[(0, 0, 1, 0, 0), (1, 0, 0, 0, 1), (1, 0, 2, 0, 2)]);
    for (method, text) in [
        (DivisionMethod::Random, "valid would be empty"),
        (DivisionMethod::Chronological, "found 1 time steps"),
    ] {
        let error = divide(&source, &DivideOptions::new(method)).expect_err("three facts").to_string();
        assert!(error.contains(text), "{error}");
    }
}
