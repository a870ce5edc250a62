//! Universes against plain counting.

mod deletion;
mod interrupted;
mod lengths;
mod storage;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use quadcast_core::{
    Direction, EntityId, EvolvingModel, GraphSizes, GraphUpdate, GraphValidation, GraphView, LinkScore,
    ModelError, Query, RelationId, Run, Step, Triple, stream,
};
use quadcast_testing::{Collected, Indifferent};
use rand::Rng;
use toml::Table;

use super::{PUTRANSD, PUTRANSE, PUTRANSH};
use crate::config::{ConfigError, set};
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
    let mut config: Table = entry.quick_config();
    let small = ["universes=6", "validate_every=3", "patience=0", "least_triples=20", "most_triples=60"];
    for setting in small.iter().chain(settings) {
        set(&mut config, setting).expect("a setting");
    }
    entry.evolving(&config).expect("the settings are sound")
}

fn fitted(entry: &Entry, settings: &[&str]) -> Box<dyn EvolvingModel> {
    let mut model = model(entry, settings);
    let (present, relations) = everybody();
    model.fit(&view(&triples(), &present, &relations), &Indifferent, &Run::silent(1)).expect("it trains");
    model
}

#[test]
fn a_row_of_scores_holds_the_energies_of_its_triples() {
    for (entry, settings) in [
        (&PUTRANSE, &["missing=infinity"][..]),
        (&PUTRANSH, &["missing=infinity"]),
        (&PUTRANSD, &["missing=infinity"]),
    ] {
        let mut model = fitted(entry, settings);
        let candidates: Vec<EntityId> = (0..60).map(EntityId).collect();
        model.begin(&candidates).expect("it is fitted");
        for direction in Direction::BOTH {
            let query = Query { step: Step(0), known: EntityId(7), relation: RelationId(2), direction };
            let mut rows = Collected::new(60).sparse();
            model.score(&[query], &mut rows).expect("it scores");
            let whole: Vec<Triple> = candidates.iter().map(|&id| query.fact(id, Step(0)).triple()).collect();
            let energies = model.energies(&whole).expect("it rates");
            let expected: Vec<f64> = energies.iter().map(|&energy| -f64::from(energy)).collect();
            assert_eq!(rows.row(0), expected, "{}", entry.name);
            assert!(expected[55].is_infinite() && expected.iter().any(|x| x.is_finite()), "{}", entry.name);
        }
    }
}

/// Compares, at every validation, rows of scores with the energies of single triples.
#[derive(Default)]
struct Suspicious(AtomicUsize);

impl GraphValidation for Suspicious {
    fn judge(&self, model: &mut dyn EvolvingModel) -> Result<LinkScore, ModelError> {
        let candidates: Vec<EntityId> = (0..60).map(EntityId).collect();
        model.begin(&candidates)?;
        let mut reached = 0;
        for direction in Direction::BOTH {
            for known in (0..50).step_by(7).map(EntityId) {
                let query = Query { step: Step(0), known, relation: RelationId(known.0 % 5), direction };
                let mut rows = Collected::new(60).sparse();
                model.score(&[query], &mut rows)?;
                let whole: Vec<Triple> =
                    candidates.iter().map(|&id| query.fact(id, Step(0)).triple()).collect();
                let energies = model.energies(&whole)?;
                let expected: Vec<f64> = energies.iter().map(|&energy| -f64::from(energy)).collect();
                assert_eq!(rows.row(0), expected);
                reached += expected.iter().filter(|score| score.is_finite()).count();
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
fn the_number_of_threads_does_not_matter_and_saving_keeps_everything() {
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| fitted(&PUTRANSE, &[]).save().expect("it is fitted"))
    };
    let saved = run(1);
    assert_eq!(saved, run(2));
    let mut again = model(&PUTRANSE, &[]);
    again.load(&saved).expect("it was saved");
    assert_eq!(again.save().expect("it is fitted"), saved);
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
    let mut config = PUTRANSE.quick_config();
    settings.iter().for_each(|setting| set(&mut config, setting).expect("a setting"));
    PUTRANSE.evolving(&config).map(|_| ())
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
