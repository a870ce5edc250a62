//! `quadcast demo`: runs everything on a synthetic dataset and writes a report.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use quadcast_analysis::{Audit, SynthWorld, WorldName, audit, synth};
use quadcast_core::{Dataset, Filter, Setting};
use quadcast_data::write::sweep;
use quadcast_data::{DataError, LoadOptions, load};
use quadcast_eval::Metrics;
use quadcast_models::{Entry, MODELS, find};
use quadcast_report::{
    LoadedRun, Options as ReportOptions, Reading, Reference, best_answer_text, html, percent, plain_table,
    shown,
};
use quadcast_run::{AnswerOptions, Answered, Forecast, Question, Session, write_atomically};
use serde::Serialize;
use serde_json::json;

use crate::arguments::RunOptions;
use crate::commands::{run, synth as synth_command};
use crate::output::{Failure, Output};

/// Seed of the demonstration; everybody sees the same world.
const SEED: u64 = 1;

/// Models of the demonstration beside the defaults of every registered one: variants of the first baseline.
const PARTS: [&str; 2] = ["strict", "relaxed"];

/// The model that explains an answer, in the folder of its single-step run.
const EXPLAINS: &str = "herald";

/// Where to.
#[derive(Debug, Args)]
pub struct Options {
    /// Folder for the world, the runs and the report
    #[arg(long, value_name = "DIR", default_value = "quadcast-demo")]
    pub out: PathBuf,
}

/// One row of the table.
#[derive(Serialize)]
struct ModelScore {
    setting: &'static str,
    name: String,
    mrr: f64,
    ci95: Option<[f64; 2]>,
    #[serde(rename = "hits@1")]
    hits1: f64,
    #[serde(rename = "hits@10")]
    hits10: f64,
    /// MRR as a part of the best possible one.
    share_of_best: f64,
}

pub fn execute(options: &Options, output: &Output) -> Result<(), Failure> {
    let world = synth(WorldName::Village, SEED);
    let dataset = world.dataset().ok_or_else(|| Failure::internal("the village has facts"))?;
    let folder = options.out.join("village");
    prepare(&options.out)?;
    world.write(&folder, true, &synth_command::best(&world, output)?)?;
    let audit = audit(&load(&folder, &LoadOptions::default())?);

    let (mut scores, mut references, mut runs) = (Vec::new(), Vec::new(), Vec::new());
    for setting in [Setting::SingleStep, Setting::MultiStep] {
        let best = best_possible(&world, dataset, setting, output)?;
        scores.push(ModelScore::new(&best.name, &best.metrics, best.interval, &best));
        for (name, options) in requests(&options.out, &folder, setting) {
            let (kept, record) = run::complete(&options, output)?;
            if let Some(metrics) = &record.metrics {
                let time = &metrics.time;
                scores.push(ModelScore::new(&name, &time.metrics, time.ci95.map(|ci| ci.mrr), &best));
            }
            if let Reading::Complete(mut run) = LoadedRun::read(&kept)? {
                run.name = name;
                runs.push(*run);
            }
        }
        references.push(best);
    }
    let report = options.out.join("report.html");
    let extras = ReportOptions {
        title: Some("Demo: a synthetic village".to_owned()),
        references,
        // The report asks D1 of the runs themselves.
        audit: audit.checks.iter().filter(|check| check.id != "D1").cloned().collect(),
        ..ReportOptions::default()
    };
    let page = html(&runs, &extras);
    write_atomically(&report, |out| out.write_all(page.as_bytes()))?;
    let explained = explain(options, dataset, output)?;
    let document = json!({ "report": report, "world": world.description, "audit": audit, "rows": scores,
        "explained": explained });
    output.result(&document, || text(&world, &audit, &scores, &explained, options))
}

/// The folder of the run that is asked.
fn asked_run(out: &Path) -> PathBuf {
    out.join("runs").join(format!("{EXPLAINS}-{}", Setting::SingleStep.word()))
}

/// The best answer to a question, with its reasons.
fn explain(options: &Options, dataset: &Dataset, output: &Output) -> Result<Forecast, Failure> {
    let (subject, relation) = question(dataset);
    let question =
        Question { place: None, subject: Some(subject), relation: Some(relation), object: None, at: None };
    let mut session = Session::reopen(&asked_run(&options.out), None, output.run())?;
    match session.answer(&question, AnswerOptions { top: 1, explain: true })? {
        Answered::Entities(forecast) => Ok(forecast),
        _ => Err(Failure::internal("the question asks for entities")),
    }
}

