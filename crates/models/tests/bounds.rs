//! Settings and saved numbers of any size: every model ends well or with a message, and takes neither time nor memory.
//!
//! A limit on memory makes the tests independent of the machine: with it, what is accepted is small.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use quadcast_core::{
    Dataset, Direction, EntityId, EvolvingModel, GraphSizes, GraphValidation, HistoryIndex, LinkScore,
    ModelError, Protocol, Query, Run, SavedModel, Split, Step, Task,
};
use quadcast_eval::fit;
use quadcast_models::training::limit_memory;
use quadcast_models::{Entry, Kind, MODELS, SettingInfo, set, set_value};
use quadcast_testing::Collected;
use quadcast_testing::graphs::Graph;
use quadcast_testing::world::{self, Shape};
use serde_json::{Value as Json, json};
use toml::{Table, Value};

/// What models may take.
const LIMIT: u64 = 256 << 20;
/// What the process may take at most: the limit, some copies on the way, and the test itself.
const PEAK: u64 = 1 << 30;
/// What a call may take.
const SECONDS: Duration = Duration::from_secs(20);

/// Numbers of a model file that its arrays contradict if they are changed.
const SIZES_OF_ARRAYS: &[&str] = &[
    "/state/config/dimension",
    "/state/shape/entities",
    "/state/shape/relations",
    "/state/times/ordinals",
    "/state/parameters",
];

/// Settings that are only a matter of time: legal when large, and not tried.
const TIME_ONLY: &[(&str, &str)] = &[
    ("epochs", "epochs of training"),
    ("update_epochs", "epochs of training after a change"),
    ("global_epochs", "epochs of training before the training"),
    ("warm_epochs", "epochs of training before the training"),
    ("online_epochs", "epochs of training per step"),
    ("least_epochs", "epochs of training of a universe"),
    ("most_epochs", "epochs of training of a universe"),
    ("universes", "trained one after the other, and written to disk; patience ends that"),
    ("walks", "walks one after the other; what they find is limited by the data"),
    ("body_samples", "samples one after the other; what they find is limited by the data"),
    ("unlearn", "samples of an epoch, limited to a thousand per deleted triple"),
];

const SHAPE: Shape = Shape { entities: 9, relations: 3, steps: 10, facts_per_step: 6 };
const SIZES: GraphSizes = GraphSizes { entities: 20, relations: 3 };

/// Settings with which training takes milliseconds.
const BRIEF: &[&str] = &[
    "dimension=4",
    "epochs=1",
    "validate_every=1",
    "batch=16",
    "warm_epochs=0",
    "longest=2",
    "universes=4",
    "least_triples=5",
    "most_triples=9",
    "least_epochs=1",
    "most_epochs=2",
    "walks=5",
    "body_samples=5",
];

fn brief(entry: &Entry) -> Table {
    let mut config = entry.quick_config();
    let known: Vec<&&str> =
        BRIEF.iter().filter(|setting| config.contains_key(setting.split('=').next().unwrap_or(""))).collect();
    for setting in known {
        set(&mut config, setting).expect("a setting of the model");
    }
    config
}

fn data() -> Dataset {
    world::dataset(&world::quads(1, SHAPE), SHAPE)
}

fn graph() -> Graph {
    Graph::random(1, 30, 20, 3, SIZES)
}

fn protocol(entry: &Entry) -> Protocol {
    match entry.task() {
        Task::Completion => Protocol::completion(),
        _ => Protocol::forecasting((entry.capabilities)().settings[0]),
    }
}

/// Asks about the triples of a graph, and likes every answer that is a number.
struct Asked<'a>(&'a Graph);

impl GraphValidation for Asked<'_> {
    fn judge(&self, model: &mut dyn EvolvingModel) -> Result<LinkScore, ModelError> {
        let candidates: Vec<EntityId> = (0..20).map(EntityId).collect();
        model.begin(&candidates)?;
        let facts = self.0.triples.iter().map(|triple| triple.at(Step(0)));
        let both = |fact| Direction::BOTH.map(|direction| Query::hide(fact, direction).0);
        let queries: Vec<Query> = facts.flat_map(both).collect();
        model.score(&queries, &mut Collected::among(&candidates))?;
        Ok(LinkScore { queries: 1, ..LinkScore::default() })
    }
}

