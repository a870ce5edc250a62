//! The demonstration: every forecaster on a small synthetic world, beside the best score that is possible, and one answer
//! explained.

use std::fs;
use std::path::{Path, PathBuf};

use quadcast_analysis::{Audit, WorldName, audit, synth};
use quadcast_core::{Dataset, Run, Setting};
use quadcast_data::write::sweep;
use quadcast_data::{DataError, LoadOptions, load};
use quadcast_eval::{Interval, Metrics};
use quadcast_models::{Entry, MODELS, find};
use serde::Serialize;
use serde_json::Value;

use crate::best_scores::best_possible;
use crate::error::one_line;
use crate::{
    AnswerOptions, Answered, Forecast, Place, Plan, ProtocolChoice, Question, Reference, RunError, Session,
    best_scores,
};

/// Seed of the demonstration; everybody sees the same world.
const SEED: u64 = 1;

/// The folder of the world.
const WORLD: &str = "village";

/// Models of the demonstration beside the defaults of every registered one: variants of the first baseline.
const PARTS: [&str; 2] = ["strict", "relaxed"];

/// The model that explains an answer, in the folder of its single-step run.
const EXPLAINS: &str = "herald";

/// What the demonstration showed. The document has no folders: they are where the demonstration was made.
#[derive(Clone, Debug, Serialize)]
pub struct Demo {
    /// What the world is made of.
    pub world: Value,
    /// Is the data sound?
    pub audit: Audit,
    /// Models by setting, each below the best possible score.
    pub rows: Vec<DemoRow>,
    /// The best answer to a question, with its reasons.
    pub explained: Forecast,
    /// The run that was asked.
    #[serde(skip)]
    pub asked: PathBuf,
    /// The runs.
    #[serde(skip)]
    pub runs: Vec<DemoRun>,
    /// The best possible score in each setting.
    #[serde(skip)]
    pub references: Vec<Reference>,
}

/// A run of the demonstration.
#[derive(Clone, Debug)]
pub struct DemoRun {
    /// Its name in tables.
    pub name: String,
    /// Its folder.
    pub folder: PathBuf,
}

/// The score of a model, or the best possible one; fractions, time-aware filter.
#[derive(Clone, Debug, Serialize)]
pub struct DemoRow {
    /// The setting.
    pub setting: &'static str,
    /// What it is the score of.
    pub name: String,
    /// Mean reciprocal rank.
    pub mrr: f64,
    /// Its 95 % interval.
    pub ci95: Option<Interval>,
    /// Share of first ranks.
    #[serde(rename = "hits@1")]
    pub hits1: f64,
    /// Share of ranks up to 10.
    #[serde(rename = "hits@10")]
    pub hits10: f64,
    /// MRR as a part of the best possible one.
    pub share_of_best: f64,
}

/// Makes the world, the runs and the table in a folder that is absent, empty, or from an earlier demonstration.
///
/// ```no_run
/// use quadcast_core::Run;
///
/// # fn main() -> Result<(), quadcast_run::RunError> {
/// let demo = quadcast_run::demo("quadcast-demo".as_ref(), &Run::silent(1))?;
/// for row in &demo.rows {
///     println!("{} {}: {:.4}, {:.0} % of the best", row.setting, row.name, row.mrr, 100.0 * row.share_of_best);
/// }
/// # Ok(())
/// # }
/// ```
pub fn demo(out: &Path, run: &Run) -> Result<Demo, RunError> {
    let world = synth(WorldName::Village, SEED);
    let dataset = world.dataset().ok_or_else(|| RunError::internal("the village has facts"))?;
    let data = out.join(WORLD);
    prepare(out)?;
    world.write(&data, true, &best_scores(&world, run)?)?;
    let audit = audit(&load(&data, &LoadOptions::default())?);

    let (mut rows, mut runs, mut references) = (Vec::new(), Vec::new(), Vec::new());
    for setting in [Setting::SingleStep, Setting::MultiStep] {
        let best = best_possible(&world, dataset, setting, run)?;
        rows.push(DemoRow::new(&best.name, &best.metrics, best.interval, &best));
        for (DemoRun { name, folder }, plan) in plans(out, &data, setting) {
            let mut session = Session::open(plan, run.clone())?;
            session.complete(&Place { out: Some(folder.clone()), overwrite: true, resume: false })?;
            if let Some(metrics) = &session.record().metrics {
                let time = &metrics.time;
                rows.push(DemoRow::new(&name, &time.metrics, time.ci95.map(|ci| ci.mrr), &best));
            }
            runs.push(DemoRun { name, folder });
        }
        references.push(best);
    }
    let asked = folder_of(out, EXPLAINS, Setting::SingleStep);
    let explained = explain(&asked, dataset, run)?;
    Ok(Demo { world: world.description, audit, rows, explained, asked, runs, references })
}

