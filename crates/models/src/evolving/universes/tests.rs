//! Universes against plain counting.

mod deletion;
mod interrupted;
pub(super) mod storage;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use quadcast_core::{
    Direction, EntityId, EvolvingModel, GraphSizes, GraphUpdate, GraphValidation, GraphView, LinkScore,
    ModelError, Query, RelationId, Run, Step, Triple, stream,
};
use quadcast_kernels::triples::Translation;
use quadcast_testing::{Collected, Indifferent};
use rand::Rng;
use storage::two;

use super::settings::Config;
use super::universe::check_memory;
use super::{PUTRANSD, PUTRANSE, PUTRANSH};
use crate::config::ConfigError;
use crate::evolving::testing;
use crate::registry::Entry;

const SIZES: GraphSizes = GraphSizes { entities: 60, relations: 5 };

fn triples() -> Vec<Triple> {
    let mut random = stream(3, "triples", 0);
    let mut draw = |limit: u32| random.random_range(0..limit);
    // The last ten entities are nowhere.
    let all: BTreeSet<Triple> = (0..300).map(|_| Triple::new(draw(50), draw(5), draw(50))).collect();
    all.into_iter().collect()
}

fn everybody() -> (Vec<EntityId>, Vec<RelationId>) {
    ((0..50).map(EntityId).collect(), (0..5).map(RelationId).collect())
}

fn view<'a>(triples: &'a [Triple], present: &'a [EntityId], relations: &'a [RelationId]) -> GraphView<'a> {
    GraphView { step: Step(0), triples, present, relations, sizes: SIZES }
}

fn model(entry: &Entry, settings: &[&str]) -> Box<dyn EvolvingModel> {
    let small = ["universes=6", "validate_every=3", "patience=0", "least_triples=20", "most_triples=60"];
    testing::build(entry, &[&small[..], settings].concat()).expect("the settings are sound")
}

fn fitted(entry: &Entry, settings: &[&str]) -> Box<dyn EvolvingModel> {
    let mut model = model(entry, settings);
    let (present, relations) = everybody();
    model.fit(&view(&triples(), &present, &relations), &Indifferent, &Run::silent(1)).expect("it trains");
    model
}

/// The scores of all entities as answers, which must be those of their triples.
fn checked_scores(model: &mut dyn EvolvingModel, query: &Query) -> Result<Vec<f64>, ModelError> {
    let candidates: Vec<EntityId> = (0..60).map(EntityId).collect();
    model.begin(&candidates)?;
    let mut rows = Collected::new(60).sparse();
    model.score(&[*query], &mut rows)?;
    let triples: Vec<Triple> = candidates.iter().map(|&id| query.fact(id, Step(0)).triple()).collect();
    let scores: Vec<f64> = model.energies(&triples)?.iter().map(|&energy| -f64::from(energy)).collect();
    assert_eq!(rows.row(0), scores, "{query:?}");
    Ok(scores)
}

#[test]
fn a_row_of_scores_holds_the_energies_of_its_triples() {
    for entry in [&PUTRANSE, &PUTRANSH, &PUTRANSD] {
        let mut model = fitted(entry, &["missing=infinity"]);
        for direction in Direction::BOTH {
            let query = Query { step: Step(0), known: EntityId(7), relation: RelationId(2), direction };
            let scores = checked_scores(&mut *model, &query).expect(entry.name);
            assert!(scores[55].is_infinite() && scores.iter().any(|x| x.is_finite()), "{}", entry.name);
        }
    }
}

/// Compares, at every validation, rows of scores with the energies of single triples.
#[derive(Default)]
struct Suspicious(AtomicUsize);

impl GraphValidation for Suspicious {
    fn judge(&self, model: &mut dyn EvolvingModel) -> Result<LinkScore, ModelError> {
        let mut reached = 0;
        for direction in Direction::BOTH {
            for known in (0..50).step_by(7).map(EntityId) {
                let query = Query { step: Step(0), known, relation: RelationId(known.0 % 5), direction };
                let scores = checked_scores(model, &query)?;
                reached += scores.iter().filter(|score| score.is_finite()).count();
            }
        }
        let before = self.0.swap(reached, Ordering::Relaxed);
        assert!(reached >= before && reached > 0, "universes that are added reach more answers");
        Ok(LinkScore { queries: 1, hits10: reached as f64 / 1000.0, ..LinkScore::default() })
    }
}