/// Builds and fits a model, and saves it.
fn fitted(entry: &Entry, config: &Table) -> Result<SavedModel, String> {
    if entry.task() == Task::Evolving {
        let (graph, mut model) = (graph(), entry.evolving(config).map_err(|error| error.to_string())?);
        let result = model.fit(&graph.view(), &Asked(&graph), &Run::silent(1));
        return result.and_then(|()| model.save()).map_err(|error| error.to_string());
    }
    let mut model = entry.forecaster(config).map_err(|error| error.to_string())?;
    fit(&data(), &protocol(entry), model.as_mut(), &Run::silent(1)).map_err(|error| error.to_string())?;
    model.save().map_err(|error| error.to_string())
}

/// Loads a model, and asks it questions.
fn loaded(entry: &Entry, config: &Table, saved: &SavedModel) -> Result<(), String> {
    if entry.task() == Task::Evolving {
        let (graph, mut model) = (graph(), entry.evolving(config).expect("a configuration"));
        model.load(saved).map_err(|error| error.to_string())?;
        let asked = Asked(&graph).judge(&mut *model).and_then(|_| model.energies(&graph.triples));
        return asked.map(|_| ()).map_err(|error| error.to_string());
    }
    let data = data();
    let mut model = entry.forecaster(config).expect("a configuration");
    model.load(saved).map_err(|error| error.to_string())?;
    let splits = &data.splits;
    let parts = [&splits.train, &splits.valid, &splits.test];
    let index = HistoryIndex::new(&data.axis, data.entities(), data.relations(), &parts);
    let step = Step(8);
    let history = index.before(step);
    let facts = splits.get(Split::Test).snapshot(step);
    let queries: Vec<Query> = facts
        .iter()
        .flat_map(|fact| Direction::BOTH.map(|direction| Query::hide(fact, direction).0))
        .collect();
    let mut sink = Collected::new(data.entities());
    let asked = model.begin(step, &history).and_then(|()| model.score(&history, &queries, &mut sink));
    asked.map_err(|error| error.to_string())
}

/// The result of a call, which must not panic or take long; an error must say something.
fn tried<T>(what: &str, call: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    let since = Instant::now();
    let result = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| panic!("{what} panics"));
    assert!(since.elapsed() < SECONDS, "{what} took {:?}", since.elapsed());
    if let Err(message) = &result {
        assert!(message.len() > 10, "{what}: {message:?}");
    }
    result
}

/// Peak memory of this process, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(1024 * line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?)
}

/// Values of a setting that no one should use.
fn extremes(setting: &SettingInfo) -> Vec<Value> {
    let whole = [100_000_000, i64::from(u32::MAX), 1 << 53, i64::MAX, -1].map(Value::Integer);
    let largest = setting.range.maximum;
    match setting.kind {
        Kind::Integer => whole.into_iter().chain(largest.map(|most| Value::Integer(most as i64))).collect(),
        Kind::Integers => whole.into_iter().map(|value| Value::Array(vec![value])).collect(),
        Kind::Number | Kind::NumberOrWord => [f64::NAN, f64::INFINITY, -1.0, -1e300, 1e300, f64::MAX]
            .into_iter()
            .chain(largest)
            .map(Value::Float)
            .collect(),
        Kind::Boolean | Kind::Word => Vec::new(),
    }
}

fn is_time_only(setting: &SettingInfo, value: &Value) -> bool {
    let number = value.as_integer().map(|number| number as f64).or_else(|| value.as_float());
    TIME_ONLY.iter().any(|(key, _)| *key == setting.key)
        && number.is_some_and(|number| setting.range.contains(number))
}

#[test]
fn settings_of_any_size_end_well_or_with_a_message() {
    limit_memory(LIMIT);
    for entry in MODELS {
        let config = brief(entry);
        tried(entry.name, || fitted(entry, &config)).expect("the brief settings");
        for setting in entry.settings {
            for value in extremes(setting).into_iter().filter(|value| !is_time_only(setting, value)) {
                let what = format!("{} with {} = {value}", entry.name, setting.key);
                let mut config = config.clone();
                set_value(&mut config, setting.key, value).expect("a setting of the model");
                let result = tried(&what, || fitted(entry, &config));
                if setting.key == "dimension" {
                    let error = result.err().unwrap_or_else(|| panic!("{what} is accepted"));
                    assert!(error.contains("dimension"), "{what}: {error}");
                }
            }
        }
    }
    assert!(peak_memory().is_none_or(|peak| peak < PEAK), "{:?}", peak_memory());
}

