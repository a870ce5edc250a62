//! Verification: a finished run is checked file by file, its figures are computed again, and its saved model is evaluated again.

use std::path::Path;

use quadcast_core::{Filter, Run, Task};
use quadcast_eval::RankedQuery;
use serde::Serialize;

use crate::session::TaskPart;
use crate::{Plan, Record, RunError, Session, is_external, read_complete, read_results};

/// What the verification of a run found. Checks that fail are errors; only ranks that differ are a finding.
#[derive(Clone, Debug, Serialize)]
pub struct Verification {
    /// The folder.
    pub run: String,
    /// The model.
    pub model: String,
    /// The dataset.
    pub dataset: String,
    /// The digest of the record, which follows from plan, data, version and results.
    pub digest: String,
    /// Ranks that the figures were computed from again.
    pub ranks: usize,
    /// How the ranks were made again.
    pub played: Played,
    /// Why they were not, if so.
    pub not_played: Option<&'static str>,
    /// Ranks that came out differently.
    pub different: usize,
    /// The first of them, in words.
    pub first_difference: Option<String>,
}

/// How ranks were made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Played {
    /// The saved model answered the test queries again.
    SavedModel,
    /// The model was trained again from its plan: on an evolving graph it changes from step to step.
    TrainedAgain,
    /// Not at all.
    NotPlayed,
}

impl Verification {
    /// Whether everything that could be checked is as the record says.
    pub fn holds(&self) -> bool {
        self.different == 0
    }
}

/// Verifies a complete run. `data` replaces the place of the dataset, not its content.
pub fn verify(folder: &Path, data: Option<&str>, run: Run) -> Result<Verification, RunError> {
    read_complete(folder)?;
    let results = read_results(folder)?;
    let record = &results.record;
    let not_played = unrepeatable(record);
    let (played, again) = match not_played {
        Some(_) => (Played::NotPlayed, None),
        None => evaluate_again(folder, record, data, run)?,
    };
    let differences: Vec<String> = match &again {
        Some(again) => differences(&results.ranks, again),
        None => Vec::new(),
    };
    Ok(Verification {
        run: folder.display().to_string(),
        model: record.model.name.clone(),
        dataset: record.dataset.name.clone(),
        digest: record.digest.clone().unwrap_or_default(),
        ranks: results.ranks.len(),
        played,
        not_played,
        different: differences.len(),
        first_difference: differences.into_iter().next(),
    })
}

/// Why the ranks of a run cannot be made again, if so.
fn unrepeatable(record: &Record) -> Option<&'static str> {
    let evolving = record.task == Task::Evolving;
    let budget = record.training.iter().any(|training| training["ending"] == "time-budget");
    if is_external(record) {
        Some("an external model made them")
    } else if record.update.is_some() {
        Some("an update continues the model of another run")
    } else if evolving && budget {
        Some("a time budget ended a training, which cannot be repeated exactly")
    } else if evolving && record.model.config["deterministic"] == false {
        Some("deterministic = false, and a training cannot be repeated exactly")
    } else {
        None
    }
}

/// The ranks of a run made again, and how.
fn evaluate_again(
    folder: &Path,
    record: &Record,
    data: Option<&str>,
    run: Run,
) -> Result<(Played, Option<Vec<RankedQuery>>), RunError> {
    if record.task == Task::Evolving {
        let mut plan = Plan::read(&folder.join(Plan::FILE))?;
        plan.path = None;
        plan.data = data.map(str::to_owned).or(plan.data);
        let mut session = Session::open(plan, run)?;
        session.fit()?;
        return Ok((Played::TrainedAgain, session.ranked()));
    }
    let mut session = Session::reopen(folder, data, run)?;
    session.judge()?;
    Ok((Played::SavedModel, session.ranked()))
}

/// The rows that differ, in words.
fn differences(kept: &[RankedQuery], again: &[RankedQuery]) -> Vec<String> {
    let words = |row: Option<&RankedQuery>, filter: Filter| match row {
        Some(row) => {
            let rank = row.rank(filter);
            format!("{} rank {} with {} tied", filter.word(), rank.greater + 1, rank.tied)
        }
        None => "no rank".to_owned(),
    };
    let differs = |at: usize| {
        let (row, other) = (kept.get(at), again.get(at));
        let rank = |row: Option<&RankedQuery>, filter| row.map(|row| row.rank(filter));
        let differing = |filter: &Filter| rank(row, *filter) != rank(other, *filter);
        match [Filter::Time, Filter::Static, Filter::Raw].iter().find(|filter| differing(filter)) {
            Some(&filter) => format!("the record has {}, now {}", words(row, filter), words(other, filter)),
            None => "the ranks are the same, what else is noted of the query is not".to_owned(),
        }
    };
    (0..kept.len().max(again.len()))
        .filter(|&at| kept.get(at) != again.get(at))
        .map(|at| format!("row {}: {}", at + 1, differs(at)))
        .collect()
}

impl Session {
    /// The ranks, once the model was judged.
    pub(crate) fn ranked(&self) -> Option<Vec<RankedQuery>> {
        match &self.part {
            TaskPart::Timed(part) => part.judged.as_ref().map(|judged| judged.ranked.clone()),
            TaskPart::Evolving(part) => part.played.as_ref().map(|played| played.ranked.clone()),
        }
    }
}
