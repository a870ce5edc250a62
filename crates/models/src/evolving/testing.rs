//! Every energy: its gradients against differences of the loss, and its scores against itself.

use std::any::type_name;

use quadcast_core::{Direction, EntityId, EvolvingModel, Query, RelationId, Step, Triple};
use quadcast_kernels::triples::{
    Batch, Draws, Ends, Energy, Exact, LossKind, Negatives, Settings, SoftConstraint, Source, Table, Tables,
    Translation,
};
use quadcast_testing::Collected;
use toml::Table as Toml;

use super::complex::Complex;
use super::distmult::Diagonal;
use super::examples::ids;
use super::projected::Projected;
use super::rescal::Matrices;
use super::rotate::Rotations;
use super::settings::Config;
use super::simple::BothWays;
use super::single_space::SingleSpace;
use super::space::Space;
use super::transd::MappingVectors;
use super::transh::Hyperplane;
use super::transr::Matrix;
use crate::config::{ConfigError, parse, set};
use crate::registry::Entry;

/// Settings that concern distances, each to be checked alone.
const TRANSLATIONS: &[&str] = &[
    "norm=1",
    "norm=2",
    "normalise=false",
    "loss=softplus",
    "adversarial=0.7",
    "penalty=0.3",
    "cubes=0.2",
    "relation_negatives=2",
    "sampling=cross",
];
/// Settings that matter to products.
const PRODUCTS: &[&str] =
    &["norm=1", "loss=softplus", "adversarial=0.7", "penalty=0.3", "cubes=0.2", "relation_negatives=2"];

/// Spaces of relations that are smaller or larger than that of entities.
const WIDTHS: &[&str] = &["relation_dimension=3", "relation_dimension=20"];

#[test]
fn gradients_of_translations_are_those_of_the_energy() {
    check_gradients::<Translation>(TRANSLATIONS);
    check_gradients::<Projected<Hyperplane>>(&[TRANSLATIONS, &["constraint=0.4"]].concat());
    check_gradients::<Projected<MappingVectors>>(&[TRANSLATIONS, WIDTHS].concat());
    check_gradients::<Projected<Matrix>>(&[TRANSLATIONS, WIDTHS].concat());
}

#[test]
fn gradients_of_products_are_those_of_the_energy() {
    check_gradients::<Diagonal>(PRODUCTS);
    check_gradients::<Matrices>(PRODUCTS);
    check_gradients::<Complex>(PRODUCTS);
    check_gradients::<BothWays>(PRODUCTS);
    check_gradients::<Rotations>(PRODUCTS);
}

#[test]
fn scores_are_energies() {
    check_scores::<Translation>(TRANSLATIONS);
    check_scores::<Projected<Hyperplane>>(TRANSLATIONS);
    check_scores::<Projected<MappingVectors>>(&[TRANSLATIONS, WIDTHS].concat());
    check_scores::<Projected<Matrix>>(&[TRANSLATIONS, WIDTHS].concat());
    check_scores::<Diagonal>(PRODUCTS);
    check_scores::<Matrices>(PRODUCTS);
    check_scores::<Complex>(PRODUCTS);
    check_scores::<BothWays>(PRODUCTS);
    check_scores::<Rotations>(PRODUCTS);
}

const ENTITIES: usize = 7;
const RELATIONS: usize = 3;
/// The last but one has the same entity at both ends.
const TRIPLES: [[u32; 3]; 6] = [[0, 0, 1], [1, 0, 2], [3, 1, 4], [0, 2, 4], [5, 1, 5], [2, 2, 6]];
/// False triples for the last two true ones: one shares nothing with its true triple, one shares the relation.
const AGAINST: [[u32; 3]; 2] = [[1, 0, 3], [6, 2, 0]];

/// A model with its quick settings, some of them changed.
pub(super) fn build(entry: &Entry, settings: &[&str]) -> Result<Box<dyn EvolvingModel>, ConfigError> {
    let mut config = entry.quick_config();
    settings.iter().for_each(|setting| set(&mut config, setting).expect("a setting"));
    entry.evolving(&config)
}

/// The settings of a small model, one of them changed.
fn config(setting: &str) -> Config {
    let mut table = Toml::try_from(Config { dimension: 5, margin: 3.0, ..Config::default() }).unwrap();
    table.insert("epsilon".to_owned(), toml::Value::Float(2.0));
    set(&mut table, setting).unwrap();
    parse(&table).unwrap()
}

fn fill(table: &mut Table<f64>, key: u64) {
    let widths: Vec<usize> = table.layout().0.iter().map(|segment| segment.width).collect();
    for (segment, width) in widths.into_iter().enumerate() {
        let numbers: Vec<f64> = (0..table.rows() * width)
            .map(|i| 2.0 * Draws::new(key + segment as u64, i as u64).share() - 1.0)
            .collect();
        table.replace_segment(segment, &numbers);
    }
}

fn tables<M: Energy<f64>>(space: &M) -> Tables<f64> {
    let mut tables = Tables::new(space, ENTITIES, RELATIONS);
    fill(&mut tables.entities, 10);
    fill(&mut tables.relations, 20);
    tables
}