#[test]
fn too_large_settings_are_named_with_their_memory_and_what_fits() {
    limit_memory(LIMIT);
    let cases: &[(&str, &[&str])] = &[
        ("dimension=100000000", &["cygnet", "re-gcn", "cen", "tntcomplex", "transe", "transr", "putranse"]),
        ("negatives=100000000", &["ttranse", "transe", "rescal"]),
    ];
    for (setting, names) in cases {
        for name in *names {
            let entry = quadcast_models::find(name).expect("a model");
            let mut config = brief(entry);
            set(&mut config, setting).expect("a setting of the model");
            if config.get("sampler").is_some() {
                set(&mut config, "sampler=shared").expect("a setting of the model");
            }
            let error = fitted(entry, &config).expect_err(name);
            let (key, value) = setting.split_once('=').expect("a setting");
            assert!(error.contains(&format!("{key} = {value} is out of range: ")), "{name}: {error}");
            assert!(error.contains("GiB of memory, and 0.2 GiB are available; at most "), "{name}: {error}");
            assert!(error.ends_with(" fits"), "{name}: {error}");
        }
    }
    for (name, setting) in [("re-gcn", "layers=9007199254740992"), ("cen", "longest=9007199254740992")] {
        let entry = quadcast_models::find(name).expect("a model");
        let mut config = brief(entry);
        set(&mut config, setting).expect("a setting of the model");
        let error = fitted(entry, &config).expect_err(name);
        assert!(error.contains("9007199254740992 is out of range: expected at least 1, at most "), "{error}");
    }
}

/// Every way to damage one place of a JSON value, as pointers with the new value. Of long arrays only the ends are damaged.
fn damages(value: &Json, pointer: &str, out: &mut Vec<(String, Json)>) {
    match value {
        Json::Number(_) => {
            let numbers = [
                json!(0),
                json!(-1),
                json!(1e300),
                json!(1_u64 << 53),
                json!(100_000_000),
                json!(1_000_000_000),
            ];
            let numbers = numbers.into_iter().chain([json!(u64::MAX)]);
            out.extend(numbers.map(|number| (pointer.to_owned(), number)));
        }
        Json::Array(items) => {
            out.push((pointer.to_owned(), json!([])));
            out.push((pointer.to_owned(), Json::from(&items[..items.len().saturating_sub(1)])));
            let ends = [0, items.len().saturating_sub(1)];
            let mut ends: Vec<usize> = ends.into_iter().filter(|&place| place < items.len()).collect();
            ends.dedup();
            for place in ends {
                damages(&items[place], &format!("{pointer}/{place}"), out);
            }
        }
        Json::Object(fields) => {
            for (key, value) in fields {
                damages(value, &format!("{pointer}/{key}"), out);
            }
        }
        _ => {}
    }
}

#[test]
fn a_damaged_model_file_is_loaded_or_refused_with_a_message() {
    limit_memory(LIMIT);
    for entry in MODELS {
        let config = brief(entry);
        let saved = fitted(entry, &config).expect("the brief settings");
        tried(entry.name, || loaded(entry, &config, &saved)).expect("what was saved");
        let whole = json!({ "state": saved.state, "rules": saved.rules });
        let mut all = Vec::new();
        damages(&whole, "", &mut all);
        for (pointer, value) in all {
            let what = format!("{} with {pointer} = {value}", entry.name);
            let mut damaged = whole.clone();
            *damaged.pointer_mut(&pointer).expect("a place") = value;
            let Ok(rules) = serde_json::from_value(damaged["rules"].take()) else { continue };
            let damaged = SavedModel { state: damaged["state"].take(), rules, ..saved.clone() };
            let result = tried(&what, || loaded(entry, &config, &damaged));
            assert!(result.is_err() || !SIZES_OF_ARRAYS.contains(&pointer.as_str()), "{what} is believed");
        }
        let without = SavedModel { tensors: None, ..saved.clone() };
        let missing = tried(entry.name, || loaded(entry, &config, &without));
        assert_eq!(missing.is_err(), saved.tensors.is_some(), "{} without its tensors", entry.name);
    }
    assert!(peak_memory().is_none_or(|peak| peak < PEAK), "{:?}", peak_memory());
}

#[test]
fn settings_that_are_only_a_matter_of_time_exist() {
    for (key, reason) in TIME_ONLY {
        let has = |entry: &Entry| entry.settings.iter().any(|setting| setting.key == *key);
        assert!(MODELS.iter().any(has) && !reason.is_empty(), "{key}");
    }
}
