//! What becomes of universes when triples are deleted, against plain counting.

use std::ops::Range;

use quadcast_core::{
    Direction, EntityId, EvolvingModel, GraphSizes, GraphUpdate, GraphView, ModelError, Query, RelationId,
    Run, SavedModel, Step, Tensors, Triple,
};
use quadcast_kernels::triples::{Norm, Translation};
use serde_json::json;

use super::super::PUTRANSE;
use super::super::index::UniverseIndex;
use super::super::saved::{from_bytes, to_bytes};
use super::super::settings::Config;
use super::super::storage::StoredUniverse;
use super::super::view::{UniverseView, ZeroRow};
use super::storage::{FLAT, put, two};
use super::{Collected, Indifferent, SIZES, build, everybody, fitted, model, triples, view};

/// The space of `PuTransE` with its defaults.
const SPACE: Translation = Translation { dimension: 20, norm: Norm::L1, unit: true };

/// Updates the model to a graph of `left`. If that is empty, no universes are added, and only the deletions have an effect.
fn go_on(model: &mut dyn EvolvingModel, step: u32, left: &[Triple], inserted: &[Triple], deleted: &[Triple]) {
    let (present, relations) = everybody();
    let graph = GraphView { step: Step(step), ..view(left, &present, &relations) };
    let update = GraphUpdate { graph, inserted, deleted };
    model.update(&update, &Indifferent, &Run::silent(1)).expect("it goes on");
}

fn save(model: &dyn EvolvingModel) -> SavedModel {
    model.save().expect("it is fitted")
}

fn try_load(saved: &SavedModel) -> Result<Box<dyn EvolvingModel>, ModelError> {
    let mut model = model(&PUTRANSE, &[]);
    model.load(saved)?;
    Ok(model)
}

fn load(saved: &SavedModel) -> Box<dyn EvolvingModel> {
    try_load(saved).expect("it was saved")
}

fn energies(model: &dyn EvolvingModel) -> Vec<f32> {
    model.energies(&triples()).expect("it rates")
}

/// All universes of a model, retired ones included.
fn universes(saved: &SavedModel) -> Vec<StoredUniverse> {
    let tensors = saved.tensors.as_ref().expect("universes");
    from_bytes(&SPACE, &tensors.0, SIZES, &std::env::temp_dir()).expect("it was saved")
}

/// A model that never had other universes than some of another's, and asks all of them.
fn with_only(model: &dyn EvolvingModel, numbers: Range<usize>) -> Box<dyn EvolvingModel> {
    let mut saved = save(model);
    let kept = universes(&saved);
    let views: Vec<UniverseView<'_>> = kept[numbers].iter().map(StoredUniverse::view).collect();
    saved.tensors = Some(Tensors(to_bytes(&SPACE, &views).expect("they are whole")));
    saved.state["brought"] = json!([views.len()]);
    // Counted all of the other's universes. `keep` does not read it.
    saved.state["gone_after"] = json!([]);
    saved.state["config"]["deletion"] = json!("keep");
    load(&saved)
}

#[test]
fn universes_are_asked_for_as_many_steps_as_said() {
    let triples = triples();
    // Every step brings three.
    let mut model = fitted(&PUTRANSE, &["universes=3", "deletion=age", "keep_steps=2"]);
    assert!(model.capabilities().unlearns);
    go_on(&mut *model, 1, &triples[50..], &[], &triples[..50]);
    assert_eq!(energies(&*model), energies(&*with_only(&*model, 0..6)), "two steps");
    go_on(&mut *model, 2, &triples[100..], &[], &triples[50..100]);
    assert_eq!(energies(&*model), energies(&*with_only(&*model, 3..9)), "the last two of three");
    assert_ne!(energies(&*model), energies(&*with_only(&*model, 0..9)), "the first step would matter");
    let before = energies(&*model);
    go_on(&mut *model, 3, &[], &[], &triples[100..]);
    assert_eq!(energies(&*model), before, "a step that adds no universe does not count as age");
    let saved = save(&*model);
    assert_eq!(saved.state["brought"], json!([3, 3, 3]));
    let mut again = load(&saved);
    assert_eq!(energies(&*again), before);
    assert_eq!(save(&*again), saved);
    for model in [&mut model, &mut again] {
        go_on(&mut **model, 4, &triples, &triples, &[]);
    }
    assert_eq!(energies(&*again), energies(&*model));
    assert_eq!(energies(&*again), energies(&*with_only(&*again, 6..12)));
}

