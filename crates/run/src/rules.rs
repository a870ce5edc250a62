//! Which models have rules, and rules of a file that replace training.

use std::path::Path;

use quadcast_core::{Names, Run};
use quadcast_data::{RulesRead, read_rules};
use quadcast_models::{Entry, MODELS, find};

use crate::RunError;
use crate::model_files::quoted;

/// Whether the rules of a model can be read.
fn lists_rules(entry: &Entry) -> bool {
    let capabilities = (entry.capabilities)();
    capabilities.rules || capabilities.counts_rules
}

/// Whether a model can take rules from a file.
fn takes_rules(entry: &Entry) -> bool {
    (entry.capabilities)().rules
}

/// An error unless the rules of a model can be read.
pub(crate) fn expect_listed_rules(model: &str) -> Result<(), RunError> {
    if find(model).is_ok_and(lists_rules) {
        return Ok(());
    }
    Err(RunError::input(format!("{model} has no rules to show; {}", models_with_rules(lists_rules))))
}

/// An error unless a model uses rules.
pub(crate) fn expect_rule_model(entry: &Entry, file: &str) -> Result<(), RunError> {
    if takes_rules(entry) {
        return Ok(());
    }
    Err(RunError::input(format!(
        "{} learns no rules and cannot use those of {file}; {}. Choose one with --model, or leave the rules out",
        entry.name,
        models_with_rules(takes_rules)
    )))
}

/// A sentence that names some models.
fn models_with_rules(which: fn(&Entry) -> bool) -> String {
    let names: Vec<&str> = MODELS.iter().filter(|entry| which(entry)).map(|entry| entry.name).collect();
    format!("models with rules: {}", names.join(", "))
}

/// Reads rules as far as they fit a dataset, and says what came of it.
pub(crate) fn rules_of_file(file: &str, relations: &Names, run: &Run) -> Result<RulesRead, RunError> {
    let read = read_rules(Path::new(file), relations)?;
    if read.rules.is_empty() {
        return Err(RunError::input(format!(
            "{file}: the file holds no rule, expected at least one; put rules in, or learn them without --rules"
        )));
    }
    let plural = if read.rules.len() == 1 { "" } else { "s" };
    let mut text = format!("{} rule{plural} from {file}", read.rules.len());
    if read.dropped > 0 {
        let names = quoted(&read.unknown_relations);
        text.push_str(&format!("; {} dropped, this dataset has no relation {names}", read.dropped));
    }
    run.progress.remark(&text);
    Ok(read)
}
