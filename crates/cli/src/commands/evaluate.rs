//! `quadcast evaluate`: judge anybody's model by the scores it gave.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use clap::Args;
use quadcast_core::{Dataset, Protocol, Run, Split, TiePolicy};
use quadcast_data::scores::{
    Asked, Counts, OpenOptions, QueryList, RankFile, ScoreFile, ScoreFileError, Silent,
};
use quadcast_data::{LoadOptions, Loaded};
use quadcast_eval::{EvalError, Judged, Rank, Ranks, judge, queries};
use quadcast_report::{DatasetCard, ModelCard, RunRecord, ScoreSource};

use crate::arguments::{
    DuplicatesArgument, FormatArgument, SettingArgument, TiesArgument, ValidationArgument,
};
use crate::commands::data::{open, temporal};
use crate::failure::Failure;
use crate::output::Output;
use crate::record_folder::{RecordFolder, RunFile, take_results};

/// What precedes the name of a model that is not ours.
pub const PREFIX: &str = "external:";

pub const EXAMPLES: &str = "Examples:
  quadcast data export ICEWS14 --queries test --out queries.csv
  quadcast evaluate --data ICEWS14 --scores mine.npz --name mine
  quadcast evaluate --data ICEWS14 --scores top100.csv.zst --setting multi-step

Layouts, by ending:
  .npz                     arrays \"scores\" (queries x entities, float32 or float16) and \"keys\"
  .npy                     scores alone; needs --unchecked-order
  .csv, .csv.gz, .csv.zst  lines key,entity,score (or row,key,entity,score) with a header;
                           or ranks: key,gold,time_rank,static_rank,raw_rank, and *_tied
  .parquet                 the same columns, in builds with the feature parquet

Exit code 2 if the file is not a complete, ordered answer to the test queries.";

/// What to judge.
#[derive(Debug, Args)]
pub struct EvaluateOptions {
    /// A dataset folder, or a name to be found in $QUADCAST_DATA
    #[arg(long, value_name = "PATH|NAME")]
    data: String,
    /// The scores, by row of `quadcast data export --queries test`
    #[arg(long, value_name = "FILE")]
    scores: PathBuf,
    /// Accept scores without keys: permuted rows then go unnoticed, and the record says so
    #[arg(long)]
    unchecked_order: bool,
    /// Name of the model in the record, after "external:" [default: name of the file]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Layout of the dataset, where the detection is wrong
    #[arg(long, value_enum)]
    format: Option<FormatArgument>,
    /// What the model saw of the test period; declared by you [default: single-step]
    #[arg(long, value_enum)]
    setting: Option<SettingArgument>,
    /// Whether validation facts were history at test time; declared by you [default: observed]
    #[arg(long, value_enum)]
    validation: Option<ValidationArgument>,
    /// Tie policy of the headline numbers; all others stand in the record [default: expected]
    #[arg(long, value_enum)]
    ties: Option<TiesArgument>,
    /// What happens to facts that stand twice in the test split [default: drop]
    #[arg(long, value_enum)]
    duplicates: Option<DuplicatesArgument>,
    /// Seed of random ties and of the intervals
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Folder of the record [default: runs/external-NAME-DATA-SETTING-SEED]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace a complete record in the output folder
    #[arg(long)]
    overwrite: bool,
}

impl EvaluateOptions {
    fn protocol(&self) -> Protocol {
        Protocol {
            setting: self.setting.map(Into::into).unwrap_or_default(),
            validation: self.validation.map(Into::into).unwrap_or_default(),
            ties: self.ties.map(Into::into).unwrap_or_default(),
            duplicates: self.duplicates.map(Into::into).unwrap_or_default(),
            ..Protocol::default()
        }
    }
}

pub fn execute(options: &EvaluateOptions, output: &Output) -> Result<(), Failure> {
    let name = model_name(options)?;
    let start = Instant::now();
    let format = options.format.map(Into::into);
    let loaded = open(&options.data, LoadOptions { format, ..LoadOptions::default() })?;
    for note in &loaded.notes {
        output.detail(note);
    }
    let dataset = temporal(&loaded)?;
    let setting = options.protocol().setting.word();
    let folder = format!("external-{name}-{}-{setting}-{}", dataset.name, options.seed);
    let folder = RecordFolder::choose(options.out.as_deref(), options.overwrite, &folder)?;

    let list = Arc::new(QueryList::new(dataset, Split::Test, queries(&dataset.splits.test)));
    let begin = |source| {
        let mut record = begin_record(options, &name, &loaded, dataset, source);
        record.seconds.load = start.elapsed().as_secs_f64();
        record
    };
    let ranks = RankFile::open(&options.scores, dataset, &list, options.unchecked_order)?;
    let (mut record, judged) = match &ranks {
        Some(ranks) => {
            let record = begin(ranks_source(options, ranks));
            (record, judge_ranks(options, dataset, &list, ranks, output)?)
        }
        None => judge_file(options, dataset, &list, begin, output)?,
    };
    // Written only now: a file that turns out to be unusable leaves no record.
    folder.begin(&record, &run_file(options, &record)?)?;
    take_results(&mut record, dataset, &judged)?;
    if let Some(ranks) = &ranks {
        record.forget_scores(ranks.ties_known(), ranks.order_known());
    }
    record.seconds.evaluate = start.elapsed().as_secs_f64() - record.seconds.load;
    folder.finish(&record, &judged, dataset)?;
    folder.show(&record, output)
}

