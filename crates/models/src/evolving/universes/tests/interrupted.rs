//! Growth that is interrupted, and where it puts its files.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use quadcast_core::{
    EvolvingModel, GraphUpdate, GraphValidation, GraphView, LinkScore, ModelError, Run, SavedModel, Step,
    Workshop,
};

use super::super::{PUTRANSD, PUTRANSE};
use super::{everybody, model, triples, view};
use crate::registry::EvolvingEntry;

/// Keeps in memory, and fails after some operations as if the process were killed.
struct Bench {
    kept: Mutex<BTreeMap<String, Vec<u8>>>,
    left: Mutex<u32>,
    folder: PathBuf,
}

impl Bench {
    fn new(folder: &Path, left: u32) -> Arc<Self> {
        Arc::new(Self { kept: Mutex::default(), left: Mutex::new(left), folder: folder.to_owned() })
    }
}

impl Workshop for Bench {
    fn keep(&self, name: &str, parts: &[&[u8]]) -> Result<(), ModelError> {
        let mut left = self.left.lock().expect("no panic");
        *left = left.checked_sub(1).ok_or_else(|| ModelError::Workshop("killed".to_owned()))?;
        self.kept.lock().expect("no panic").insert(name.to_owned(), parts.concat());
        Ok(())
    }

    fn recall(&self, name: &str) -> Result<Option<Vec<u8>>, ModelError> {
        Ok(self.kept.lock().expect("no panic").get(name).cloned())
    }

    fn discard(&self, name: &str) -> Result<(), ModelError> {
        self.kept.lock().expect("no panic").remove(name);
        Ok(())
    }

    fn note(&self, _: &serde_json::Value) -> Result<(), ModelError> {
        Ok(())
    }

    fn scratch_folder(&self) -> PathBuf {
        self.folder.clone()
    }
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

fn fit(entry: &EvolvingEntry, run: &Run) -> Result<SavedModel, ModelError> {
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
        let bench = Bench::new(folder.path(), 0);
        let run = Run { workshop: bench.clone(), ..Run::silent(1) };
        let mut kills = 0;
        let resumed = loop {
            *bench.left.lock().expect("no panic") = 5;
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
        *bench.left.lock().expect("no panic") = 0;
        assert!(resumed == fit(entry, &run).expect("nothing has to be kept again"), "{}", entry.name);
        // A block that is gone is trained again, with those behind it.
        let lost = |name: &String| name.ends_with("-3");
        let name = bench.kept.lock().expect("no panic").keys().find(|name| lost(name)).cloned();
        bench.discard(&name.expect("a fourth block")).expect("it never fails");
        *bench.left.lock().expect("no panic") = 100;
        assert!(resumed == fit(entry, &run).expect("it goes on"), "{}", entry.name);
    }
}

#[test]
fn the_next_step_removes_what_the_last_one_kept() {
    let (triples, (present, relations)) = (triples(), everybody());
    let folder = tempfile::tempdir().expect("a folder");
    let bench = Bench::new(folder.path(), 100);
    let run = Run { workshop: bench.clone(), ..Run::silent(1) };
    let mut model = model(&PUTRANSE, &[]);
    let names = || bench.kept.lock().expect("no panic").keys().cloned().collect::<Vec<String>>();
    model.fit(&view(&triples, &present, &relations), &Covered, &run).expect("room");
    assert!(
        !names().is_empty() && names().iter().all(|name| name.starts_with("universes-1-")),
        "{:?}",
        names()
    );
    let graph = GraphView { step: Step(1), ..view(&triples, &present, &relations) };
    model.fit(&graph, &Covered, &run).expect("room");
    assert!(
        !names().is_empty() && names().iter().all(|name| name.starts_with("universes-2-")),
        "{:?}",
        names()
    );
    let graph = GraphView { step: Step(2), ..view(&[], &present, &relations) };
    model.update(&GraphUpdate { graph, inserted: &[], deleted: &[] }, &Covered, &run).expect("room");
    assert!(names().is_empty(), "a step that brings none removes them too: {:?}", names());
}

#[test]
fn a_time_budget_counts_what_was_spent_before_an_interruption() {
    let folder = tempfile::tempdir().expect("a folder");
    let bench = Bench::new(folder.path(), 5);
    let workshop: Arc<dyn Workshop> = bench.clone();
    fit(&PUTRANSE, &Run { workshop: workshop.clone(), ..Run::silent(1) }).expect_err("killed");
    let name = "universes-1-looks.json";
    let mut looks: serde_json::Value =
        serde_json::from_slice(&bench.recall(name).expect("it never fails").expect("two looks"))
            .expect("looks");
    assert_eq!(looks["scores"].as_array().map(Vec::len), Some(2), "{looks}");
    looks["seconds"] = 100.0.into();
    *bench.left.lock().expect("no panic") = 1;
    bench.keep(name, &[looks.to_string().as_bytes()]).expect("room");
    // An hour would be enough for all, 90 seconds are over: no block can be kept, and none has to.
    let budget = |seconds| Some(std::time::Duration::from_secs(seconds));
    let run = |seconds| Run { workshop: workshop.clone(), time_budget: budget(seconds), ..Run::silent(1) };
    assert!(fit(&PUTRANSE, &run(3600)).is_err(), "it would go on");
    assert_eq!(fit(&PUTRANSE, &run(90)).expect("it is over").state["brought"], serde_json::json!([2]));
}

#[test]
fn a_step_that_is_killed_lets_go_of_old_universes_as_if_it_had_not_been() {
    let folder = tempfile::tempdir().expect("a folder");
    let bench = Bench::new(folder.path(), 5);
    let run = Run { workshop: bench.clone(), ..Run::silent(1) };
    let error = update(&run).expect_err("killed").to_string();
    assert!(error.contains("killed"), "{error}");
    *bench.left.lock().expect("no panic") = 20;
    let resumed = update(&run).expect("it goes on");
    assert!(resumed == update(&Run::silent(1)).expect("no trouble"), "the same were asked at every look");
    assert_eq!(resumed.state["brought"].as_array().map(Vec::len), Some(2), "{}", resumed.state);
}

#[test]
fn a_folder_without_room_is_named() {
    let folder = tempfile::tempdir().expect("a folder").path().join("nowhere");
    let run = Run { workshop: Bench::new(&folder, 9), ..Run::silent(1) };
    let error = fit(&PUTRANSE, &run).expect_err("there is no such folder").to_string();
    assert!(error.contains(&folder.display().to_string()), "{error}");
}
