//! Growth that is interrupted, and where it puts its files.

use std::path::Path;
use std::sync::Arc;

use quadcast_core::{
    Checkpoints, EvolvingModel, GraphUpdate, GraphValidation, GraphView, LinkScore, ModelError, Run,
    SavedModel, Step,
};
use quadcast_testing::MemoryCheckpoints;

use super::super::{PUTRANSD, PUTRANSE};
use super::{everybody, model, triples, view};
use crate::registry::Entry;

fn checkpoints(folder: &Path, operations: u32) -> Arc<MemoryCheckpoints> {
    let checkpoints = MemoryCheckpoints::with_scratch(folder);
    checkpoints.allow(operations);
    Arc::new(checkpoints)
}

/// The share of triples that some universe knows.
struct Covered;

impl GraphValidation for Covered {
    fn judge(&self, model: &mut dyn EvolvingModel) -> Result<LinkScore, ModelError> {
        let energies = model.energies(&triples())?;
        let covered = energies.iter().filter(|energy| energy.is_finite()).count();
        Ok(LinkScore { queries: 1, hits10: covered as f64 / energies.len() as f64, ..LinkScore::default() })
    }
}

fn fit(entry: &Entry, run: &Run) -> Result<SavedModel, ModelError> {
    let (present, relations) = everybody();
    let mut model = model(entry, &["validate_every=1", "missing=infinity"]);
    model.fit(&view(&triples(), &present, &relations), &Covered, run)?;
    model.save()
}

/// A step after which the universes of the one before are too old.
fn update(run: &Run) -> Result<SavedModel, ModelError> {
    let (triples, (present, relations)) = (triples(), everybody());
    let mut model = model(&PUTRANSE, &["validate_every=1", "deletion=age", "keep_steps=1"]);
    model.fit(&view(&triples, &present, &relations), &Covered, &Run::silent(1))?;
    let (deleted, left) = triples.split_at(100);
    let graph = GraphView { step: Step(1), ..view(left, &present, &relations) };
    model.update(&GraphUpdate { graph, inserted: &[], deleted }, &Covered, run)?;
    model.save()
}

#[test]
fn growth_that_is_killed_ends_as_if_it_had_not_been() {
    for entry in [&PUTRANSE, &PUTRANSD] {
        let folder = tempfile::tempdir().expect("a folder");
        let bench = checkpoints(folder.path(), 0);
        let run = Run { checkpoints: bench.clone(), ..Run::silent(1) };
        let mut kills = 0;
        let resumed = loop {
            bench.allow(5);
            match fit(entry, &run) {
                Ok(saved) => break saved,
                Err(error) => assert!(error.to_string().contains("killed"), "{error}"),
            }
            kills += 1;
        };
        assert_eq!(kills, 2, "two blocks of six each time");
        assert!(resumed == fit(entry, &Run::silent(1)).expect("no trouble"), "{}", entry.name);
        assert_eq!(folder.path().read_dir().expect("a folder").count(), 0, "nothing is left in the folder");
        // A kill before anybody has kept the model does not cost the training.
        bench.allow(0);
        assert!(resumed == fit(entry, &run).expect("nothing has to be kept again"), "{}", entry.name);
        // A block that is gone is trained again, with those behind it.
        let lost = |name: &String| name.ends_with("-3");
        let name = bench.kept().keys().find(|name| lost(name)).cloned();
        bench.remove(&name.expect("a fourth block")).expect("it never fails");
        bench.allow(100);
        assert!(resumed == fit(entry, &run).expect("it goes on"), "{}", entry.name);
    }
}

#[test]
fn the_next_step_removes_what_the_last_one_kept() {
    let (triples, (present, relations)) = (triples(), everybody());
    let folder = tempfile::tempdir().expect("a folder");
    let bench = checkpoints(folder.path(), 100);
    let run = Run { checkpoints: bench.clone(), ..Run::silent(1) };
    let mut model = model(&PUTRANSE, &[]);
    let names = || bench.kept().keys().cloned().collect::<Vec<String>>();
    let kept = |start: &str| !names().is_empty() && names().iter().all(|name| name.starts_with(start));
    model.fit(&view(&triples, &present, &relations), &Covered, &run).expect("room");
    assert!(kept("universes-1-"), "{:?}", names());
    let graph = GraphView { step: Step(1), ..view(&triples, &present, &relations) };
    model.fit(&graph, &Covered, &run).expect("room");
    assert!(kept("universes-2-"), "{:?}", names());
    let graph = GraphView { step: Step(2), ..view(&[], &present, &relations) };
    model.update(&GraphUpdate { graph, inserted: &[], deleted: &[] }, &Covered, &run).expect("room");
    assert!(names().is_empty(), "a step that brings none removes them too: {:?}", names());
}

#[test]
fn a_time_budget_counts_what_was_spent_before_an_interruption() {
    let folder = tempfile::tempdir().expect("a folder");
    let bench = checkpoints(folder.path(), 5);
    let checkpoints: Arc<dyn Checkpoints> = bench.clone();
    fit(&PUTRANSE, &Run { checkpoints: checkpoints.clone(), ..Run::silent(1) }).expect_err("killed");
    let name = "universes-1-looks.json";
    let mut looks: serde_json::Value =
        serde_json::from_slice(&bench.load(name).expect("it never fails").expect("two looks"))
            .expect("looks");
    assert_eq!(looks["scores"].as_array().map(Vec::len), Some(2), "{looks}");
    looks["seconds"] = 100.0.into();
    bench.allow(1);
    bench.save(name, &[looks.to_string().as_bytes()]).expect("room");
    // An hour would be enough for all, 90 seconds are over: no block can be kept, and none has to.
    let budget = |seconds| Some(std::time::Duration::from_secs(seconds));
    let run =
        |seconds| Run { checkpoints: checkpoints.clone(), time_budget: budget(seconds), ..Run::silent(1) };
    assert!(fit(&PUTRANSE, &run(3600)).is_err(), "it would go on");
    assert_eq!(fit(&PUTRANSE, &run(90)).expect("it is over").state["brought"], serde_json::json!([2]));
}

#[test]
fn a_step_that_is_killed_lets_go_of_old_universes_as_if_it_had_not_been() {
    let folder = tempfile::tempdir().expect("a folder");
    let bench = checkpoints(folder.path(), 5);
    let run = Run { checkpoints: bench.clone(), ..Run::silent(1) };
    let error = update(&run).expect_err("killed").to_string();
    assert!(error.contains("killed"), "{error}");
    bench.allow(20);
    let resumed = update(&run).expect("it goes on");
    assert!(resumed == update(&Run::silent(1)).expect("no trouble"), "the same were asked at every look");
    assert_eq!(resumed.state["brought"].as_array().map(Vec::len), Some(2), "{}", resumed.state);
}

#[test]
fn a_folder_without_room_is_named() {
    let folder = tempfile::tempdir().expect("a folder").path().join("nowhere");
    let run = Run { checkpoints: checkpoints(&folder, 9), ..Run::silent(1) };
    let error = fit(&PUTRANSE, &run).expect_err("there is no such folder").to_string();
    assert!(error.contains(&folder.display().to_string()), "{error}");
}
