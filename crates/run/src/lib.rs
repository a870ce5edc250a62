//! The library that everybody calls: a [`Plan`] becomes a [`Session`], and a session leaves a [`Record`].
//!
//! A plan says which model runs on which data, under which protocol and with which settings; a TOML file is a plan. A session has
//! read the data and built the model. It fits, judges, answers, explains and updates, for every task: forecasting, completion and
//! evolving graphs. A record holds the results with everything that decides whether they can be compared.
//!
//! Nothing here prints. Progress, remarks and cancellation go through [`quadcast_core::Run`]; everything that can go wrong is a
//! [`RunError`], which keeps the file, the line and the remedy.
//!
//! ```
//! use quadcast_core::Run;
//! use quadcast_run::{AnswerOptions, Answered, Plan, Question, Session};
//!
//! # fn main() -> Result<(), quadcast_run::RunError> {
//! # let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/harbour");
//! let mut session = Session::open(Plan::new("recurrency", data), Run::silent(1))?;
//! session.fit()?;
//! let mrr = session.judge()?.metrics.as_ref().map(|metrics| metrics.time.metrics.mrr);
//! assert!(mrr.is_some_and(|mrr| mrr > 0.3));
//!
//! let question = Question {
//!     subject: Some("Grey Heron".to_owned()),
//!     relation: Some("docks at".to_owned()),
//!     ..Question::default()
//! };
//! if let Answered::Entities(forecast) = session.answer(&question, AnswerOptions::default())? {
//!     println!("{} at {}", forecast.answers[0].entity, forecast.at);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! [`Session::complete`] does the same in a run folder: locked against other processes, resumed after an interruption, and written so
//! that a kill at any moment loses at most the step in progress. [`Session::reopen`] opens such a folder again.

mod answers;
mod asker;
mod best_scores;
mod checkpoints;
mod checksums;
mod compare;
mod demo;
mod error;
mod evolving;
mod examples;
mod explanations;
mod external;
mod figures;
mod files;
mod filled;
mod folder;
mod graphs;
mod held_out;
mod journal;
mod judged_graphs;
mod judged_triple;
mod lookup;
mod mirror_lists;
mod model;
mod model_files;
mod operations;
mod ownership;
mod plan;
mod questions;
mod ranks;
mod record;
mod record_rows;
mod reference_scores;
mod rule_list;
mod rule_words;
mod rules;
mod samples;
mod score_model;
mod session;
mod source;
mod update;
mod verify;

pub use answers::{AnswerOptions, Answered, Question};
pub use best_scores::{Reference, best_scores};
pub use compare::{Compared, ComparedRun, compare};
pub use demo::{Demo, DemoRow, DemoRun, demo};
pub use error::RunError;
pub use explanations::{
    Addition, Answer, DatedFact, DirectedName, Fired, Forecast, Reason, RuleCard, Sample, TrueAnswer, Why,
};
pub use external::{ExternalScores, is_external};
pub use files::{FileError, write_atomically};
pub use filled::{Filled, Filling};
pub use folder::{Place, Results, RunFolder, expect_run, read_complete, read_results};
pub use graphs::{GraphOptions, Made, PredictedFact, PredictedGraph};
pub use journal::RankJournal;
pub use judged_graphs::{GRAPH_COLUMNS, JudgedGraph, JudgedGraphs, graph_rows, judge_graphs};
pub use judged_triple::JudgedTriple;
pub use lookup::lookup;
pub use mirror_lists::MirrorLists;
pub use operations::OperationSource;
pub use plan::{Plan, ProtocolChoice};
pub use questions::read_questions;
pub use ranks::{RANKS_FILE, StepTimes, read_ranks, write_ranks};
pub use record::{
    AskedAbout, DatasetCard, ModelCard, Record, RulesCard, ScoreSource, Seconds, Selection, Status,
    TrainedBy, UpdateCard,
};
pub use record_rows::{FilterMetrics, RelationRow, StepRow};
pub use reference_scores::reference_scores;
pub use rule_list::{RuleChoice, RuleList, rules_of_run};
pub use session::Session;
pub use source::{forecasting_dataset, open};
pub use update::Update;
pub use verify::{Played, Verification, verify};

pub(crate) use model::AnyModel;

/// The largest resident set of this process so far, where the system tells (Linux).
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