#[test]
fn universes_of_earlier_versions_are_as_old_as_their_last_step() {
    let triples = triples();
    let mut model = fitted(&PUTRANSE, &["universes=3"]);
    go_on(&mut *model, 1, &triples[50..], &[], &triples[..50]);
    let mut saved = save(&*model);
    let state = saved.state.as_object_mut().expect("an object");
    assert_eq!(state.remove("brought"), Some(json!([3, 3])));
    saved.state["config"]["deletion"] = json!("age");
    let mut old = load(&saved);
    assert_eq!(energies(&*old), energies(&*model));
    go_on(&mut *old, 2, &triples[100..], &[], &triples[50..100]);
    assert_eq!(energies(&*old), energies(&*with_only(&*old, 0..9)));
    go_on(&mut *old, 3, &triples[150..], &[], &triples[100..150]);
    assert_eq!(energies(&*old), energies(&*with_only(&*old, 6..12)));
    saved.state["brought"] = json!([3, 4]);
    let error = try_load(&saved).err().expect("there are six").to_string();
    assert!(error.contains("other universes"), "{error}");
}

#[test]
fn universes_that_came_after_a_deletion_are_asked_also_after_loading() {
    let triples = triples();
    // A universe of 50 triples knows all parts of some that it was not trained on.
    let mut model = fitted(&PUTRANSE, &["universes=3", "deletion=coexist"]);
    go_on(&mut *model, 1, &triples[100..], &[], &triples[..100]);
    let kept = universes(&save(&*model));
    let knows = |universe: &StoredUniverse| triples[..100].iter().any(|triple| universe.view().knows(triple));
    assert!(kept[3..].iter().any(knows), "a later universe knows all parts of a deleted triple");
    assert_eq!(energies(&*load(&save(&*model))), energies(&*model));
    assert_eq!(save(&*load(&save(&*model))), save(&*model));
    // A step that deletes nothing, or something else, does not change that.
    let before = energies(&*model);
    go_on(&mut *model, 2, &[], &[], &[]);
    assert_eq!(energies(&*model), before);
    assert_eq!(energies(&*load(&save(&*model))), before);
    // A later deletion does.
    let known = |triple: &&Triple| kept[3..].iter().any(|universe| universe.view().knows(triple));
    let next = *triples[100..].iter().find(known).expect("they were trained on some");
    go_on(&mut *model, 3, &[], &[], &[next]);
    assert_ne!(energies(&*model), before);
    assert_eq!(energies(&*load(&save(&*model))), energies(&*model));
    // Models of earlier versions do not say when a triple was deleted: it affects all universes.
    let mut old = save(&*model);
    old.state.as_object_mut().expect("an object").remove("gone_after");
    let knows_deleted = |universe: &StoredUniverse| {
        triples[..100].iter().chain([&next]).any(|triple| universe.view().knows(triple))
    };
    let left: Vec<&StoredUniverse> = kept.iter().filter(|universe| !knows_deleted(universe)).collect();
    let is_known = |triple: &Triple| left.iter().any(|universe| universe.view().knows(triple));
    let reached: Vec<bool> = energies(&*load(&old)).iter().map(|energy| energy.is_finite()).collect();
    assert_eq!(reached, triples.iter().map(is_known).collect::<Vec<bool>>());
}

