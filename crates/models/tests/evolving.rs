//! Models of evolving graphs from the outside: they learn, forget, go on after a kill, and come back from disk.

use std::sync::Arc;

use quadcast_core::{EntityId, EvolvingModel, GraphSizes, ModelError, Run, Task, Triple};
use quadcast_models::{ConfigError, Entry, MODELS, find, set};
use quadcast_testing::MemoryCheckpoints;
use quadcast_testing::graphs::{Graph, OwnTriples, ranks, scores};

const SIZES: GraphSizes = GraphSizes { entities: 60, relations: 4 };

fn build(name: &str, settings: &[&str]) -> Result<Box<dyn EvolvingModel>, ConfigError> {
    let entry = find(name).expect("a model");
    let mut config = entry.quick_config();
    for setting in settings {
        set(&mut config, setting).expect("a setting");
    }
    entry.evolving(&config)
}

fn model(name: &str, settings: &[&str]) -> Box<dyn EvolvingModel> {
    build(name, settings).expect("a configuration")
}

/// A model that learned a graph.
fn fitted(name: &str, settings: &[&str], graph: &Graph) -> Box<dyn EvolvingModel> {
    let mut model = model(name, settings);
    model.fit(&graph.view(), &OwnTriples(graph), &Run::silent(1)).expect(name);
    model
}

fn models() -> impl Iterator<Item = &'static Entry> {
    MODELS.iter().filter(|entry| entry.task() == Task::Evolving)
}

fn bytes(model: &dyn EvolvingModel) -> Vec<u8> {
    model.save().expect("a fitted model").tensors.expect("tensors").0
}

#[test]
fn transe_overfits_a_hundred_triples() {
    // Sparse, as real graphs are. Of 100 triples among 50 entities and 4 relations, three kept a rank of 2.
    let graph = Graph::random(1, 100, 80, 5, GraphSizes { entities: 80, relations: 5 });
    let settings =
        ["dimension=100", "epochs=1500", "validate_every=1500", "learning_rate=1.0", "filtered=true"];
    let mut model = fitted("transe", &[&settings[..], &["negatives=10"]].concat(), &graph);
    let ranks = ranks(&mut *model, &graph.triples, &graph.triples, &graph.present);
    assert_eq!(ranks.len(), 200);
    let misses = ranks.iter().filter(|&&rank| rank != 1.0).count();
    assert_eq!(misses, 0, "{ranks:?}");
}

#[test]
fn every_model_learns_and_comes_back_from_its_bytes() {
    let graph = Graph::random(2, 120, 40, 4, SIZES);
    for entry in models() {
        let mut first = fitted(entry.name, &[], &graph);
        let candidates: Vec<EntityId> = (0..60).step_by(3).map(EntityId).collect();
        let before = scores(&mut *first, &graph.triples[..20], &candidates);
        let energies = first.energies(&graph.triples).expect(entry.name);
        let saved = first.save().expect(entry.name);
        let mut other = model(entry.name, &[]);
        other.load(&saved).expect(entry.name);
        assert_eq!(scores(&mut *other, &graph.triples[..20], &candidates), before, "{}", entry.name);
        assert_eq!(other.energies(&graph.triples).expect(entry.name), energies, "{}", entry.name);
        assert_eq!(other.save().expect(entry.name), saved, "{}", entry.name);
    }
}

#[test]
fn a_warm_start_begins_with_the_rows_of_transe() {
    let graph = Graph::random(4, 120, 40, 4, SIZES);
    let tensor = |model: &dyn EvolvingModel, name: &str| {
        let bytes = bytes(model);
        let tensors = safetensors::SafeTensors::deserialize(&bytes).expect("tensors");
        tensors.tensor(name).expect(name).data().to_vec()
    };
    // So small a rate leaves the rows where they begin, within what a number can hold.
    let still = ["dimension=100", "epochs=1", "validate_every=1", "learning_rate=1e-30", "warm_epochs=3"];
    let warm = fitted("transr", &still, &graph);
    let own = [
        "sampling=bern",
        "filtered=true",
        "learning_rate=0.5",
        "epochs=3",
        "validate_every=3",
        "dimension=100",
    ];
    let transe = fitted("transe", &own, &graph);
    for name in ["entities", "relations"] {
        assert!(tensor(&*warm, name) == tensor(&*transe, name), "{name}");
    }
    let refused = build("transr", &["relation_dimension=5"]);
    let refused = refused.err().expect("no TransE has two widths").to_string();
    assert!(refused.contains("warm_epochs = 0"), "{refused}");
}

