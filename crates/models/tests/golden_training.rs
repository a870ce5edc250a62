//! Golden rows of trained models: loss and validation score of every epoch, and test scores, on small parts of real data.
//!
//! A refactoring must not move them. They stand in `golden/NAME.json` with model, data, settings and seed, one row per processor. On
//! one kind of processor all digits are the same in every run and for any number of threads, and must be those of its row. Another
//! one sums in other orders (by the width of its vectors and the size of its caches): that moves a loss in the seventh digit at
//! first, then a rank where two candidates are nearly tied, and every later epoch a little more. A processor without a row is
//! therefore compared with the first row: the loss of the first epoch to 1e-4, the rest to 3 %. It should get a row of its own.
//!
//! To write the row of this processor: `QUADCAST_WRITE=1 cargo test -p quadcast-models --test golden_training`. After a change that
//! is meant to move the rows, remove those of other processors.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quadcast_core::{
    Dataset, EvolvingDataset, EvolvingStep, Facts, Filter, Names, Procedure, Protocol, Quad, Run, Setting,
    SplitTriples, Splits, StaticGraph, Triple, TripleOperation, Vocabulary,
};
use quadcast_eval::evolving::{Playing, play};
use quadcast_eval::{Evaluator, Forgetful, Outcome};
use quadcast_models::{find, set};
use quadcast_testing::{MemoryCheckpoints, real};
use serde_json::{Map, Value, json};

/// Scores made from ranks, in notes and in files.
const RANKED: [&str; 3] = ["mrr", "hits@10", "mr"];

/// Relative difference that a processor with a row may have: none but that of writing a number as text.
const SAME: f64 = 1e-12;
/// Relative difference of the first loss on another processor.
const FIRST_LOSS: f64 = 1e-4;
/// Relative difference of everything that follows on another processor.
const LATER: f64 = 0.03;

/// A golden row and the file it stands in.
struct Golden {
    path: PathBuf,
    row: Value,
}

impl Golden {
    fn read(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
        let path = folder.join(format!("{name}.json"));
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let row = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self { path, row }
    }

    fn text(&self, key: &str) -> &str {
        self.row[key].as_str().unwrap_or_else(|| panic!("{}: no {key}", self.path.display()))
    }

    /// The defaults of the model with the settings of the row.
    fn config(&self, mut config: toml::Table) -> toml::Table {
        for setting in self.row["settings"].as_array().expect("settings") {
            set(&mut config, setting.as_str().expect("key=value")).expect("a valid setting");
        }
        config
    }

    fn run(&self) -> (Run, Arc<MemoryCheckpoints>) {
        let checkpoints = Arc::<MemoryCheckpoints>::default();
        let seed = self.row["seed"].as_u64().expect("a seed");
        (Run { checkpoints: checkpoints.clone(), ..Run::silent(seed) }, checkpoints)
    }

    /// Compares the figures of a training and its test scores with the file, or writes them into it.
    fn check(mut self, checkpoints: &MemoryCheckpoints, test: &Value) {
        let training: Vec<Value> = checkpoints.notes().iter().filter_map(figures).collect();
        assert!(!training.is_empty(), "no figures were noted");
        let processor = processor();
        let rows = self.row["rows"].as_array_mut().expect("rows");
        let own = rows.iter().position(|row| row["processor"] == processor.as_str());
        if std::env::var_os("QUADCAST_WRITE").is_some() {
            let row = json!({ "processor": processor, "training": training, "test": test });
            match own {
                Some(own) => rows[own] = row,
                None => rows.push(row),
            }
            let text = serde_json::to_string_pretty(&self.row).expect("plain data") + "\n";
            return fs::write(&self.path, text).expect("the file can be written");
        }
        let row = rows[own.unwrap_or(0)].clone();
        let name = self.text("model");
        let expected = row["training"].as_array().expect("figures of the training");
        assert_eq!(training.len(), expected.len(), "{name}: {training:?}");
        for (epoch, (found, expected)) in training.iter().zip(expected).enumerate() {
            let loss = if epoch == 0 { FIRST_LOSS } else { LATER };
            let allowed = if own.is_some() { [SAME; 2] } else { [loss, LATER] };
            compare(&format!("{name} on {processor}, epoch {}", epoch + 1), found, expected, allowed);
        }
        let allowed = if own.is_some() { [SAME; 2] } else { [LATER; 2] };
        compare(&format!("{name} on {processor}, test"), test, &row["test"], allowed);
    }
}

/// Compares figures, with relative differences that are allowed for losses and for scores made from ranks.
fn compare(place: &str, found: &Value, expected: &Value, [loss, ranks]: [f64; 2]) {
    let (found, expected) = (found.as_object().expect(place), expected.as_object().expect(place));
    assert!(found.keys().eq(expected.keys()), "{place}: {found:?}, expected {expected:?}");
    for (key, expected) in expected {
        let tolerance = if RANKED.contains(&key.as_str()) { ranks } else { loss };
        let (found, expected) = (found[key].as_f64().expect(place), expected.as_f64().expect(place));
        let allowed = tolerance * expected.abs();
        assert!(
            (found - expected).abs() <= allowed,
            "{place}: {key} {found}, expected {expected} ± {allowed}"
        );
    }
}

/// Maker, family and model of the processor, where the system tells.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |wanted: &str| {
        let mut fields = text.lines().filter_map(|line| line.split_once(':'));
        fields.find(|(key, _)| key.trim() == wanted).map_or("?", |(_, value)| value.trim())
    };
    ["vendor_id", "cpu family", "model"].map(field).join(" ")
}