#[test]
fn factors_count_deleted_training_triples() {
    let mut index = UniverseIndex::new(GraphSizes { entities: 5, relations: 3 });
    index.extend(put(&FLAT, &two()));
    let [first, second, unknown] = [Triple::new(1, 2, 4), Triple::new(1, 2, 3), Triple::new(0, 2, 3)];
    let energy = |index: &UniverseIndex, triple: &Triple| {
        let energy = index.around(triple).find_map(|universe| universe.energy_of(&FLAT, triple, &mut [0.0]));
        energy.expect("one universe knows it")
    };
    let is = |energy: f32, expected: f32| assert!((energy - expected).abs() < 1e-4, "{energy} {expected}");
    // (0.6, 0.8) + (1, 0) − (0, 1); three times the same direction.
    is(energy(&index, &first), 1.8);
    is(energy(&index, &second), 2_f32.sqrt());
    // All triples of the first universe are deleted, and none of the second.
    index.weigh(&[first], 10.0);
    is(energy(&index, &first), 11.0 * 1.8);
    is(energy(&index, &second), 2_f32.sqrt());
    // One of two; that it knows the parts of another one does not count.
    index.weigh(&[second, unknown], 10.0);
    is(energy(&index, &first), 1.8);
    is(energy(&index, &second), 6.0 * 2_f32.sqrt());
    is(energy(&index, &unknown), 6.0 * 2_f32.sqrt());
    index.reset();
    is(energy(&index, &second), 2_f32.sqrt());
}

#[test]
fn a_factor_reaches_every_energy() {
    let (universes, config) = (two(), Config { dimension: 2, ..Config::default() });
    let (triple, zero) = (Triple::new(1, 2, 3), ZeroRow::new(&FLAT));
    for direction in Direction::BOTH {
        let (query, _) = Query::hide(triple.at(Step(0)), direction);
        let energies = |factor: f32| {
            let universe = UniverseView { factor, ..universes[1].view() };
            let asked = universe.local_question(&query).expect("it knows them");
            let mut energies = vec![f32::INFINITY; 5];
            universe.lower(&FLAT, asked, &mut [0.0], &mut energies);
            energies.push(universe.energy_of(&FLAT, &triple, &mut [0.0]).expect("its own"));
            energies.push(universe.energy(&FLAT, asked, zero.row(), &mut [0.0]));
            energies.push(universe.published_zero_energy(asked, &config));
            energies
        };
        let expected: Vec<f32> = energies(1.0).into_iter().map(|energy| 3.0 * energy).collect();
        let finite = expected.iter().filter(|energy| energy.is_finite()).count();
        assert_eq!(finite, 6, "three answers, the triple itself, and the zero row in two ways");
        assert_eq!(energies(3.0), expected);
    }
}

#[test]
fn energies_go_back_when_triples_come_back() {
    let triples = triples();
    let mut model = fitted(&PUTRANSE, &["universes=1", "deletion=weight"]);
    assert!(model.capabilities().unlearns);
    let (before, kept) = (energies(&*model), universes(&save(&*model)));
    let own = kept[0].view().triples;
    let gone: Vec<Triple> = own[..2].iter().map(|&[s, r, o]| Triple::new(s, r, o)).collect();
    go_on(&mut *model, 1, &[], &[], &gone);
    let factor = (1.0 + 10.0 * 2.0 / own.len() as f64) as f32;
    let expected: Vec<f32> = before.iter().map(|energy| factor * energy).collect();
    assert!(factor > 1.0 && before.iter().any(|energy| energy.is_finite()));
    assert_eq!(energies(&*model), expected);
    assert_eq!(energies(&*load(&save(&*model))), expected, "factors are made again");
    go_on(&mut *model, 2, &[], &gone, &[]);
    assert_eq!(energies(&*model), before);
    // A triple that it was not trained on has no effect.
    let other = triples.iter().find(|triple| !kept[0].view().contains(triple)).expect("it has a few of 300");
    go_on(&mut *model, 3, &[], &[], &[*other]);
    assert_eq!(energies(&*model), before);
}

/// A universe, and what its energies are to be multiplied by.
type Weighed<'a> = (UniverseView<'a>, f32);

/// Universes with factors that are counted triple by triple.
fn weigh<'a>(kept: &'a [StoredUniverse], gone: &[Triple], weight: f64) -> Vec<Weighed<'a>> {
    let factor = |own: &[[u32; 3]]| {
        let lost = own.iter().filter(|&&[s, r, o]| gone.contains(&Triple::new(s, r, o))).count();
        (1.0 + weight * lost as f64 / own.len() as f64) as f32
    };
    kept.iter().map(StoredUniverse::view).map(|universe| (universe, factor(universe.triples))).collect()
}