type Samples = Vec<([u32; 3], Vec<[u32; 3]>)>;

fn energy<M: Energy<f64>>(space: &M, tables: &Tables<f64>, [head, relation, tail]: [u32; 3]) -> f64 {
    let ends = Ends {
        head: tables.entities.row(head),
        relation: tables.relations.row(relation),
        tail: tables.entities.row(tail),
    };
    space.energy(&ends, &mut vec![0.0; space.scratch()])
}

/// The weights of the false triples of each sample.
fn weights<M: Energy<f64>>(
    space: &M,
    tables: &Tables<f64>,
    settings: &Settings,
    samples: &Samples,
) -> Vec<Vec<f64>> {
    let of = |wrong: &Vec<[u32; 3]>| -> Vec<f64> {
        let temperature = settings.loss.temperature.unwrap_or(0.0);
        let raw: Vec<f64> =
            wrong.iter().map(|&triple| (-temperature * energy(space, tables, triple)).exp()).collect();
        let total: f64 = raw.iter().sum();
        raw.into_iter().map(|weight| weight / total).collect()
    };
    samples.iter().map(|(_, wrong)| of(wrong)).collect()
}

fn softplus(x: f64) -> f64 {
    x.exp().ln_1p()
}

/// The loss of a batch, word by word; weights do not change with the rows.
fn loss<M: Energy<f64>>(
    space: &M,
    tables: &Tables<f64>,
    settings: &Settings,
    samples: &Samples,
    weights: &[Vec<f64>],
) -> f64 {
    let mut total = 0.0;
    for ((triple, wrong), weights) in samples.iter().zip(weights) {
        let right = energy(space, tables, *triple);
        if settings.loss.kind == LossKind::Softplus {
            total += 0.5 * softplus(right - settings.loss.margin);
        }
        for (&triple, weight) in wrong.iter().zip(weights) {
            let wrong = energy(space, tables, triple);
            total += weight
                * match settings.loss.kind {
                    LossKind::Margin => (settings.loss.margin + right - wrong).max(0.0),
                    LossKind::Softplus => 0.5 * softplus(settings.loss.margin - wrong),
                };
        }
    }
    total / samples.len() as f64
        + penalty(tables, settings, samples)
        + constraint_penalty(space, tables, settings, samples)
}

/// The penalty of violated soft constraints, written out.
fn constraint_penalty<M: Energy<f64>>(
    space: &M,
    tables: &Tables<f64>,
    settings: &Settings,
    samples: &Samples,
) -> f64 {
    let uses = (samples.len() * (1 + settings.negatives + settings.relation_negatives)) as f64;
    let [entity, relation] = space.constraints();
    let all = samples.iter().flat_map(|(triple, wrong)| std::iter::once(triple).chain(wrong));
    let part = |table: &Table<f64>, segment: usize, row: u32| -> Vec<f64> {
        let width = table.layout().0[segment].width;
        table.segment(segment)[row as usize * width..][..width].to_vec()
    };
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let cost = |table: &Table<f64>, constraint: &SoftConstraint, row: u32| match *constraint {
        SoftConstraint::UnitBall { segment, weight } => {
            let v = part(table, segment, row);
            weight * (dot(&v, &v) - 1.0).max(0.0)
        }
        SoftConstraint::Orthogonal { segments, weight, tolerance } => {
            let [v, w] = segments.map(|segment| part(table, segment, row));
            let cosine = dot(&v, &w) / (dot(&v, &v) * dot(&w, &w)).sqrt();
            weight * (cosine * cosine - tolerance * tolerance).max(0.0)
        }
    };
    let mut total = 0.0;
    for &[head, predicate, tail] in all {
        for constraint in &entity {
            total += cost(&tables.entities, constraint, head) + cost(&tables.entities, constraint, tail);
        }
        total +=
            relation.iter().map(|constraint| cost(&tables.relations, constraint, predicate)).sum::<f64>();
    }
    total / uses
}

/// The mean over groups of the mean square of all numbers in use. Samples count as if all had drawn false triples.
fn penalty(tables: &Tables<f64>, settings: &Settings, samples: &Samples) -> f64 {
    let uses = (samples.len() * (1 + settings.negatives + settings.relation_negatives)) as f64;
    let all = samples.iter().flat_map(|(triple, wrong)| std::iter::once(triple).chain(wrong));
    let mut groups: Vec<f64> = Vec::new();
    for (table, place) in [(&tables.entities, 0), (&tables.relations, 1), (&tables.entities, 2)] {
        for (segment, shape) in table.layout().0.iter().enumerate() {
            let numbers = table.segment(segment);
            let square = |row: u32| -> f64 {
                numbers[row as usize * shape.width..][..shape.width].iter().map(|x| x * x).sum()
            };
            let total: f64 = all.clone().map(|triple| square(triple[place])).sum();
            groups.push(total / (uses * shape.width as f64));
        }
    }
    let cubes =
        [&tables.entities, &tables.relations].into_iter().flat_map(Table::values).map(|x| x.abs().powi(3));
    settings.penalty * groups.iter().sum::<f64>() / groups.len() as f64 + settings.cubes * cubes.sum::<f64>()
}

