//! Benchmarks as folders: what is written is what was compiled, in all three layouts.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use quadcast_analysis::{
    AnalysisError, BenchmarkLayout, BenchmarkTarget, CompileOptions, CompileReport, Compiled, Details,
    IntervalRule, compile_to, info, synth_operations,
};
use quadcast_core::{EvolvingDataset, Triple};
use quadcast_data::{FaultPolicy, LoadOptions, StreamFormat, load, read_operations, write_operations};
use quadcast_testing::files;
use tempfile::TempDir;

use crate::support::{Triples, apply, compiled, evolving, graphs, stream_of, unfiltered, write_whole};

fn options(seed: u64) -> CompileOptions {
    CompileOptions { intervals: IntervalRule::Operations(5), sample: Some(40), seed, ..unfiltered() }
}

fn made(seed: u64) -> Compiled {
    compiled(&synth_operations(2500, seed), &options(seed))
}

/// Compiles into a folder.
fn write(folder: &Path, seed: u64, layout: BenchmarkLayout) -> Result<CompileReport, AnalysisError> {
    let target = BenchmarkTarget { folder, layout, operations: None };
    compile_to(&synth_operations(2500, seed), &options(seed), target).map(|written| written.report)
}

fn written(seed: u64, layout: BenchmarkLayout) -> (TempDir, PathBuf) {
    let room = TempDir::new().expect("a folder");
    let folder = room.path().join("benchmark");
    write(&folder, seed, layout).unwrap_or_else(|error| panic!("{error}"));
    (room, folder)
}

#[test]
fn wikidata_evolve_comes_back() {
    let compiled = made(1);
    let (_room, folder) = written(1, BenchmarkLayout::WikidataEvolve);
    let read = evolving(&folder);
    for (a, b) in compiled.dataset.steps.iter().zip(&read.steps) {
        assert_eq!(format!("{a:?}"), format!("{b:?}"), "step {}", a.label);
    }
    assert_eq!(read.vocabulary, compiled.dataset.vocabulary, "numbers that are names stay what they are");
    // The files agree with each other, by the counting that knows nothing of the compiler.
    let loaded = load(&folder, &LoadOptions::default()).expect("what was written");
    let Details::Evolving(info) = info(&loaded).details else { panic!("an evolving graph") };
    for (row, step) in compiled.report.steps.iter().zip(&info.steps) {
        assert!(step.checks.clean(), "{:?}", step.checks);
        assert_eq!((row.training_graph, row.graph), (step.training_graph, step.graph));
        assert_eq!((row.training, Some(row.operations)), (step.training, step.operations));
        assert_eq!((row.entities, row.relations), (step.entities, step.relations));
        assert_eq!(
            (row.training_entities, row.training_relations),
            (step.training_entities, step.training_relations)
        );
        assert_eq!((row.valid.ranked, row.test.ranked), (Some(step.valid.ranked), Some(step.test.ranked)));
        assert_eq!((row.valid.all, row.test.all), (step.valid.all, step.test.all));
        assert_eq!(row.categories.as_ref(), Some(&step.categories));
        let examples = step.classification.expect("examples");
        assert_eq!((examples.negatives_in_graph, examples.positives_not_in_graph), (0, 0));
    }
}

