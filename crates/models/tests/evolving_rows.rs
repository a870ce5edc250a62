//! Rows of models of evolving graphs: where they begin, who keeps its own, and what a saved model knows of that.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use quadcast_core::{
    EvolvingModel, GraphSizes, GraphValidation, LinkScore, ModelError, Run, SavedModel, Triple,
};
use quadcast_models::{find, set};
use quadcast_testing::MemoryCheckpoints;
use quadcast_testing::graphs::{Graph, OwnTriples};
use safetensors::SafeTensors;
use serde_json::Value;

const SIZES: GraphSizes = GraphSizes { entities: 60, relations: 4 };
const WIDTH: usize = 16;
/// With so small a rate, rows stay where they begin, within what a number can hold.
const STILL: &[&str] =
    &["learning_rate=1e-30", "epochs=1", "update_epochs=1", "validate_every=1", "neighbour_start=true"];

fn model(name: &str, settings: &[&str]) -> Box<dyn EvolvingModel> {
    let entry = find(name).expect("a model");
    let mut config = entry.quick_config();
    for setting in settings {
        set(&mut config, setting).expect("a setting");
    }
    entry.evolving(&config).expect("a configuration")
}

/// A model that learned a graph, if it learns anything.
fn fitted(name: &str, settings: &[&str], graph: &Graph) -> Box<dyn EvolvingModel> {
    let mut model = model(name, settings);
    model.fit(&graph.view(), &OwnTriples(graph), &Run::silent(1)).expect("it learns");
    model
}

/// Tells a model how the graph changed.
fn update(model: &mut dyn EvolvingModel, graph: &Graph, inserted: &[Triple], deleted: &[Triple]) {
    let update = graph.update(inserted, deleted);
    model.update(&update, &OwnTriples(graph), &Run::silent(1)).expect("it learns");
}

/// The same model from its files, some of whose state was not saved once.
fn reloaded(name: &str, model: &dyn EvolvingModel, forgotten: &[&str]) -> Box<dyn EvolvingModel> {
    let mut saved = model.save().expect("a fitted model");
    for key in forgotten {
        saved.state.as_object_mut().expect("an object").remove(*key).expect("it is saved today");
    }
    let mut other = self::model(name, &[]);
    other.load(&saved).expect("it was saved");
    other
}

/// One row of a table.
fn row(model: &dyn EvolvingModel, table: &str, row: usize) -> Vec<f32> {
    let bytes = model.save().expect("a fitted model").tensors.expect("tensors").0;
    let tensors = SafeTensors::deserialize(&bytes).expect("tensors");
    let tensor = tensors.tensor(table).expect(table);
    let numbers = tensor.data().as_chunks::<4>().0.iter().map(|&bytes| f32::from_le_bytes(bytes));
    let width = tensor.shape()[1];
    numbers.skip(row * width).take(width).collect()
}

fn unit(x: &[f32]) -> Vec<f32> {
    let length = x.iter().map(|x| x * x).sum::<f32>().sqrt();
    x.iter().map(|x| x / length).collect()
}

/// Where a tail should be.
fn guess(model: &dyn EvolvingModel, head: usize, relation: usize) -> Vec<f32> {
    let (head, relation) = (unit(&row(model, "entities", head)), unit(&row(model, "relations", relation)));
    unit(&head.iter().zip(&relation).map(|(h, r)| h + r).collect::<Vec<f32>>())
}

fn is_near(a: &[f32], b: &[f32]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-5)
}

#[test]
fn neighbours_place_who_was_never_trained_also_where_new_triples_are_all_there_is() {
    let graph = Graph::random(1, 150, 40, 4, SIZES);
    let mut model = fitted("transe", STILL, &graph);
    let before = row(&*model, "entities", 0);
    let expected = guess(&*model, 0, 1);
    let inserted = [Triple::new(0, 1, 50)];
    update(&mut *model, &Graph::new(1, inserted.to_vec(), SIZES), &inserted, &[]);
    assert_eq!(row(&*model, "entities", 0), before, "who is known stays");
    assert!(is_near(&unit(&row(&*model, "entities", 50)), &expected), "its neighbour says where it is");
    // Now it is known, and neighbours have nothing to say.
    let placed = row(&*model, "entities", 50);
    let inserted = [Triple::new(3, 2, 50)];
    update(&mut *model, &Graph::new(2, inserted.to_vec(), SIZES), &inserted, &[]);
    assert_eq!(row(&*model, "entities", 50), placed);
}