/// One step of gradient descent with the rate 1 against differences of the loss, for each of the settings.
fn check_gradients<M: Space + Energy<f64>>(settings: &[&str]) {
    for setting in settings {
        for negatives in [1, 3] {
            let config =
                Config { negatives, learning_rate: 1.0, filtered: negatives == 3, ..config(setting) };
            check_gradient::<M>(&config, &format!("{} {setting}", type_name::<M>()));
        }
    }
}

fn check_gradient<M: Space + Energy<f64>>(config: &Config, name: &str) {
    let (space, settings) = (M::new(config), config.settings());
    let before = tables(&space);
    let pool = (0..ENTITIES as u32).collect();
    let negatives = Negatives::new(config.drawing(), &TRIPLES, &TRIPLES, pool, (ENTITIES, RELATIONS));
    let source = Source { triples: &TRIPLES, against: &AGAINST, negatives: &negatives };
    let batch = Batch { picks: &[0, 1, 2, 3, 4, 5, 0], key: 5, turn: 0 };
    let samples = source.samples(&batch, &settings);
    let weights = weights(&space, &before, &settings, &samples);
    let value = |tables: &Tables<f64>| loss(&space, tables, &settings, &samples, &weights);
    let mut after = before.clone();
    let found = Exact::new(settings, &before, 7).step(&space, &mut after, &source, &batch);
    assert!((found - value(&before)).abs() < 1e-12, "{name}: loss {found}, expected {}", value(&before));
    let (mut error, mut size) = (0.0_f64, 0.0_f64);
    for table in TABLES {
        let (mut old, mut new) = (before.clone(), after.clone());
        let (old, new) = (table(&mut old), table(&mut new));
        for (place, (x, y)) in old.values().iter().zip(new.values()).enumerate() {
            if is_padding(old, place) {
                assert_eq!(x, y, "{name}: padding stays 0");
                continue;
            }
            let moved = |by: f64| {
                let mut moved = before.clone();
                let mut values = table(&mut moved).values().to_vec();
                values[place] += by;
                table(&mut moved).replace(values.iter().copied());
                value(&moved)
            };
            let slope = (moved(1e-6) - moved(-1e-6)) / 2e-6;
            error = error.max((x - y - slope).abs());
            size = size.max(slope.abs());
        }
    }
    assert!(size > 1e-3, "{name}: there is a gradient");
    assert!(error < 1e-6 * size.max(1.0), "{name}: {error} of {size}");
}

/// One of the two tables.
type Which = fn(&mut Tables<f64>) -> &mut Table<f64>;
const TABLES: [Which; 2] = [|tables| &mut tables.entities, |tables| &mut tables.relations];

fn is_padding(table: &Table<f64>, place: usize) -> bool {
    let column = place % table.stride();
    table.layout().places().all(|(start, segment)| !(start..start + segment.width).contains(&column))
}

/// The energy that is trained, the energy that is told and the scores of both sides are the same.
fn check_scores<M: Space + Energy<f64>>(settings: &[&str]) {
    for setting in settings {
        let mut model = SingleSpace::<M>::new(config(setting)).unwrap();
        let wide = tables(&model.space);
        let mut narrow = Tables::new(&model.space, ENTITIES, RELATIONS);
        for (wide, narrow) in
            [(&wide.entities, &mut narrow.entities), (&wide.relations, &mut narrow.relations)]
        {
            narrow.replace(wide.values().iter().map(|&x| x as f32));
        }
        model.tables = Some(narrow);
        // Not all of them, so that places and ids differ.
        let candidates: Vec<EntityId> = [0, 2, 3, 4, 6].map(EntityId).to_vec();
        model.begin(&candidates).unwrap();
        let known = EntityId(2);
        let queries: Vec<Query> = (0..RELATIONS as u32)
            .flat_map(|relation| Direction::BOTH.map(|direction| (relation, direction)))
            .map(|(id, direction)| Query { step: Step(0), known, relation: RelationId(id), direction })
            .collect();
        let mut rows = Collected::among(&candidates).dense();
        model.score(&queries, &mut rows).unwrap();
        for (query, row) in queries.iter().zip(rows.into_rows()) {
            let triples: Vec<Triple> =
                candidates.iter().map(|&answer| query.fact(answer, Step(0)).triple()).collect();
            let energies = model.energies(&triples).unwrap();
            for ((triple, told), score) in triples.iter().zip(energies).zip(row) {
                let trained = energy(&model.space, &wide, ids(triple));
                let near = |x: f64| (x - trained).abs() < 1e-5 * trained.abs().max(1.0);
                assert!(
                    near(told.into()) && near(-score),
                    "{} {setting}: {trained} {told} {score}",
                    type_name::<M>()
                );
            }
        }
    }
}