#[test]
fn a_score_is_an_energy_whatever_else_is_asked() {
    let graph = Graph::random(3, 120, 40, 4, SIZES);
    for entry in models() {
        let mut model = fitted(entry.name, &[], &graph);
        let all = scores(&mut *model, &graph.triples, &graph.present);
        let some = scores(&mut *model, &graph.triples[7..8], &graph.present);
        assert_eq!(some[..], all[14..16], "{}", entry.name);
        for (query, answer, row) in &all {
            let triple = query.fact(*answer, query.step).triple();
            let energy = f64::from(model.energies(&[triple]).expect(entry.name)[0]);
            let score = row[graph.present.binary_search(answer).expect("present")];
            // Both infinite, where a model has nothing to say.
            let same = energy == -score || (energy + score).abs() < 1e-4 * energy.abs().max(1.0);
            assert!(same, "{}: {energy} {score}", entry.name);
        }
    }
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let graph = Graph::random(4, 600, 60, 4, SIZES);
    for name in ["transe", "rescal", "putranse"] {
        let fit = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
            pool.install(|| {
                let model = fitted(name, &["batches=2"], &graph);
                model.save().expect("a fitted model")
            })
        };
        assert!(fit(1) == fit(2), "{name}");
    }
}

#[test]
fn a_training_that_is_killed_ends_as_if_it_had_not_been() {
    let graph = Graph::random(5, 120, 40, 4, SIZES);
    let inserted = [Triple::new(50, 0, 3), Triple::new(3, 1, 51)];
    let deleted = graph.triples[..5].to_vec();
    let after = graph.after(&inserted, &deleted);
    let kinds: [&[&str]; 4] = [
        &["optimiser=sgd"],
        &["optimiser=adagrad"],
        &["optimiser=adam"],
        // Batches of different sizes.
        &["positives=shuffled", "batches=7"],
    ];
    for settings in kinds {
        let play = |run: &Run| -> Result<Vec<u8>, ModelError> {
            let mut model = model("incremental-transe", settings);
            model.fit(&graph.view(), &OwnTriples(&graph), run)?;
            model.update(&after.update(&inserted, &deleted), &OwnTriples(&after), run)?;
            Ok(bytes(&*model))
        };
        let whole = play(&Run::silent(7)).expect("no trouble");
        let shelf = Arc::<MemoryCheckpoints>::default();
        let run = Run { checkpoints: shelf.clone(), ..Run::silent(7) };
        let mut kills = 0;
        let resumed = loop {
            // The best state and the position that names it: each try gets to one more of them.
            shelf.allow(2);
            match play(&run) {
                Ok(bytes) => break bytes,
                Err(error) => assert!(error.to_string().contains("killed"), "{error}"),
            }
            kills += 1;
        };
        assert!(kills > 2, "{kills}");
        assert!(resumed == whole, "{settings:?}");
    }
}