fn lowest(weighed: &[Weighed<'_>], energy: impl Fn(&UniverseView<'_>) -> Option<f32>) -> f32 {
    let energies = weighed.iter().filter_map(|(universe, factor)| Some(factor * energy(universe)?));
    energies.fold(f32::INFINITY, f32::min)
}

#[test]
fn weighted_energies_match_a_search_through_all_universes() {
    let all = triples();
    let (deleted, left): (Vec<Triple>, Vec<Triple>) = all.iter().partition(|triple| triple.object.0 % 3 == 0);
    let settings = ["universes=3", "deletion=weight", "deletion_weight=4", "missing=null"];
    let mut model = fitted(&PUTRANSE, &settings);
    go_on(&mut *model, 1, &left, &[], &deleted);
    let kept = universes(&save(&*model));
    let weighed = weigh(&kept, &deleted, 4.0);
    assert!(weighed[..3].iter().any(|&(_, factor)| factor > 1.0), "old universes have lost some");
    assert!(weighed[3..].iter().all(|&(_, factor)| factor == 1.0), "new ones have not");
    let zero = ZeroRow::new(&SPACE);
    let rest = |query: &Query| {
        lowest(&weighed, |universe| {
            let asked = universe.local_question(query)?;
            Some(universe.energy(&SPACE, asked, zero.row(), &mut [0.0]))
        })
    };
    let found = |triple: &Triple| lowest(&weighed, |universe| universe.energy_of(&SPACE, triple, &mut [0.0]));
    let or = |found: f32, rest: f32| if found.is_finite() { found } else { rest };
    let candidates: Vec<EntityId> = (0..60).map(EntityId).collect();
    model.begin(&candidates).expect("it is fitted");
    for direction in Direction::BOTH {
        for known in (0..50).step_by(7).map(EntityId) {
            let query = Query { step: Step(1), known, relation: RelationId(known.0 % 5), direction };
            let mut rows = Collected::new(60).sparse();
            model.score(&[query], &mut rows).expect("it scores");
            let energy = |&id: &EntityId| or(found(&query.fact(id, Step(1)).triple()), rest(&query));
            let expected: Vec<f64> = candidates.iter().map(energy).map(|energy| -f64::from(energy)).collect();
            assert_eq!(rows.row(0), expected, "{query:?}");
        }
    }
    let either = |triple: &Triple| {
        let [first, second] = Direction::BOTH.map(|side| rest(&Query::hide(triple.at(Step(1)), side).0));
        or(found(triple), first.min(second))
    };
    assert_eq!(energies(&*model), all.iter().map(either).collect::<Vec<f32>>());
}

#[test]
fn settings_of_other_kinds_of_deletion_are_refused() {
    for (settings, reasons) in [
        (&["keep_steps=3"][..], ["keep_steps = 3", "deletion = \"age\""]),
        (&["deletion=weight", "keep_steps=1"], ["keep_steps = 1", "or keep_steps = 2"]),
        (&["deletion=age", "keep_steps=0"], ["keep_steps = 0", "at least 1"]),
        (&["deletion_weight=2.5"], ["deletion_weight = 2.5", "deletion = \"weight\""]),
        (&["deletion=contains", "deletion_weight=1"], ["deletion_weight = 1", "or deletion_weight = 10"]),
        (&["deletion=weight", "deletion_weight=0"], ["deletion_weight = 0", "above 0"]),
        (&["deletion=weight", "deletion_weight=1e9"], ["deletion_weight = 1000000000", "at most 1000000"]),
        (&["deletion=weight", "deletion_weight=nan"], ["deletion_weight = NaN", "above 0"]),
    ] {
        let error = build(settings).expect_err("a reason").to_string();
        assert!(reasons.iter().all(|reason| error.contains(reason)), "{settings:?}: {error}");
    }
    assert!(build(&["deletion=age", "keep_steps=1"]).is_ok());
    assert!(build(&["deletion=weight", "deletion_weight=1"]).is_ok());
}
