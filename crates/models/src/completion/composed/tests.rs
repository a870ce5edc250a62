//! Every component, and combinations of them, against finite differences; parameter counts; refusals.

use std::sync::Arc;

use quadcast_core::{Calendar, Run, TimeAxis};
use quadcast_kernels::compare::pairs;
use serde::de::DeserializeOwned;

use super::composition::{Composition, Questions};
use super::encoders::Places;
use super::learner::Learner;
use super::plan::Question;
use super::scorers::Side;
use super::tables::{Gradients, Kind};
use super::times::Times;
use super::*;
use crate::config::{parse, set};
use crate::registry::MODELS;
use crate::settings::{Choice, SettingType, Settings};

mod learning;

const SIZES: Shape = Shape { entities: 9, relations: 3 };

/// All words of a setting, in the order of the documentation.
pub(super) fn all<C: SettingType + DeserializeOwned>() -> Vec<C> {
    let value = |choice: &Choice| toml::Value::from(choice.word).try_into().expect("a word of the setting");
    C::CHOICES.iter().map(value).collect()
}

/// Days of 2014 with a gap.
fn times() -> Arc<Times> {
    Arc::new(Times::of(&TimeAxis::new(vec![16_071, 16_072, 16_103, 16_130, 16_203], Calendar::UNIX_DAYS)))
}

/// Small, and with initial values large enough for every term to matter.
fn small(mut config: Config) -> Config {
    config.dimension = 4;
    config.negatives = 6;
    config.initial = InitialName::Normal;
    config.initial_scale = 0.5;
    config.window = 2;
    config.year_offset = 2013.0;
    config.least_variance = 0.05;
    config.factor_weight = 0.03;
    config
}

/// Two blocks of questions; those of a block have one time.
fn blocks(config: &Config) -> Vec<Vec<Question>> {
    let direct = config.asks_subjects_directly();
    let relations = if config.reciprocal { 6 } else { 3 };
    let block = |side, time, seed: u32| {
        (0..4_u32)
            .map(|i| Question {
                side,
                known: (seed + 2 * i) % 9,
                relation: (seed + i) % relations,
                time,
                answer: (seed * 3 + 4 * i + 1) % 9,
            })
            .collect::<Vec<_>>()
    };
    let second = if direct { Side::Heads } else { Side::Tails };
    vec![block(Side::Tails, 1, 1), block(second, 3, 4)]
}

fn loss(config: &Config, model: &Composition<f64>, into: &mut Gradients<f64>) -> f64 {
    let learner = Learner { config, model, entities: SIZES.entities };
    learner.gradients(&blocks(config), &Run::silent(3), 0, into)
}

/// Compares gradients of some numbers of every table with finite differences.
fn check_gradients(name: &str, config: &Config) {
    config.check().unwrap_or_else(|error| panic!("{name}: {error}"));
    let mut model = Composition::<f64>::new(config, SIZES, times(), 1);
    let mut gradients = Gradients::zero(&model.tables);
    loss(config, &model, &mut gradients);
    let mut nowhere = Gradients::zero(&model.tables);
    let exact: Vec<Vec<f64>> = gradients.iter().cloned().collect();
    let largest = exact.iter().flatten().fold(0.0_f64, |most, x| most.max(x.abs()));
    assert!(largest > 0.0, "{name}: no gradient at all");
    for (table, gradient) in exact.iter().enumerate() {
        let step = (gradient.len() / 40).max(1);
        for i in (0..gradient.len()).step_by(step) {
            let mut moved = |by: f64| {
                let values = model.tables.iter_mut().nth(table).map(|(_, values)| values);
                values.expect("a table per gradient")[i] += by;
                let value = loss(config, &model, &mut nowhere);
                let values = model.tables.iter_mut().nth(table).map(|(_, values)| values);
                values.expect("a table per gradient")[i] -= by;
                value
            };
            let h = 1e-6;
            let slope = (moved(h) - moved(-h)) / (2.0 * h);
            let error = (slope - gradient[i]).abs();
            let name_of_table = model.tables.iter().nth(table).map(|(table, _)| table.name.clone());
            assert!(
                error < 1e-6 * largest.max(1.0) + 1e-5 * slope.abs(),
                "{name}, {name_of_table:?}[{i}]: {slope} by differences, {} by formula",
                gradient[i]
            );
        }
    }
}

