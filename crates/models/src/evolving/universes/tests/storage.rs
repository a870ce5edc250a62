//! Universes in files: the same numbers as in memory, and saved as they always were.

use quadcast_core::{
    Direction, EntityId, GraphSizes, GraphView, ModelError, Query, RelationId, Run, Step, Triple,
};
use quadcast_kernels::triples::{Norm, Tables, Translation};
use safetensors::tensor::{Dtype, TensorView, serialize};

use super::super::index::UniverseIndex;
use super::super::saved::{from_bytes, to_bytes};
use super::super::settings::Config;
use super::super::storage::{StoredUniverse, UniverseWriter};
use super::super::universe::Universe;
use super::super::view::{UniverseView, ZeroRow};
use super::super::walk::WalkGraph;
use super::{SIZES, triples};
use crate::evolving::projected::Projected;
use crate::evolving::space::Space;
use crate::evolving::transd::MappingVectors;
use crate::evolving::transh::Hyperplane;

pub(in super::super) const FLAT: Translation = Translation { dimension: 2, norm: Norm::L1, unit: true };

/// Two universes that fit on paper.
pub(super) fn two() -> Vec<Universe> {
    let universe = |entities: &[u32], relations: &[u32], triples: &[[u32; 3]], rows: [&[f32]; 2]| {
        let mut tables = Tables::new(&FLAT, entities.len(), relations.len());
        tables.entities.replace_segment(0, rows[0]);
        tables.relations.replace_segment(0, rows[1]);
        let [entities, relations] = [entities, relations].map(<[u32]>::to_vec);
        Universe { entities, relations, triples: triples.to_vec(), tables }
    };
    vec![
        universe(&[1, 4], &[2], &[[1, 2, 4]], [&[3.0, 4.0, 0.0, 2.0], &[1.0, 0.0]]),
        universe(
            &[0, 1, 3],
            &[0, 2],
            &[[0, 0, 1], [1, 2, 3]],
            [&[1.0, 1.0, 2.0, 2.0, 3.0, 3.0], &[4.0, 4.0, 5.0, 5.0]],
        ),
    ]
}

/// The same, as the library saves whole arrays.
fn bytes_of_two() -> Vec<u8> {
    let floats: [(&str, &[f32]); 2] = [
        ("entity entities", &[3.0, 4.0, 0.0, 2.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0]),
        ("relation relations", &[1.0, 0.0, 4.0, 4.0, 5.0, 5.0]),
    ];
    let ids: [(&str, &[u32]); 6] = [
        ("triples", &[1, 2, 4, 0, 0, 1, 1, 2, 3]),
        ("triples by universe", &[3, 6]),
        ("relations", &[2, 0, 2]),
        ("relations by universe", &[1, 2]),
        ("entities", &[1, 4, 0, 1, 3]),
        ("entities by universe", &[2, 3]),
    ];
    let floats =
        floats.map(|(name, list)| (name, Dtype::F32, list.iter().flat_map(|x| x.to_le_bytes()).collect()));
    let ids = ids.map(|(name, list)| (name, Dtype::U32, list.iter().flat_map(|x| x.to_le_bytes()).collect()));
    let arrays: Vec<(&str, Dtype, Vec<u8>)> = ids.into_iter().chain(floats).collect();
    let views = arrays.iter().map(|(name, kind, bytes)| {
        (*name, TensorView::new(*kind, vec![bytes.len() / 4], bytes).expect("whole numbers"))
    });
    serialize(views, None).expect("arrays")
}

fn load(bytes: &[u8]) -> Result<Vec<StoredUniverse>, ModelError> {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = from_bytes(&FLAT, bytes, GraphSizes { entities: 5, relations: 3 }, folder.path());
    assert_eq!(folder.path().read_dir().expect("a folder").count(), 0, "files have no names");
    // The folder is deleted here; its files live as long as they are used.
    kept
}

fn saved(kept: &[StoredUniverse]) -> Vec<u8> {
    let views: Vec<UniverseView<'_>> = kept.iter().map(StoredUniverse::view).collect();
    to_bytes(&FLAT, &views).expect("they are whole")
}

#[test]
fn saved_models_are_what_they_always_were() {
    let bytes = bytes_of_two();
    let universes = two();
    let views: Vec<UniverseView<'_>> = universes.iter().map(Universe::view).collect();
    assert_eq!(to_bytes(&FLAT, &views).expect("they are whole"), bytes);
    let kept = load(&bytes).expect("it was saved");
    assert_eq!(saved(&kept), bytes);
    // (0.6, 0.8) + (1, 0) − (0, 1)
    let energy = kept[0].view().energy_of(&FLAT, &Triple::new(1, 2, 4), &mut [0.0]).expect("it knows them");
    assert!((energy - 1.8).abs() < 1e-6, "{energy}");
    assert!(
        kept[1].view().contains(&Triple::new(1, 2, 3)) && !kept[1].view().contains(&Triple::new(1, 2, 4))
    );
    assert!(kept[1].view().energy_of(&FLAT, &Triple::new(1, 2, 4), &mut [0.0]).is_none(), "4 is elsewhere");
}

#[test]
fn no_universes_are_saved_too() {
    let bytes = to_bytes(&FLAT, &[]).expect("an empty list");
    let kept = load(&bytes).expect("it was saved");
    assert!(kept.is_empty());
    assert_eq!(saved(&kept), bytes);
}

