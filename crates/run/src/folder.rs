//! The run folder: chosen, locked, begun, failed, finished.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};

use quadcast_core::{Names, SavedModel};
use quadcast_eval::RankedQuery;

use crate::model_files::{model_fingerprint, remove_model, write_model};
use crate::ranks::StepTimes;
use crate::{
    Plan, RankJournal, Record, RunError, Sample, Status, peak_memory, write_atomically, write_ranks,
};

/// The file whose lock a writing process holds.
const LOCK_FILE: &str = "run.lock";

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
    /// An error if a complete run would be overwritten by accident.
    pub(crate) fn check(&self) -> Result<(), RunError> {
        match &self.out {
            Some(folder) if is_complete(folder) && !(self.overwrite || self.resume) => {
                Err(RunError::input(format!(
                    "{} holds a complete run already; choose another --out, or replace it with --overwrite",
                    folder.display()
                )))
            }
            _ => Ok(()),
        }
    }
}

/// A run folder that this process alone writes to, until the value is dropped.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    lock: File,
}

impl RunFolder {
    /// Chooses and locks the folder that the user names, or `runs/NAME`, numbered if that holds a complete run or another process
    /// writes to it. A complete record is not overwritten by accident.
    pub fn choose(place: &Place, name: &str) -> Result<Self, RunError> {
        let replaces = place.overwrite || place.resume;
        place.check()?;
        if let Some(folder) = &place.out {
            return Self::lock(folder);
        }
        let numbered = (2..).map(|n| PathBuf::from("runs").join(format!("{name}.{n}")));
        for folder in std::iter::once(PathBuf::from("runs").join(name)).chain(numbered) {
            if !replaces && is_complete(&folder) {
                continue;
            }
            match Self::lock(&folder) {
                Err(RunError::Locked { .. }) if !replaces => {}
                // Between the look and the lock, another process may have finished there.
                Ok(_) if !replaces && is_complete(&folder) => {}
                chosen => return chosen,
            }
        }
        Err(RunError::internal("there are infinitely many numbers"))
    }

    /// Creates a folder and locks it. The system releases the lock when the process ends, however it ends.
    fn lock(path: &Path) -> Result<Self, RunError> {
        let failed = |error: io::Error| {
            let shown = path.display();
            RunError::internal(format!(
                "cannot create the output folder {shown}: {error}. Choose another one with --out"
            ))
        };
        fs::create_dir_all(path).map_err(failed)?;
        let mut options = File::options();
        let mut lock = options
            .create(true)
            .read(true)
            .write(true)
            .truncate(false)
            .open(path.join(LOCK_FILE))
            .map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                // The number only helps the reader; a lock without one is a lock.
                lock.read_to_string(&mut owner).ok();
                return Err(RunError::Locked { folder: path.to_owned(), owner: owner.trim().parse().ok() });
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        lock.set_len(0).map_err(failed)?;
        lock.rewind().map_err(failed)?;
        writeln!(lock, "{}", std::process::id()).map_err(failed)?;
        Ok(Self { path: path.to_owned(), lock })
    }

    /// Writes what is known before there are results. The record first: a complete one that is being replaced must not stay beside
    /// the new plan. A run that starts over removes what another one has left.
    pub(crate) fn begin(&self, record: &Record, plan: &Plan) -> Result<(), RunError> {
        record.write(&self.path)?;
        if record.fitted.is_none() {
            remove_model(&self.path)?;
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
        ranked: &[RankedQuery],
        times: StepTimes<'_>,
    ) -> Result<(), RunError> {
        write_ranks(&self.path, ranked, times)?;
        record.peak_memory_bytes = record.peak_memory_bytes.max(peak_memory());
        record.write(&self.path)?;
        Ok(RankJournal::remove(&self.path)?)
    }

    /// Where the record is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for RunFolder {
    fn drop(&mut self) {
        // The file goes while the lock is held, so that nobody locks a file that is about to go. Both may fail without harm.
        fs::remove_file(self.path.join(LOCK_FILE)).ok();
        self.lock.unlock().ok();
    }
}

/// Whether a folder holds a complete run, of whatever version.
pub(crate) fn is_complete(folder: &Path) -> bool {
    let text = fs::read(folder.join(Record::FILE)).unwrap_or_default();
    let record: serde_json::Value = serde_json::from_slice(&text).unwrap_or_default();
    record["status"] == "complete"
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

/// The record of a run that is complete.
pub fn read_complete(folder: &Path) -> Result<Record, RunError> {
    expect_run(folder)?;
    let record = Record::read(folder)?;
    let state = match record.status {
        Status::Complete => return Ok(record),
        Status::Incomplete => "is not complete",
        Status::Failed => "failed",
    };
    Err(RunError::input(format!("{} holds a run that {state}; run it again first", folder.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_writer_at_a_time() {
        let room = tempfile::tempdir().expect("a temporary folder");
        let place = Place { out: Some(room.path().join("run")), ..Place::default() };
        let first = RunFolder::choose(&place, "").expect("a free folder");
        let error = RunFolder::choose(&place, "").expect_err("it is in use");
        let RunError::Locked { owner, .. } = &error else { panic!("{error}") };
        assert_eq!(*owner, Some(std::process::id()));
        assert_eq!(error.exit_code(), 2);
        drop(first);
        let again = RunFolder::choose(&place, "").expect("free again");
        assert!(again.path().join(LOCK_FILE).is_file());
    }
}
