//! `quadcast run`: fit a model, judge it, keep a record.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use quadcast_core::{Dataset, Forecaster, Protocol, Run, Split};
use quadcast_data::{Content, LoadOptions, Loaded};
use quadcast_eval::{Judged, Outcome, fit, judge};
use quadcast_models::{Entry, find, set};
use quadcast_report::{
    DatasetCard, ModelCard, RunRecord, Selection, Status, summary, write_atomically, write_ranks,
};
use serde::{Deserialize, Serialize};

use crate::arguments::RunOptions;
use crate::commands::data::open;
use crate::failure::Failure;
use crate::memory;
use crate::output::Output;

/// The model that runs when none is named: it needs no training and beats many that do.
const DEFAULT_MODEL: &str = "recurrency";

/// A configuration file: everything that is needed to repeat a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RunFile {
    model: Option<String>,
    data: Option<String>,
    seed: Option<u64>,
    /// How results come about.
    protocol: Protocol,
    /// Settings of the model.
    config: toml::Table,
}

/// A checked request: everything is known before anything is computed.
struct Plan {
    entry: &'static Entry,
    model: Box<dyn Forecaster>,
    file: RunFile,
    data: String,
    seed: u64,
}

pub fn execute(options: &RunOptions, output: &Output) -> Result<(), Failure> {
    let mut plan = plan(options)?;
    let start = Instant::now();
    let loaded = open(&plan.data, LoadOptions { format: options.format.map(Into::into) }, output)?;
    let dataset = temporal(&loaded)?;
    let load_seconds = start.elapsed().as_secs_f64();

    let folder = prepare_folder(options, &plan, dataset)?;
    let mut record = begin_record(&plan, &loaded, dataset)?;
    record.seconds.load = load_seconds;
    write_run_file(&folder, &plan)?;
    record.write(&folder)?;

    match judge_model(&mut plan, dataset, &mut record, output) {
        Ok(judged) => finish(&folder, &plan, dataset, &record, &judged, output),
        Err(failure) => {
            record.status = Status::Failed;
            record.error = Some(failure.error.to_string());
            record.write(&folder)?;
            Err(failure)
        }
    }
}

fn plan(options: &RunOptions) -> Result<Plan, Failure> {
    let mut file = match &options.config {
        Some(path) => read_run_file(path)?,
        None => RunFile::default(),
    };
    let name = options.model.as_deref().or(file.model.as_deref()).unwrap_or(DEFAULT_MODEL);
    let entry = find(name)?;
    let mut config = (entry.defaults)();
    for (key, value) in &file.config {
        set(&mut config, &format!("{key}={value}"))?;
    }
    for setting in &options.settings {
        set(&mut config, setting)?;
    }
    let model = (entry.build)(&config)?;
    let data = options.data.clone().or(file.data.take()).ok_or_else(|| {
        Failure::input(
            "which dataset? Give a folder or a name with --data, for example --data examples/harbour",
        )
    })?;
    let seed = options.seed.or(file.seed).unwrap_or(1);
    let protocol = Protocol {
        setting: options.setting.map_or(file.protocol.setting, Into::into),
        validation: options.validation.map_or(file.protocol.validation, Into::into),
        ties: options.ties.map_or(file.protocol.ties, Into::into),
        duplicates: options.duplicates().unwrap_or(file.protocol.duplicates),
        ..file.protocol
    };
    let file = RunFile {
        model: Some(entry.name.to_owned()),
        data: Some(data.clone()),
        seed: Some(seed),
        protocol,
        config,
    };
    Ok(Plan { entry, model, file, data, seed })
}

fn read_run_file(path: &Path) -> Result<RunFile, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::input(format!("cannot read the configuration {}: {error}", path.display()))
    })?;
    toml::from_str(&text).map_err(|error| Failure::input(format!("{}: {error}", path.display())))
}

/// The dataset, if it is one that forecasting can use.
fn temporal(loaded: &Loaded) -> Result<&Dataset, Failure> {
    let kind = match &loaded.content {
        Content::Temporal(dataset) => {
            return in_order(loaded, dataset).map(|()| dataset);
        }
        Content::Static(_) => "a graph without time",
        Content::Intervals(_) => "a set of facts with validity intervals",
        Content::Evolving(_) => "a graph that changes by insertions and deletions",
    };
    Err(Failure::input(format!(
        "{} is {kind}; forecasting needs facts with time stamps (see quadcast data info)",
        loaded.content.name()
    )))
}