fn recipe(name: &str) -> Config {
    let entry = crate::find(name).expect("a recipe");
    (entry.defaults)().try_into().expect("a configuration")
}

#[test]
fn gradients_of_every_recipe() {
    for entry in MODELS.iter().filter(|entry| entry.base == Some("composed")) {
        let config = recipe(entry.name);
        check_gradients(entry.name, &small(Config { dropout: 0.0, ..config.clone() }));
        check_gradients(entry.name, &small(Config { dropout: 0.3, ..config }));
    }
}

/// Every component in the company of others that suit it.
fn combinations() -> Vec<(String, Config)> {
    let base = Config {
        factor_weight: 0.0,
        time_penalty: PenaltyName::None,
        reciprocal: false,
        subject_queries: SubjectQueries::Direct,
        ..Config::default()
    };
    let mut combinations = Vec::new();
    let fusions = all::<Fusion>();
    for (i, scorer) in all::<ScorerName>().into_iter().enumerate() {
        for (j, temporal) in all::<Temporal>().into_iter().enumerate() {
            for (k, target) in all::<Target>().into_iter().enumerate() {
                let inverse = (j + k) % 2 == 0;
                let config = Config {
                    scorer,
                    temporal,
                    target,
                    fusion: fusions[(i + j + k) % 4],
                    norm: 1 + ((i + k) % 2) as u8,
                    position_aware: j % 2 == 0,
                    inverse,
                    // Without reciprocals an inverse half is refused.
                    reciprocal: inverse || scorer == ScorerName::SimplE || (i + j + k) % 3 == 0,
                    projection: if i % 2 == 0 { Projection::Unit } else { Projection::Row },
                    ..base.clone()
                };
                combinations.push((format!("{scorer:?} {temporal:?} {target:?}"), config));
            }
        }
    }
    combinations
}

/// Whether a refusal says what is at fault, or what would help, as it is written in a configuration.
fn names_a_setting(error: &ConfigError) -> bool {
    let settings = toml::Table::try_from(Config::default()).expect("a table of plain values");
    let text = error.to_string();
    settings.keys().any(|key| text.contains(&format!("{key} = ")))
}

#[test]
fn gradients_of_combinations() {
    let (mut sound, mut refused) = (0, 0);
    for (name, config) in combinations() {
        if let Err(error) = config.check() {
            assert!(names_a_setting(&error), "{name}: {error}");
            refused += 1;
        } else {
            check_gradients(&name, &small(config));
            sound += 1;
        }
    }
    assert!(sound > 100 && refused > 50, "{sound} sound, {refused} refused");
}

#[test]
fn gradients_of_losses_samplers_and_penalties() {
    let base = Config { dimension: 4, ..Config::default() };
    for loss in all::<LossName>() {
        for sampler in all::<SamplerName>() {
            check_gradients(
                &format!("{loss:?} {sampler:?}"),
                &small(Config { loss, sampler, ..base.clone() }),
            );
        }
    }
    for penalty in all::<PenaltyName>() {
        for scorer in [ScorerName::ComplEx, ScorerName::DistMult] {
            let config = Config {
                scorer,
                temporal: Temporal::T,
                fusion: Fusion::Multiply,
                entity_penalty: penalty,
                entity_weight: 0.3,
                relation_penalty: penalty,
                relation_weight: 0.2,
                time_penalty: penalty,
                time_weight: 0.1,
                ..base.clone()
            };
            check_gradients(&format!("{penalty:?} {scorer:?}"), &small(config));
        }
    }
}

