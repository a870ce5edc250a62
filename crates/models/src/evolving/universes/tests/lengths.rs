//! Rows that keep their lengths, and rows that are too long.

use quadcast_core::{Direction, EntityId, GraphView, Query, RelationId, Step, Triple};
use quadcast_kernels::triples::{Norm, Translation};

use super::super::settings::Config;
use super::super::universe::check_memory;
use super::super::{PUTRANSD, PUTRANSE, PUTRANSH};
use super::storage::two;
use super::{SIZES, everybody, fitted, model, triples, view};

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
        let asked = universe.view().local_query(&query).expect("it knows them");
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
    let graph: GraphView<'_> = view(&triples, &present, &relations);
    let space = |dimension| Translation { dimension, norm: Norm::L1, unit: true };
    let config = Config::default();
    assert!(check_memory(&config, &space(20), &graph).is_ok());
    let error =
        check_memory(&config, &space(1_000_000_000), &graph).expect_err("60 rows, 200 times").to_string();
    assert!(error.contains("200 universes of about 60 entities"), "{error}");
    assert!(error.contains("a smaller dimension or validate_every needs less"), "{error}");
    // A graph of one triple has universes of one triple.
    let few: &[Triple] = &triples[..1];
    let lonely = GraphView { triples: few, sizes: SIZES, ..graph };
    let error = check_memory(&config, &space(1_000_000_000), &lonely).expect_err("200 times").to_string();
    assert!(error.contains("of about 1 entities"), "{error}");
}