/// Loss and scores of an epoch, or of a number of universes, without times and names.
fn figures(note: &Value) -> Option<Value> {
    let is_figure = |key: &str| key == "loss" || RANKED.contains(&key);
    let kept: Map<String, Value> = note
        .as_object()?
        .iter()
        .filter(|(key, value)| is_figure(key) && value.is_number())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    (!kept.is_empty()).then(|| kept.into())
}

/// The facts of the first days in splits by time: twenty days to learn from, five to validate, five to test.
fn first_month(data: &Dataset) -> Dataset {
    let part = |days: std::ops::Range<u32>| {
        let quads = data.splits.train.iter().filter(|quad| days.contains(&quad.step.0)).collect();
        Facts::new(quads, data.axis.len())
    };
    let splits = Splits { train: part(0..20), valid: part(20..25), test: part(25..30) };
    Dataset { splits, beyond: Facts::default(), ..data.clone() }
}

/// The facts of the first thirty days in their own splits.
fn first_days(data: &Dataset) -> Dataset {
    let part = |facts: &Facts| {
        let quads: Vec<Quad> = facts.iter().filter(|quad| quad.step.0 < 30).collect();
        Facts::new(quads, data.axis.len())
    };
    let Splits { train, valid, test } = &data.splits;
    let splits = Splits { train: part(train), valid: part(valid), test: part(test) };
    Dataset { splits, beyond: Facts::default(), ..data.clone() }
}

/// Two steps of the triples among the first entities: the second inserts a fifth of them and deletes a twentieth.
fn growing(graph: &StaticGraph) -> EvolvingDataset {
    const ENTITIES: u32 = 600;
    let among = |triples: &[Triple]| -> Vec<Triple> {
        let is_small = |triple: &&Triple| triple.subject.0 < ENTITIES && triple.object.0 < ENTITIES;
        triples.iter().filter(is_small).copied().collect()
    };
    let train = among(&graph.splits.train);
    let (early, late) = train.split_at(train.len() * 4 / 5);
    let deleted = early.iter().step_by(20);
    let change = |insert: bool| move |&triple: &Triple| TripleOperation { triple, insert };
    let step = |label: &str, training: Vec<TripleOperation>| EvolvingStep {
        label: label.to_owned(),
        training,
        evaluation: SplitTriples { valid: among(&graph.splits.valid), test: among(&graph.splits.test) },
        ..EvolvingStep::default()
    };
    let second = late.iter().map(change(true)).chain(deleted.map(change(false))).collect();
    EvolvingDataset {
        name: "growing".to_owned(),
        vocabulary: Vocabulary {
            entities: Names::anonymous(ENTITIES as usize),
            relations: Names::anonymous(graph.vocabulary.relations.len()),
        },
        steps: vec![step("1", early.iter().map(change(true)).collect()), step("2", second)],
    }
}

fn check_temporal(name: &str, protocol: Protocol, part: fn(&Dataset) -> Dataset) {
    let golden = Golden::read(name);
    let Some(data) = real::temporal(golden.text("data")) else { return };
    let data = part(&data);
    let entry = find(golden.text("model")).expect("the model exists");
    let mut model = entry.forecaster(&golden.config((entry.defaults)())).expect("a valid configuration");
    let (run, checkpoints) = golden.run();
    let evaluator = Evaluator::new(&data, &protocol);
    evaluator.fit(model.as_mut(), &run).expect("a model that fits");
    let judged = evaluator.judge(model.as_mut(), &run).expect("a fitted model");
    let outcome = Outcome::new(&judged.ranked, data.entities(), &protocol, run.seed).expect("queries");
    let metrics = outcome.filter(Filter::Time).metrics;
    golden.check(&checkpoints, &json!({ "mrr": metrics.mrr, "hits@10": metrics.hits10, "mr": metrics.mr }));
}

fn check_evolving(name: &str, procedure: Procedure) {
    let golden = Golden::read(name);
    let Some(graph) = real::timeless(golden.text("data")) else { return };
    let data = growing(&graph);
    let entry = find(golden.text("model")).expect("the model exists");
    let mut model = entry.evolving(&golden.config((entry.defaults)())).expect("a valid configuration");
    let (run, checkpoints) = golden.run();
    let playing = Playing {
        data: &data,
        protocol: Protocol::evolving(procedure),
        examples: &[],
        first: 0,
        transfer: false,
        earlier: &[],
    };
    let outcome = play(&playing, model.as_mut(), &run, &mut Forgetful).expect("a model that learns").outcome;
    let last = outcome.steps.last().and_then(|step| step.link.as_ref()).expect("test triples");
    let metrics = last.filtered.metrics;
    golden.check(&checkpoints, &json!({ "mrr": metrics.mrr, "hits@10": metrics.hits10, "mr": metrics.mr }));
}

#[test]
fn cygnet() {
    check_temporal("cygnet", Protocol::forecasting(Setting::MultiStep), first_month);
}

#[test]
fn re_gcn() {
    check_temporal("re-gcn", Protocol::forecasting(Setting::SingleStep), first_month);
}

#[test]
fn re_net() {
    check_temporal("re-net", Protocol::forecasting(Setting::MultiStep), first_month);
}

#[test]
fn tango() {
    check_temporal("tango", Protocol::forecasting(Setting::SingleStep), first_month);
}

#[test]
fn cen() {
    check_temporal("cen", Protocol::forecasting(Setting::Online), first_month);
}

#[test]
fn tntcomplex() {
    check_temporal("tntcomplex", Protocol::completion(), first_days);
}

#[test]
fn ttranse() {
    check_temporal("ttranse", Protocol::completion(), first_days);
}

#[test]
fn transe() {
    check_evolving("transe", Procedure::Static);
}

#[test]
fn putranse() {
    check_evolving("putranse", Procedure::Incremental);
}
