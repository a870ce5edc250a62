//! `quadcast run`: fit a model, judge it, keep a record.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use quadcast_core::{Dataset, Forecaster, IntervalUse, Protocol, Run, Setting, Split};
use quadcast_data::{Format, LoadOptions, Loaded, RulesRead};
use quadcast_eval::{EvalError, Judged, fit, judge_holes, judge_with};
use quadcast_models::{Entry, find, set};
use quadcast_report::{DatasetCard, ModelCard, PartialRanks, RunRecord, Selection};
use serde::de::DeserializeOwned;

use crate::arguments::RunOptions;
use crate::commands::data::{open, temporal, unrolled, with_time};
use crate::commands::evaluate;
use crate::explained;
use crate::failure::Failure;
use crate::given_model::{self, GivenModel};
use crate::given_rules;
use crate::output::Output;
use crate::record_folder::{RecordFolder, RunFile, take_results};
use crate::resume::Interrupted;
use crate::task::{self, Task};
use crate::workshop::{self, RunWorkshop};

/// The models that run when none is named: they need no training and beat many that do.
const DEFAULT_FORECASTER: &str = "recurrency";
const DEFAULT_COMPLETER: &str = "naive-rules";

/// The setting of a model that has artefacts of its published code to offer.
const COMPAT: &str = "compat";

/// A checked request: everything is known before anything is computed.
struct Plan {
    entry: &'static Entry,
    model: Box<dyn Forecaster>,
    file: RunFile,
    data: String,
    seed: u64,
    /// Rules that are used instead of learning.
    rules: Option<RulesRead>,
    time_budget: Option<Duration>,
    /// A model that another run has trained.
    given: Option<GivenModel>,
}

pub fn execute(options: &RunOptions, output: &Output) -> Result<(), Failure> {
    let (folder, record) = complete(options, output)?;
    folder.show(&record, output)
}

/// Fits and judges, and keeps the record. What an interrupted run of the same kind has done is not done again.
pub fn complete(options: &RunOptions, output: &Output) -> Result<(RecordFolder, RunRecord), Failure> {
    let mut file = start_file(options)?;
    let data = options.data.clone().or(file.data.take()).ok_or_else(|| {
        Failure::input(
            "which dataset? Give a folder or a name with --data, for example --data examples/harbour",
        )
    })?;
    let format = options.format.map(Into::into).or(file.format);
    let asked = options.intervals.map(Into::into).or(file.protocol.intervals).unwrap_or_default();
    let load = || Opened::new(&data, format, asked);
    let mut opened = None;
    let task = match task::named(options, &file)? {
        Some(task) => task,
        // Only the data can tell.
        None => task::inferred(&opened.insert(load()?).loaded, output)?,
    };
    let mut plan = plan(options, file, data.clone(), task, output)?;
    let Opened { loaded, seconds: load_seconds, intervals } = match opened {
        Some(opened) => opened,
        None => load()?,
    };
    plan.file.protocol.intervals = intervals;
    check_intervals(options, intervals)?;
    for note in &loaded.notes {
        output.detail(note);
    }
    let dataset = match task {
        Task::Forecasting => temporal(&loaded)?,
        Task::Completion => with_time(&loaded)?,
    };
    same_data(&mut plan, options, dataset)?;
    if let Some(run) = &plan.file.trained_by {
        plan.given = Some(given_model::read(run, plan.entry, dataset, output)?);
    } else if let Some(file) = &plan.file.rules {
        plan.rules = Some(given_rules::read(file, dataset, output)?);
    }

    let relations = &dataset.vocabulary.relations;
    let setting = plan.file.protocol.setting.word();
    let name = format!("{}-{}-{setting}-{}", plan.entry.name, dataset.name, plan.seed);
    let replaces = options.overwrite || options.resume;
    let folder = RecordFolder::choose(options.out.as_deref(), replaces, &name)?;
    let mut record = begin_record(&plan, &loaded, dataset)?;
    record.seconds.load = load_seconds;
    let owner = plan.file.identity(&record.version)?;
    if options.resume {
        workshop::check_owner(folder.path(), &owner)?;
    }
    let interrupted = if replaces {
        None
    } else {
        Interrupted::find(folder.path(), &plan.file, relations)
            .filter(|interrupted| given_rules::same(interrupted.model.as_ref(), plan.rules.as_ref()))
    };
    if let Some(interrupted) = interrupted {
        record.take_fit(&interrupted.record);
        plan.model = interrupted.model;
    }
    folder.begin(&record, &plan.file)?;

    if options.overwrite {
        workshop::clear_all(folder.path())?;
    }
    let workshop = Arc::new(RunWorkshop::open(folder.path(), &owner, record.fitted.is_some())?);
    let run = Run {
        workshop: workshop.clone(),
        time_budget: plan.time_budget,
        ..Run::new(plan.seed, output.progress())
    };
    let journal = || PartialRanks::open(folder.path(), &owner, &dataset.axis);
    let journal = if record.fitted.is_some() {
        let journal = journal()?;
        let (done, steps) = (journal.steps(), dataset.splits.test.occupied().count());
        let path = folder.path().display();
        output.remark(&format!("resuming {path}: fitted, {done} of {steps} test steps done"));
        journal
    } else {
        fit_model(&mut plan, dataset, &run, &mut record)
            .map_err(|failure| folder.fail(&record, failure, output))?;
        record.training = workshop.trained();
        // A training that was interrupted knows how long all its parts took.
        let trained: f64 = record.training.iter().filter_map(|training| training["seconds"].as_f64()).sum();
        record.seconds.fit = record.seconds.fit.max(trained);
        let saved = plan.model.save().map_err(Failure::internal)?;
        folder.keep_fit(&mut record, plan.entry.name, &saved, relations)?;
        if record.training.iter().all(|training| training["ending"] != "time-budget") {
            workshop::clear(folder.path())?;
        }
        journal()?
    };
    let judged = judge_model(&mut plan, dataset, &run, &mut record, journal)
        .map_err(|failure| folder.fail(&record, failure, output))?;
    explained::keep(&folder, plan.entry, plan.model.as_mut(), dataset, &record, &judged, output)?;
    folder.finish(&record, &judged, dataset)?;
    Ok((folder, record))
}