#[test]
fn updates_go_on_from_what_is_known() {
    let graph = Graph::random(6, 200, 40, 4, SIZES);
    let settings = ["epochs=100", "validate_every=100", "learning_rate=1.0", "dimension=32"];
    let mut model = fitted("transe", &settings, &graph);
    let before = model.energies(&graph.triples).expect("energies");
    let inserted = [Triple::new(55, 0, 56)];
    let new = Graph::new(1, inserted.to_vec(), SIZES);
    let told = model.energies(&inserted).expect("energies")[0];
    model.update(&new.update(&inserted, &[]), &OwnTriples(&new), &Run::silent(1)).expect("it learns");
    assert!(model.energies(&inserted).expect("energies")[0] < told, "what is new is learned");
    let after = model.energies(&graph.triples).expect("energies");
    let moved = graph.triples.iter().zip(before.iter().zip(&after));
    let same = moved.filter(|(triple, (before, after))| triple.relation.0 == 0 || before == after).count();
    assert_eq!(same, graph.triples.len(), "nothing but entities 55 and 56 and relation 0 was touched");
    // There is room for what is new, beside what is known.
    let inserted = [Triple::new(60, 4, 55)];
    let wider = Graph::new(1, inserted.to_vec(), GraphSizes { entities: 61, relations: 5 });
    model.update(&wider.update(&inserted, &[]), &OwnTriples(&wider), &Run::silent(1)).expect("it grows");
    assert!(model.energies(&inserted).expect("energies")[0].is_finite());
    assert_eq!(model.energies(&graph.triples).expect("energies"), after, "nothing else was touched");
    let error = model.update(&new.update(&inserted, &[]), &OwnTriples(&new), &Run::silent(1));
    assert!(error.expect_err("a smaller id space").to_string().contains("61 entities"));
}

#[test]
fn incremental_transe_unlearns_and_places_new_entities() {
    let graph = Graph::random(7, 300, 40, 4, SIZES);
    let settings =
        ["epochs=200", "update_epochs=60", "validate_every=200", "learning_rate=1.0", "dimension=32"];
    let deleted = graph.triples[..30].to_vec();
    // A copy of entity 0 under a new id: its triples say where it belongs.
    let copied = graph.triples[30..].iter().filter(|triple| triple.subject == EntityId(0));
    let inserted: Vec<Triple> = copied.map(|triple| Triple { subject: EntityId(50), ..*triple }).collect();
    assert!(inserted.len() >= 3, "{}", inserted.len());
    let after = graph.after(&inserted, &deleted);
    let update = |extra: &[&str]| {
        let mut model = fitted("incremental-transe", &[&settings[..], extra].concat(), &graph);
        let before = model.energies(&deleted).expect("energies");
        model
            .update(&after.update(&inserted, &deleted), &OwnTriples(&after), &Run::silent(1))
            .expect("it learns");
        let mean = |energies: Vec<f32>| energies.iter().sum::<f32>() / energies.len() as f32;
        let risen = mean(model.energies(&deleted).expect("energies")) - mean(before);
        let known = mean(model.energies(&after.triples[..200]).expect("energies"));
        (risen, known, mean(model.energies(&inserted).expect("energies")))
    };
    let (risen, known, new) = update(&[]);
    let (without, _, _) = update(&["unlearn=0.0"]);
    assert!(risen > 0.0 && risen > without, "deleted triples become less plausible: {risen}, else {without}");
    let (_, _, lost) = update(&["neighbour_start=false", "update_epochs=1"]);
    let (_, _, placed) = update(&["update_epochs=1"]);
    assert!(placed < lost, "a new entity begins near its place: {placed}, else {lost}");
    assert!(new < placed && known < placed + 5.0, "{new} {placed} {known}");
}

#[test]
fn without_locks_it_learns_too() {
    let graph = Graph::random(8, 200, 40, 4, SIZES);
    let settings = ["deterministic=false", "epochs=200", "validate_every=200", "learning_rate=1.0"];
    let hits = [&settings[..], &settings[1..]].map(|settings| {
        let mut model = fitted("transe", &[settings, &["dimension=32"]].concat(), &graph);
        let ranks = ranks(&mut *model, &graph.triples, &graph.triples, &graph.present);
        ranks.iter().filter(|&&rank| rank <= 3.0).count() as f64 / ranks.len() as f64
    });
    assert!((hits[0] - hits[1]).abs() < 0.1, "{hits:?}");
    let error = build("rotate", &["deterministic=false"]).err().expect("Adam needs batches").to_string();
    assert!(error.contains("Adam") && error.contains("optimiser = \"sgd\""), "{error}");
}
