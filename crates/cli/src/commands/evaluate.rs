//! `quadcast evaluate`: judge anybody's model by the scores it gave.

use std::path::PathBuf;

use clap::Args;
use quadcast_core::{Protocol, Setting};
use quadcast_run::{ExternalScores, Place};

use super::run::show;
use crate::arguments::{
    DuplicatesArgument, FormatArgument, SettingArgument, TiesArgument, ValidationArgument,
};
use crate::failure::Failure;
use crate::output::Output;

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
    /// Tie policy of the headline numbers; the record has all others too [default: expected]
    #[arg(long, value_enum)]
    ties: Option<TiesArgument>,
    /// What happens to duplicate facts of the test split [default: drop]
    #[arg(long, value_enum)]
    duplicates: Option<DuplicatesArgument>,
    /// Seed of random ties and of the intervals
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Run folder [default: runs/external-NAME-DATA-SETTING-SEED]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Replace a complete run in the output folder
    #[arg(long)]
    overwrite: bool,
}

pub fn execute(options: &EvaluateOptions, output: &Output) -> Result<(), Failure> {
    let usual = Protocol::forecasting(options.setting.map_or(Setting::SingleStep, Into::into));
    let scores = ExternalScores {
        file: options.scores.clone(),
        name: options.name.clone(),
        data: options.data.clone(),
        format: options.format.map(Into::into),
        protocol: Protocol {
            validation: options.validation.map_or(usual.validation, Into::into),
            ties: options.ties.map_or(usual.ties, Into::into),
            duplicates: options.duplicates.map_or(usual.duplicates, Into::into),
            ..usual
        },
        seed: options.seed,
        unchecked_order: options.unchecked_order,
    };
    let place = Place { out: options.out.clone(), overwrite: options.overwrite, resume: false };
    let (folder, record) = scores.complete(&place, &output.run())?;
    show(&folder, &record, output)
}
