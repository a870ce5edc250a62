//! Divisions and comparisons of the published datasets, where they are at hand, and of graphs without time.

use quadcast_analysis::{
    DiffReport, DivideOptions, Division, DivisionMethod, HeldOut, PatternSource, diff, divide,
};
use quadcast_core::{Splits, published_lists};
use quadcast_data::{Content, Format, Loaded};
use quadcast_testing::{real, small};

use crate::read;

/// Writes a division, reads it again and compares: the facts must be the same.
fn read_again(source: &Loaded, divided: &Division) -> (Loaded, DiffReport) {
    let folder = tempfile::tempdir().unwrap();
    divided.write(folder.path()).unwrap();
    let again = read(folder.path());
    let report = diff(source, &again).unwrap();
    assert!(report.same_facts, "{}", report.verdict);
    (again, report)
}

fn published(source: &Loaded, name: &str) -> DivideOptions {
    let Content::Temporal(dataset) = &source.content else { panic!("facts with time") };
    let (mirrors, missing) = published_lists(name).unwrap().mirrors(&dataset.vocabulary.relations, false);
    assert!(missing.is_empty(), "{missing:?}");
    let patterns = PatternSource::Given { mirrors, origin: name.to_owned() };
    DivideOptions { patterns, ..DivideOptions::new(DivisionMethod::LeakageFree) }
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole as f64
}

#[test]
fn icews14_is_divided_as_published() {
    let Some(root) = real::any() else { return };
    let source = read(&root.join("completion/icews14"));
    let options = published(&source, "icews14");
    let mut mirrored = Vec::new();
    for seed in 1..=10 {
        let report = divide(&source, &DivideOptions { seed, ..options.clone() }).unwrap().report;
        assert_eq!(report.splits, Splits { train: 72581, valid: 9073, test: 9076 }, "seed {seed}");
        let units: Vec<usize> = report.strata.iter().map(|stratum| stratum.units).collect();
        assert_eq!(units, [8577, 4411, 64755]);
        assert!(report.strata.iter().all(|stratum| stratum.largest <= 2));
        let (before, after) = (report.before, report.after);
        assert_eq!((before.mirrored, before.listed), (1638, Some(2062)), "18.28 % of 8963");
        assert_eq!(after.listed, Some(0));
        assert_eq!((before.unseen_entities, before.unseen, before.unseen_relations), (137, 146, 0));
        assert!((share(before.repeated, before.facts) - 0.5526).abs() < 5e-5);
        assert!((share(before.reversed, before.facts) - 0.3462).abs() < 5e-5);
        mirrored.push(share(after.mirrored, after.facts));
    }
    // What is left belongs to relations below the threshold. Over 200 seeds it is 2.89 % on average with a deviation of
    // 0.17, so that a single seed can lie above 3 %; the published division has 2.60 %.
    assert!(mirrored[0] < 0.03, "the default seed");
    let mean = mirrored.iter().sum::<f64>() / mirrored.len() as f64;
    assert!((0.0275..0.03).contains(&mean), "{mirrored:?}");
    assert!(mirrored.iter().all(|&share| share < 0.034), "{mirrored:?}");
    let (_, report) = read_again(&source, &divide(&source, &options).unwrap());
    assert_eq!(report.verdict, "the same 90730 facts, differently split");
    assert_eq!(report.b.splits, Splits { train: 72581, valid: 9073, test: 9076 });
    assert_eq!(report.entities.respelt, 0, "names are kept as they are");
}

#[test]
fn icews05_15_has_the_published_units() {
    let Some(root) = real::any() else { return };
    let source = read(&root.join("completion/icews05-15"));
    let report = divide(&source, &published(&source, "icews05-15")).unwrap().report;
    let units: Vec<usize> = report.strata.iter().map(|stratum| stratum.units).collect();
    assert_eq!(units, [42060, 24831, 327_573]);
    // 26 units are facts of an entity with itself and count one instead of two, wherever they fall: the released
    // 369 060 / 46 134 / 46 135 are these units with one of them in valid and three in test.
    assert_eq!(report.strata[0].facts, 2 * 42060 - 26);
    let in_pairs = |split: fn(&Splits<usize>) -> usize| {
        2 * split(&report.strata[0].splits)
            + 2 * split(&report.strata[1].splits)
            + split(&report.strata[2].splits)
    };
    assert_eq!([in_pairs(|splits| splits.valid), in_pairs(|splits| splits.test)], [46134 + 1, 46135 + 3]);
}