/// The splits follow each other in time; if not, the message names the lines.
fn in_order(loaded: &Loaded, dataset: &Dataset) -> Result<(), Failure> {
    for pair in Split::ALL.windows(2) {
        let last = dataset.splits.get(pair[0]).last_step();
        let first = dataset.splits.get(pair[1]).first_step();
        if first < last {
            let audit = quadcast_data::audit(loaded);
            let order = audit.checks.iter().find(|check| check.id == "D2");
            let evidence = order.map(|check| check.evidence.as_str()).unwrap_or_default();
            return Err(Failure::input(format!(
                "{} is not a forecasting dataset, {} starts before {} ends: {evidence}\n\
                 Use splits that follow each other in time; quadcast data audit says more",
                dataset.name, pair[1], pair[0]
            )));
        }
    }
    Ok(())
}

/// The output folder, created if need be. A complete record is not overwritten by accident.
fn prepare_folder(options: &RunOptions, plan: &Plan, dataset: &Dataset) -> Result<PathBuf, Failure> {
    let folder = if let Some(folder) = &options.out {
        if is_complete(folder) && !options.overwrite {
            return Err(Failure::input(format!(
                "{} holds a complete run already; choose another --out, or replace it with --overwrite",
                folder.display()
            )));
        }
        folder.clone()
    } else {
        default_folder(options, plan, dataset)
    };
    fs::create_dir_all(&folder).map_err(|error| {
        let path = folder.display();
        Failure::internal(format!(
            "cannot create the output folder {path}: {error}. Choose another one with --out"
        ))
    })?;
    Ok(folder)
}

/// `runs/MODEL-DATA-SETTING-SEED`, numbered if that holds a complete run.
fn default_folder(options: &RunOptions, plan: &Plan, dataset: &Dataset) -> PathBuf {
    let setting = plan.file.protocol.setting.word();
    let name = format!("{}-{}-{setting}-{}", plan.entry.name, dataset.name, plan.seed);
    let numbered = (2..).map(|n| PathBuf::from("runs").join(format!("{name}.{n}")));
    std::iter::once(PathBuf::from("runs").join(&name))
        .chain(numbered)
        .find(|folder| options.overwrite || !is_complete(folder))
        .expect("there are infinitely many numbers")
}

fn is_complete(folder: &Path) -> bool {
    RunRecord::read(folder).is_ok_and(|record| record.status == Status::Complete)
}

fn begin_record(plan: &Plan, loaded: &Loaded, dataset: &Dataset) -> Result<RunRecord, Failure> {
    let config = serde_json::to_value(&plan.file.config).map_err(Failure::internal)?;
    let model = ModelCard { name: plan.entry.name.to_owned(), config };
    let card = DatasetCard::new(dataset, loaded.variant.map(|variant| variant.name));
    Ok(RunRecord::begun(card, model, plan.file.protocol, plan.seed))
}

fn write_run_file(folder: &Path, plan: &Plan) -> Result<(), Failure> {
    let text = toml::to_string(&plan.file).map_err(Failure::internal)?;
    write_atomically(&folder.join("run.toml"), |out| out.write_all(text.as_bytes()))?;
    Ok(())
}

/// Fits and judges; fills the record with the results.
fn judge_model(
    plan: &mut Plan,
    dataset: &Dataset,
    record: &mut RunRecord,
    output: &Output,
) -> Result<Judged, Failure> {
    let run = Run { seed: plan.seed, progress: output.progress() };
    let protocol = plan.file.protocol;
    let model = plan.model.as_mut();
    let start = Instant::now();
    let fitted = fit(dataset, &protocol, model, &run)?;
    record.seconds.fit = start.elapsed().as_secs_f64();
    if fitted.plays > 0 {
        let metric = format!("time-aware MRR, {} ties, {}", protocol.ties.word(), protocol.setting.word());
        record.selection = Some(Selection { split: Split::Valid, metric, plays: fitted.plays });
    }
    let start = Instant::now();
    let judged = judge(dataset, &protocol, model, &run)?;
    let outcome = Outcome::new(&judged.ranked, dataset.entities(), protocol.ties, plan.seed)
        .ok_or_else(|| Failure::input("the test split holds no facts"))?;
    record.seconds.evaluate = start.elapsed().as_secs_f64();
    record.complete(dataset, &judged, outcome);
    record.peak_memory_bytes = memory::peak_bytes();
    Ok(judged)
}

/// Writes what a complete run leaves; the record comes last, so that "complete" means all of it is there.
fn finish(
    folder: &Path,
    plan: &Plan,
    dataset: &Dataset,
    record: &RunRecord,
    judged: &Judged,
    output: &Output,
) -> Result<(), Failure> {
    write_ranks(&folder.join("ranks.csv.zst"), &judged.ranked, &dataset.axis)?;
    let saved = plan.model.save().map_err(Failure::internal)?;
    write_atomically(&folder.join("model.json"), |out| {
        serde_json::to_writer(&mut *out, &saved)?;
        out.write_all(b"\n")
    })?;
    record.write(folder)?;
    output.result(record, || format!("{}record: {}\n", summary(record), folder.display()))
}
