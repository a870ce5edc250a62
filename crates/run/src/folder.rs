//! The run folder: chosen, locked, begun, failed, finished.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use quadcast_core::{Names, SavedModel};
use quadcast_eval::RankedQuery;

use crate::checkpoints::TRACE_FILE;
use crate::checksums::{CHECKSUMS_FILE, Checksums};
use crate::evolving::GRAPH_FILE;
use crate::held_out::QUESTIONS_FILE;
use crate::model_files::{
    MODEL_FILE, RULES_FILE, TENSORS_FILE, model_fingerprint, remove_model, write_model,
};
use crate::ownership::{Ownership, expect_own};
use crate::ranks::{RANKS_FILE, StepTimes};
use crate::{
    FileError, Plan, RankJournal, Record, RunError, Sample, Status, peak_memory, read_ranks,
    write_atomically, write_ranks,
};

/// The files of a complete run that have checksums.
const FILES: [&str; 10] = [
    Record::FILE,
    Plan::FILE,
    RANKS_FILE,
    MODEL_FILE,
    TENSORS_FILE,
    RULES_FILE,
    Sample::FILE,
    TRACE_FILE,
    GRAPH_FILE,
    QUESTIONS_FILE,
];

/// Where a run goes, and what may happen to what is there.
#[derive(Clone, Debug, Default)]
pub struct Place {
    /// The folder; by default `runs/NAME`.
    pub out: Option<PathBuf>,
    /// Whether a complete run there is replaced. An interrupted one is not resumed then.
    pub overwrite: bool,
    /// Whether a training that its time budget ended is resumed.
    pub resume: bool,
}

impl Place {
    /// An error if a complete run would be overwritten by accident, or files that are not ours.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        match &self.out {
            Some(folder) if is_complete(folder) && !(self.overwrite || self.resume) => {
                Err(RunError::input(format!(
                    "{} holds a complete run already; choose another --out, or replace it with --overwrite",
                    folder.display()
                )))
            }
            Some(folder) => expect_own(folder),
            None => Ok(()),
        }
    }
}

/// A run folder that this process alone writes to, until the value is dropped.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    _ownership: Ownership,
}

impl RunFolder {
    /// Chooses and locks the folder that the user names, or `runs/NAME`. That name gets a number if the folder holds a complete run
    /// or the beginning of a run with another identity, if another process writes to it, or if it is not ours. A complete record is
    /// not overwritten by accident.
    pub fn choose(place: &Place, name: &str, identity: &str) -> Result<Self, RunError> {
        let replaces = place.overwrite || place.resume;
        place.check()?;
        if let Some(folder) = &place.out {
            let chosen = Self::lock(folder)?;
            // Between the look and the lock, another process may have finished there.
            place.check()?;
            return Ok(chosen);
        }
        let numbered = (2..).map(|n| PathBuf::from("runs").join(format!("{name}.{n}")));
        let is_taken =
            |folder: &Path| !replaces && (is_complete(folder) || holds_other_run(folder, identity));
        for folder in std::iter::once(PathBuf::from("runs").join(name)).chain(numbered) {
            if is_taken(&folder) || expect_own(&folder).is_err() {
                continue;
            }
            match Self::lock(&folder) {
                Err(RunError::Locked { .. }) if !replaces => {}
                // Between the look and the lock, another process may have begun or finished there.
                Ok(_) if is_taken(&folder) => {}
                chosen => return chosen,
            }
        }
        Err(RunError::internal("there are infinitely many numbers"))
    }

    fn lock(path: &Path) -> Result<Self, RunError> {
        let ownership = Ownership::take(path)?;
        Ok(Self { path: path.to_owned(), _ownership: ownership })
    }

    /// Writes what is known before there are results. The record first: a complete one that is being replaced must not stay beside
    /// the new plan. A run that starts over removes what another one has left.
    pub(crate) fn begin(&self, record: &Record, plan: &Plan) -> Result<(), RunError> {
        record.write(&self.path)?;
        remove_file(&self.path, CHECKSUMS_FILE)?;
        if record.fitted.is_none() {
            remove_model(&self.path)?;
            // Those of an update that was there before; an update writes its own later.
            remove_file(&self.path, GRAPH_FILE)?;
            remove_file(&self.path, QUESTIONS_FILE)?;
        }
        Sample::remove_all(&self.path)?;
        let text = plan.text()?;
        write_atomically(&self.path.join(Plan::FILE), |out| out.write_all(text.as_bytes()))?;
        Ok(())
    }

    /// Notes what went wrong, unless the run can be resumed: it was interrupted, or a file could not be written.
    pub(crate) fn fail(&self, record: &Record, error: RunError) -> RunError {
        let error = error.in_folder(&self.path);
        if !matches!(error, RunError::Interrupted { .. } | RunError::File(_)) {
            // The first error is what the user needs to know, also if it cannot be noted.
            record.failed(error.to_string()).write(&self.path).ok();
        }
        error
    }