#[test]
fn who_comes_back_finds_its_row() {
    let graph = Graph::random(2, 150, 40, 4, SIZES);
    let gone: Vec<Triple> =
        graph.triples.iter().filter(|t| t.subject.0 == 7 || t.object.0 == 7).copied().collect();
    let without = graph.after(&[], &gone);
    let back = [Triple::new(3, 1, 7)];
    let with = without.after(&back, &[]);
    for is_saved in [false, true] {
        let mut model = fitted("incremental-transe", STILL, &graph);
        let learned = row(&*model, "entities", 7);
        update(&mut *model, &without, &[], &gone);
        if is_saved {
            model = reloaded("incremental-transe", &*model, &[]);
        }
        update(&mut *model, &with, &back, &[]);
        assert_eq!(row(&*model, "entities", 7), learned, "saved between: {is_saved}");
        // Who never was there has nothing to keep.
        let expected = guess(&*model, 3, 1);
        let new = [Triple::new(3, 1, 50)];
        update(&mut *model, &with.after(&new, &[]), &new, &[]);
        assert!(is_near(&unit(&row(&*model, "entities", 50)), &expected), "saved between: {is_saved}");
    }
}

#[test]
fn all_rows_of_models_of_earlier_versions_count_as_trained() {
    let graph = Graph::random(3, 150, 40, 4, SIZES);
    let mut old = reloaded("transe", &*fitted("transe", STILL, &graph), &["untrained", "present"]);
    let before = row(&*old, "entities", 50);
    let inserted = [Triple::new(0, 1, 50), Triple::new(0, 1, 60)];
    let wider = Graph::new(1, inserted.to_vec(), GraphSizes { entities: 61, ..SIZES });
    let expected = guess(&*old, 0, 1);
    update(&mut *old, &wider, &inserted, &[]);
    assert_eq!(row(&*old, "entities", 50), before, "it was there");
    assert!(is_near(&unit(&row(&*old, "entities", 60)), &expected), "it was not");
    let mut damaged = old.save().expect("a fitted model");
    damaged.state["untrained"] = serde_json::json!([61]);
    let error = model("transe", &[]).load(&damaged).expect_err("there are 61").to_string();
    assert!(error.contains("untrained entity 61 does not exist"), "{error}");
}

#[test]
fn new_rows_have_the_range_of_the_first_fit() {
    let graph = Graph::random(4, 300, 40, 4, SIZES);
    let range = |present: usize| (6.0 / (present + WIDTH) as f32).sqrt();
    let largest = |forgotten: &[&str]| {
        let model = fitted("transe", &[STILL, &["neighbour_start=false"]].concat(), &graph);
        let mut model = reloaded("transe", &*model, forgotten);
        // Two entities are present, and there are ten more.
        let inserted = [Triple::new(60, 1, 61)];
        let wider = Graph::new(1, inserted.to_vec(), GraphSizes { entities: 70, ..SIZES });
        update(&mut *model, &wider, &inserted, &[]);
        let new = (60..70).flat_map(|entity| row(&*model, "entities", entity));
        new.fold(0.0, |largest: f32, x| largest.max(x.abs()))
    };
    let own = largest(&[]);
    assert!(own <= range(40) && own > 0.9 * range(40), "{own} of {}", range(40));
    let old = largest(&["present"]);
    assert!(old <= range(2) && old > 0.9 * range(2), "earlier versions did not save it: {old}");
}

#[test]
fn a_shuffled_epoch_leaves_no_triple_out() {
    // A relation per triple: its row moves when its triple is learned, and at no other time.
    let triples: Vec<Triple> = (0..199).map(|i| Triple::new(i % 40, i, (i + 1 + i / 40) % 40)).collect();
    let graph = Graph::new(0, triples, GraphSizes { entities: 60, relations: 199 });
    // A margin beyond any distance and slopes that are never quite the same: every triple has something to teach.
    let settings = ["batches=100", "epochs=1", "validate_every=1", "margin=100", "norm=2"];
    let still = fitted("transe", &[&settings[..], STILL].concat(), &graph);
    for (positives, left_out) in [("positives=shuffled", 0..=0), ("positives=drawn", 99..=199)] {
        let model = fitted("transe", &[&settings[..], &[positives, "learning_rate=0.01"]].concat(), &graph);
        let stays =
            |&relation: &usize| row(&*model, "relations", relation) == row(&*still, "relations", relation);
        let stayed: Vec<usize> = (0..199).filter(stays).collect();
        assert!(left_out.contains(&stayed.len()), "{positives}: {stayed:?}");
    }
}

