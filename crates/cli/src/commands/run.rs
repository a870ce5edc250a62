//! `quadcast run`: fit a model, judge it, keep a record.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use quadcast_core::{Dataset, Fingerprint, Forecaster, Protocol, Run, Split};
use quadcast_data::{Content, Format, LoadOptions, Loaded};
use quadcast_eval::{EvalError, Judged, Outcome, fit, judge};
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
pub struct RunFile {
    model: Option<String>,
    pub data: Option<String>,
    /// Layout of the dataset, where it was named and not detected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<Format>,
    /// Content hash of the dataset; a repetition on other data is refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    fingerprint: Option<Fingerprint>,
    seed: Option<u64>,
    /// How results come about.
    protocol: Protocol,
    /// Settings of the model.
    config: toml::Table,
}

/// What `--json` prints: the record, and where it lies.
#[derive(Serialize)]
struct Finished<'a> {
    record: &'a Path,
    #[serde(flatten)]
    metrics: &'a RunRecord,
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
    let loaded = open(&plan.data, LoadOptions { format: plan.file.format })?;
    for note in &loaded.notes {
        output.detail(note);
    }
    let dataset = temporal(&loaded)?;
    let load_seconds = start.elapsed().as_secs_f64();
    same_data(&mut plan, options, dataset)?;

    let folder = prepare_folder(options, &plan, dataset)?;
    let mut record = begin_record(&plan, &loaded, dataset)?;
    record.seconds.load = load_seconds;
    // The record first: a complete one that is being replaced must not stand beside the new configuration.
    record.write(&folder)?;
    write_run_file(&folder, &plan)?;

    match judge_model(&mut plan, dataset, &mut record, output) {
        Ok(judged) => finish(&folder, &plan, dataset, &record, &judged, output),
        Err(failure) => {
            record.status = Status::Failed;
            record.error = Some(failure.error.to_string());
            // What went wrong first is what the user needs to know.
            if let Err(error) = record.write(&folder) {
                output.detail(&error.to_string());
            }
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
    let config = expanded_config(entry, &file, options)?;
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
        duplicates: options.duplicates.map_or(file.protocol.duplicates, Into::into),
        ..file.protocol
    };
    let settings = entry.capabilities.settings;
    if !settings.contains(&protocol.setting) {
        return Err(EvalError::Setting { setting: protocol.setting, settings }.into());
    }
    let file = RunFile {
        model: Some(entry.name.to_owned()),
        data: Some(data.clone()),
        format: options.format.map(Into::into).or(file.format),
        fingerprint: file.fingerprint,
        seed: Some(seed),
        protocol,
        config,
    };
    Ok(Plan { entry, model, file, data, seed })
}

/// The defaults of the model, changed by the file, changed by the options.
fn expanded_config(entry: &Entry, file: &RunFile, options: &RunOptions) -> Result<toml::Table, Failure> {
    let mut config = (entry.defaults)();
    for (key, value) in &file.config {
        set(&mut config, &format!("{key}={value}")).map_err(|error| {
            let path = options.config.as_deref().unwrap_or(Path::new("")).display();
            Failure::input(format!("{path}: {error}"))
        })?;
    }
    for setting in &options.settings {
        set(&mut config, setting)?;
    }
    Ok(config)
}

/// Reads a configuration file.
pub fn read_run_file(path: &Path) -> Result<RunFile, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::input(format!("cannot read the configuration {}: {error}", path.display()))
    })?;
    toml::from_str(&text)
        .map_err(|error| Failure::input(format!("{}: {}", path.display(), error.to_string().trim_end())))
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
        let (earlier, later) = (dataset.splits.get(pair[0]), dataset.splits.get(pair[1]));
        let (Some(last), Some(first)) = (earlier.last_step(), later.first_step()) else { continue };
        if first < last {
            let place = |split: Split, latest: bool| {
                let source = loaded.sources.as_ref().map(|sources| sources.get(split));
                let line = source.and_then(|s| if latest { s.latest_at } else { s.earliest_at });
                let file = source.map(|s| s.path.display().to_string()).unwrap_or_default();
                format!("{file}:{}", line.unwrap_or_default())
            };
            return Err(Failure::input(format!(
                "{} is not a forecasting dataset, {} starts before {} ends:\n  {} is dated {}\n  {} is dated {}\n\
                 expected splits that follow each other in time; a random split is for completion. \
                 quadcast data audit says more",
                dataset.name,
                pair[1],
                pair[0],
                place(pair[1], false),
                dataset.axis.label(first),
                place(pair[0], true),
                dataset.axis.label(last),
            )));
        }
    }
    Ok(())
}

/// A configuration that names the content of its dataset runs on that content only.
fn same_data(plan: &mut Plan, options: &RunOptions, dataset: &Dataset) -> Result<(), Failure> {
    let fingerprint = dataset.fingerprint();
    if let (Some(expected), None) = (plan.file.fingerprint, &options.data)
        && expected != fingerprint
    {
        return Err(Failure::input(format!(
            "{} has changed: the configuration was made for fingerprint {expected}, this is {fingerprint}. \
             Name the dataset with --data to run on it all the same",
            plan.data
        )));
    }
    plan.file.fingerprint = Some(fingerprint);
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
    write_ranks(folder, &judged.ranked, &dataset.axis)?;
    let saved = plan.model.save().map_err(Failure::internal)?;
    let saved = serde_json::json!({ "model": plan.entry.name, "state": saved.state });
    write_atomically(&folder.join("model.json"), |out| {
        serde_json::to_writer(&mut *out, &saved)?;
        out.write_all(b"\n")
    })?;
    record.write(folder)?;
    let result = Finished { record: folder, metrics: record };
    output.result(&result, || format!("{}record: {}\n", summary(record), folder.display()))
}