/// Only facts with intervals can be asked about at other times than their own.
fn check_intervals(options: &RunOptions, found: Option<IntervalUse>) -> Result<(), Failure> {
    match (options.intervals, found) {
        (Some(_), None) => Err(Failure::input(
            "--intervals is for facts that hold over an interval; these have one time each",
        )),
        _ => Ok(()),
    }
}

/// The data as it was read, the seconds that took, and when facts with intervals are asked about.
struct Opened {
    loaded: Loaded,
    seconds: f64,
    intervals: Option<IntervalUse>,
}

impl Opened {
    fn new(data: &str, format: Option<Format>, asked: IntervalUse) -> Result<Self, Failure> {
        let start = Instant::now();
        let (loaded, intervals) =
            unrolled(open(data, LoadOptions { format, ..LoadOptions::default() })?, asked);
        Ok(Self { loaded, seconds: start.elapsed().as_secs_f64(), intervals })
    }
}

/// What the configuration file says, or the run that gives its model.
fn start_file(options: &RunOptions) -> Result<RunFile, Failure> {
    Ok(match (&options.config, &options.trained_by) {
        (Some(path), _) => read_run_file(path)?,
        (None, Some(run)) => RunFile {
            trained_by: Some(run.display().to_string()),
            time_budget: None,
            ..read_run_file(&run.join("run.toml"))?
        },
        (None, None) => RunFile::default(),
    })
}

fn plan(
    options: &RunOptions,
    file: RunFile,
    data: String,
    task: Task,
    output: &Output,
) -> Result<Plan, Failure> {
    let default = match task {
        Task::Forecasting => DEFAULT_FORECASTER,
        Task::Completion => DEFAULT_COMPLETER,
    };
    let name = options.model.as_deref().or(file.model.as_deref()).unwrap_or(default);
    if name.starts_with(evaluate::PREFIX) {
        return Err(Failure::input(format!(
            "{name} was judged from a score file; repeat it with quadcast evaluate"
        )));
    }
    let entry = find(name)?;
    let config = expanded_config(entry, &file, options, output)?;
    let model = (entry.build)(&config)?;
    let seed = options.seed.or(file.seed).unwrap_or(1);
    let usual = task.protocol(&file.protocol);
    let protocol = Protocol {
        setting: options.setting.map_or(usual.setting, Into::into),
        validation: options.validation.map_or(usual.validation, Into::into),
        ties: options.ties.map_or(file.protocol.ties, Into::into),
        duplicates: options.duplicates.map_or(file.protocol.duplicates, Into::into),
        ..file.protocol
    };
    let settings = entry.capabilities.settings;
    if !settings.contains(&protocol.setting) {
        return Err(EvalError::Setting { setting: protocol.setting, settings }.into());
    }
    let rules = options.rules.as_ref().map(|path| path.display().to_string()).or(file.rules);
    if let Some(rules) = &rules {
        given_rules::accepted(entry, rules)?;
    }
    let time_budget = options.time_budget.clone().or(file.time_budget);
    let budget = time_budget.as_deref().map(duration).transpose()?;
    let file = RunFile {
        model: Some(entry.name.to_owned()),
        data: Some(data.clone()),
        format: options.format.map(Into::into).or(file.format),
        fingerprint: file.fingerprint,
        seed: Some(seed),
        time_budget,
        rules,
        trained_by: file.trained_by,
        protocol,
        config,
    };
    Ok(Plan { entry, model, file, data, seed, rules: None, time_budget: budget, given: None })
}

