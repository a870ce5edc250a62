//! `quadcast rules`: what a run has learned, in words.

use std::path::PathBuf;

use clap::{Args, value_parser};
use quadcast_report::{rule_count, rules_text, shown};
use quadcast_run::{RuleChoice, rules_of_run};
use serde_json::json;

use crate::output::{Failure, Output};

/// Shown below the help.
pub const EXAMPLES: &str = "Examples:
  quadcast rules runs/tlogic-harbour-single-step-1
  quadcast rules RUN --relation 'docks at' --top 5 --min-support 20
  quadcast rules RUN --relation 'docks at' --out docks.jsonl
  quadcast run --model tlogic --data OTHER --rules docks.jsonl

A file of rules has one rule a line, with names. Edit it as you like and use it with
`quadcast run --rules`, also on another dataset that has the same relations.

Herald counts its rules by the age of their facts: they are listed with a curve over age, all numbers with
--json, and cannot be edited or exported.";

/// Rules shown when no relation is named.
const TOP: u32 = 20;

/// Rules shown for each direction of a relation that is named.
const TOP_OF_RELATION: u32 = 10;

/// Which rules to show.
#[derive(Debug, Args)]
pub struct Options {
    /// The folder of a complete run
    pub run: PathBuf,
    /// Only rules that predict this relation, in both directions
    #[arg(long, value_name = "NAME")]
    pub relation: Option<String>,
    /// How many rules; per direction if a relation is named [default: 20, of a relation 10; --out: all]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
    pub top: Option<u32>,
    /// Only rules of which at least this many bodies were sampled or counted
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub min_support: u32,
    /// Write the rules to a file (JSON Lines) that `quadcast run --rules` reads
    #[arg(long, value_name = "FILE.jsonl")]
    pub out: Option<PathBuf>,
    /// Where the dataset is, if it has moved since the run
    #[arg(long, value_name = "PATH|NAME")]
    pub data: Option<String>,
}

pub fn execute(options: &Options, output: &Output) -> Result<(), Failure> {
    let usual = if options.relation.is_some() { TOP_OF_RELATION } else { TOP };
    let top = options.top.or(options.out.is_none().then_some(usual));
    let choice = RuleChoice {
        relation: options.relation.clone(),
        min_support: options.min_support,
        top: top.map(|top| top as usize),
    };
    let list = rules_of_run(&options.run, options.data.as_deref(), &choice, output.run())?;
    let Some(path) = &options.out else { return output.result(&list, || rules_text(&list)) };
    list.write(path)?;
    let count = list.rules.len();
    let done = json!({ "file": path, "rules": count });
    output.result(&done, || format!("{}: {}\n", rule_count(count), shown(path.display())))
}