/// P14 on files: local ids number what is present, once each, and lead back to the global triples.
#[test]
fn snapshots_are_in_ids_of_their_own() {
    let compiled = made(2);
    let (_room, folder) = written(2, BenchmarkLayout::WikidataEvolve);
    let numbers = |path: PathBuf| -> Vec<Vec<u32>> {
        let text = fs::read_to_string(path).expect("a file");
        let row = |line: &str| line.split(' ').map(|field| field.parse().expect("a number")).collect();
        text.lines().map(row).collect()
    };
    let after = graphs(&compiled.dataset.steps);
    for (step, graphs) in compiled.dataset.steps.iter().zip(&after) {
        let snapshot = folder.join("snapshots").join(&step.label);
        let global = |kind: &str| -> Vec<u32> {
            let rows = numbers(snapshot.join(format!("{kind}2id.txt")));
            assert!(rows.iter().enumerate().all(|(at, row)| row[0] as usize == at));
            rows.into_iter().map(|row| row[1]).collect()
        };
        let (entities, relations) = (global("entity"), global("relation"));
        let listed: BTreeSet<u32> = entities.iter().copied().collect();
        assert_eq!(listed.len(), entities.len());
        assert_eq!(listed, step.entities.iter().flatten().map(|entity| entity.0).collect());
        for (file, expected) in [
            ("train2id", &graphs.splits.train),
            ("valid2id_all", &graphs.splits.valid),
            ("test2id_all", &graphs.splits.test),
        ] {
            let rows = numbers(snapshot.join(format!("{file}.txt")));
            let back = |row: &Vec<u32>| {
                Triple::new(entities[row[0] as usize], relations[row[2] as usize], entities[row[1] as usize])
            };
            assert_eq!(rows.iter().map(back).collect::<BTreeSet<_>>(), *expected);
            assert_eq!(rows.len(), expected.len());
        }
    }
}

/// P16 on files.
#[test]
fn the_same_seed_gives_the_same_bytes() {
    let folder = |threads: usize, seed| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| {
            let room = TempDir::new().expect("a folder");
            let folder = room.path().join("benchmark");
            write_whole(&folder, &synth_operations(2500, seed), &options(seed), Some(StreamFormat::Binary));
            files(&folder)
        })
    };
    let first = folder(1, 3);
    assert!(first.len() > 60 && first == folder(3, 3));
    assert!(first != folder(1, 4));
}

/// Facts by name.
fn named(dataset: &EvolvingDataset, triples: impl IntoIterator<Item = Triple>) -> BTreeSet<[String; 3]> {
    let vocabulary = &dataset.vocabulary;
    let name = |triple: Triple| {
        let entity = |id: u32| vocabulary.entities.name(id).into_owned();
        [
            entity(triple.subject.0),
            vocabulary.relations.name(triple.relation.0).into_owned(),
            entity(triple.object.0),
        ]
    };
    triples.into_iter().map(name).collect()
}

#[test]
fn snapshot_folders_come_back_by_name() {
    let compiled = made(5);
    let (_room, folder) = written(5, BenchmarkLayout::Snapshots);
    let read = evolving(&folder);
    assert_eq!(read.steps.len(), 5);
    let mut train = Triples::new();
    for (step, graphs) in read.steps.iter().zip(graphs(&compiled.dataset.steps)) {
        apply(&mut train, &step.training);
        for (found, expected) in [
            (train.iter().copied().collect::<Vec<_>>(), graphs.splits.train),
            (step.evaluation.valid.clone(), graphs.splits.valid),
            (step.evaluation.test.clone(), graphs.splits.test),
        ] {
            assert_eq!(named(&read, found), named(&compiled.dataset, expected), "step {}", step.label);
        }
    }
}

#[test]
fn folders_of_new_facts_come_back_without_deletions() {
    let compiled = made(6);
    let (_room, folder) = written(6, BenchmarkLayout::Lkge);
    let loaded = load(&folder, &LoadOptions::default()).expect("what was written");
    assert_eq!(loaded.format, quadcast_data::Format::Lkge);
    let read = evolving(&folder);
    let (mut ever, mut new) = (BTreeSet::new(), Vec::new());
    for (step, graphs) in read.steps.iter().zip(graphs(&compiled.dataset.steps)) {
        assert!(step.training.iter().all(|operation| operation.insert));
        let before = ever.len();
        ever.extend(named(&compiled.dataset, graphs.all));
        new.push(ever.len() - before);
        let full = step.evaluation_all.as_ref().expect("all so far");
        let own = step.training.len() + step.evaluation.valid.len() + step.evaluation.test.len();
        assert_eq!(own, ever.len() - before);
        assert!(full.test.ends_with(&step.evaluation.test));
    }
    assert!(new.iter().all(|count| *count > 0));
    let relations = fs::read_to_string(folder.join("4/relation2id.txt")).expect("ids");
    assert!(
        relations.lines().enumerate().all(|(at, row)| row.ends_with(&format!("\t{}", 2 * at))),
        "{relations}"
    );
}