#[test]
fn rows_that_cannot_fit_are_refused_before_they_are_made() {
    let wide = GraphSizes { entities: 1_000_000, relations: 4 };
    let graph = Graph::random(5, 50, 20, 4, wide);
    for name in ["transe", "transd", "rescal", "rotate"] {
        let error = model(name, &["dimension=300000000"])
            .fit(&graph.view(), &OwnTriples(&graph), &Run::silent(1))
            .expect_err("no machine has so much memory")
            .to_string();
        assert!(error.starts_with("dimension = 300000000") && error.contains("1000000 entities"), "{error}");
    }
    let small = Graph::random(5, 50, 20, 4, SIZES);
    let mut model = fitted("transe", STILL, &small);
    let inserted = [Triple::new(60, 1, 61)];
    let vast = Graph::new(1, inserted.to_vec(), GraphSizes { entities: 1 << 45, ..SIZES });
    let error = model.update(&vast.update(&inserted, &[]), &OwnTriples(&vast), &Run::silent(1));
    assert!(error.expect_err("nor so many rows").to_string().contains("GiB"));
    assert!(model.energies(&small.triples).is_ok(), "what it knew is still there");
    let mut saved = model.save().expect("a fitted model");
    saved.state["config"]["dimension"] = 1_000_000_000.into();
    let error = model.load(&saved).expect_err("the numbers are of another width").to_string();
    assert!(error.contains("shape"), "{error}");
    assert!(model.energies(&small.triples).is_ok(), "and still");
}

#[test]
fn settings_beyond_what_can_be_computed_are_refused() {
    let refused = |name: &str, settings: &[&str]| {
        let entry = find(name).expect("a model");
        let mut config = entry.quick_config();
        for setting in settings {
            set(&mut config, setting).expect("a setting");
        }
        entry.evolving(&config).err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(refused("incremental-transe", &["unlearn=1e12"]).contains("from 0 to 1000"));
    assert_eq!(refused("incremental-transe", &["unlearn=1000"]), "");
    for (name, key) in [("transe", "dimension"), ("transr", "relation_dimension"), ("putransd", "dimension")]
    {
        let error = refused(name, &[&format!("{key}=9000000000000000000")]);
        assert!(error.contains(key) && error.contains("at most 1000000000"), "{name}: {error}");
    }
    let error = refused("distmult", &["deterministic=false"]);
    assert!(error.contains("Adagrad") && error.contains("optimiser = \"sgd\""), "{error}");
    assert_eq!(refused("distmult", &["deterministic=false", "optimiser=sgd"]), "");
}

#[test]
fn models_that_were_saved_with_settings_that_did_nothing_still_load() {
    let graph = Graph::random(6, 100, 20, 4, SIZES);
    let model = fitted("distmult", &[], &graph);
    let mut saved: SavedModel = model.save().expect("a fitted model");
    saved.state["config"]["norm"] = 2.into();
    saved.state["config"]["deterministic"] = false.into();
    let mut other = self::model("distmult", &[]);
    other.load(&saved).expect("it was accepted once");
    assert_eq!(
        other.energies(&graph.triples).expect("energies"),
        model.energies(&graph.triples).expect("energies")
    );
}

/// Takes longer than a training may take when it is asked first, and no time later.
#[derive(Default)]
struct SlowAtFirst(AtomicBool);

const BUDGET: Duration = Duration::from_millis(100);

impl GraphValidation for SlowAtFirst {
    fn judge(&self, _: &mut dyn EvolvingModel) -> Result<LinkScore, ModelError> {
        if !self.0.swap(true, Ordering::Relaxed) {
            std::thread::sleep(BUDGET + Duration::from_millis(20));
        }
        Ok(LinkScore { queries: 1, ..LinkScore::default() })
    }
}

#[test]
fn a_warm_start_has_a_name_and_is_part_of_the_time_budget() {
    let graph = Graph::random(7, 100, 20, 4, SIZES);
    let notes = Arc::<MemoryCheckpoints>::default();
    let run = Run { checkpoints: notes.clone(), time_budget: Some(BUDGET), ..Run::silent(1) };
    let mut model = model("transr", &["warm_epochs=1", "epochs=1000000", "validate_every=1000000"]);
    model.fit(&graph.view(), &SlowAtFirst::default(), &run).expect("it learns");
    let notes = notes.notes();
    let of = |event: &str| notes.iter().filter(|note| note["event"] == event).collect::<Vec<&Value>>();
    let names: Vec<&Value> = of("begun").iter().map(|note| &note["training"]).collect();
    assert_eq!(names, ["warm-start-1", "step-1"]);
    // The first epoch of a training always comes to its end, and there is no time for a second one.
    let main = of("trained")[1];
    assert_eq!((&main["training"], &main["ending"]), (&"step-1".into(), &"time-budget".into()), "{main}");
    assert_eq!(main["epochs"], 1, "{main}");
}