#[test]
fn a_look_that_remembers_the_last_one_finds_what_one_that_asks_all_finds() {
    let triples = triples();
    let (present, relations) = everybody();
    let kinds = [
        &["deletion=keep"][..],
        &["deletion=contains"],
        &["deletion=age", "keep_steps=1"],
        &["deletion=weight"],
    ];
    for kind in kinds {
        let mut model = model(&PUTRANSH, &[&["validate_every=2"][..], kind].concat());
        let graph = view(&triples, &present, &relations);
        model.fit(&graph, &Suspicious::default(), &Run::silent(1)).expect("it trains");
        let graph = view(&triples[100..], &present, &relations);
        let update = GraphUpdate { graph, inserted: &[], deleted: &triples[..100] };
        model.update(&update, &Suspicious::default(), &Run::silent(1)).expect("it goes on");
    }
}

#[test]
fn the_zero_row_ranks_above_missing_answers() {
    let model = fitted(&PUTRANSE, &["missing=null"]);
    let strict = fitted(&PUTRANSE, &["missing=infinity"]);
    let unknown = Triple::new(7, 2, 55);
    assert!(strict.energies(&[unknown]).expect("it rates")[0].is_infinite());
    // Unit vectors: ‖h + r‖₁ of two of them is at most 2·√20.
    let energy = model.energies(&[unknown]).expect("it rates")[0];
    assert!(energy > 0.0 && energy <= 2.0 * 20_f32.sqrt(), "{energy}");
}

#[test]
fn the_published_zero_row_is_not_projected() {
    let unknown: Vec<Triple> = (0..50).map(|subject| Triple::new(subject, 2, 55)).collect();
    let energies = |entry: &Entry, compat: bool| {
        let mut model = fitted(entry, &["missing=null"]);
        let mut saved = model.save().expect("it is fitted");
        // The same universes, asked in another way.
        saved.state["config"]["compat"] = compat.into();
        model.load(&saved).expect("it was saved");
        let energies = model.energies(&unknown).expect("it rates");
        energies.into_iter().filter(|energy| energy.is_finite()).collect::<Vec<f32>>()
    };
    let largest_difference = |entry: &Entry| {
        let [honest, published] = [false, true].map(|compat| energies(entry, compat));
        assert!(honest.len() == published.len() && honest.len() > 10, "the same universes know them");
        honest.iter().zip(&published).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
    };
    let difference = largest_difference(&PUTRANSE);
    assert!(difference < 1e-5, "TransE projects nothing: {difference}");
    let difference = largest_difference(&PUTRANSH);
    assert!(difference > 0.01, "{difference}");
}

#[test]
fn compat_walks_and_draws_otherwise() {
    let saved = |settings: &[&str]| fitted(&PUTRANSE, settings).save().expect("it is fitted").tensors;
    assert_ne!(saved(&[]), saved(&["compat=true"]));
    assert_ne!(saved(&[]), saved(&["whole_margins=false"]));
    assert_eq!(saved(&["least_margin=1", "most_margin=4.0"]), saved(&[]));
}

/// Whether settings are accepted.
fn build(settings: &[&str]) -> Result<(), ConfigError> {
    testing::build(&PUTRANSE, settings).map(|_| ())
}

#[test]
fn margins_are_whole_unless_said_otherwise() {
    let error = build(&["most_margin=2.5"]).expect_err("it is no whole number").to_string();
    assert!(error.contains("most_margin = 2.5") && error.contains("whole_margins = false"), "{error}");
    assert!(build(&["most_margin=2.5", "whole_margins=false"]).is_ok());
    assert!(build(&["least_margin=3", "most_margin=2"]).is_err());
}