#[test]
fn folders_that_are_not_empty_are_left_alone() {
    let room = TempDir::new().expect("a folder");
    fs::write(room.path().join("notes.txt"), "do not lose me").expect("a file");
    let error = write(room.path(), 1, BenchmarkLayout::Lkge).expect_err("the folder is not empty");
    assert!(error.to_string().contains("the folder is not empty"), "{error}");
    assert_eq!(files(room.path()).len(), 1);
}

/// Layouts that hold neither samples nor categories nor examples: none is counted, and none of the options for them is told.
#[test]
fn reports_leave_out_what_is_not_written() {
    let room = TempDir::new().expect("a folder");
    for layout in [BenchmarkLayout::Snapshots, BenchmarkLayout::Lkge] {
        let folder = room.path().join(layout.word());
        let report = write(&folder, 1, layout).expect("a disk");
        let json = fs::read_to_string(folder.join("compile.json")).expect("a report");
        for absent in ["ranked", "categories", "examples_test", "examples_valid", "sample"] {
            assert!(!json.contains(&format!("\"{absent}\"")), "{absent} is in: {json}");
        }
        assert_eq!(report.steps.len(), 5);
        let full = made(1).report;
        for (row, all) in report.steps.iter().zip(&full.steps) {
            assert_eq!(
                (row.operations, row.training, row.increment),
                (all.operations, all.training, all.increment)
            );
            assert_eq!((row.graph, row.valid.all, row.entities), (all.graph, all.valid.all, all.entities));
        }
        assert_eq!(report.spread, full.spread);
    }
}

/// A benchmark whose names are numbers of Wikidata, compiled again and again: `id number` as published, and `Q` and `P` in
/// memory.
#[test]
fn wikidata_numbers_come_back() {
    let room = TempDir::new().expect("a folder");
    let published = room.path().join("published");
    for (file, text) in [
        ("entity2id.txt", "0 220\n1 38\n2 90\n"),
        ("relation2id.txt", "0 17\n1 22\n"),
        ("updates/1/train-op2id.txt", "0 1 1 +\n"),
        ("updates/1/valid2id.txt", "1 0 0\n"),
        ("updates/1/test2id.txt", "2 0 0\n"),
    ] {
        let path = published.join(file);
        fs::create_dir_all(path.parent().expect("a file lies in a folder")).expect("a folder inside");
        fs::write(path, text).expect("a file");
    }
    let mut folder = published.clone();
    for again in ["once", "twice"] {
        let next = room.path().join(again);
        write_whole(&next, &stream_of(&folder), &CompileOptions::as_given(), None);
        folder = next;
        for list in ["entity2id.txt", "relation2id.txt"] {
            let [new, old] = [&folder, &published].map(|folder| fs::read(folder.join(list)).expect("names"));
            assert_eq!(new, old, "{again}: {list}");
        }
        let read = evolving(&folder);
        assert_eq!(
            (read.vocabulary.entities.name(0), read.vocabulary.relations.name(1)),
            ("Q220".into(), "P22".into())
        );
    }
    // Text has the numbers of the raw stream, and reads them as what they are.
    let text = room.path().join("wikidata.txt");
    write_operations(&text, &stream_of(&folder), StreamFormat::Text).expect("a disk");
    assert_eq!(fs::read_to_string(&text).expect("a stream"), "220 38 22 +\n38 220 17 +\n90 220 17 +\n");
    let stream = read_operations(&text, FaultPolicy::Error).expect("a stream");
    let plain = room.path().join("plain");
    let options = CompileOptions { intervals: IntervalRule::Operations(1), ..unfiltered() };
    write_whole(&plain, &stream, &options, None);
    assert_eq!(fs::read_to_string(plain.join("entity2id.txt")).expect("names"), "0 220\n1 38\n2 90\n");
    assert_eq!(
        evolving(&plain).vocabulary.entities.name(0),
        "220",
        "a text does not say what its numbers are"
    );
}