/// Ranks the scores of a file.
fn judge_file(
    options: &EvaluateOptions,
    dataset: &Dataset,
    list: &Arc<QueryList>,
    begin: impl FnOnce(ScoreSource) -> RunRecord,
    output: &Output,
) -> Result<(RunRecord, Judged), Failure> {
    let open_file = |hold_all| {
        let open_options = OpenOptions { unchecked_order: options.unchecked_order, hold_all };
        ScoreFile::open(&options.scores, dataset, list, open_options)
    };
    let mut scores = open_file(false)?;
    let record = begin(source(options, scores.layout(), scores.bytes(), scores.verified()));
    let mut attempt = judge_scores(options, dataset, &mut scores, output);
    if let Err(Trouble::Scores(ScoreFileError::Unsorted { .. })) = attempt {
        output.detail("the lines are not in order of steps; the file is held in memory as a whole");
        scores = open_file(true)?;
        attempt = judge_scores(options, dataset, &mut scores, output);
    }
    Ok((record, attempt?))
}

/// The name that the user gives, or the file's without its endings.
fn model_name(options: &EvaluateOptions) -> Result<String, Failure> {
    let file = options.scores.file_name().unwrap_or_default().to_string_lossy();
    let name = options.name.as_deref().unwrap_or_else(|| file.split('.').next().unwrap_or_default());
    let usable = |c: char| c.is_alphanumeric() || "-_.+".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(usable) {
        return Err(Failure::input(format!(
            "{name:?} cannot name a model and its folder: use letters, digits and -_.+ (--name NAME)"
        )));
    }
    Ok(name.to_owned())
}

/// Where the scores came from, if the evaluator ranks them.
fn source(options: &EvaluateOptions, layout: &str, bytes: u64, order_verified: bool) -> ScoreSource {
    ScoreSource {
        file: options.scores.display().to_string(),
        layout: layout.to_owned(),
        bytes,
        order_verified,
        ranked_by: None,
        ties_known: None,
    }
}

/// Where the ranks came from, which the evaluator did not make.
fn ranks_source(options: &EvaluateOptions, ranks: &RankFile) -> ScoreSource {
    ScoreSource {
        ranked_by: Some("file".to_owned()),
        ties_known: Some(ranks.ties_known()),
        ..source(options, "ranks", ranks.bytes(), ranks.verified())
    }
}

fn begin_record(
    options: &EvaluateOptions,
    name: &str,
    loaded: &Loaded,
    dataset: &Dataset,
    source: ScoreSource,
) -> RunRecord {
    let config = serde_json::json!({ "scores": source.file, "unchecked_order": options.unchecked_order });
    let model = ModelCard { name: format!("{PREFIX}{name}"), config, rules: None };
    let card = DatasetCard::new(dataset, loaded.variant.map(|variant| variant.name));
    let mut record = RunRecord::begun(card, model, options.protocol(), options.seed);
    record.scores = Some(source);
    record
}

/// What was judged, in the form of a run's configuration.
fn run_file(options: &EvaluateOptions, record: &RunRecord) -> Result<RunFile, Failure> {
    Ok(RunFile {
        time_budget: None,
        model: Some(record.model.name.clone()),
        data: Some(options.data.clone()),
        format: options.format.map(Into::into),
        fingerprint: Some(record.dataset.fingerprint),
        seed: Some(options.seed),
        rules: None,
        trained_by: None,
        protocol: record.protocol,
        config: toml::Table::try_from(&record.model.config).map_err(Failure::internal)?,
    })
}

/// The file is to blame, or something else.
enum Trouble {
    Scores(ScoreFileError),
    Other(EvalError),
}

impl From<Trouble> for Failure {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Scores(error) => error.into(),
            Trouble::Other(error) => error.into(),
        }
    }
}

fn judge_scores(
    options: &EvaluateOptions,
    dataset: &Dataset,
    scores: &mut ScoreFile,
    output: &Output,
) -> Result<Judged, Trouble> {
    let run = Run::new(options.seed, output.progress());
    let judged = judge(dataset, &options.protocol(), scores, &run);
    // Without results, only what the file knows it did wrong counts: rows that were never asked for are not missing.
    match (judged, scores.trouble()) {
        (_, Some(trouble)) => Err(Trouble::Scores(trouble)),
        (Err(error), None) => Err(Trouble::Other(error)),
        (Ok(judged), None) => scores.check().map(|()| judged).map_err(Trouble::Scores),
    }
}

/// Takes ranks from a file. The evaluator still asks the questions, of a model that says nothing: its ties tell how
/// many candidates there are.
fn judge_ranks(
    options: &EvaluateOptions,
    dataset: &Dataset,
    list: &QueryList,
    ranks: &RankFile,
    output: &Output,
) -> Result<Judged, Failure> {
    if options.protocol().ties == TiePolicy::Ordinal && !ranks.order_known() {
        return Err(Failure::input(format!(
            "{}: --ties ordinal needs the columns time_tied_before, static_tied_before and raw_tied_before",
            options.scores.display()
        )));
    }
    let run = Run::new(options.seed, output.progress());
    let mut judged = judge(dataset, &options.protocol(), &mut Silent, &run)?;
    let asked: Vec<Asked> = judged
        .ranked
        .iter()
        .map(|question| Asked {
            row: list.row(&question.query).expect("the list holds every query of the test split"),
            gold: question.gold,
            candidates: [question.ranks.time, question.ranks.fixed, question.ranks.raw].map(|rank| rank.tied),
        })
        .collect();
    for (question, counts) in judged.ranked.iter_mut().zip(ranks.answer(&asked)?) {
        let [time, fixed, raw] =
            counts.map(|Counts { greater, tied, tied_before }| Rank { greater, tied, tied_before });
        question.ranks = Ranks { time, fixed, raw, reached: true, not_a_number: false };
    }
    Ok(judged)
}