/// The defaults of the model, changed by the file, changed by the options.
fn expanded_config(
    entry: &Entry,
    file: &RunFile,
    options: &RunOptions,
    output: &Output,
) -> Result<toml::Table, Failure> {
    let mut config = (entry.defaults)();
    for (key, value) in &file.config {
        set(&mut config, &format!("{key}={value}")).map_err(|error| {
            let path = options.config.as_deref().unwrap_or(Path::new("")).display();
            Failure::input(format!("{path}: {error}"))
        })?;
    }
    if options.compat {
        if config.contains_key(COMPAT) {
            set(&mut config, &format!("{COMPAT}=true"))?;
        } else {
            output.remark(&format!("{} does nothing different under --compat", entry.name));
        }
    }
    for setting in &options.settings {
        set(&mut config, setting)?;
    }
    Ok(config)
}

/// A span of time as people write it: 90s, 45m, 2h.
pub fn duration(text: &str) -> Result<Duration, Failure> {
    let text = text.trim();
    let (number, unit) = text.split_at(text.find(|c: char| c.is_alphabetic()).unwrap_or(text.len()));
    let seconds = match unit.trim() {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => 0.0,
    };
    let parsed = number.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number > 0.0);
    match parsed {
        Some(number) if seconds > 0.0 && number * seconds < 1e9 => {
            Ok(Duration::from_secs_f64(number * seconds))
        }
        _ => Err(Failure::input(format!(
            "{text:?} is not a time budget: write a number and a unit, for example 90s, 45m or 2h"
        ))),
    }
}

/// Reads a configuration file.
pub fn read_run_file<T: DeserializeOwned>(path: &Path) -> Result<T, Failure> {
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::input(format!("cannot read the configuration {}: {error}", path.display()))
    })?;
    toml::from_str(&text)
        .map_err(|error| Failure::input(format!("{}: {}", path.display(), error.to_string().trim_end())))
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

fn begin_record(plan: &Plan, loaded: &Loaded, dataset: &Dataset) -> Result<RunRecord, Failure> {
    let config = serde_json::to_value(&plan.file.config).map_err(Failure::internal)?;
    let rules = plan.file.rules.as_ref().zip(plan.rules.as_ref());
    let rules = rules.map(|(file, read)| given_rules::card(file, read));
    let model = ModelCard { name: plan.entry.name.to_owned(), config, rules };
    let card = DatasetCard::new(dataset, loaded.variant.map(|variant| variant.name));
    Ok(RunRecord::begun(card, model, plan.file.protocol, plan.seed))
}

/// Fits, or takes the rules that are given; fills the record with how that was done.
fn fit_model(plan: &mut Plan, dataset: &Dataset, run: &Run, record: &mut RunRecord) -> Result<(), Failure> {
    if let Some(GivenModel { model, record: trained }) = plan.given.take() {
        plan.model = model;
        record.take_fit(&trained);
        return Ok(());
    }
    let protocol = plan.file.protocol;
    let start = Instant::now();
    if let Some(rules) = plan.rules.take() {
        let file = plan.file.rules.as_deref().unwrap_or_default();
        given_rules::take(plan.model.as_mut(), rules.rules, file)?;
        record.seconds.fit = start.elapsed().as_secs_f64();
        return Ok(());
    }
    let fitted = fit(dataset, &protocol, plan.model.as_mut(), run)?;
    record.seconds.fit = start.elapsed().as_secs_f64();
    if fitted.plays > 0 {
        let metric = format!("time-aware MRR, {} ties, {}", protocol.ties.word(), protocol.setting.word());
        record.selection = Some(Selection { split: Split::Valid, metric, plays: fitted.plays });
    }
    Ok(())
}

/// Judges the steps that the journal does not hold; fills the record with the results.
fn judge_model(
    plan: &mut Plan,
    dataset: &Dataset,
    run: &Run,
    record: &mut RunRecord,
    mut journal: PartialRanks<'_>,
) -> Result<Judged, Failure> {
    let judged = judge_with(dataset, &plan.file.protocol, plan.model.as_mut(), run, &mut journal)?;
    take_results(record, dataset, &judged)?;
    record.seconds.evaluate = journal.seconds();
    if plan.file.protocol.setting == Setting::Completion {
        record.holes = judge_holes(dataset, &plan.file.protocol, plan.model.as_mut(), run)?;
    }
    Ok(judged)
}