/// The output folder is absent, empty, or from an earlier demonstration.
fn prepare(out: &Path) -> Result<(), Failure> {
    // One that was killed may have left its world beside the place for it.
    sweep(&out.join("village")).map_err(|source| DataError::Write { path: out.to_owned(), source })?;
    let foreign = fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some())
        && !out.join("village/world.json").is_file();
    if foreign {
        return Err(Failure::input(format!(
            "{} holds something else than an earlier demonstration; choose another folder with --out",
            shown(out.display())
        )));
    }
    fs::create_dir_all(out).map_err(|error| {
        let path = shown(out.display());
        Failure::internal(format!("cannot create {path}: {error}. Choose another folder with --out"))
    })
}

/// Every registered forecaster as it comes, and the parts of the baseline.
fn requests(out: &Path, data: &Path, setting: Setting) -> Vec<(String, RunOptions)> {
    let fits = |entry: &&Entry| (entry.capabilities)().settings.contains(&setting);
    let defaults = MODELS.iter().filter(fits).map(|entry| (entry, None));
    let parts = find("recurrency").into_iter().flat_map(|entry| PARTS.map(|part| (entry, Some(part))));
    let request = |(entry, part): (&Entry, Option<&str>)| {
        let model = entry.name.to_owned();
        let name = part.map_or_else(|| model.clone(), |part| format!("{model} ({part} part)"));
        let folder = part.map_or_else(|| model.clone(), |part| format!("{model}-{part}"));
        let quick = entry.quick.iter().map(|&setting| setting.to_owned());
        let options = RunOptions {
            model: Some(model),
            data: Some(data.display().to_string()),
            settings: quick.chain(part.map(|part| format!("variant={part}"))).collect(),
            setting: Some(setting),
            seed: Some(SEED),
            out: Some(out.join("runs").join(format!("{folder}-{}", setting.word()))),
            overwrite: true,
            ..RunOptions::default()
        };
        (name, options)
    };
    defaults.chain(parts).map(request).collect()
}

fn best_possible(
    world: &SynthWorld,
    dataset: &Dataset,
    setting: Setting,
    output: &Output,
) -> Result<Reference, Failure> {
    let mut oracle = world.oracle().ok_or_else(|| Failure::internal("the village has an oracle"))?;
    let outcome = synth_command::best_outcome(world, dataset, &mut oracle, setting, output)?;
    let time = outcome.filter(Filter::Time);
    Ok(Reference {
        fingerprint: dataset.fingerprint(),
        setting,
        name: "best possible".to_owned(),
        metrics: time.metrics,
        interval: time.ci95.map(|ci| ci.mrr),
    })
}

impl ModelScore {
    fn new(name: &str, metrics: &Metrics, ci95: Option<[f64; 2]>, best: &Reference) -> Self {
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

/// A question that the world can be asked, from its first test fact: subject and relation. Underscores stand for blanks.
fn question(dataset: &Dataset) -> (String, String) {
    let typed = |name: &str| name.replace(' ', "_");
    let names = &dataset.vocabulary;
    dataset.splits.test.iter().next().map_or_else(Default::default, |fact| {
        (typed(&names.entities.name(fact.subject.0)), typed(&names.relations.name(fact.relation.0)))
    })
}

fn text(
    world: &SynthWorld,
    audit: &Audit,
    scores: &[ModelScore],
    explained: &Forecast,
    options: &Options,
) -> String {
    let about = world.description["about"].as_str().unwrap_or_default();
    let checks: Vec<String> =
        audit.checks.iter().map(|check| format!("{} {}", check.id, check.verdict.word())).collect();
    let mut table = plain_table(&["", "model", "MRR", "95 % interval", "H@1", "H@10", "of the best"], 2..7);
    for score in scores {
        let interval = score
            .ci95
            .map_or_else(|| "–".to_owned(), |[low, high]| format!("{} – {}", percent(low), percent(high)));
        table.add_row([
            score.setting.to_owned(),
            score.name.clone(),
            percent(score.mrr),
            interval,
            percent(score.hits1),
            percent(score.hits10),
            format!("{:.0} %", 100.0 * score.share_of_best),
        ]);
    }
    let out = shown(options.out.display());
    let run = asked_run(&options.out);
    let (run, why) = (shown(run.display()), best_answer_text(explained));
    let (subject, relation) = world.dataset().map(question).unwrap_or_default();
    format!(
        "Demo: a synthetic village\n{about}\naudit: {}\n\n{}\n\n\
         Time-aware filter, both directions, all entities as candidates. The best possible score is\n\
         known because we generated the data: no forecaster that knows only the past does better on\n\
         average. The networks (cygnet, re-gcn, cen) are small here and train for seconds.\n\n\
         One answer, explained:\n{why}\n\
         report: {out}/report.html\n\
         next: quadcast forecast {run} \\\n  --subject {subject} --relation {relation} --explain\n",
        checks.join(", "),
        table.text()
    )
}
