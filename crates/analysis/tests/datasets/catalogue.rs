//! The catalogue: sound entries, and recognition by content rather than by size.

use std::collections::HashSet;

use quadcast_core::{Dataset, Facts, Names, Quad, Splits, TimeAxis, Vocabulary};
use quadcast_data::{
    CatalogueMatch, Content, Family, LoadOptions, compare, fingerprint, identify, load, lookup,
    split_fingerprints, variants,
};
use quadcast_report::info_text;
use quadcast_testing::{real, small};

#[test]
fn entries_are_sound() {
    let mut names = HashSet::new();
    for variant in variants() {
        assert!(names.insert(variant.name.to_lowercase()), "{} stands twice", variant.name);
        assert!(!variant.source.is_empty(), "{} has no source", variant.name);
        assert!(!variant.time.is_empty(), "{} says nothing about time", variant.name);
        assert_eq!(variant.stored, variant.fingerprint.is_some(), "{}", variant.name);
        let evolving = variant.family == Family::Evolving;
        assert_eq!(variant.stored && !evolving, variant.fingerprints.test.is_some(), "{}", variant.name);
        let hashes = [variant.fingerprint, variant.fingerprints.train, variant.fingerprints.valid];
        let digits = |hash: &str| hash.len() == 16 && hash.chars().all(|c| c.is_ascii_hexdigit());
        assert!(hashes.into_iter().flatten().all(digits), "{}", variant.name);
    }
    assert_eq!(variants().iter().filter(|variant| variant.stored).count(), 21);
}

#[test]
fn fingerprints_of_the_specification() {
    // Train, valid and test; empty where the specification says nothing.
    let known = [
        ("ICEWS14", ["c8834db7dbd91084", "18ce50d068a84d33", "b71841bac68f4ac8"]),
        ("YAGO", ["78b5bcdb3311231b", "f15622ac3117926d", "cfa3c53630f802d5"]),
        ("ICEWS18", ["", "1cde82d2db210858", "cd2b221ec276bf7b"]),
        ("WIKI", ["", "9df5fd71a12bf6dc", "e20ecb4736cc1d76"]),
        ("ICEWS05-15", ["", "cf489e5600ec6acd", "e6202b4c59f7b7a9"]),
        ("ICEWS14-b", ["b0b0ddc69c6317f7", "", "42146265c18fe1ce"]),
    ];
    for (name, specified) in known {
        let Splits { train, valid, test } = lookup(name).unwrap().fingerprints;
        for (stored, specified) in [train, valid, test].into_iter().zip(specified) {
            assert!(specified.is_empty() || stored == Some(specified), "{name}: {stored:?}, {specified}");
        }
    }
}

#[test]
fn lookup_by_name_and_alias() {
    assert_eq!(lookup("icews14").unwrap().name, "ICEWS14");
    assert_eq!(lookup("YAGO (b)").unwrap().name, "YAGO1830-b");
    assert_eq!(lookup("fb15k-237").unwrap().name, "FB15K237");
    assert_eq!(lookup("no such dataset"), None);
}

/// Facts that have the sizes of YAGO1830-b and nothing else of it.
fn impostor() -> Content {
    let sizes = [51205, 10973, 10973];
    let axis = TimeAxis::new(vec![0, 1, 2], lookup("YAGO").unwrap().calendar.unwrap());
    let facts = |split: u32| {
        let quads = (0..sizes[split as usize]).map(|i| Quad::new(i % 10038, i % 10, (i + 1) % 10038, split));
        Facts::new(quads.collect(), 3)
    };
    Content::Temporal(Dataset {
        name: "impostor".to_owned(),
        vocabulary: Vocabulary { entities: Names::anonymous(10038), relations: Names::anonymous(10) },
        splits: Splits { train: facts(0), valid: facts(1), test: facts(2) },
        beyond: Facts::default(),
        axis,
    })
}

#[test]
fn equal_sizes_are_not_enough() {
    let impostor = impostor();
    assert_eq!(identify(&impostor), None);
    let Some(CatalogueMatch::Near { name, reason }) = compare(&impostor) else { panic!("a near match") };
    assert_eq!(name, "YAGO1830-b");
    assert_eq!(reason, "counts equal, content of train, valid, test differs");
    let text = info_text(&quadcast_analysis::info(&small::loaded(impostor)));
    assert!(text.contains("near match YAGO1830-b"), "{text}");
}