/// A share of 0 or of 1, also by rounding, leaves tables without numbers. DE does without them, under penalties on whole
/// tables too; a row joined to a time would consist of one of the two only.
#[test]
fn shares_that_leave_nothing() {
    for static_ratio in [0.0, 0.1, 1.0] {
        let base = Config { static_ratio, time_penalty: PenaltyName::None, ..Config::default() };
        for penalty in all::<PenaltyName>() {
            let config = small(Config {
                temporal: Temporal::De,
                target: Target::Entity,
                scorer: ScorerName::SimplE,
                entity_penalty: penalty,
                entity_weight: 0.3,
                relation_penalty: penalty,
                relation_weight: 0.2,
                ..base.clone()
            });
            check_gradients(&format!("{static_ratio} {penalty:?}"), &config);
            assert!(
                learning::losses(&config).iter().all(|loss| loss.is_finite()),
                "{static_ratio} {penalty:?}"
            );
            let mut fitted = Fitted::outline(&config, SIZES, times(), 1);
            fitted.model.tables.draw();
            let bytes = fitted.to_bytes().expect("it can be kept");
            assert!(fitted.load_bytes(&bytes).is_ok(), "{static_ratio}");
        }
        for temporal in [Temporal::T, Temporal::Utee] {
            for target in all::<Target>() {
                let (scorer, fusion) = (ScorerName::DistMult, Fusion::Concatenate);
                let config = small(Config { temporal, target, fusion, scorer, ..base.clone() });
                let error = config.check().expect_err("nothing for one part").to_string();
                let part = if static_ratio < 0.5 { "row itself" } else { "time" };
                assert!(error.contains(&format!("leaves no numbers for the {part}")), "{error}");
                assert!(Config { static_ratio: 0.5, ..config }.check().is_ok(), "{temporal:?} {target:?}");
            }
        }
    }
}

/// Times of one period share its row, and periods without a time have none.
#[test]
fn rotations_have_a_row_per_period() {
    for name in ["tero", "rotateqvs"] {
        let config = small(Config { granularity: 2, ..recipe(name) });
        check_gradients(name, &config);
        let model = Composition::<f64>::new(&config, SIZES, times(), 1);
        let rows =
            model.tables.iter().find(|(table, _)| table.kind == Kind::Time).map(|(table, _)| table.rows);
        // Units 0, 1, 32, 59 and 132 are in the periods 0, 0, 16, 29 and 66.
        assert_eq!(rows, Some(4), "{name}");
        let at = |time: u32| model.candidates(Side::Tails, Places { ids: &[3], times: &[time] }).to_vec();
        assert_eq!(at(0), at(1), "{name}");
        assert_ne!(at(1), at(2), "{name}");
    }
}

/// N3 looks at moduli, and those of phases are 1.
#[test]
fn phases_of_relations_are_not_penalised() {
    let penalty = |by: f64| {
        let value = |factor_weight: f64| {
            let config = Config {
                scorer: ScorerName::RotatE,
                temporal: Temporal::None,
                time_penalty: PenaltyName::None,
                factor_weight,
                ..small(Config::default())
            };
            let mut model = Composition::<f64>::new(&config, SIZES, times(), 1);
            for (_, values) in model.tables.iter_mut().filter(|(table, _)| table.kind == Kind::Relation) {
                values.iter_mut().for_each(|x| *x += by);
            }
            loss(&config, &model, &mut Gradients::zero(&model.tables))
        };
        value(0.5) - value(0.0)
    };
    assert!(penalty(0.0) > 0.0, "that of entities");
    assert!((penalty(0.0) - penalty(3.0)).abs() < 1e-12);
}

/// Parameters of 1 TB and more are counted, not drawn: training refuses them before memory is taken.
#[test]
fn parameters_are_counted_without_memory() {
    let entities = 1 << 40;
    let rows = entities + 4 * 3 + 5;
    assert_eq!(Composed::parameters(&Config::default(), entities, 3, 5), 2 * 128 * rows);
}

/// A penalty at rows of zeros: the modulus has no slope there, the cube has.
#[test]
fn penalties_of_zeros_are_finite() {
    let config = small(Config::default());
    let mut model = Composition::<f64>::new(&config, SIZES, times(), 1);
    model.tables.iter_mut().for_each(|(_, values)| values.fill(0.0));
    let mut gradients = Gradients::zero(&model.tables);
    assert!(loss(&config, &model, &mut gradients).is_finite());
    assert!(gradients.iter().flatten().all(|x| x.is_finite()));
}

/// What the kernel gives for a question about a known entity with a relation, and one candidate.
fn similarity(model: &Composition<f64>, side: Side, ids: [u32; 3], time: u32) -> f64 {
    let ([known, relation, candidate], mut questions) = (ids, Questions::default());
    questions.push(known, relation, time);
    let forward = model.queries(side, &questions);
    let candidate = model.candidates(side, Places { ids: &[candidate], times: &[time] });
    let mut out = [0.0];
    pairs(model.parts.likeness, model.width(), &forward.queries, &candidate, None, &mut out);
    out[0]
}