#[test]
fn damaged_models_are_refused() {
    let damaged = |name: &str, place: usize, id: u32| {
        let mut bytes = bytes_of_two();
        let file = safetensors::SafeTensors::deserialize(&bytes).expect("sound");
        let start = file.tensor(name).expect("an array").data().as_ptr().addr() - bytes.as_ptr().addr();
        bytes[start + 4 * place..][..4].copy_from_slice(&id.to_le_bytes());
        load(&bytes).expect_err("damage").to_string()
    };
    for (name, place, id, message) in [
        ("entities", 1, 5, "out of range"),
        ("relations", 2, 3, "out of range"),
        ("entities", 2, 2, "do not ascend"),
        ("entities by universe", 1, 2, "too many"),
        ("relations by universe", 1, 3, "too few"),
        ("triples by universe", 0, 2, "do not ascend"),
    ] {
        let error = damaged(name, place, id);
        assert!(error.contains(message), "{name}: {error}");
    }
}

/// Universes of random triples.
fn grown<M: Space>() -> (M, Vec<Universe>) {
    let config = Config { least_triples: 20, most_triples: 60, most_epochs: 60, ..Config::default() };
    let triples = triples();
    let graph = GraphView { step: Step(0), triples: &triples, present: &[], relations: &[], sizes: SIZES };
    let (around, run) = (WalkGraph::new(&graph), Run::silent(5));
    let universes = (0..8).map(|number| Universe::grow::<M>(&config, &around, &run, number)).collect();
    (M::new(&config.space_config()), universes)
}

pub(super) fn put<M: Space>(space: &M, universes: &[Universe]) -> Vec<StoredUniverse> {
    let mut writer = UniverseWriter::new(space, &std::env::temp_dir()).expect("a file");
    universes.iter().for_each(|universe| writer.add(&universe.view()).expect("room"));
    writer.finish().expect("a map")
}

fn energies_are_the_same<M: Space>() {
    let (space, universes) = grown::<M>();
    let kept = put(&space, &universes);
    let (mut scratch, zero) = (vec![0.0; space.scratch()], ZeroRow::new(&space));
    for (own, kept) in universes.iter().map(Universe::view).zip(kept.iter().map(StoredUniverse::view)) {
        assert_eq!((own.entities, own.relations, own.triples), (kept.entities, kept.relations, kept.triples));
        for &[subject, relation, object] in own.triples {
            let triple = Triple::new(subject, relation, object);
            let energy = own.energy_of(&space, &triple, &mut scratch).expect("its own");
            let again = kept.energy_of(&space, &triple, &mut scratch).expect("its own");
            assert_eq!(energy.to_bits(), again.to_bits());
            for direction in Direction::BOTH {
                let (query, _) = Query::hide(triple.at(Step(0)), direction);
                let mut of = |universe: &UniverseView<'_>| {
                    let asked = universe.local_question(&query).expect("its own");
                    let mut lowest = vec![f32::INFINITY; SIZES.entities];
                    universe.lower(&space, asked, &mut scratch, &mut lowest);
                    lowest.push(universe.energy(&space, asked, zero.row(), &mut scratch));
                    lowest.into_iter().map(f32::to_bits).collect::<Vec<u32>>()
                };
                assert_eq!(of(&own), of(&kept));
            }
        }
    }
}

#[test]
fn energies_are_the_same_from_a_file() {
    energies_are_the_same::<Translation>();
    energies_are_the_same::<Projected<Hyperplane>>();
    energies_are_the_same::<Projected<MappingVectors>>();
}

#[test]
fn the_index_finds_what_a_search_through_all_finds() {
    let (space, universes) = grown::<Translation>();
    let mut index = UniverseIndex::new(SIZES);
    index.extend(put(&space, &universes[..5]));
    index.extend(put(&space, &universes[5..]));
    index.truncate(7);
    let gone =
        Triple::new(universes[2].triples[0][0], universes[2].triples[0][1], universes[2].triples[0][2]);
    index.retire(&gone, 7, |universe| universe.contains(&gone));
    let left: Vec<&Universe> =
        universes[..7].iter().filter(|universe| !universe.view().contains(&gone)).collect();
    assert!(left.len() < 7, "one is retired at least");
    let ids = |view: UniverseView<'_>| (view.entities.to_vec(), view.triples.to_vec());
    let mut found = 0;
    for (subject, relation) in (0..60).flat_map(|entity| (0..6).map(move |relation| (entity, relation))) {
        let query = Query {
            step: Step(0),
            known: EntityId(subject),
            relation: RelationId(relation),
            direction: Direction::Object,
        };
        let knowing: Vec<_> = index.knowing(&query, 0).map(|(universe, _)| ids(universe)).collect();
        let expected = left.iter().filter(|universe| universe.view().local_question(&query).is_some());
        assert_eq!(knowing, expected.map(|universe| ids(universe.view())).collect::<Vec<_>>());
        for object in 0..60 {
            let triple = Triple::new(subject, relation, object);
            let around: Vec<_> = index.around(&triple).map(ids).collect();
            let expected = left.iter().filter(|universe| universe.view().knows(&triple));
            assert_eq!(around, expected.map(|universe| ids(universe.view())).collect::<Vec<_>>());
            found += around.len();
        }
    }
    assert!(found > 100, "{found}");
    index.reset();
    assert_eq!(index.around(&gone).count(), universes[..7].iter().filter(|u| u.view().knows(&gone)).count());
}