    /// Saves the model and notes that it is fitted: from here on, an interruption does not cost the fit.
    pub(crate) fn save_fit(
        &self,
        record: &mut Record,
        saved: &SavedModel,
        relations: &Names,
    ) -> Result<(), RunError> {
        write_model(&self.path, &record.model.name, saved, relations)?;
        record.fitted = Some(model_fingerprint(saved)?);
        record.peak_memory_bytes = record.peak_memory_bytes.max(peak_memory());
        Ok(record.write(&self.path)?)
    }

    /// Writes what a complete run leaves; the record comes last, so that "complete" means all of it is there. Only then
    /// the journal of ranks is removed.
    pub(crate) fn finish(
        &self,
        record: &mut Record,
        plan: &Plan,
        ranked: &[RankedQuery],
        times: StepTimes<'_>,
    ) -> Result<(), RunError> {
        write_ranks(&self.path, ranked, times)?;
        record.peak_memory_bytes = record.peak_memory_bytes.max(peak_memory());
        record.digest = Some(record.compute_digest(plan, ranked)?);
        let text = record.bytes().map_err(RunError::internal)?;
        let mut sums =
            Checksums::of_files(&self.path, FILES.into_iter().filter(|name| *name != Record::FILE))?;
        sums.add(Record::FILE, &text);
        sums.write(&self.path)?;
        write_atomically(&self.path.join(Record::FILE), |out| out.write_all(&text))?;
        Ok(RankJournal::remove(&self.path)?)
    }

    /// Where the record is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Whether a folder holds a complete run, of whatever version.
pub(crate) fn is_complete(folder: &Path) -> bool {
    let text = fs::read(folder.join(Record::FILE)).unwrap_or_default();
    let record: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    record["status"] == "complete"
}

/// Whether a folder holds the beginning of a run with another identity, which can still be resumed.
fn holds_other_run(folder: &Path, identity: &str) -> bool {
    let Ok(record) = Record::read(folder) else { return false };
    let Ok(plan) = Plan::read(&folder.join(Plan::FILE)) else { return false };
    record.status == Status::Incomplete && plan.identity(&record.version).is_ok_and(|own| own != identity)
}

/// Removes a file of a run folder, if it is there.
pub(crate) fn remove_file(folder: &Path, name: &str) -> Result<(), FileError> {
    let path = folder.join(name);
    match fs::remove_file(&path) {
        Err(source) if source.kind() != io::ErrorKind::NotFound => Err(FileError::Write { path, source }),
        _ => Ok(()),
    }
}

/// An error unless a folder holds a run.
pub fn expect_run(folder: &Path) -> Result<(), RunError> {
    if folder.join(Record::FILE).is_file() {
        return Ok(());
    }
    let shown = folder.display();
    if !folder.exists() {
        return Err(RunError::input(format!("there is no folder {shown}")));
    }
    Err(RunError::input(format!(
        "{shown} is not a run folder: it has no {}. Name the folder that `quadcast run` wrote",
        Record::FILE
    )))
}

/// The record of a complete run, none of whose files has changed since it was made.
pub fn read_complete(folder: &Path) -> Result<Record, RunError> {
    let record = read_finished(folder)?;
    Checksums::read(folder)?.check_all(folder, FILES)?;
    Ok(record)
}

/// The record of a complete run; only the record itself is checked.
fn read_finished(folder: &Path) -> Result<Record, RunError> {
    expect_run(folder)?;
    let record = Record::read(folder)?;
    let state = match record.status {
        Status::Complete => return Ok(record),
        Status::Incomplete => "is not complete",
        Status::Failed => "failed",
    };
    Err(RunError::input(format!("{} holds a run that {state}; run it again first", folder.display())))
}

/// The results of a complete run.
pub struct Results {
    /// The record.
    pub record: Record,
    /// One row per query.
    pub ranks: Vec<RankedQuery>,
    /// A few test queries with explanations; empty if the run kept none.
    pub samples: Vec<Sample>,
}

/// Reads the results of a complete run. Nothing in them is taken on trust: files must have their checksums, ranks must be possible,
/// and the figures of the record must follow from the ranks.
pub fn read_results(folder: &Path) -> Result<Results, RunError> {
    let record = read_finished(folder)?;
    let sums = Checksums::read(folder)?;
    for name in [Record::FILE, Plan::FILE, RANKS_FILE] {
        sums.check(folder, name)?;
    }
    let ranks = read_ranks(folder, &record)?;
    let contradiction = |message| FileError::Contradiction { path: folder.join(Record::FILE), message };
    record.check_figures(&ranks).map_err(contradiction)?;
    let plan = Plan::read(&folder.join(Plan::FILE))?;
    if record.digest != Some(record.compute_digest(&plan, &ranks)?) {
        let message =
            "its digest does not follow from its plan, data, version and results. Make the run again";
        return Err(contradiction(message.to_owned()).into());
    }
    let samples = if sums.lists(Sample::FILE) || folder.join(Sample::FILE).exists() {
        sums.check(folder, Sample::FILE)?;
        Sample::read_all(folder)?
    } else {
        Vec::new()
    };
    Ok(Results { record, ranks, samples })
}
