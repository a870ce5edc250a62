//! Updates: a model of an evolving graph is brought up to date with new operations, as a new version of its run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use quadcast_core::{Procedure, Run};
use quadcast_data::{Dropped, Extended, FaultPolicy, extend_operations};
use quadcast_models::set;

use crate::evolving::{EvolvingPart, GRAPH_FILE, VersionFiles};
use crate::folder::{Place, RunFolder, is_complete};
use crate::held_out::{self, SavedQuestions, keep_asking};
use crate::model_files::read_model_with;
use crate::plan::duration;
use crate::session::TaskPart;
use crate::source::Graph;
use crate::{Record, RunError, Session, UpdateCard};

/// What to update with, and how.
#[derive(Clone, Debug)]
pub struct Update {
    /// A text file of operations, also compressed.
    pub operations: PathBuf,
    /// What happens to insertions of present triples and deletions of absent ones.
    pub policy: FaultPolicy,
    /// Model settings that the update is made with, as `key=value`.
    pub settings: Vec<String>,
    /// How long training may take, such as `90s` or `5m`.
    pub time_budget: Option<String>,
}

impl Session {
    /// Updates the model of a complete run with new operations and judges it. The result is a session of its own, whose
    /// [`Session::complete_update`] saves it as a new version.
    pub fn update(folder: &Path, data: Option<&str>, update: &Update, run: Run) -> Result<Self, RunError> {
        let start = Instant::now();
        let session = Self::reopen(folder, data, run)?;
        let Self { run, mut plan, mut model, part, record, .. } = session;
        let TaskPart::Evolving(part) = part else {
            return Err(RunError::input(format!(
                "{} holds a run of {}; only runs on evolving graphs can be updated",
                folder.display(),
                record.task.word()
            )));
        };
        let before = held_out::outline(&part.graph.dataset);
        let stream = part.graph.into_stream()?;
        if let Some(words) = dropped_words(&stream.dropped) {
            run.progress.remark(&format!("left out of the dataset itself: {words}"));
        }
        let Extended { stream, operations, dropped, new: [new_entities, new_relations] } =
            extend_operations(stream, &update.operations, update.policy)?;
        let left_out = dropped_words(&dropped).map(|words| format!("left out: {words}"));
        let mut graph = Graph::of_stream(&stream)?;
        graph.dataset.name.clone_from(&record.dataset.name);
        keep_asking(&mut graph.dataset, &before);
        let last = graph.dataset.steps.last().and_then(|step| step.operations.as_ref());
        if last.is_none_or(Vec::is_empty) {
            let why = left_out.as_deref().unwrap_or("the operations cancel out");
            let path = update.operations.display();
            return Err(RunError::input(format!("{path}: nothing changes: {why}")));
        }
        if let Some(words) = &left_out {
            run.progress.remark(words);
        }
        for setting in &update.settings {
            set(&mut plan.plan.config, setting)?;
        }
        if !update.settings.is_empty() {
            model = read_model_with(folder, plan.entry, &plan.plan.config)?;
        }
        plan.protocol.procedure = Procedure::Incremental;
        plan.plan.protocol = plan.protocol.into();
        plan.plan.fingerprint = Some(graph.fingerprint);
        plan.plan.updated_from = Some(folder.display().to_string());
        plan.plan.time_budget.clone_from(&update.time_budget);
        plan.time_budget = update.time_budget.as_deref().map(duration).transpose()?;
        let card = UpdateCard {
            from: folder.display().to_string(),
            file: update.operations.display().to_string(),
            operations,
            new_entities,
            new_relations,
            learned: record.learned(),
        };
        let questions = SavedQuestions::of(&graph.dataset)?;
        let (mut part, dataset) = EvolvingPart::new(graph, &plan);
        part.first = before.len();
        part.earlier = record.learned();
        part.version = Some(VersionFiles { stream, questions });
        let config = serde_json::to_value(&plan.plan.config).map_err(RunError::internal)?;
        let mut own = Record::begun(dataset, record.model.clone(), plan.protocol, plan.seed);
        own.model.config = config;
        own.asked = Some(part.asked_about());
        own.update = Some(card);
        own.seconds.load = start.elapsed().as_secs_f64();
        let run = Run { seed: plan.seed, time_budget: plan.time_budget, ..run };
        Ok(Self::of_parts(run, plan, model, TaskPart::Evolving(Box::new(part)), own))
    }

    /// Plays and judges an update, and leaves it as a new version beside its run: by default `RUN.v2`, or the next number.
    pub fn complete_update(&mut self, place: &Place) -> Result<PathBuf, RunError> {
        let from = PathBuf::from(self.plan.plan.updated_from.clone().unwrap_or_default());
        let out = self.version_folder(&from, place)?;
        let place = Place { out: Some(out), ..place.clone() };
        let folder = RunFolder::choose(&place, "", "")?;
        self.plan.plan.data = Some(folder.path().join(GRAPH_FILE).display().to_string());
        self.complete_in(&folder, &place)?;
        Ok(folder.path().to_owned())
    }

    /// Where the new version goes: never into the run that it comes from, which stays as it is.
    fn version_folder(&self, from: &Path, place: &Place) -> Result<PathBuf, RunError> {
        let Some(out) = &place.out else {
            let run = named(from);
            let (first, out) = (next_version(&run, true), next_version(&run, place.overwrite));
            if out != first {
                self.run.progress.remark(&format!(
                    "{} was made from this run already; the new version does not include it. To continue from there, update that one",
                    first.display()
                ));
            }
            return Ok(out);
        };
        let is_same = |out: &Path| Some(fs::canonicalize(out).ok()? == fs::canonicalize(from).ok()?);
        if is_same(out) == Some(true) {
            return Err(RunError::input(format!(
                "{} is the run itself, which an update leaves as it is; choose another --out",
                out.display()
            )));
        }
        Ok(out.clone())
    }
}

/// Operations that were left out, in words; `None` if none was.
fn dropped_words(dropped: &Dropped) -> Option<String> {
    let parts = [
        (dropped.void_inserts, "insertions of present triples"),
        (dropped.void_deletes, "deletions of absent triples"),
        (dropped.reflexive, "operations from an entity to itself"),
    ];
    let words: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// A folder by its name, also where it was given as `.` or `..`.
fn named(run: &Path) -> PathBuf {
    match run.file_name() {
        Some(_) => run.to_owned(),
        None => fs::canonicalize(run).unwrap_or_else(|_| run.to_owned()),
    }
}

/// The folder of the next version: `run.v2` after `run`, `run.v4` after `run.v3`, and on past those that are complete unless they
/// may be replaced.
fn next_version(run: &Path, overwrite: bool) -> PathBuf {
    let name = run.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (stem, number) = match name.rsplit_once(".v") {
        Some((stem, digits)) if let Ok(number) = digits.parse::<u32>() => (stem, number),
        _ => (name.as_str(), 1),
    };
    let mut next = number;
    loop {
        next = next.saturating_add(1);
        let path = run.with_file_name(format!("{stem}.v{next}"));
        if overwrite || !is_complete(&path) || next == u32::MAX {
            return path;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_counted() {
        let named = |name: &str| next_version(Path::new(name), false).display().to_string();
        assert_eq!(named("runs/transe-world-static-1"), "runs/transe-world-static-1.v2");
        assert_eq!(named("runs/a.v3"), "runs/a.v4");
        assert_eq!(named("runs/a.vb"), "runs/a.vb.v2");
        assert_eq!(named("runs/a.v3/"), "runs/a.v4");
    }
}