#[test]
fn detection_leaves_little_in_icews14() {
    let Some(root) = real::any() else { return };
    let source = read(&root.join("completion/icews14"));
    let report = divide(&source, &DivideOptions::new(DivisionMethod::LeakageFree)).unwrap().report;
    assert!(share(report.after.mirrored, report.after.facts) < 0.03);
    let (lists, published) = (report.lists.unwrap(), published_lists("icews14").unwrap());
    for name in &published.symmetric {
        assert!(lists.symmetric.contains(name), "{name}");
    }
    for (p, q) in &published.inverse {
        assert!(lists.inverse.iter().any(|pair| pair.contains(p) && pair.contains(q)), "{p} {q}");
    }
}

#[test]
fn families_of_the_same_facts() {
    let Some(root) = real::any() else { return };
    for (lower, upper, facts) in [("icews14", "ICEWS14", 90730), ("icews05-15", "ICEWS05-15", 461_329)] {
        let loaded = [
            format!("completion/{lower}"),
            format!("completion/{upper}RR"),
            format!("forecasting/{upper}"),
            format!("forecasting/{upper}-b"),
        ]
        .map(|set| read(&root.join(set)));
        for (i, a) in loaded.iter().enumerate() {
            for b in &loaded[i + 1..] {
                let report = diff(a, b).unwrap();
                let pair = format!("{} {}", a.path.display(), b.path.display());
                assert_eq!(report.verdict, format!("the same {facts} facts, differently split"), "{pair}");
                assert_eq!(report.time.unwrap().by, "calendar", "{pair}");
            }
        }
    }
    let [larger, smaller] = ["completion/icews05-15", "completion/icews14"].map(|set| read(&root.join(set)));
    assert_eq!(diff(&larger, &smaller).unwrap().common, 38338);
}

#[test]
fn graphs_without_time_are_divided_too() {
    let source = small::loaded(Content::Static(small::graph()));
    let random = DivideOptions {
        held_out: HeldOut::new(0.3, 0.3).unwrap(),
        ..DivideOptions::new(DivisionMethod::Random)
    };
    let divided = divide(&source, &random).unwrap();
    assert_eq!((divided.report.facts, divided.report.repetitions), (5, 2));
    assert_eq!(divided.report.splits, Splits { train: 2, valid: 1, test: 2 });
    assert_eq!(read_again(&source, &divided).0.format, Format::Openke);
    let error = divide(&source, &DivideOptions::new(DivisionMethod::Chronological)).unwrap_err().to_string();
    assert!(error.contains("graph without time") && error.contains("--method random"), "{error}");
}

#[test]
fn wn18_loses_its_reversed_pairs() {
    let Some(root) = real::any() else { return };
    let source = read(&root.join("static/WN18"));
    let divided = divide(&source, &DivideOptions::new(DivisionMethod::LeakageFree)).unwrap();
    let report = &divided.report;
    assert!((share(report.before.reversed, report.before.facts) - 0.9396).abs() < 5e-5);
    assert!(share(report.after.reversed, report.after.facts) < 0.02, "{:?}", report.after);
    let (back, _) = read_again(&source, &divided);
    let [before, after] = [&source, &back].map(|loaded| match &loaded.content {
        Content::Static(graph) => graph.type_constraints.clone(),
        _ => None,
    });
    assert!(before.is_some() && before == after);
}

#[test]
fn years_keep_their_calendar() {
    let Some(root) = real::any() else { return };
    let source = read(&root.join("forecasting/YAGO"));
    let divided = divide(&source, &DivideOptions::new(DivisionMethod::Chronological)).unwrap();
    let (back, report) = read_again(&source, &divided);
    assert_eq!(back.format, Format::Quads);
    assert_eq!(report.time.unwrap().by, "calendar");
}

#[test]
fn other_kinds_are_refused() {
    for content in [Content::Intervals(small::intervals()), Content::Evolving(small::evolving())] {
        let source = small::loaded(content);
        let error = divide(&source, &DivideOptions::new(DivisionMethod::Random)).unwrap_err().to_string();
        assert!(error.contains("only facts with time stamps and graphs without time"), "{error}");
    }
    let evolving = small::loaded(Content::Evolving(small::evolving()));
    assert!(diff(&evolving, &evolving).is_err());
    let intervals = small::loaded(Content::Intervals(small::intervals()));
    assert!(diff(&intervals, &intervals).unwrap().same_splits);
}