#[test]
fn unknown_sizes_match_nothing() {
    assert_eq!(compare(&Content::Temporal(small::forecasting())), None);
    assert_eq!(compare(&Content::Static(small::graph())), None);
    assert_eq!(compare(&Content::Evolving(small::evolving())), None);
}

#[test]
fn fingerprints_ignore_the_order_of_rows() {
    let mut graph = small::graph();
    let before = fingerprint(&Content::Static(graph.clone()));
    graph.splits.train.reverse();
    assert_eq!(fingerprint(&Content::Static(graph.clone())), before);
    graph.splits.train[0].object.0 = 3;
    assert_ne!(fingerprint(&Content::Static(graph)), before);

    let mut spans = small::intervals();
    let before = fingerprint(&Content::Intervals(spans.clone()));
    spans.splits.train.reverse();
    assert_eq!(fingerprint(&Content::Intervals(spans.clone())), before);
    spans.splits.train[0].end = small::year(1999);
    assert_ne!(fingerprint(&Content::Intervals(spans)), before);

    let mut growing = small::evolving();
    let before = fingerprint(&Content::Evolving(growing.clone()));
    growing.steps[0].training.reverse();
    assert_eq!(fingerprint(&Content::Evolving(growing.clone())), before);
    growing.steps[0].training[0].insert = false;
    assert_ne!(fingerprint(&Content::Evolving(growing)), before);
}

#[test]
fn one_rule_for_the_whole() {
    let data = small::forecasting();
    let whole = data.fingerprint();
    assert_eq!(fingerprint(&Content::Temporal(data.clone())), whole);
    let splits = split_fingerprints(&Content::Temporal(data.clone())).expect("three splits");
    let info = quadcast_analysis::info(&small::loaded(Content::Temporal(data)));
    assert_eq!((info.fingerprint, info.split_fingerprints), (whole, Some(splits)));
}

#[test]
fn real_datasets_are_recognised() {
    let Some(root) = real::any() else { return };
    let folders = [
        ("forecasting/ICEWS14", "ICEWS14"),
        ("forecasting/ICEWS18", "ICEWS18"),
        ("forecasting/ICEWS05-15", "ICEWS05-15"),
        ("forecasting/WIKI", "WIKI"),
        ("forecasting/YAGO", "YAGO"),
        ("forecasting/ICEWS14-b", "ICEWS14-b"),
        ("forecasting/ICEWS05-15-b", "ICEWS05-15-b"),
        ("forecasting/YAGO1830-b", "YAGO1830-b"),
        ("forecasting/GDELT-small", "GDELT-small"),
        ("completion/icews14", "ICEWS14-completion"),
        ("completion/icews05-15", "ICEWS05-15-completion"),
        ("completion/icews11-14", "ICEWS11-14"),
        ("completion/ICEWS14RR", "ICEWS14RR"),
        ("completion/ICEWS05-15RR", "ICEWS05-15RR"),
        ("intervals/wikidata12k", "wikidata12k"),
        ("intervals/yago11k", "yago11k"),
        ("evolving/WikidataEvolve", "WikidataEvolve"),
        ("evolving/YAGO-3SP", "YAGO-3SP"),
        ("static/WN18", "WN18"),
        ("static/WN18RR", "WN18RR"),
        ("static/FB15K237", "FB15K237"),
    ];
    let mut wrong = Vec::new();
    for (folder, name) in folders {
        match load(&root.join(folder), &LoadOptions::default()) {
            Ok(loaded) if loaded.variant.map(|variant| variant.name) == Some(name) => {}
            Ok(loaded) => {
                let hashes = split_fingerprints(&loaded.content);
                let whole = fingerprint(&loaded.content);
                wrong.push(format!("{folder}: {:?}, {whole} {hashes:?}", compare(&loaded.content)));
            }
            Err(error) => wrong.push(format!("{folder}: {error}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn another_id_space_is_a_near_match() {
    let Some(root) = real::any() else { return };
    let mut loaded = load(&root.join("forecasting/YAGO1830-b"), &LoadOptions::default()).unwrap();
    let Content::Temporal(data) = &mut loaded.content else { panic!("temporal data") };
    data.vocabulary.entities = Names::anonymous(10039);
    let Some(CatalogueMatch::Near { reason, .. }) = compare(&loaded.content) else { panic!("a near match") };
    assert_eq!(reason, "facts equal, but the entity id space has 10039 ids instead of 10038");
}