/// Scores of heads by the relation itself and of tails by its reciprocal agree where a scorer says so: φ(h, r, t) is one
/// number, for candidates of either side.
#[test]
fn both_ends_of_a_fact_give_one_score() {
    for (name, config) in combinations() {
        let config = small(config);
        if config.check().is_err() || config.temporal == Temporal::TltComplex {
            continue;
        }
        let model = Composition::<f64>::new(&config, SIZES, times(), 5);
        let score = |side, known, relation, asked| similarity(&model, side, [known, relation, asked], 2);
        for (head, relation, tail) in [(0, 0, 1), (3, 2, 7), (5, 1, 5)] {
            let by_tail = score(Side::Tails, head, relation, tail);
            let by_head = if config.has_inverse_half() {
                score(Side::Tails, tail, relation + 3, head)
            } else {
                score(Side::Heads, tail, relation, head)
            };
            assert!((by_tail - by_head).abs() < 1e-9 * by_tail.abs().max(1.0), "{name}: {by_tail} {by_head}");
        }
    }
}

#[test]
fn scores_by_hand() {
    // One coordinate, values set by hand: h = 2, r = 3, t = 4, time vector 5; imaginary parts are 1.
    let config = |scorer, fusion| Config {
        scorer,
        fusion,
        temporal: Temporal::T,
        dimension: 1,
        factor_weight: 0.0,
        time_penalty: PenaltyName::None,
        ..Config::default()
    };
    let score = |config: &Config| {
        config.check().expect("components that go together");
        let mut model = Composition::<f64>::new(config, SIZES, times(), 1);
        for (table, values) in model.tables.iter_mut() {
            for (i, x) in values.iter_mut().enumerate() {
                *x = match (&*table.name, i / table.width) {
                    // Imaginary parts.
                    _ if i % table.width == 1 => 1.0,
                    ("entity", 0) => 2.0,
                    ("entity", _) => 4.0,
                    ("relation", _) => 3.0,
                    _ => 5.0,
                };
            }
        }
        similarity(&model, Side::Tails, [0, 0, 1], 1) * model.scale()
    };
    assert_eq!(score(&config(ScorerName::TransE, Fusion::Add)), -6.0, "|2 + (3 + 5) − 4|");
    assert_eq!(score(&config(ScorerName::DistMult, Fusion::Multiply)), 120.0, "2·(3·5)·4");
    // (2 + i)(3 + i) = 5 + 5i, times (5 + i) = 20 + 30i, times (4 − i) = 110 + 100i.
    assert_eq!(score(&config(ScorerName::ComplEx, Fusion::Complex)), 110.0);
}

fn count(name: &str, change: impl FnOnce(&mut Config), n: usize, r: usize, t: usize) -> f64 {
    let mut config = recipe(name);
    change(&mut config);
    Composed::parameters(&config, n, r, t) as f64 / 1e6
}

