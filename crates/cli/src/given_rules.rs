//! Rules from a file, used instead of learning: learned elsewhere, edited, or written by hand.

use std::path::Path;

use quadcast_core::{Dataset, Forecaster, Rule};
use quadcast_data::{RulesRead, read_rules};
use quadcast_models::Entry;
use quadcast_report::RulesCard;

use crate::commands::rules::models_with_rules;
use crate::failure::Failure;
use crate::model_files::quoted;
use crate::output::Output;

/// Refuses rules for a model that has no use for them.
pub fn accepted(entry: &Entry, file: &str) -> Result<(), Failure> {
    if entry.capabilities.rules {
        return Ok(());
    }
    Err(Failure::input(format!(
        "{} learns no rules and has no use for those of {file}; {}. Choose one with --model, or leave the rules out",
        entry.name,
        models_with_rules()
    )))
}

/// Reads the rules as far as they fit the dataset, and says what came of it.
pub fn read(file: &str, dataset: &Dataset, output: &Output) -> Result<RulesRead, Failure> {
    let read = read_rules(Path::new(file), &dataset.vocabulary.relations)?;
    if read.rules.is_empty() {
        return Err(Failure::input(format!(
            "{file}: the file holds no rule, expected at least one; put rules in, or learn them without --rules"
        )));
    }
    let plural = if read.rules.len() == 1 { "" } else { "s" };
    let mut text = format!("{} rule{plural} from {file}", read.rules.len());
    if read.dropped > 0 {
        let names = quoted(&read.unknown_relations);
        text.push_str(&format!("; {} dropped, this dataset has no relation {names}", read.dropped));
    }
    output.remark(&text);
    Ok(read)
}

/// What the record says about them.
pub fn card(file: &str, read: &RulesRead) -> RulesCard {
    RulesCard { file: file.to_owned(), used: read.rules.len(), dropped: read.dropped }
}

/// Whether a model that is to go on has the rules that are given now: a file may have been edited since.
pub fn same(model: &dyn Forecaster, given: Option<&RulesRead>) -> bool {
    given.is_none_or(|given| model.save().is_ok_and(|saved| saved.rules.as_ref() == Some(&given.rules)))
}

/// Hands the rules to a model as if it had learned them.
pub fn take(model: &mut dyn Forecaster, rules: Vec<Rule>, file: &str) -> Result<(), Failure> {
    let mut saved = model.save().map_err(Failure::internal)?;
    saved.rules = Some(rules);
    model.load(&saved).map_err(|error| Failure::input(format!("{file}: {error}")))
}
