//! The published datasets, where they are at hand: `$QUADCAST_DATA`, or `shared/data` next to the repository.

use std::path::Path;

use quadcast_core::{EvolvingStep, Split, Splits};
use quadcast_data::{Content, Format, Loaded};
use quadcast_testing::real;

use crate::support::{evolving, facts, temporal, try_load};

/// Folder, layout, entities, relations, facts per split, time stamps.
type Expected = (&'static str, Format, usize, usize, [usize; 3], usize);

const SETS: [Expected; 19] = [
    ("forecasting/ICEWS14", Format::Quads, 7128, 230, [74845, 8514, 7371], 365),
    ("forecasting/ICEWS18", Format::Quads, 23033, 256, [373_018, 45995, 49545], 304),
    ("forecasting/ICEWS05-15", Format::Quads, 10488, 251, [368_868, 46302, 46159], 4017),
    ("forecasting/WIKI", Format::Quads, 12554, 24, [539_286, 67538, 63110], 232),
    ("forecasting/YAGO", Format::Quads, 10623, 10, [161_540, 19523, 20026], 189),
    ("forecasting/ICEWS14-b", Format::Quads, 7128, 230, [63685, 13823, 13222], 365),
    ("forecasting/ICEWS05-15-b", Format::Quads, 10488, 251, [322_958, 69224, 69147], 4017),
    ("forecasting/YAGO1830-b", Format::Quads, 10038, 10, [51205, 10973, 10973], 194),
    ("forecasting/GDELT-small", Format::Quads, 5849, 237, [79319, 9957, 9715], 317),
    ("completion/icews14", Format::Labelled, 7128, 230, [72826, 8941, 8963], 365),
    ("completion/icews05-15", Format::Labelled, 10488, 251, [368_962, 46275, 46092], 4017),
    ("completion/icews11-14", Format::Labelled, 6738, 235, [118_766, 14859, 14756], 1461),
    ("completion/ICEWS14RR", Format::Labelled, 7128, 230, [72581, 9073, 9076], 365),
    ("completion/ICEWS05-15RR", Format::Labelled, 10488, 251, [369_060, 46134, 46135], 4017),
    ("intervals/wikidata12k", Format::Intervals, 12554, 24, [32497, 4062, 4062], 0),
    ("intervals/yago11k", Format::Intervals, 10623, 10, [16408, 2050, 2051], 0),
    ("static/WN18", Format::Openke, 40943, 18, [141_442, 5000, 5000], 0),
    ("static/WN18RR", Format::Openke, 40943, 11, [86835, 3034, 3134], 0),
    ("static/FB15K237", Format::Openke, 14541, 237, [272_115, 17535, 20466], 0),
];

fn read(data: &Path, set: &str) -> Loaded {
    try_load(&data.join(set)).unwrap_or_else(|error| panic!("{error}"))
}

fn lengths<T>(splits: &Splits<Vec<T>>) -> [usize; 3] {
    [splits.train.len(), splits.valid.len(), splits.test.len()]
}

#[test]
fn counts_of_the_published_datasets() {
    let Some(data) = real::any() else { return };
    for (set, format, entities, relations, rows, steps) in SETS {
        let loaded = read(&data, set);
        assert_eq!(loaded.format, format, "{set}");
        let (vocabulary, found, times) = match &loaded.content {
            Content::Temporal(d) => (&d.vocabulary, Split::ALL.map(|s| d.splits.get(s).len()), d.axis.len()),
            Content::Static(d) => (&d.vocabulary, lengths(&d.splits), 0),
            Content::Intervals(d) => (&d.vocabulary, lengths(&d.splits), 0),
            Content::Evolving(_) => panic!("{set} does not evolve"),
        };
        assert_eq!((vocabulary.entities.len(), vocabulary.relations.len()), (entities, relations), "{set}");
        assert_eq!((found, times), (rows, steps), "{set}");
        assert_eq!(loaded.content.name(), set.rsplit('/').next().expect("a name"));
    }
}

#[test]
fn wikidata_evolve() {
    let Some(data) = real::any() else { return };
    let loaded = read(&data, "evolving/WikidataEvolve");
    let dataset = evolving(&loaded);
    assert_eq!((dataset.vocabulary.entities.len(), dataset.vocabulary.relations.len()), (59419, 150));
    assert_eq!(dataset.vocabulary.entities.name(0), "Q220");
    let step = |f: &dyn Fn(&EvolvingStep) -> usize| dataset.steps.iter().map(f).collect::<Vec<_>>();
    let full = |s: &EvolvingStep| s.evaluation_all.as_ref().map_or([0; 2], |a| [a.valid.len(), a.test.len()]);
    assert_eq!(step(&|s| s.training.len()), [304_647, 145_850, 127_991, 159_422]);
    assert_eq!(step(&|s| s.training.iter().filter(|o| !o.insert).count()), [0, 7238, 10203, 17902]);
    assert_eq!(step(&|s| s.increment.as_ref().map_or(0, Vec::len)), [304_647, 138_612, 117_788, 141_520]);
    assert_eq!(step(&|s| s.operations.as_ref().map_or(0, Vec::len)), [0, 162_013, 142_304, 177_179]);
    assert_eq!(step(&|s| s.evaluation.test.len()), [6000; 4]);
    assert_eq!(step(&|s| full(s)[0]), [16925, 24254, 30194, 37038]);
    assert_eq!(step(&|s| full(s)[1]), [16925, 24237, 30162, 36977]);
    assert_eq!(step(&|s| s.classification.len()), [12000; 4]);
    assert_eq!(step(&|s| s.entities.as_ref().map_or(0, Vec::len)), [35804, 42899, 50549, 59391]);
    assert_eq!(step(&|s| s.relations.as_ref().map_or(0, Vec::len)), [87, 106, 134, 150]);
    let category = |number| {
        step(&|s| s.categories.iter().filter(|c| c.kind.number() == number).map(|c| c.triples.len()).sum())
    };
    assert_eq!(category(2), [0, 7999, 18931, 37020]);
    assert_eq!(category(3), [0, 0, 495, 2087]);
    assert_eq!(category(4), [0, 0, 0, 135]);
}

#[test]
fn yago_snapshots() {
    let Some(data) = real::any() else { return };
    let loaded = read(&data, "evolving/YAGO-3SP");
    let dataset = evolving(&loaded);
    let changes: Vec<(usize, usize)> = dataset
        .steps
        .iter()
        .map(|step| {
            let inserted = step.training.iter().filter(|operation| operation.insert).count();
            (inserted, step.training.len() - inserted)
        })
        .collect();
    assert_eq!(changes, [(123_974, 0), (900, 150), (1000, 150)]);
    let present: Vec<_> = dataset.steps.iter().map(|s| s.entities.as_ref().map_or(0, Vec::len)).collect();
    assert_eq!(present, [26897, 27033, 27097]);
    let relations: Vec<_> = dataset.steps.iter().map(|s| s.relations.as_ref().map_or(0, Vec::len)).collect();
    assert_eq!(relations, [36, 37, 37]);
    assert!(
        dataset.steps.iter().all(|s| s.evaluation.valid.len() == 3000 && s.evaluation.test.len() == 3000)
    );
    // Ids are renumbered in every snapshot, but by name the evaluation triples are the same.
    let sorted = |step: usize| {
        let mut triples = dataset.steps[step].evaluation.test.clone();
        triples.sort_unstable();
        triples
    };
    assert!(sorted(0) == sorted(1) && sorted(1) == sorted(2));
}

/// All facts by name and day, blanks as `_` and without no-break spaces, as two of the four sources write them.
fn named_facts(data: &Path, set: &str, unit: i64, origin: i64) -> Vec<(String, String, String, i64)> {
    let loaded = read(data, set);
    let dataset = temporal(&loaded);
    let plain = |name: &str| name.replace('\u{a0}', "").replace(' ', "_");
    let all = Split::ALL.into_iter().flat_map(|split| facts(dataset, split));
    let vocabulary = &dataset.vocabulary;
    let mut named: Vec<_> = all
        .map(|(s, r, o, t)| {
            let entity = |id| plain(&vocabulary.entities.name(id));
            (entity(s), plain(&vocabulary.relations.name(r)), entity(o), t / unit - origin)
        })
        .collect();
    named.sort_unstable();
    named
}

#[test]
fn four_splits_of_the_same_facts() {
    let Some(data) = real::any() else { return };
    let first = named_facts(&data, "forecasting/ICEWS14", 24, 0);
    assert_eq!(first.len(), 90730);
    // 2014-01-01 is day 16071.
    for (set, unit, origin) in [
        ("forecasting/ICEWS14-b", 24, 0),
        ("completion/icews14", 1, 16071),
        ("completion/ICEWS14RR", 1, 16071),
    ] {
        assert!(named_facts(&data, set, unit, origin) == first, "{set} holds other facts");
    }
}