/// An error if the folder holds something else than an earlier demonstration.
fn prepare(out: &Path) -> Result<(), RunError> {
    let data = out.join(WORLD);
    // One that was killed may have left its world beside the place for it.
    sweep(&data).map_err(|source| DataError::Write { path: out.to_owned(), source })?;
    let foreign = fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some())
        && !data.join("world.json").is_file();
    if foreign {
        return Err(RunError::input(format!(
            "{} holds something else than an earlier demonstration; choose another folder with --out",
            one_line(out.display())
        )));
    }
    fs::create_dir_all(out).map_err(|error| {
        let path = one_line(out.display());
        RunError::internal(format!("cannot create {path}: {error}. Choose another folder with --out"))
    })
}

/// Every registered forecaster as it comes, and the parts of the baseline.
fn plans(out: &Path, data: &Path, setting: Setting) -> Vec<(DemoRun, Plan)> {
    let fits = |entry: &&Entry| (entry.capabilities)().settings.contains(&setting);
    let defaults = MODELS.iter().filter(fits).map(|entry| (entry, None));
    let parts = find("recurrency").into_iter().flat_map(|entry| PARTS.map(|part| (entry, Some(part))));
    let plan = |(entry, part): (&Entry, Option<&str>)| {
        let model = entry.name;
        let name = part.map_or_else(|| model.to_owned(), |part| format!("{model} ({part} part)"));
        let folder = part.map_or_else(|| model.to_owned(), |part| format!("{model}-{part}"));
        let quick = entry.quick.iter().map(|&setting| setting.to_owned());
        let plan = Plan {
            settings: quick.chain(part.map(|part| format!("variant={part}"))).collect(),
            protocol: ProtocolChoice { setting: Some(setting), ..ProtocolChoice::default() },
            seed: Some(SEED),
            ..Plan::new(model, data.display().to_string())
        };
        (DemoRun { name, folder: folder_of(out, &folder, setting) }, plan)
    };
    defaults.chain(parts).map(plan).collect()
}

/// The folder of a run.
fn folder_of(out: &Path, name: &str, setting: Setting) -> PathBuf {
    out.join("runs").join(format!("{name}-{}", setting.word()))
}

/// The best answer of a run to a question about the first test fact, with its reasons.
fn explain(folder: &Path, dataset: &Dataset, run: &Run) -> Result<Forecast, RunError> {
    let names = &dataset.vocabulary;
    let fact = dataset.splits.test.iter().next();
    let fact = fact.ok_or_else(|| RunError::internal("the village has test facts"))?;
    let question = Question {
        subject: Some(names.entities.name(fact.subject.0).into_owned()),
        relation: Some(names.relations.name(fact.relation.0).into_owned()),
        ..Question::default()
    };
    let mut session = Session::reopen(folder, None, run.clone())?;
    match session.answer(&question, AnswerOptions { top: 1, explain: true })? {
        Answered::Entities(forecast) => Ok(forecast),
        _ => Err(RunError::internal("the question asks for entities")),
    }
}

impl DemoRow {
    fn new(name: &str, metrics: &Metrics, ci95: Option<Interval>, best: &Reference) -> Self {
        Self {
            setting: best.setting.word(),
            name: name.to_owned(),
            mrr: metrics.mrr,
            ci95,
            hits1: metrics.hits1,
            hits10: metrics.hits10,
            share_of_best: metrics.mrr / best.metrics.mrr,
        }
    }
}