/// The published counts, in millions, to the digits that are printed.
#[test]
fn parameter_counts_are_the_published_ones() {
    let near = |name: &str, found: f64, published: f64, digits: i32| {
        let scale = 10_f64.powi(digits);
        assert_eq!((found * scale).round(), (published * scale).round(), "{name}: {found}");
    };
    let d = |dimension| move |config: &mut Config| config.dimension = dimension;
    let icews14 = (7128, 230, 365);
    let icews11 = (6738, 235, 1461);
    let gdelt = (500, 20, 31);
    let check = |name: &str, width: usize, (n, r, t): (usize, usize, usize), published, digits| {
        near(name, count(name, d(width), n, r, t), published, digits);
    };
    check("ttranse", 512, icews14, 7.72, 2);
    check("t-simple", 256, icews14, 3.86, 2);
    check("ttranse", 512, icews11, 7.89, 2);
    check("t-simple", 256, icews11, 3.94, 2);
    check("ttranse", 512, gdelt, 0.55, 2);
    check("utee-transe", 512, icews14, 7.54, 2);
    check("utee-simple", 256, icews14, 3.77, 2);
    check("utee-transe", 2048, icews11, 28.57, 2);
    check("utee-simple", 512, icews11, 7.14, 2);
    check("hyte", 256, icews14, 3.86, 2);
    check("hyte-simple", 256, icews11, 3.94, 2);
    check("atise-transe", 256, icews14, 18.9, 1);
    check("atise-simple", 64, icews14, 4.72, 2);
    check("atise-transe", 128, icews11, 8.94, 2);
    let de = |width, ratio| {
        move |config: &mut Config| {
            config.dimension = width;
            config.static_ratio = ratio;
        }
    };
    near("de-transe", count("de-transe", de(256, 0.574), 7128, 230, 365), 16.2, 1);
    near("de-transe", count("de-transe", de(256, 0.46), 6738, 235, 1461), 18.45, 2);
    near("de-simple", count("de-simple", de(128, 0.07), 6738, 235, 1461), 14.6, 1);
    near("de-transe", count("de-transe", de(100, 0.10), 500, 20, 31), 0.82, 2);
    // The published code holds a layer of d² + d numbers that it never uses.
    let unused = |d: f64| (d * d + d) / 1e6;
    near("ta-distmult", count("ta-distmult", d(64), 6738, 235, 1461) + unused(64.0), 0.5, 2);
    near("ta-distmult", count("ta-distmult", d(128), 500, 20, 31) + unused(128.0), 0.22, 2);
    let k = 156.0;
    let (n, r, t) = (7128.0, 230.0, 365.0);
    let exact = |name: &str| count(name, |_| (), 7128, 230, 365) * 1e6;
    assert!((exact("tcomplex") - 2.0 * k * (n + 2.0 * r + t)).abs() < 0.5);
    assert!((exact("tntcomplex") - 2.0 * k * (n + 4.0 * r + t)).abs() < 0.5);
    // ICEWS05-15 has 4 017 days: 2 009 periods of two.
    let tero = count("tero", |config| config.granularity = 2, 10_488, 251, 4017) * 1e6;
    assert!((tero - 1000.0 * (10_488.0 + 502.0) - 500.0 * 2009.0).abs() < 0.5, "{tero}");
}

#[test]
fn components_that_do_not_go_together_are_refused_with_a_reason() {
    let refuse = |settings: &[&str], words: &str| {
        let mut table = Config::default().table();
        settings.iter().for_each(|setting| set(&mut table, setting).expect("a setting"));
        let config: Config = parse(&table).expect("the words of settings");
        let error = config.check().expect_err(words).to_string();
        assert!(error.contains(words), "{settings:?}: {error}");
    };
    let plain = |settings: &[&str], words: &str| {
        refuse(&[&["temporal=none", "time_penalty=none"][..], settings].concat(), words);
    };
    refuse(&["scorer=transe"], "temporal = \"tnt\" multiplies complex numbers");
    refuse(&["target=both"], "set target = \"relation\"");
    refuse(&["temporal=t", "scorer=distmult"], "fusion = \"complex\" needs complex rows");
    plain(&["scorer=transe", "norm=2", "inverse=true"], "norm = 2 does not add up");
    plain(&["scorer=kl"], "compares Gaussians");
    for penalty in ["l1", "l2", "l3", "smooth3", "smooth4"] {
        for temporal in ["none", "de", "atise", "ta"] {
            let settings = [format!("temporal={temporal}"), format!("time_penalty={penalty}")];
            refuse(&settings.each_ref().map(|s| &**s), "has no row per time: set time_penalty = \"none\"");
        }
    }
    refuse(&["temporal=utee"], "no row per time that could be kept like its neighbours");
    refuse(&["granularity=2"], "granularity = 2 is for temporal = \"atise\"");
    let inverse = ["reciprocal=false", "scorer=transe", "inverse=true"];
    plain(&inverse, "set reciprocal = true, or inverse = false");
    plain(&["reciprocal=false", "scorer=simple"], "or scorer = \"distmult\"");
    refuse(&["reciprocal=false"], "needs reciprocal = true");
    refuse(&["norm=3"], "norm = 3 is out of range");
    refuse(&["dropout=1.0"], "dropout = 1 is out of range");
}