#[test]
fn universes_that_were_trained_on_what_is_gone_are_not_asked() {
    let triples = triples();
    let (present, relations) = everybody();
    let left: Vec<Triple> = triples[100..].to_vec();
    let energies = |deletion: &str| {
        let mut model = fitted(&PUTRANSE, &[&format!("deletion={deletion}"), "universes=3"]);
        let before = model.energies(&triples).expect("it rates");
        let update =
            GraphUpdate { graph: view(&left, &present, &relations), inserted: &[], deleted: &triples[..100] };
        model.update(&update, &Indifferent, &Run::silent(1)).expect("it goes on");
        (before, model.energies(&triples).expect("it rates"))
    };
    let (before, after) = energies("keep");
    assert!(before.iter().zip(&after).all(|(before, after)| after <= before), "a minimum never forgets");
    let (before, after) = energies("contains");
    assert!(before.iter().zip(&after).any(|(before, after)| after > before), "the old universes are retired");
}

#[test]
fn lengths_count_if_rows_are_not_divided_by_them() {
    for entry in [&PUTRANSE, &PUTRANSH, &PUTRANSD] {
        let (divided, free) = (fitted(entry, &[]), fitted(entry, &["normalise=false"]));
        let energies = free.energies(&triples()).expect("it rates");
        assert!(energies.iter().any(|energy| energy.is_finite()), "{}", entry.name);
        assert_ne!(energies, divided.energies(&triples()).expect("it rates"), "{}", entry.name);
        let mut again = model(entry, &[]);
        again.load(&free.save().expect("it is fitted")).expect("it was saved");
        assert_eq!(again.energies(&triples()).expect("it rates"), energies, "{}", entry.name);
    }
}

#[test]
fn models_of_earlier_versions_divide_rows() {
    let own = fitted(&PUTRANSD, &[]);
    let mut saved = own.save().expect("it is fitted");
    let config = saved.state["config"].as_object_mut().expect("settings");
    assert_eq!(config.remove("normalise"), Some(true.into()));
    let mut old = model(&PUTRANSD, &["normalise=false"]);
    old.load(&saved).expect("it was saved");
    assert_eq!(old.energies(&triples()).expect("it rates"), own.energies(&triples()).expect("it rates"));
}

#[test]
fn the_published_energy_of_the_zero_row_by_hand() {
    let universe = &two()[0];
    let energy = |direction, norm, normalise| {
        let query = Query { step: Step(0), known: EntityId(1), relation: RelationId(2), direction };
        let asked = universe.view().local_question(&query).expect("it knows them");
        let config = Config { dimension: 2, norm, normalise, ..Config::default() };
        universe.view().published_zero_energy(asked, &config)
    };
    let is = |own: f32, right: f32| assert!((own - right).abs() < 1e-6, "{own} {right}");
    // The entity is (3, 4), the relation (1, 0).
    is(energy(Direction::Object, 1, true), 2.4);
    is(energy(Direction::Object, 1, false), 8.0);
    is(energy(Direction::Subject, 1, false), 6.0);
    is(energy(Direction::Object, 2, false), 32_f32.sqrt());
}

#[test]
fn universes_that_cannot_fit_are_refused_before_they_are_made() {
    let (triples, (present, relations)) = (triples(), everybody());
    let graph = view(&triples, &present, &relations);
    let config = |dimension| Config { dimension, ..Config::default() };
    let check = |dimension, graph| check_memory::<Translation>(&config(dimension), graph);
    assert!(check(20, &graph).is_ok());
    let error = check(1_000_000_000, &graph).expect_err("60 rows, 200 times").to_string();
    assert!(error.contains("200 universes of about 60 entities"), "{error}");
    assert!(
        error.starts_with("dimension = 1000000000 is out of range") && error.ends_with(" fits"),
        "{error}"
    );
    // A graph of one triple has universes of one triple.
    let few: &[Triple] = &triples[..1];
    let lonely = GraphView { triples: few, sizes: SIZES, ..graph };
    let error = check(1_000_000_000, &lonely).expect_err("200 times").to_string();
    assert!(error.contains("of about 1 entities"), "{error}");
}
